"""Click models: against an enumeration of the ranks that users examine, published fits, and logs of known users."""

import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradedeval import EvaluationWarning, InputError, Qrels, clicks
from gradedeval.clicks.click_models import Items, model_text
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.model_kinds import KINDS, Cells, read_models, smooth_examination
from support.clicks import clickmodel_wc
from support.examples import sampled
from support.paths import DATA, shared

TOPICS = [f"q{number}" for number in range(12)]
EM = ("dbn", "dbn(gamma=fit)", "ccm", "reader", "reader(p=0.6)", "pbm", "ubm")


def log_of(sessions: dict[tuple[str, str, tuple[int, ...]], int]) -> ClickLog:
    """Return a log from the number of sessions by topic, shown docnos and clicked ranks."""
    lists = list(dict.fromkeys((topic, tuple(docnos.split())) for topic, docnos, _ in sessions))
    patterns = list(dict.fromkeys(ranks for *_, ranks in sessions))
    of_list = [lists.index((topic, tuple(docnos.split()))) for topic, docnos, _ in sessions]
    of_pattern = [patterns.index(ranks) for *_, ranks in sessions]
    columns = (np.array(column, dtype=np.int64) for column in (of_list, of_pattern, [*sessions.values()]))
    return ClickLog([topic for topic, _ in lists], [docnos for _, docnos in lists], patterns, *columns)


@pytest.fixture(scope="module")
def judged() -> Qrels:
    """Return the qrels of 12 topics: 8 documents of the grades 0, 1 and 2, and an unjudged one."""
    generator = np.random.default_rng(5)
    grades = generator.integers(0, 3, size=(12, 8))
    return Qrels({t: {f"d{d}": int(g) for d, g in enumerate(row)} for t, row in zip(TOPICS, grades, strict=True)})


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    """Return five runs of different lengths that rank the nine documents at random."""
    generator = np.random.default_rng(6)
    listed = {topic: [generator.permutation(9)[: 5 + number] for number in range(5)] for topic in TOPICS}
    return {f"r{n}": {t: {f"d{d}": -i for i, d in enumerate(listed[t][n])} for t in TOPICS} for n in range(5)}


def known_model(name: str, qrels: Qrels, **parameters: Any) -> clicks.ClickModel:
    """Return a model with parameters for the grades 0, 1, 2 and for unjudged documents."""
    shares = {key: np.append(value, 0.5) for key, value in parameters.items() if len(np.atleast_1d(value)) == 4}
    others = {key: np.array(value) for key, value in parameters.items() if key not in shares}
    items = Items([0.0, 1.0, 2.0, None], qrels)
    return clicks.ClickModel(read_models(name)[0], items, shares | others, np.zeros(4, dtype=np.int64))


A, S = (0.05, 0.3, 0.7, 0.2), (0.1, 0.4, 0.8, 0.5)
DOWN = (0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3)
KNOWN: dict[str, dict[str, Any]] = {
    "dbn(gamma=fit)": {"attractiveness": A, "satisfaction": S, "gamma": 0.9},
    "sdbn": {"attractiveness": A, "satisfaction": S},
    "cm": {"attractiveness": A},
    "reader": {"attractiveness": A, "p": 0.8},
    "dcm": {"attractiveness": A, "continuation": DOWN},
    "pbm": {"attractiveness": A, "examination": [1, 0.7, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1]},
}


def test_examination_equals_an_enumeration_of_last_ranks() -> None:
    generator = np.random.default_rng(1)
    clicked = np.array(list(product([False, True], repeat=5))).T
    a, after_click, after_skip = generator.random((3, *clicked.shape))
    smoothed, chances = smooth_examination(clicked, a, after_click, after_skip)
    # (last rank examined, ranks, columns): the probability of the clicks, and of stopping there.
    whole = np.zeros((6, clicked.shape[1]))
    for last in range(1, 6):
        chance = np.where(clicked, a, 1 - a)[:last].prod(0) * ~clicked[last:].any(0)
        on = np.where(clicked, after_click, after_skip)
        whole[last] = chance * on[: last - 1].prod(0) * (1 - on[last - 1] * (last < 5))
    posterior = whole[::-1].cumsum(0)[::-1][1:] / whole.sum(0)
    assert np.allclose(smoothed[:5], posterior, rtol=0, atol=1e-12)
    assert np.allclose(np.where(clicked, chances, 1 - chances).prod(0), whole.sum(0), rtol=1e-12, atol=0)


