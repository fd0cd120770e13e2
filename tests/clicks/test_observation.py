"""Observation model: the worked example and the tables of Zhang et al., and real logs."""

import io
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval import InputError, clicks
from gradedeval.clicks.log import ClickLog
from support.clicks import CLICKMODEL_WC, SESSION_TRACK, clickmodel_wc, session_track
from support.commands import Command
from support.paths import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # the tests of notes compare them

EXAMPLE = ROOT / "qrels_samples" / "zhang-clicks.tsv"


def log_of(lines: list[str], header: str = "topic clicks user") -> ClickLog:
    text = "\n".join([header.replace(" ", "\t"), *(line.replace(", ", "\t") for line in lines)])
    return clicks.read_log(io.BytesIO(f"{text}\n".encode()))


def observed(per: Any, name: str, **options: Any) -> list[float]:
    frame = clicks.observe(EXAMPLE, mu=2, per=per, **options).frame
    return list(frame[frame[frame.columns[0]] == name]["observed"])


GLOBAL = [1, 0.9, 0.8, 0.5, 0.3, 0.2, 0.1]
SMOOTHED = [1, 0.725, 0.45, 0.375, 0.2, 0.175, 0.025]


def test_the_example_has_the_gaps_and_pages_of_the_paper() -> None:
    observation = clicks.observe(EXAMPLE)
    assert observation.gaps.tolist() == pytest.approx(GLOBAL, abs=1e-15)
    assert observation.pages is not None
    assert observation.pages.share[0] == pytest.approx(860 / 1860, abs=1e-15)


def test_table_1_smooths_the_gaps_of_the_example_s_user() -> None:
    """Check that the gaps give the probabilities after a last click on rank 6, without pages."""
    assert observed("query", "A", page=0, ranks=13)[6:] == pytest.approx(SMOOTHED, abs=1e-12)


@pytest.mark.parametrize(
    ("per", "name", "first", "values"),
    [
        ("query", "A", 7, "1 0.725 0.45 0.375 0.092473 0.080914 0.011559"),
        ("query", "B", 11, "0.462366 0.335215 0.208065 0.173387 0.092473 0.080914 0.011559"),
        ("user", "ann", 8, "0.8625 0.725 0.6875 0.277419 0.208065 0.109812 0.086694 0.046237 0.040457 0.00578"),
    ],
)
def test_figure_1_is_the_example_s_observation_model(per: str, name: str, first: int, values: str) -> None:
    weights, expected = observed(per, name, ranks=17), [1.0] * (first - 1) + list(map(float, values.split()))
    assert weights[: len(expected)] == pytest.approx(expected, abs=5e-7)
    if per == "user":
        assert sum(weights) == pytest.approx(10.049462, abs=5e-7)


def test_table_2_follows_from_its_counts() -> None:
    counts = [8793770, 35014, 2001, 224, 265, 1]
    log = log_of([f"q, {10 * page + 5}, {count}" for page, count in enumerate(counts)], "topic clicks count")
    pages = clicks.observe(log).pages
    assert pages is not None
    assert pages.last.tolist() == counts
    assert pages.reached.tolist() == [8831275, 37505, 2491, 490, 266, 1]
    assert [f"{share:.4f}" for share in pages.share] == ["0.0042", "0.0664", "0.1967", "0.5429", "0.0038", "0.0000"]


