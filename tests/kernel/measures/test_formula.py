"""Formulas for C: valid and invalid ones, and the agreement of their sums with the closed forms."""

import math
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError, cwl, parse_measures
from gradedeval.kernel.measures.cwl_family.formula import read_formula
from gradedeval.kernel.measures.cwl_family.infinite_sums import extrapolated
from support.cwl import score
from support.examples import sampled


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*3", 7),
        ("2**3**2/512", 1),
        ("-x**2", -4),
        ("(1-x)*+3", -3),
        ("x>1", 1),
        ("(x<1)+(x<=2)+(x>=2)+(x==2)+(x!=2)", 3),
        ("where(x>1,0.25,0.75)", 0.25),
        ("min(x,1,3)+max(x,5)", 6),
        ("sqrt(x*8)+exp(0)+log(1)", 5),
        ("1e-3*φ", 0.5e-3),
        ("  x ", 2),
    ],
)
def test_a_formula_follows_arithmetic(text: str, value: float) -> None:
    assert read_formula(text)({"x": 2.0, "φ": 0.5}) == pytest.approx(value, abs=1e-15)


HOSTILE = """
r.__class__ (1).real ().__class__.__bases__[0].__subclasses__() min(1,2)(3) __builtins__ inf where
__import__('os').system('true') open('/etc/passwd') eval('1') exec('x=1') getattr(r,'x') sin(r) sqr(r)
'a' b'a' f'{r}' (1,2) [1] {1:2} {1} r[0] r[1:2] min(*r) min(r,key=1) 1j True None ... r=1 r;r @r (r
0<r<1 1<<1000000 i%2 i//2 r@r r|1 ~1 r^2 9**9**9 2**100000 2**-100000 1e999 where(r,1) exp(1,2)
""".split()  # noqa: SIM905
HOSTILE += ["(lambda: 1)()", "[x for x in (1,2)]", "sum(x for x in (1,2))", "(x := 1)", "1 if r else 0", "(yield r)"]
HOSTILE += ["r and 1", "not r", "await r", "r\nr", "r\0", "# r", "", "   "]
HOSTILE += ["(" * 150 + "r" + ")" * 149, "-(" * 90 + "r" + ")" * 90, "-" * 250 + "r"]
HOSTILE += ["+".join("r" * 200), "+".join("r" * 148)]


@pytest.mark.parametrize("formula", HOSTILE)
def test_a_formula_reaches_only_numbers(formula: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_measures(f'cwl(C="{formula}")')
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value).replace(formula, "")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("cwl", 'needs C, a formula; as in cwl(C="phi*(1-r)",phi=.6)'),
        ('cwl(C="phi*(1-r)")', "unknown name 'phi' in the formula (valid names: i, r, gained, cost, spent, where,"),
        ('cwl(C="gaind*0.1")', "did you mean 'gained'?"),
        ('cwl(C="0.5",phi=0.5)', "'phi' is not used in the formula 0.5; remove it"),
        ('cwl(C="r*0.5",r=1)', "'r' is a reserved name in formulas"),
        ('cwl(C="p",p=word)', "p=word is not a number"),
        ('cwl(C="r^2")', "'r^2' is not allowed; write ** for powers"),
        ('cwl(C="i%2")', "'i%2' is not allowed; allowed are numbers, names, + - * / **"),
        ('cwl(C="sqr(r)")', "did you mean 'sqrt'?"),
    ],
)
def test_problems_of_a_formula_are_reported_before_any_file_is_read(written: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_measures(written)
    assert problem in str(refused.value)
    assert refused.value.usage


RUN = {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
QRELS = {"t": {"a": 0, "b": 1, "c": 2}}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('cwl(C="0.5+r")', "C(3) is 1.5, outside 0..1, at a document of gain 1"),
        ('cwl(C="r-0.5")', "C(1) is -0.5, outside 0..1, at a document of gain 0"),
        ('cwl(C="log(0*r)*0")', "C(1) is not a number, at a document of gain 0"),
        ('cwl(C="where(i>40,1.5,1)")', "C(41) is 1.5, outside 0..1, at a document of gain 0"),
        ('cwl(C="1-r/2")', "the sum does not converge: at rank 33,554,400 C is 1.0; set horizon=1000 to truncate it"),
        # Everybody stops in the end, a billion ranks down.
        (
            'cwl(C="i<1e9")',
            "the sum has not converged yet: at rank 33,554,403 C is 1.0; set horizon=1000 to truncate it",
        ),
        ('cwl(C="i/(i+1)")', "the sum does not converge: at rank 33,554,403 C is 0.9999999701976527"),
    ],
)
def test_an_invalid_chance_and_an_endless_sum_are_errors_with_rank_and_value(written: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        gradedeval.evaluate(RUN, QRELS, written)
    assert str(refused.value).startswith(f"measure '{parse_measures(written)[0]}': ")
    assert problem in str(refused.value)
    assert refused.value.exit_code == 1


@pytest.mark.exhaustive
def test_sums_need_not_converge_after_all_users_have_stopped() -> None:
    # All users stop at the first relevant document: the endless rest has no weight. Elsewhere a horizon helps.
    assert score('cwl(C="where(r>0,0,1)")', [0, 0, 1]) == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="does not converge"):
        score('cwl(C="where(r>0,0,1)")', [0, 0, 0])
    assert score('cwl(C="where(r>0,0,1)",horizon=1000)', [0, 0, 0]) == 0


