"""Click measures by list, and their correlation with measures of lists."""

import csv
import io
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval import Qrels, clicks, evaluate
from gradedeval.clicks.click_measures import paired_correlation, weighted_correlation
from gradedeval.clicks.click_models import Items
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.model_kinds import read_models
from support.clicks import COVID, SESSION_TRACK, all_judged, session_track
from support.commands import Command
from support.paths import DATA, shared

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # the tests of notes compare them

QRELS = {"p": {"a": 3, "b": 0, "c": 2, "d": 1}, "q": {"a": 0, "e": 4}}
LOG = """topic\tclicks\tshown\tcount\tlong
p\t1 3\ta b c\t2\tyes
p\t-\ta b c\t1\tno
p\t2 3\ta b c\t1\tno
p\t2\tb d\t1\tyes
q\t1\te a\t3\tno
q\t-\ta e\t1\tyes
q\t2\ta x\t1\tyes
r\t1\ta\t1\tyes
"""


def log_of(text: str = LOG, **options: Any) -> ClickLog:
    return clicks.read_log(io.BytesIO(text.encode()), **options)


def test_click_measures_are_means_over_the_sessions_of_a_list() -> None:
    with pytest.warns(match="2 lists with unjudged documents; clicks on them are misses to ss"):
        frame = clicks.measures(log_of(), QRELS).frame.set_index(["topic", "shown"])
    first = frame.loc["p", "a b c"]
    sessions = [(1, 3), (1, 3), (), (2, 3)]
    assert first["sessions"] == 4
    expected = {
        "qctr": [len(ranks) for ranks in sessions],
        "uctr": [bool(ranks) for ranks in sessions],
        "maxrr": [1 / ranks[0] if ranks else 0 for ranks in sessions],
        "minrr": [1 / ranks[-1] if ranks else 0 for ranks in sessions],
        "meanrr": [sum(1 / rank for rank in ranks) / len(ranks) if ranks else 0 for ranks in sessions],
        "ss": [1, 1, 0, 1],
        "plc": [len(ranks) / ranks[-1] if ranks else 0 for ranks in sessions],
    }
    for name, values in expected.items():
        assert first[name] == pytest.approx(sum(values) / 4), name
    assert frame.loc["p", "b d"]["ss"] == 0  # grade 1 is fair


def test_all_reciprocal_ranks_of_one_click_agree() -> None:
    with pytest.warns(match="ss is left out: it needs qrels"):
        frame = clicks.measures(log_of()).frame
    row = frame[frame["shown"] == "e a"].iloc[0]
    assert row["maxrr"] == row["meanrr"] == row["minrr"] == row["plc"] == 1
    assert "ss" not in frame


def correlation_by_hand(x: list[float], y: list[float], n: list[int]) -> float:
    """Return the correlation by the equation of Chapelle et al., section 6.2."""
    total = sum(n)
    mx, my = (sum(c * v for c, v in zip(n, values, strict=True)) / total for values in (x, y))
    above = sum(c * (a - mx) * (b - my) for a, b, c in zip(x, y, n, strict=True))
    below = sum(c * (a - mx) ** 2 for a, c in zip(x, n, strict=True)) * sum(
        c * (b - my) ** 2 for b, c in zip(y, n, strict=True)
    )
    return float(above / below**0.5)


def test_correlation_is_the_paper_s_equation() -> None:
    draw = np.random.default_rng(1)
    x, y, n = draw.random((9, 2)), draw.random((9, 3)), draw.integers(1, 9, 9)
    correlation = weighted_correlation(x, y, n)
    for i, j in itertools.product(range(2), range(3)):
        assert correlation[i, j] == pytest.approx(
            correlation_by_hand(x[:, i].tolist(), y[:, j].tolist(), n.tolist()), rel=1e-12
        )
    repeated = np.repeat(np.arange(9), n)
    assert correlation == pytest.approx(np.corrcoef(x[repeated].T, y[repeated].T)[:2, 2:], rel=1e-12)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1])
def test_without_variance_there_is_no_correlation(value: float) -> None:
    correlation = weighted_correlation(np.full((7, 1), value), np.arange(7.0)[:, None], np.arange(1, 8))
    assert np.isnan(correlation).all()