def test_the_chances_of_all_patterns_sum_to_1_and_to_the_chance_of_each_rank(judged: Qrels) -> None:
    clicked = np.array(list(product([False, True], repeat=5))).T
    item = np.tile(np.array([[0], [2], [1], [3], [2]]), (1, clicked.shape[1]))
    cells = Cells(item, clicked, np.ones(clicked.shape[1], dtype=np.int64), 4)
    more: dict[str, dict[str, Any]] = {
        "ccm": {"attractiveness": A, "tau1": 0.8, "tau2": 0.6, "tau3": 0.3},
        "dcm": {"attractiveness": A, "continuation": [0.9, 0.8, 0.7]},
        "ubm": {"attractiveness": A, "examination": np.random.default_rng(2).random((5, 5))},
        "ctr": {"attractiveness": A},
    }
    for name, parameters in (KNOWN | more).items():
        model = known_model(name, judged, **parameters)
        chance = model.spec.kind.conditional(model.parameters, cells)
        whole = np.where(clicked, chance, 1 - chance).prod(0)
        assert whole.sum() == pytest.approx(1, abs=1e-12), name
        rates = model.spec.kind.marginal(model.parameters, cells)[:, 0]
        assert np.allclose((whole * clicked).sum(1), rates, rtol=0, atol=1e-12), name


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EM)
def test_the_log_likelihood_never_falls(name: str, judged: Qrels, runs: dict[str, Any]) -> None:
    log = clicks.simulate("rbp(p=0.7,gain=0.1:0.4:0.8)", runs, judged, sessions=3_000, seed=4)
    for options in ({}, {"qrels": judged, "tie": "grade"}):
        model = clicks.models(log, name, prior=0, iterations=30, **options)[name]
        assert len(model.log_likelihood) == 31
        assert (np.diff(model.log_likelihood) >= -1e-9 * abs(model.log_likelihood[0])).all()
        assert model.log_likelihood[-1] == pytest.approx(model.predicts(log).ll_session * 3_000, rel=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", sampled([name for name in KNOWN if name != "sdbn"], 3)
)  # without sdbn: its closed form is no maximum
def test_fits_recover_the_parameters_of_known_users(name: str, judged: Qrels, runs: dict[str, Any]) -> None:
    true = known_model(name, judged, **KNOWN[name])
    log = clicks.simulate(true, runs, judged, sessions=200_000, seed=2)
    fitted = clicks.models(log, name, qrels=judged, tie="grade", prior=0, iterations=100)[name]
    assert np.allclose(fitted.parameters["attractiveness"][:4], A, rtol=0, atol=0.01)
    if "satisfaction" in true.parameters:
        assert np.allclose(fitted.parameters["satisfaction"][1:3], S[1:3], rtol=0, atol=0.01)
    if true.spec.kind.number:
        assert fitted.number == pytest.approx(true.number, abs=0.005)
    if name == "pbm":
        assert np.allclose(fitted.parameters["examination"], true.parameters["examination"], rtol=0, atol=0.007)
    if name == "dcm":  # at rank 9 the list ends
        assert np.allclose(fitted.parameters["continuation"][:7], DOWN[:7], rtol=0, atol=0.01)


