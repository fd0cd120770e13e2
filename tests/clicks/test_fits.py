"""Fits of rank weights to the ranks that users examine: Zhang et al., tables 3 to 5."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gradedeval import InputError, clicks, fit_weights, weights
from support.clicks import CLICKMODEL_WC, SESSION_TRACK, clickmodel_wc, session_track
from support.commands import Command
from support.paths import DATA, ROOT, shared

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # the tests of notes compare them

EXAMPLE = ROOT / "qrels_samples" / "zhang-clicks.tsv"
GEOMETRIC, POISSON, ZIPF, LOGHARMONIC = "rbp", "poisson", "zipf", "logharmonic"


def fit_families(log: Any, measures: str | None = None, **options: Any) -> dict[str, tuple[float, float]]:
    """Return the parameter and the divergence of each family, the nearest first."""
    frame = clicks.fit(log, measures, **options).frame
    return {
        row.measure.partition("(")[0]: (row.value, row.divergence)  # type: ignore[union-attr]
        for row in frame.itertuples()
    }


@pytest.mark.exhaustive
@pytest.mark.skipif(not CLICKMODEL_WC.exists(), reason="no clickmodel_wc")
def test_on_clickmodel_wc_the_verdict_depends_on_the_scaling() -> None:
    log = clicks.read_log(clickmodel_wc("train_data", "test_data"))
    observation = clicks.observe(log)
    others = "poisson(alpha=2.36..2.37..0.001) zipf(beta=0.93..0.94..0.001)@10 logharmonic(b=2..4)@10"
    scaled = fit_families(observation, f"rbp(p=0.74..0.75..0.001) {others}")
    plain = fit_families(observation, f"rbp(p=0.7..0.71..0.001) {others}", normalize="none")
    assert next(iter(scaled)) == GEOMETRIC
    assert next(iter(plain)) == ZIPF
    assert scaled[GEOMETRIC] == pytest.approx((0.745, 0.0005), abs=6e-4)
    assert scaled[POISSON] == pytest.approx((2.367, 0.299), abs=6e-4)
    for fits in (scaled, plain):
        assert fits[ZIPF] == pytest.approx((0.934, 0.0263), abs=6e-5)
        assert fits[LOGHARMONIC] == pytest.approx((2, 0.0592), abs=6e-5)
    assert plain[GEOMETRIC] == pytest.approx((0.703, 0.0394), abs=6e-5)
    assert plain[POISSON] == pytest.approx((2.365, 0.299), abs=6e-4)
    for options, near, expected in (
        ({"mu": 0, "normalize": "none"}, "0.708..0.71..0.0001", (0.7091, 0.0487)),
        ({"mu": 1, "normalize": "none"}, "0.704..0.706..0.0001", (0.7053, 0.0422)),
        ({"clickless": "drop"}, "0.777..0.779..0.0001", (0.7785, 0.0037)),
    ):
        fits = fit_families(log, f"rbp(p={near})", precision=0.0001, **options)  # type: ignore[arg-type]
        assert fits[GEOMETRIC] == pytest.approx(expected, abs=6e-5)


@pytest.mark.skipif(not SESSION_TRACK.exists(), reason="no session track")
def test_on_the_session_track_the_geometric_is_nearest() -> None:
    near = "rbp(p=0.88..0.89..0.001) poisson(alpha=7.7..7.72..0.001)"
    near += " zipf(beta=1.01..1.02..0.001)@50 logharmonic(b=2..4)@50"
    fits = fit_families(session_track(), near, normalize="none", ranks=50)
    assert list(fits) == [GEOMETRIC, ZIPF, LOGHARMONIC, POISSON]
    assert fits[GEOMETRIC] == pytest.approx((0.885, 0.0546), abs=6e-5)
    assert fits[ZIPF] == pytest.approx((1.013, 0.127), abs=6e-4)
    assert fits[LOGHARMONIC] == pytest.approx((2, 0.364), abs=6e-4)
    assert fits[POISSON] == pytest.approx((7.71, 3.11), abs=6e-3)


@pytest.mark.exhaustive
def test_the_search_equals_fit_weights() -> None:
    observation = clicks.observe(EXAMPLE)
    for scale in ("sum", "none"):
        ours = clicks.fit(observation, "rbp(p=0.9..0.92)", normalize=scale).frame.iloc[0]  # type: ignore[arg-type]
        theirs = fit_weights(observation.weights, "rbp(p=0.9..0.92)", normalize=scale).frame.iloc[0]  # type: ignore[arg-type]
        assert (ours["value"], ours["divergence"]) == (theirs["value"], theirs["divergence"])


@pytest.mark.exhaustive
def test_printed_measures_are_notation() -> None:
    observation = clicks.observe(EXAMPLE)
    for scale in ("sum", "none"):
        frame = clicks.fit(observation, "rbp(p=0.9..0.92) rbp(p=0.8)", normalize=scale).frame  # type: ignore[arg-type]
        assert frame["scaled"].tolist() == [scale == "sum"] * 2
        for row in frame.to_dict("records"):
            again = clicks.fit(observation, row["measure"], normalize=scale).frame  # type: ignore[arg-type]
            assert again["divergence"].tolist() == [row["divergence"]]


def test_weights_that_leave_out_a_rank_are_infinitely_far() -> None:
    observation = clicks.observe(EXAMPLE, ranks=4)
    table = pd.DataFrame({"rank": [1, 2, 3, 4], "flat": [1.0] * 4, "top": [1.0, 1.0, 0.0, 0.0]})
    fits = clicks.fit(observation, [], weights=table)
    assert fits.frame["measure"].tolist() == ["flat", "top"]
    assert fits.frame["divergence"].tolist() == [pytest.approx(0, abs=1e-12), float("inf")]
    assert fits.notes == ["top: infinitely far, because users examine rank 3, which weighs nothing"]


@shared
@pytest.mark.exhaustive
def test_tables_4_and_5_compare_with_background_weights(tmp_path: Path) -> None:
    runs, qrels = DATA / "covid-round1/runs", DATA / "covid-round1/qrels.txt"
    background = weights("ap rr", runs, qrels, normalize="sum")
    frame = pd.DataFrame(background.rows, columns=["rank", "ap", "rr"])
    for name, expected in (("rr", (0.436, 0.309)), ("ap", (0.997, 0.105))):
        row = fit_weights(frame[name].tolist(), "rbp(p=0.05..0.999)").frame.iloc[0]
        assert (row["value"], row["divergence"]) == pytest.approx(expected, abs=6e-4)
    fits = clicks.fit(EXAMPLE, [], weights=frame, ranks=17).frame
    assert fits["measure"].tolist() == ["ap", "rr"]


def test_the_command_prints_the_nearest_first(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_bytes(EXAMPLE.read_bytes())
    families = "rbp(p=0.8..0.99..0.01) zipf(beta=0.2..2..0.1)@20 logharmonic(b=2..20)@20"
    outcome = cli("clicks", "fit", "log.tsv", "--ranks", "20", "-m", families)
    lines = outcome.text.splitlines()
    assert (outcome.code, outcome.messages) == (0, [])
    assert lines[0].split() == ["measure", "KL", "(nats)", "within", "0.001", "covered"]
    distances = [float(line.split()[1]) for line in lines[2:5]]
    assert distances == sorted(distances)
    assert lines[6] == "weights scaled to sum 1 over 20 ranks, as the observation is"
    (tmp_path / "w.csv").write_text("rank,ap\n1,0.5\n2,0.5\n")
    far = cli("clicks", "fit", "log.tsv", "--weights", "w.csv", "--ranks", "3")
    assert far.messages == ["ap: infinitely far, because users examine rank 3, which weighs nothing"]
    assert far.text.splitlines()[2].split()[:2] == ["ap", "inf"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "dcg(p=0.1..0.2)"], "'dcg': unknown parameter 'p'; it takes log, gain, rel"),
        (["-m", "ap"], "ap has no fixed rank weights: they depend on the ranking; give its weights over runs with "
                       "--weights, as `gradedeval weights RUN... QRELS -m ap` writes them"),
        (["--weights", "none.csv"], "none.csv: no such file; check the path"),
    ],
)  # fmt: skip
def test_measures_without_a_fit_have_a_message_of_one_line(
    words: list[str], message: str, cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "log.tsv").write_bytes(EXAMPLE.read_bytes())
    assert cli("clicks", "fit", "log.tsv", *words).messages == [message]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("words", "measures"),
    [
        (["-m", "dcg rbp(p=0.5..0.9..0.1)"], ["rbp(p=0.5)@3", "dcg@3"]),
        ([], ["zipf(beta=0.934)@50", "logharmonic(b=2)@50", "rbp(p=0.05)@3", "poisson(alpha=0.1)@3"]),
        (["-m", "dcg@4 rbp(p=0.5..0.9..0.1)"], ["rbp(p=0.5)@3", "dcg@4"]),
        (["-m", "p"], ["p@3"]),  # which needs a cutoff
    ],
)
def test_k_cuts_measures_ranges_and_families(words: list[str], measures: list[str], cli: Command) -> None:
    outcome = cli("clicks", "fit", str(EXAMPLE), "-k", "3", "-f", "json", *words)
    assert [row["measure"] for row in json.loads(outcome.text)["rows"]] == measures
    assert not [message for message in outcome.messages if message.startswith("-k 3:")]


def test_a_note_names_the_measures_that_k_does_not_cut(cli: Command) -> None:
    outcome = cli("clicks", "fit", str(EXAMPLE), "-k", "3", "-m", "p@50 rbp(p=0.5..0.9..0.1)@50")
    assert outcome.messages[0].startswith("-k 3: no measure here uses it (rbp(p=0.5..0.9..0.1)@50, p@50)")


def test_a_model_of_each_user_is_not_fitted() -> None:
    with pytest.raises(InputError, match="per: weights are fitted to one model of all; leave it out"):
        clicks.fit(EXAMPLE, per="user")


@pytest.mark.exhaustive
@pytest.mark.skipif(not CLICKMODEL_WC.exists(), reason="no clickmodel_wc")
def test_the_search_over_whole_ranges_finds_the_same() -> None:
    fits = fit_families(clickmodel_wc("train_data", "test_data"))
    assert list(fits) == [GEOMETRIC, ZIPF, LOGHARMONIC, POISSON]
    assert [value for value, _ in fits.values()] == [0.745, 0.934, 2, 2.367]