def test_lists_are_scored_as_rankings_of_their_topics() -> None:
    log = log_of()
    result = clicks.correlate(log, QRELS, "err ap(rel=2) ndcg@2")
    # The fully judged lists.
    lists = {"1": ("p", "a b c"), "2": ("p", "b d"), "3": ("q", "e a"), "4": ("q", "a e")}
    qrels = {number: QRELS[topic] for number, (topic, _) in lists.items()}
    run = {
        number: {docno: -float(rank) for rank, docno in enumerate(docnos.split())}
        for number, (_, docnos) in lists.items()
    }
    scores = evaluate(run, qrels, "err ap(rel=2) ndcg@2").frame.query("topic != 'all'")
    with pytest.warns():
        clicked = clicks.measures(log, QRELS).frame.set_index(["topic", "shown"])
    for row in result.frame.itertuples():
        by_topic = scores[scores["measure"] == row.measure].set_index("topic")["score"]
        values = [clicked.loc[lists[number]] for number in lists]
        expected = correlation_by_hand(
            [float(by_topic[number]) for number in lists],
            [float(value[row.clicks]) for value in values],
            [int(value["sessions"]) for value in values],
        )
        assert row.correlation == pytest.approx(expected, rel=1e-12)
        assert (row.topics, row.configurations, row.sessions) == (2, 4, 9)


def test_notes_report_the_lists_left_out() -> None:
    result = clicks.correlate(log_of(), QRELS, "err", depth=2)
    assert result.notes[:3] == [
        "<file>: depth=2: 3 clicks below it ignored",
        "<file>: 1 list (1 session) with fewer than 2 documents left out",
        '<file>: 1 list (1 session) with a document that is not judged (unjudged="keep" counts them) left out',
    ]
    row = clicks.correlate(log_of(), QRELS, "err", unjudged="keep").frame.iloc[0]
    assert row["configurations"] == 5


def test_a_split_is_the_correlation_of_each_part() -> None:
    split = clicks.correlate(log_of(columns="long"), QRELS, "err", by="long").frame
    assert split["by"].drop_duplicates().tolist() == ["no", "yes"]
    for value in ("no", "yes"):
        rows = [line for line in LOG.splitlines()[1:] if line.endswith(value)]
        alone = clicks.correlate(log_of("\n".join([LOG.splitlines()[0], *rows]) + "\n"), QRELS, "err").frame
        part = split[split["by"] == value].drop(columns="by").reset_index(drop=True)
        assert part.equals(alone)


def test_deciles_group_topics_by_their_sessions() -> None:
    lines = [f"{topic}\t1\t{docnos}\t{topic + 1}" for topic in range(20) for docnos in ("a b", "b a")]
    log = log_of("topic\tclicks\tshown\tcount\n" + "\n".join(lines) + "\n")
    qrels = {str(topic): {"a": 1, "b": 0} for topic in range(20)}
    frame = clicks.correlate(log, qrels, "err", by="decile").frame.drop_duplicates("by")
    assert frame["by"].tolist() == [str(number) for number in range(1, 11)]
    assert frame["topics"].tolist() == [2] * 10
    assert frame["sessions"].tolist() == [2 * (4 * number - 1) for number in range(1, 11)]


def test_algorithm_3_draws_two_different_lists_of_each_topic_uniformly() -> None:
    topics = ["a", "a", "a", "b", "c", "c"]
    x = np.array([[0.0], [1.0], [10.0], [5.0], [0.0], [100.0]])
    correlations = paired_correlation(topics, x, np.concatenate([x, -x, x**2], axis=1), 4000, seed=0)
    assert correlations[0, :2] == pytest.approx([1, -1])
    # Of topic c the difference is ±100, of topic a one of six, all equally likely: their squares' are ±10000 and so on.
    pairs = [(p - q, p * p - q * q) for p, q in itertools.permutations([0, 1, 10], 2)]
    both = [(a + c, s + 100 * c) for (a, s) in pairs for c in (100, -100)]
    exact = np.corrcoef(np.array(both, dtype=float).T)[0, 1]
    assert correlations[0, 2] == pytest.approx(exact, abs=0.002)
    assert np.isnan(paired_correlation(["a", "b"], x[:2], x[:2], 10, seed=0)).all()