SPELT = {
    "rbp(p=0.8)": 'cwl(C="p",p=0.8)',
    "rbp(p=0.9999)": 'cwl(C="p",p=0.9999)',
    "npv": 'cwl(C="1/(1+rate)",rate=0.1)',
    "insq(T=1)": 'cwl(C="((i+2*T-1)/(i+2*T))**2",T=1)',
    "insq(T=100)": 'cwl(C="((i+2*T-1)/(i+2*T))**2",T=100)',
    "inst(T=2)": 'cwl(C="((i+2*T-gained-1)/(i+2*T-gained))**2",T=2)',
    "tbg(h=22)": 'cwl(C="2**(-cost/h)",h=22)',
    "u(L=50)": 'cwl(C="max(0,L-spent)/max(1,L-spent+cost)",L=50)',
    "bpm(T=1.2,K=10)": 'cwl(C="(gained<T)*(spent<K)",T=1.2,K=10)',
    "nerr10(phi=0.6,gain=linear)": 'cwl(C="phi*(1-r)",phi=0.6)',
    "nerr11(gain=linear)": 'cwl(C="((i+1)/(i+2))**2*(1-r)")',
    "ift(T=2,b1=0.9,R1=1)": 'cwl(C="1-1/(1+b*exp((T-gained)*R))",T=2,b=0.9,R=1)',
}


@pytest.mark.one_in(9)
@pytest.mark.parametrize("name", sampled(SPELT, 2))
@pytest.mark.parametrize("tail", sampled([0.5, 0.0, 1.0], 3))
def test_sums_of_a_formula_equal_the_closed_form(name: str, tail: float) -> None:
    for values in ([], [1.0], [0.5, 0, 1, 0, 0.25, 0.5], [0.0] * 40):
        for of in ("eu", "etu", "ec", "etc", "ed"):
            ours, theirs = (score(parse_measures(notation)[0](of=of), values, tail) for notation in (name, SPELT[name]))
            assert theirs == pytest.approx(ours, rel=1e-10, abs=1e-10), of


@pytest.mark.parametrize("end", [0, 1, 131, 1000])
@pytest.mark.parametrize("power", [1.3, 1.7, 2, 3.5, 12])
def test_power_laws_are_extrapolated_to_their_zeta_function(end: int, power: float) -> None:
    special = pytest.importorskip("scipy.special")
    total = extrapolated(lambda m: ((end + m) / (end + m + 1)) ** power, end)
    assert total == pytest.approx((end + 1) ** power * special.zeta(power, end + 1), rel=1e-10)