def test_closed_forms_by_hand() -> None:
    log = log_of({("q", "a b c", (2,)): 2, ("q", "a b c", (1, 2)): 1, ("q", "b a", ()): 1})
    with pytest.warns(EvaluationWarning, match="cm: some sessions cannot be"):
        fitted = clicks.models(log, "ctr cm sdbn", prior=0)
    attractiveness = {name: dict(zip(model.items.names, model.parameters["attractiveness"].tolist(), strict=False))
          for name, model in fitted.models.items()}  # fmt: skip
    a, b, c = (("q", docno) for docno in "abc")
    assert attractiveness["ctr"] == {a: 1 / 4, b: 3 / 4, c: 0}
    assert attractiveness["cm"] == {a: 1 / 4, b: 2 / 3, c: 0.5}  # c was never reached
    assert attractiveness["sdbn"] == {a: 1 / 4, b: 3 / 4, c: 0.5}
    assert fitted["sdbn"].parameters["satisfaction"].tolist() == [0, 1, 0.5, 0.5]
    assert fitted["sdbn"].relevance.tolist() == [0, 3 / 4, 0.25]
    assert sorted(fitted["sdbn"].parameters) == ["attractiveness", "satisfaction"]
    assert fitted["sdbn"].ranks is None
    assert fitted["sdbn"].seen.tolist() == [4, 4, 3]
    again = clicks.models(log, "sdbn")["sdbn"].parameters["attractiveness"]
    assert again.tolist() == [2 / 6, 4 / 6, 0.5, 0.5]


def test_users_of_dcm_stop_by_rank_and_not_by_document() -> None:
    # By hand: after the click at rank 1 all users go on or none, and every look at b is a click.
    for clicked, goes_on in (((1, 2), 1), ((1,), 0)):
        model = clicks.models(log_of({("q", "a b", clicked): 4, ("q", "b", (1,)): 4}), "dcm", prior=0)["dcm"]
        assert sorted(model.parameters) == ["attractiveness", "continuation"]
        assert model.parameters["continuation"].tolist() == pytest.approx([goes_on, 0.5], abs=0.02)
        assert model.relevance.tolist() == pytest.approx([1, 1], abs=0.02)


