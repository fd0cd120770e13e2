"""cwl_eval's sixteen default measures, five quantities each, on 50 topics × 1,000 documents: both as whole processes.

Run it as `python tests/benchmarks/cwl.py [FOLDER]`, in an environment that has cwl-eval; it is not part of the tests.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from generate import workload
from speed import program, show, timed

MEASURES = (
    "cwlp@1 cwlp@2 cwlp@3 cwlp@4 cwlp@5 cwlp@10 rbp(p=0.2) rbp(p=0.4) rbp(p=0.8) sdcg@5 sdcg@10 cwlrr cwlap inst(T=1)"
    " inst(T=2) inst(T=3)"
)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    folder = folder.resolve()
    folder.mkdir(exist_ok=True)
    os.chdir(folder)  # cwl_eval leaves a log in its folder
    files = workload(folder, "small", 50, 1000)
    # The grade is the gain there, and may be 1 at most.
    gains = folder / "small.gains"
    lines = (line.split() for line in files.qrels.read_text().splitlines())
    gains.write_text("".join(f"{topic} 0 {docno} {int(grade) / 3:.4f}\n" for topic, _, docno, grade in lines))
    theirs = shutil.which("cwl-eval", path=sysconfig.get_path("scripts")) or shutil.which("cwl-eval")
    if theirs is None:
        sys.exit("cwl-eval is not installed")
    run = str(files.runs[0])
    ours = [*program(), run, str(gains), "--like", "cwl_eval", "--cwl", "-q", "-m", MEASURES]
    for title, more, theirs_more in (
        ("the five quantities", [], []),
        ("and their residuals", ["--residuals"], ["-r"]),
    ):
        commands = {"gradedeval": [*ours, *more], "cwl_eval": [theirs, str(gains), run, *theirs_more]}
        show(f"50 × 1,000, 16 measures: {title}", timed(commands, 5), "gradedeval")


if __name__ == "__main__":
    main()