def test_pairs_depend_on_their_seed_and_not_on_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def pairs(seed: int) -> list[float]:
        result = clicks.correlate(log_of(), QRELS, "err ap", pairs=50, seed=seed)
        assert result.settings.startswith(
            f"50 pairs of engines, seed {seed} | 2 topics | 4 configurations | 9 sessions"
        )
        return [round(value, 12) for value in result.frame["correlation"]]

    whole = pairs(1)
    monkeypatch.setattr("gradedeval.clicks.click_measures.CELLS", 1)
    assert pairs(1) == whole != pairs(2)


@pytest.mark.skipif(not SESSION_TRACK.exists(), reason="no session track")
def test_the_session_track_gives_its_correlations() -> None:
    log, qrels = clicks.read_log(session_track()), Qrels(DATA / "clicks" / "qrels.txt")
    names = ["dcg(gain=exp)", "ndcg(gain=exp)@10", "ap(rel=3)", "rr(rel=3)", "err"]
    frame = clicks.correlate(log, qrels, names, depth=10).frame
    assert set(frame["configurations"]) == {329}
    assert set(frame["sessions"]) == {374}
    table = frame.pivot(index="measure", columns="clicks", values="correlation").loc[names]
    assert table["meanrr"].tolist() == pytest.approx([0.268, 0.228, 0.183, 0.224, 0.261], abs=5e-4)
    assert table["ss"].tolist() == pytest.approx([0.543, 0.507, 0.323, 0.382, 0.538], abs=5e-4)
    frame = clicks.correlate(log, qrels, ["dcg(gain=exp)", "err"], depth=5).frame
    assert {*frame["configurations"], *frame["sessions"]} == {325, 382}
    table = frame.pivot(index="measure", columns="clicks", values="correlation")
    assert table[["meanrr", "ss"]].to_numpy().ravel() == pytest.approx([0.266, 0.578, 0.246, 0.576], abs=5e-4)


# Figures of an independent program. Unjudged documents have grade 0 to its users, rbp and dcg have exp gains, ap and rr
# want the top grade, and lists of fewer than ten documents are left out.
NAMES = ["err(gain=0.05:0.3:0.7)", "err(gain=exp)", "rbp(p=0.8,gain=exp)", "dcg(gain=exp)", "rr(rel=2)", "ap(rel=2)"]
ERR, RBP = NAMES[0], NAMES[2]
TABLE = {
    ("cascade", "meanrr"): [0.9965, 0.9951, 0.897, 0.891, 0.947, 0.684],
    ("rbp", "qctr"): [0.895, 0.897, 0.993, 0.988, 0.850, 0.760],
    ("rbp", "maxrr"): [0.992, 0.987, 0.880, 0.874, 0.945, 0.684],
    ("dbn", "minrr"): [0.989, 0.986, 0.877, 0.873, 0.960, 0.695],
}
ENGINES = {ERR: 0.996, RBP: 0.890, "dcg(gain=exp)": 0.886}