@pytest.mark.exhaustive
def test_models_of_products_fix_examination_of_rank_1_at_1(judged: Qrels, runs: dict[str, Any], tmp_path: Any) -> None:
    looks = np.tril(np.random.default_rng(5).uniform(0.2, 0.9, (9, 9)))
    looks[0, 0] = 1
    true = known_model("ubm", judged, attractiveness=A, examination=looks)
    log = clicks.simulate(true, runs, judged, sessions=100_000, seed=3)
    model = clicks.models(log, "ubm", qrels=judged, tie="grade", prior=0, iterations=100)["ubm"]
    assert model.parameters["examination"][0, 0] == 1
    assert np.allclose(model.parameters["attractiveness"][:4], A, rtol=0, atol=0.015)
    assert np.allclose(model.parameters["examination"][:3, 0], looks[:3, 0], rtol=0, atol=0.05)
    for name in ("pbm", "ubm"):
        by_grade = clicks.models(log, name, qrels=judged, tie="grade")
        expected = by_grade[name].parameters["attractiveness"][:3]
        assert by_grade.relevance()["gain"].to_numpy()[:3] == pytest.approx(expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learned = clicks.gains(log, judged, model=name)
        assert learned.values == pytest.approx(expected)
        by_document = clicks.models(log, name)
        assert by_document[name].parameters["examination"].flat[0] == 1
        assert by_document.relevance()["gain"].to_numpy() == pytest.approx(
            by_document[name].parameters["attractiveness"][:-1]
        )
    assert by_document.frame.query("measure == 'examination'").empty  # ubm has one for each last click
    rows = clicks.models(log, "pbm").frame.query("measure == 'examination'")
    assert rows["value"].iloc[0] == 1


def test_a_second_click_is_impossible_to_the_cascade_model_unless_a_floor_is_given() -> None:
    log = log_of({("q", "a b", (1,)): 1, ("q", "a b", (1, 2)): 1})
    with pytest.warns(EvaluationWarning, match=r"cm: some sessions cannot be .* -inf; floor=1e-6"):
        assert clicks.models(log, "cm").predictions["cm"].ll_session == -np.inf
    with pytest.warns(EvaluationWarning, match="floor: probabilities below 1e-06 were raised"):
        floored = clicks.models(log, "cm", floor=1e-6).predictions["cm"]
    assert floored.ll_session == pytest.approx(np.log(3 / 4) + np.log(1e-6) / 2)


def test_perplexity_and_likelihood_by_hand() -> None:
    log = log_of({("q", "a b", (1,)): 3, ("q", "a", ()): 1})
    test = log_of({("q", "a z", (2,)): 1, ("q", "a", (1,)): 1})
    with pytest.warns(EvaluationWarning, match="1 of 3 documents shown are not in <log>; they have the parameters of"):
        fitted = clicks.models(log, "ctr", prior=0, test_log=test)
    prediction = fitted.predictions["ctr"]
    assert prediction.ll_session == pytest.approx((np.log(1 / 4) + np.log(1 / 2) + np.log(3 / 4)) / 2)
    assert prediction.ll_rank == pytest.approx(((np.log(1 / 4) + np.log(1 / 2)) / 2 + np.log(3 / 4)) / 2)
    assert prediction.by_rank == pytest.approx([(3 / 16) ** -0.5, 2])
    assert prediction.mean("by_rank") == pytest.approx(((3 / 16) ** -0.5 + 2) / 2)
    assert prediction.by_click == pytest.approx([4 / 3, 2])
    assert prediction.by_skip[0] == pytest.approx(4)
    assert np.isnan(prediction.by_skip[1])
    assert (prediction.unseen, prediction.shown) == (1, 3)


def test_a_counted_session_equals_repeated_sessions() -> None:
    once = {("q", "a b", (1,)): 2, ("q", "b a", (2,)): 3}
    log, counted = log_of(once), clicks.models(log_of(once), "dbn ubm")
    rows = np.repeat(np.arange(2), log.count)
    each = ClickLog(log.topics, log.shown, log.patterns, log.configuration[rows], log.pattern[rows], np.ones(5, int))
    assert clicks.models(each, "dbn ubm").frame.equals(counted.frame)


def test_a_model_in_a_file_is_the_same_model(judged: Qrels, tmp_path: Any) -> None:
    log = log_of({("q", "a b", (1,)): 2, ("p", "b a c", (2, 3)): 3})
    for name in KINDS:
        for options in ({}, {"tie": "grade", "qrels": Qrels({"q": {"a": 1}, "p": {"a": 0}})}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EvaluationWarning)
                model = clicks.models(log, name, **options)[name]
            path = tmp_path / "model.json"
            path.write_text(model_text(model))
            again = clicks.read_model(path)
            assert str(again) == str(model)
            assert list(again.items.names) == list(model.items.names)
            assert again.seen.tolist() == model.seen.tolist()
            for key in again.parameters:
                assert again.parameters[key].tolist() == model.parameters[key].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "model.json:1: is not valid JSON (Expecting property name"),
        (
            '{"model": "ctr", "tie": "grade", "attractiveness": {"1": 1' + "0" * 400 + "}}",
            "its parameters are not numbers",
        ),
        ("[]", "is not a click model"),
        ('{"model": "cm", "tie": "x"}', "tie 'x' is not document or grade"),
        ('{"model": "dbn", "attractiveness": {}}', "no 'satisfaction', which dbn has"),
        ('{"model": "cm", "attractiveness": {"q": 3}}', "its parameters are not numbers by name"),
        ('{"model": "cm", "attractiveness": {"q": {"a": 3}}}', "a value of 'attractiveness' is not from 0 to 1"),
    ],
)
def test_a_bad_file_of_a_model_has_a_clear_message(text: str, message: str, tmp_path: Any) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        clicks.read_model(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dbnn", "'dbnn': is not a click model; did you mean 'dbn'?"),
        ("dbn@10", "'dbn@10': a click model has no cutoff; depth cuts the lists"),
        ("dbn(p=0.5)", "'dbn(p=0.5)': no parameter 'p'; its parameter is gamma"),
        ("ubm(p=0.5)", "'ubm(p=0.5)': no parameter 'p'; it has no parameters"),
        ("dbn(gamma=2)", "invalid value of gamma; give a number above 0, at most 1, or fit to estimate it"),
        ("", "models: no click model given"),
    ],
)
def test_a_bad_name_of_a_model_has_a_clear_message(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        clicks.models(log_of({("q", "a", ()): 1}), name)
    assert message in str(caught.value)


def test_models_need_lists() -> None:
    with pytest.raises(InputError, match="no list is shown; add the column shown"):
        clicks.models(log_of({("q", "", (1,)): 1}), "cm")
    with pytest.warns(EvaluationWarning, match="2 sessions without a shown list left out"):
        clicks.models(log_of({("q", "", (1,)): 2, ("q", "a", (1,)): 1}), "ctr")


# The published fit of clickmodel_wc, and figures of the other models on its test sessions.

FIGURES = {
    "ctr": (-3.4056, 1.422544),
    "pbm": (-2.6312, 1.322640),
    "dcm": (-3.1804, 1.394050),
    "sdbn": (-3.2207, 1.398951),
    "dbn(gamma=0.9)": (-2.6875, 1.333329),
    "dbn(gamma=fit)": (-2.5834, 1.318515),
    "ubm": (-2.5062, 1.307599),
    "ccm": (-2.5716, 1.316588),
}


def clickmodel_log(part: str) -> ClickLog:
    file = clickmodel_wc(part)
    file.name = part  # type: ignore[attr-defined]
    return replace(clicks.read_log(file), notes=[])


@pytest.mark.exhaustive
@shared
def test_clickmodel_wc_and_the_published_dbn() -> None:
    with pytest.warns(EvaluationWarning, match="798 of 17910 documents shown are not in train_data"):
        fitted = clicks.models(clickmodel_log("train_data"), " ".join(FIGURES), test_log=clickmodel_log("test_data"))
    for name, (likelihood, perplexity) in FIGURES.items():
        prediction = fitted.predictions[name]
        assert prediction.ll_session == pytest.approx(likelihood, abs=0.00005), name
        assert prediction.mean("by_rank") == pytest.approx(perplexity, abs=0.0000005), name
    assert fitted["dbn(gamma=fit)"].number == pytest.approx(0.7779, abs=0.00005)
    taus = [float(fitted["ccm"].parameters[f"tau{number}"]) for number in (1, 2, 3)]
    assert taus == pytest.approx([0.732, 0.772, 0.376], abs=0.0005)
    published = DATA / "clicks/clickmodel_wc/output"
    prediction = fitted.predictions["dbn(gamma=0.9)"]
    assert prediction.ll_rank == pytest.approx(-0.268750970587, abs=1e-12)
    assert prediction.mean("by_rank") == pytest.approx(1.33332917852, abs=1e-11)
    by_rank = (published / "_DBNModel.model.perplexity").read_text().splitlines()[1]
    assert prediction.by_rank == pytest.approx([*map(float, by_rank.split())], abs=1e-11)
    lines = (published / "_DBNModel.model.relevance").read_text().split()
    theirs = dict(zip(zip(lines[::3], lines[1::3], strict=True), map(float, lines[2::3]), strict=True))
    model = fitted["dbn"]
    ours = dict(zip(model.items.names, model.relevance.tolist(), strict=True))
    assert len(ours) == 35_384
    assert len(theirs) == 35_384 + 706
    assert max(abs(theirs[item] - value) for item, value in ours.items()) < 5.001e-13  # the digits that it has
    assert {theirs[item] for item in theirs.keys() - ours.keys()} == {0.25}


@shared
@pytest.mark.exhaustive
def test_dbn_to_convergence() -> None:
    with pytest.warns(EvaluationWarning):
        fitted = clicks.models(
            clickmodel_log("train_data"), "dbn", test_log=clickmodel_log("test_data"), iterations=300
        )
    assert fitted.predictions["dbn(gamma=0.9)"].mean("by_rank") == pytest.approx(1.332345, abs=5e-6)