def test_weights_that_no_gain_changes_have_a_residual() -> None:
    static, adaptive = parse_measures('cwl(C="(i/(i+1))**2") cwl(C="p*(1-r)",p=0.8)')
    assert (static.residual, adaptive.residual) == ("beyond_run", "none")
    scores = gradedeval.evaluate(RUN, QRELS, [static, adaptive], residuals=True)
    # V = 1/i², so that the ranks beyond 3 have the weight 1 − (1 + 1/4 + 1/9) / (π²/6).
    assert scores.residuals[str(static)] == pytest.approx(1 - (1 + 1 / 4 + 1 / 9) / (math.pi**2 / 6), abs=1e-11)
    assert scores.residuals[str(adaptive)] is None


def test_a_user_defined_c_needs_no_closed_form_either() -> None:
    @cwl()
    def reluctant(walk: Any, *, T: float = 1.0) -> Any:
        """Return C of INSQ, under another name."""
        return ((walk.rank + 2 * T - 1) / (walk.rank + 2 * T)) ** 2

    values = [0.5, 0, 1]
    for tail in (0.0, 1.0):
        assert score(reluctant(T=3), values, tail) == pytest.approx(score("insq(T=3)", values, tail), abs=1e-12)


def test_chances_from_a_file_go_on_with_the_last(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("rank,C\n1,0.5\n2,0.8\n")
    # V = 1, .5, .4, .32, …: ΣV = 1 + .5 · 5.
    assert score(f"ddm(file={file},of=ed)", [1, 0]) == pytest.approx(3.5)
    assert score(f"ddm(file={file},of=ed)", []) == pytest.approx(3.5)
    assert score(f"ddm(file={file},of=ed)", [0] * 30) == pytest.approx(3.5)
    assert score(f"ddm(file={file})", [1, 0, 1]) == pytest.approx((1 + 0.4) / 3.5)
    assert score(f"ddm(file={file},horizon=3,of=ed)", [1]) == pytest.approx(1.9)


def test_chances_by_type_follow_column_2_of_the_run(tmp_path: Path) -> None:
    chances, run, qrels = (tmp_path / name for name in ("c.csv", "run.txt", "qrels.txt"))
    chances.write_text("1,ad,0.2\n1,*,0.5\n2,*,0.8\n")
    run.write_text("t web a 1 3 x\nt ad b 2 2 x\nt map c 3 1 x\n")
    qrels.write_text("t 0 a 1\nt 0 c 1\n")
    # C = .5 (web, rank 1), .2 (ad, its last goes on), .8 (*, and so for ever): V = 1, .5, .1, .08, …
    with pytest.warns(gradedeval.EvaluationWarning, match="the types map, web are unknown to ddm"):
        means = gradedeval.evaluate(run, qrels, [f"ddm(file={chances})", f"ddm(file={chances},of=ed)"]).means
    assert list(means.values()) == [pytest.approx(1.1 / 2), pytest.approx(1 + 0.5 + 0.1 * 5)]
    with pytest.raises(InputError, match="a dict has no document types"):
        gradedeval.evaluate(RUN, QRELS, f"ddm(file={chances})")
    chances.write_text("1,ad,0.2\n1,map,0.3\n1,web,0.5\n1,nosuch,0.1\n1,*,0.5\n")
    with pytest.warns(gradedeval.EvaluationWarning, match="the types nosuch are only in the file of ddm"):
        gradedeval.evaluate(run, qrels, f"ddm(file={chances})")


def test_a_measure_by_a_file_needs_the_file() -> None:
    for name in ("ddm", "wp"):
        with pytest.raises(InputError, match="needs a file"):
            parse_measures(name)
        with pytest.raises(InputError, match=r"nowhere\.csv: no such file"):
            parse_measures(f"{name}(file=nowhere.csv)")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("formula", "depth"),
    [
        ("min((i/(i+1))**2,0.99999)", 0.0),  # see below
        ("where(i<300000,(i/(i+1))**2,(i/(i+1))**1.1)", 1.6449640668486),
        ("0.999999", 1e6),
        ("2**(-cost/1000000)", -1 / math.expm1(-math.log(2) / 1e6)),
    ],
)
def test_changes_at_deep_ranks_count(formula: str, depth: float) -> None:
    if formula.startswith("min"):
        # V = 1/i² until (i/(i+1))² passes .99999, geometric from there on.
        rank = next(i for i in range(150_000, 250_000) if (i / (i + 1)) ** 2 > 0.99999)
        depth = math.fsum(1 / i**2 for i in range(1, rank + 1)) + 0.99999 / rank**2 / 1e-5
    assert score(f'cwl(C="{formula}",of=ed)', []) == pytest.approx(depth, rel=1e-9)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "formula",
    sampled(
        [
            "where(i<100000,(i/(i+1))**3,i/(i+1))",
            "where(i<300000,(i/(i+1))**2,1)",
            "where(i<40,0.2,1)",
            "(i/(i+1))**0.99",
        ],
        2,
    ),
)
def test_a_sum_that_diverges_at_deep_ranks_is_an_error(formula: str) -> None:
    with pytest.raises(InputError, match="does not converge"):
        score(f'cwl(C="{formula}")', [0.5])


