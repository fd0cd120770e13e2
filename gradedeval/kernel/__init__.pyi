# ruff: noqa: I001

# What a question says of itself and takes

from gradedeval.kernel.options import MEASURE_HELP as MEASURE_HELP
from gradedeval.kernel.options.settings import Setting as Setting
from gradedeval.kernel.options.settings import shares_work as shares_work
from gradedeval.kernel.options.settings import takes_options as takes_options
from gradedeval.kernel.options import ranges as ranges
from gradedeval.kernel.options import Options as Options
from gradedeval.kernel.options import OptionKwargs as OptionKwargs
from gradedeval.kernel.options import resolve_options as resolve_options
from gradedeval.kernel import options as options

# Files, and what is in them

from gradedeval.kernel.trec import stream as stream
from gradedeval.kernel.trec import documents as documents
from gradedeval.kernel.trec import file_formats as file_formats
from gradedeval.kernel.trec.small_tables import SmallTable as SmallTable
from gradedeval.kernel.trec.line_reader import checked_lines as checked_lines
from gradedeval.kernel.trec.atomic_write import append_lines as append_lines
from gradedeval.kernel.rankings.in_memory import readable_table as readable_table
from gradedeval.kernel.trec.lines import decode as decode
from gradedeval.kernel.trec.lines import encode as encode
from gradedeval.kernel.trec.lines import decimal as decimal

# Measures and gains

from gradedeval.kernel.measures.definition import Measure as Measure
from gradedeval.kernel.measures.definition import AnyMeasure as AnyMeasure
from gradedeval.kernel.measures.definition import MEASURES as MEASURES
from gradedeval.kernel.measures.parse import parse_measures as parse_measures
from gradedeval.kernel.measures import parse as parse
from gradedeval.kernel.measures import notation as notation
from gradedeval.kernel.measures import definition as definition
from gradedeval.kernel.measures import gains as gains
from gradedeval.kernel.measures.gains import scores_of as scores_of
from gradedeval.kernel.measures.cascade_models import useful as useful
from gradedeval.kernel.measures.precision import precision_at_relevant as precision_at_relevant
from gradedeval.kernel.measures.weighting_models import rank_weights as rank_weights

# Runs and judgments

from gradedeval.kernel.scoring.evaluate import named_runs as named_runs
from gradedeval.kernel.scoring.evaluate import qrels_for as qrels_for
from gradedeval.kernel.rankings.qrels import Qrels as Qrels
from gradedeval.kernel.rankings.other_qrels import JudgmentGroups as JudgmentGroups
from gradedeval.kernel.rankings import run as run
from gradedeval.kernel.rankings import submissions as submissions
from gradedeval.kernel.rankings import grade as grade
from gradedeval.kernel.rankings.batch import Batch as Batch

# Scores

from gradedeval.kernel.scoring.evaluate import evaluate_runs as evaluate_runs
from gradedeval.kernel.scoring.scorer import Scorer as Scorer
from gradedeval.kernel.scoring.scores import Scores as Scores
from gradedeval.kernel.scoring import scores as scores
from gradedeval.kernel.scoring import tasks as tasks
from gradedeval.kernel.scoring import records as records
from gradedeval.kernel.scoring import evaluate_arrays as evaluate_arrays
from gradedeval.kernel.scoring.evaluate_arrays import JudgedLists as JudgedLists
from gradedeval.kernel.scoring.signature import signature as signature
from gradedeval.kernel.scoring.intervals import summary_intervals as summary_intervals
from gradedeval.kernel.scoring import caveats as caveats

# Who shares the work

from gradedeval.kernel.parallel import Workers as Workers
from gradedeval.kernel import parallel as parallel

# Tables and text

from gradedeval.kernel.formats import Column as Column
from gradedeval.kernel.formats import Table as Table
from gradedeval.kernel.formats import Document as Document
from gradedeval.kernel.formats import Layout as Layout
from gradedeval.kernel import formats as formats
from gradedeval.kernel.scoring import score_tables as score_tables
from gradedeval.kernel.scoring import results as results