@shared
@pytest.mark.exhaustive
def test_on_simulated_logs_the_measure_of_the_users_wins_and_reciprocal_ranks_favour_err() -> None:
    runs, qrels = COVID / "runs", Qrels(all_judged(COVID))
    items = Items([0.0, 1.0, 2.0], qrels)
    shares = {"attractiveness": [0.05, 0.3, 0.7, 0.5], "satisfaction": [0.1, 0.4, 0.8, 0.5], "gamma": 0.9}
    model = {name: np.array(value) for name, value in shares.items()}
    dbn = clicks.ClickModel(read_models("dbn")[0], items, model, np.zeros(3, dtype=np.int64))
    users = {"cascade": "err(gain=0.05:0.3:0.7)", "rbp": "rbp(p=0.8,gain=0.05:0.3:0.7)", "dbn": dbn}
    logs = {name: clicks.simulate(user, runs, qrels, sessions=200_000) for name, user in users.items()}
    assert {len(log.topics) for log in logs.values()} == {1440}

    def correlations(name: str, pairs: int | None = None) -> Any:
        frame = clicks.correlate(logs[name], qrels, NAMES, depth=10, pairs=pairs).frame
        assert set(frame["configurations"]) == {1435}  # five lists are shorter
        return frame.pivot(index="measure", columns="clicks", values="correlation").loc[NAMES]

    tables = {name: correlations(name) for name in users}
    for (name, click_measure), expected in TABLE.items():
        assert tables[name][click_measure].tolist() == pytest.approx(expected, abs=0.006), (name, click_measure)
    cascade, readers = tables["cascade"], tables["rbp"]
    assert cascade["meanrr"].idxmax() == ERR
    assert cascade["meanrr"].max() >= 0.99
    for same in ("maxrr", "minrr", "plc"):
        assert cascade[same].tolist() == pytest.approx(cascade["meanrr"].tolist(), rel=1e-12)
    assert readers["qctr"].idxmax() == RBP
    assert readers["qctr"].max() >= 0.98
    # Not in the paper: reciprocal ranks of clicks favour err even if no user stops.
    assert readers["maxrr"].idxmax() == tables["dbn"]["minrr"].idxmax() == ERR
    pairs = correlations("cascade", pairs=1000)["meanrr"]
    assert pairs.idxmax() == ERR
    assert {name: pairs[name] for name in ENGINES} == pytest.approx(ENGINES, abs=0.012)


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    (tmp_path / "log.tsv").write_text(LOG)
    lines = [f"{topic} 0 {docno} {grade}\n" for topic, grades in QRELS.items() for docno, grade in grades.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    return tmp_path


def test_the_commands_print_the_values_of_the_functions(cli: Command) -> None:
    outcome = cli("clicks", "measures", "log.tsv", "qrels.txt", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.text)))
    with pytest.warns():
        frame = clicks.measures(log_of(), QRELS).frame
    assert [float(row["meanrr"]) for row in rows] == pytest.approx(frame["meanrr"].tolist())
    table = cli("clicks", "measures", "log.tsv", "--quiet").text.splitlines()
    assert table[0].split() == ["topic", "list", "sessions", "qctr", "uctr", "maxrr", "meanrr", "minrr", "plc"]
    words = ("clicks", "correlate", "log.tsv", "qrels.txt", "-m", "err ap(rel=2)", "--quiet")
    split = clicks.correlate(log_of(columns="long"), QRELS, "err ap(rel=2)", by="long").frame
    rows = json.loads(cli(*words, "--by", "long", "-f", "json").text)["rows"]
    assert [row["correlation"] for row in rows] == [
        None if value != value else pytest.approx(value) for value in split["correlation"]
    ]
    text = cli(*words).text.splitlines()
    assert text[0].split() == ["measure", *("qctr", "uctr", "maxrr", "meanrr", "minrr", "ss", "plc")]
    assert [line.split()[0] for line in text[2:4]] == ["err", "ap(rel=2)"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["correlate", "log.tsv"], "expected a click log and qrels; usage: gradedeval clicks correlate LOG QRELS"),
        (["correlate", "log.tsv", "qrels.txt", "--by", "lang"], "log.tsv:1: no column 'lang'; did you mean 'long'?"),
        (["correlate", "log.tsv", "qrels.txt", "--seed", "1"], "--seed: applies to --pairs; add them"),
        (["gains", "log.tsv", "qrels.txt", "--from", "preferences", "--depth", "3"],
         "--depth: applies to click logs; leave it out"),
        (["measures", "qrels.txt", "log.tsv"],
         "log.tsv: is a click log; expected qrels; `gradedeval clicks` reads logs, before the qrels"),
        (["correlate", "log.tsv", "qrels.txt", "--depth", "9"],
         "log.tsv: no list is left: 6 lists (11 sessions) with fewer than 9 documents left out; give the qrels of "
         "its topics, or a smaller --depth"),
        (["measures"], "expected a click log, and perhaps qrels; usage: gradedeval clicks measures LOG [QRELS]"),
        (["measures", "bare.tsv"], "bare.tsv: no list is shown; add the column shown, the docnos from rank 1 on"),
    ],
)  # fmt: skip
def test_bad_arguments_have_a_message_of_one_line(words: list[str], message: str, cli: Command, files: Path) -> None:
    (files / "bare.tsv").write_text("topic\tclicks\np\t1\n")
    outcome = cli("clicks", *words)
    assert outcome.messages[-1:] == [message]
    assert outcome.code in (1, 2)
