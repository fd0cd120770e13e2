"""`python -m tests.fuzz --seconds 120`: random cases until the time is up; the exit code is 1 if one fails."""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.case import Case, Kind, label, smallest
from fuzz.kinds import KINDS


def judged(kind: Kind, case: Case) -> str | None:
    """Return the problem of a case; an exception of any kind is one, too."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_memory()) as name:
        try:
            return kind.check(case, Path(name))
        except Exception:
            lines = traceback.format_exc().splitlines()
            return f"exception {lines[-1].partition(':')[0]}: " + "\n".join(lines[-12:])


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def report(name: str, seed: int, problem: str, case: Case, longest: int = 3000) -> str:
    """Return a finding: the command that repeats it, the problem, and the smallest input."""
    lines = [
        f"FINDING {name}: {problem}",
        f"  again:   python -m tests.fuzz --only {name} --case {seed}",
        f"  command: {case.command}",
    ]
    lines += [f"  {key}: {value}" for key, value in case.more.items() if value and key != "words"]
    for file, content in case.files.items():
        lines += [f"  {file}: {content[:longest]!r}" + (f" … {len(content)} bytes" if len(content) > longest else "")]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="a number or a word")
    parser.add_argument("--only", action="append", choices=list(KINDS), help="this kind of cases")
    parser.add_argument("--case", type=int, help="one case, by its number")
    parser.add_argument("--findings", type=int, default=5, help="stop after so many")
    arguments = parser.parse_args()
    names = arguments.only or list(KINDS)
    if arguments.case is not None:
        return again(names[0], arguments.case)
    print(
        f"seed {arguments.seed}: python -m tests.fuzz --seconds {arguments.seconds:g} --seed {arguments.seed}",
        flush=True,
    )
    return campaign(names, arguments.seed, arguments.seconds, arguments.findings)


def again(name: str, seed: int) -> int:
    kind = KINDS[name]
    case = kind.draw(random.Random(seed))
    problem = judged(kind, case)
    if problem is None:
        print(f"{name} {seed}: nothing is wrong")
        return 0
    small = smallest(case, lambda other: judged(kind, other))
    print(report(name, seed, judged(kind, small) or problem, small))
    return 1


def campaign(names: list[str], seed: str, seconds: float, most: int) -> int:
    cases: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    findings: dict[str, str] = {}
    begin = time.monotonic()
    while time.monotonic() - begin < seconds and len(findings) < most:
        # The kind that has had the least time for its weight.
        name = min(names, key=lambda name: spent[name] / KINDS[name].weight)
        # A kind's cases are its own, so that a seed draws the same ones however fast the machine is.
        kind, number = KINDS[name], random.Random(f"{seed} {name} {cases[name]}").randrange(10**12)
        started = time.monotonic()
        case = kind.draw(random.Random(number))
        problem = judged(kind, case)
        spent[name] += time.monotonic() - started  # type: ignore[assignment]
        cases[name] += 1
        compared[name] += kind.count(case)
        if problem is not None and f"{name} {label(problem)}" not in findings:
            small = smallest(case, lambda other, kind=kind: judged(kind, other))
            findings[f"{name} {label(problem)}"] = report(name, number, judged(kind, small) or problem, small)
            print(findings[f"{name} {label(problem)}"], flush=True)
    for name in names:
        rate = cases[name] / spent[name] if spent[name] else 0
        print(f"{name:14} {cases[name]:8} cases {compared[name]:10} compared {spent[name]:7.0f} s {rate:8.1f} cases/s")
    print(f"{sum(cases.values())} cases, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