def test_ranks_that_no_user_reaches_need_no_valid_chance() -> None:
    # C passes 1 at rank 1e9, which no user reaches.
    assert score('cwl(C="0.5+i*5e-10",of=ed)', []) == pytest.approx(2, rel=1e-8)


def test_rounding_takes_no_chance_past_1() -> None:
    assert score('cwl(C="sqrt(2)**2/2*(1-r)")', [1.0]) == 1
    with pytest.raises(InputError, match=r"C\(1\) is 1.000001"):
        score('cwl(C="1.000001*(1-r)")', [0.0])


@pytest.mark.parametrize("name", ["ϕ", "µ", "φ"])
def test_all_encodings_of_a_greek_letter_are_equal(name: str) -> None:
    assert score(f'cwl(C="{name}*(1-r)",{name}=0.5)', [0.0, 1.0]) == score('cwl(C="p*(1-r)",p=0.5)', [0.0, 1.0])


@pytest.mark.parametrize(("parameter", "name"), [("horizon=5", "horizon"), ("rel=1", "rel")])
def test_reserved_names_are_refused_in_formulas(parameter: str, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a reserved name"):
        parse_measures(f'cwl(C="{name}*0.1",{parameter})')


@pytest.mark.parametrize("text", ["0.5 # *9", "0.5\n", "1_0*r", "r\\\n+1"])
def test_a_formula_allows_no_other_python(text: str) -> None:
    with pytest.raises(InputError, match="is not allowed"):
        read_formula(text)


def test_a_cutoff_ends_every_quantity_at_its_rank() -> None:
    # V = 1, .8, .64 of the full depth 5; L = .2 V; Γ = 1, 1, 1.5.
    values = [1.0, 0.0, 0.5, 1.0]
    expected = {"eu": (1 + 0.32) / 5, "etu": 0.2 + 0.16 + 0.128 * 1.5, "ec": 2.44 / 5, "etc": 0.2 + 0.32 + 0.384}
    for of, value in {**expected, "ed": 2.44}.items():
        assert score(f"rbp(of={of})@3", values) == pytest.approx(value)
        assert score(f"rbp(of={of})@3", values[:3]) == pytest.approx(value)


def test_ift_needs_a_goal_for_each_parameter_of_patience() -> None:
    for written in ("ift(T=2,b2=3)", "ift(A=0.2,b1=5)", "ift(A=0.2,R1=5)"):
        with pytest.raises(InputError, match=r"but only . is given"):
            parse_measures(written)
    parse_measures("ift(b1=0.5) ift(T=1,A=0.1,b2=3) ift(T=1,b1=2)")