def observe_by_session(log: ClickLog, mu: float, page: int, ranks: int, drop: bool) -> list[float]:
    """Return the observation model, session by session, by the formulas of the specification and the paper."""
    sessions: list[tuple[Any, tuple[int, ...]]] = []
    for row, count in enumerate(log.count.tolist()):
        user = -1 if log.user is None else int(log.user[row])
        for index in range(count):
            name = (row, index) if user < 0 else user
            sessions.append((name, log.patterns[int(log.pattern[row])]))
    gaps = [[b - a for a, b in itertools.pairwise((0, *ranks))] for _, ranks in sessions]
    every = [gap for some in gaps for gap in some]

    def at_least(some: list[int], i: int) -> float:
        return sum(gap >= i for gap in some) / len(some)

    def page_of(rank: int) -> int:
        return max(1, -(-rank // page)) if page else 1

    reached = {p: sum(bool(r) and page_of(r[-1]) >= p for _, r in sessions) for p in range(1, 99)}
    last_page = max(p for p, count in reached.items() if count)
    total, users = np.zeros(ranks), 0
    for user in dict.fromkeys(name for name, _ in sessions):
        indexes = [index for index, (name, _) in enumerate(sessions) if name == user]
        user_gaps = [gap for index in indexes for gap in gaps[index]]
        alpha = len(user_gaps) / (len(user_gaps) + mu) if user_gaps else 0.0
        rows = []
        for index in indexes:
            last = sessions[index][1][-1] if sessions[index][1] else 0
            row = []
            for i in range(1, ranks + 1):
                if i <= last:
                    row.append(1.0)
                    continue
                lists = [gaps[number] for number in indexes if gaps[number]]
                mine = sum(at_least(some, i - last) for some in lists) / len(lists) if user_gaps else 0.0
                page_number = min(page_of(i), last_page)
                kept = reached[page_number] * 1e-8 ** (page_of(i) - page_number) / reached[page_of(last)]
                row.append((alpha * mine + (1 - alpha) * at_least(every, i - last)) * kept)
            if last or not drop:
                rows.append(row)
        if rows:
            total, users = total + np.mean(rows, axis=0), users + 1
    return list(total / users)


@pytest.mark.parametrize("mu", [0.0, 5.0])
@pytest.mark.parametrize("page", [0, 3])
def test_the_model_agrees_with_sessions_one_by_one(mu: float, page: int) -> None:
    draw = np.random.default_rng(7)
    lines = []
    for _ in range(60):
        ranks = sorted(set(draw.integers(1, 9, draw.integers(0, 4)).tolist()))
        lines.append(f"q{draw.integers(3)}, {' '.join(map(str, ranks)) or '-'}, {draw.choice(['', 'a', 'b', 'c'])}")
    log = log_of(lines)
    for drop in (False, True):
        observation = clicks.observe(log, mu=mu, page=page, ranks=12, clickless="drop" if drop else "count")
        expected = observe_by_session(log, mu, page, 12, drop)
        assert observation.frame["observed"].tolist() == pytest.approx(expected, rel=1e-12)
        assert observation.weights.sum() == pytest.approx(1)


def test_the_size_of_the_parts_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for per in (None, "query", "user"):
        whole = clicks.observe(EXAMPLE, per=per).frame
        monkeypatch.setattr("gradedeval.clicks.observation.CELLS", 1)
        part = clicks.observe(EXAMPLE, per=per).frame
        assert np.allclose(whole["observed"], part["observed"], rtol=1e-14)
        monkeypatch.undo()


def test_ranks_1_and_2_are_equal_only_without_clickless_sessions() -> None:
    log = log_of(["q, 1, ", "q, -, "])
    assert clicks.observe(log, clickless="drop", ranks=3).weights.tolist() == pytest.approx([0.5, 0.5, 0])
    assert clicks.observe(log, ranks=3).weights.tolist() == pytest.approx([2 / 3, 1 / 3, 0])


@pytest.mark.skipif(not CLICKMODEL_WC.exists(), reason="no clickmodel_wc")
def test_clickmodel_wc_gives_its_figures() -> None:
    log = clicks.read_log(clickmodel_wc("train_data", "test_data"))
    observation = clicks.observe(log)
    assert log.sessions == 8809
    assert int((log.clicks[log.pattern] * log.count).sum()) == 9495
    assert int(log.count[log.clicks[log.pattern] == 0].sum()) == 2928
    gaps = [1, 0.3737, 0.2045, 0.1189, 0.0669, 0.0422, 0.0251, 0.0158, 0.0067, 0.0024]
    weights = [0.2670, 0.2114, 0.1427, 0.1089, 0.0815, 0.0614, 0.0463, 0.0353, 0.0262, 0.0193]
    assert observation.gaps.tolist() == pytest.approx(gaps, abs=5e-5)
    assert observation.weights.tolist() == pytest.approx(weights, abs=5e-5)


@pytest.mark.skipif(not SESSION_TRACK.exists(), reason="no session track")
def test_the_session_track_gives_its_figures() -> None:
    log = clicks.read_log(session_track())
    observation = clicks.observe(log)
    assert (log.sessions, len(log.users)) == (399, 133)
    assert sorted(set(log.lengths.tolist()))[:: len(set(log.lengths.tolist())) - 1] == [6, 49]
    assert [note.rpartition("in ")[2] for note in log.notes] == ["19 sessions", "36 sessions"]
    assert observation.pages is not None
    assert observation.pages.last.tolist() == [219, 20, 4, 4, 2]
    assert observation.gaps[:5].tolist() == pytest.approx([1, 0.5125, 0.3190, 0.2151, 0.1487], abs=5e-5)


def test_the_command_writes_weights_for_measures(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(EXAMPLE.read_bytes())
    outcome = cli("clicks", "observe", "log.tsv", "-o", "weights.csv", "--ranks", "20")
    assert (outcome.code, outcome.out) == (0, b"")
    assert outcome.messages == [
        "93 sessions | 0 without a click counted | 1 user | 220 clicks | mu 5 | 10 ranks a page | gaps by session | "
        "sum 1 over 20 ranks"
    ]
    (tmp_path / "run").write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n")
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    weight = clicks.observe(EXAMPLE, ranks=20).weights[1]
    score = json.loads(cli("run", "qrels", "-m", "wp(file=weights.csv)", "-f", "json").text)["rows"][0]["score"]
    assert score == pytest.approx(weight)
    document = json.loads(cli("clicks", "observe", "log.tsv", "-f", "json").text)
    assert document["gaps"] == pytest.approx(GLOBAL)
    assert [page["last_clicks"] for page in document["pages"]] == [50, 43]
    assert "P(gap >= it)" in cli("clicks", "observe", "log.tsv", "-f", "table").text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mu", "-1"], "--mu: -1 is too small; it must be at least 0"),
        (["--per", "user"], "--per user: log.tsv has no users; add the column user"),
        (["log.tsv"], "2 files, expected a click log; usage: gradedeval clicks observe LOG"),
    ],
)
def test_wrong_usage_has_a_message_of_one_line(words: list[str], message: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("topic\tclicks\nq\t1\n")
    outcome = cli("clicks", "observe", "log.tsv", *words)
    assert (outcome.code, outcome.messages) == (2, [message])


def test_a_log_without_a_click_is_refused() -> None:
    with pytest.raises(InputError, match="no click in any session; nothing can be observed without clicks"):
        clicks.observe(log_of(["q, -, "]))
