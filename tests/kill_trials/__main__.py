"""`python -m tests.kill_trials`: 200 commands that are killed, run out of disk or lose a worker at random moments; exit
code 1 where one leaves what it must not."""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kill_trials.commands import COMMANDS
from kill_trials.trials import KINDS, Trial, Trials, drawn


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kill_trials", description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="a number or a word")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="this kind alone")
    parser.add_argument("--only", action="append", choices=list(COMMANDS), help="this command alone")
    given = parser.parse_args()
    print(f"seed {given.seed}: python -m tests.kill_trials --trials {given.trials} --seed {given.seed}", flush=True)
    begin, done = time.monotonic(), list[tuple[str, Trial]]()
    with tempfile.TemporaryDirectory(prefix="kill-trials-") as folder:
        trials = Trials(Path(folder))
        for kind, name, dice in drawn(given.trials, given.seed, given.kind or KINDS, given.only or COMMANDS):
            trial = KINDS[kind][0](trials, name, dice)
            done.append((kind, trial))
            if trial.found:
                print(f"WRONG {kind}, {trial.name}, {trial.how}: {'; '.join(trial.found)}", flush=True)
    report(done, time.monotonic() - begin)
    return 1 if any(trial.found for _, trial in done) else 0


def report(done: list[tuple[str, Trial]], seconds: float) -> None:
    """How many there were of each kind and of each signal, and what was left that may be left."""
    for label in ("kind", "command", "signal"):
        counts: dict[str, Counter[str]] = {}
        for kind, trial in done:
            of = {"kind": kind, "command": trial.name, "signal": trial.how.split()[0] if kind == "killed" else ""}[
                label
            ]
            row = counts.setdefault(of, Counter())
            row.update(trials=1, wrong=bool(trial.found), too_late=trial.ended)
        for of, row in sorted(counts.items()):
            if of:
                print(f"{of:16} {row['trials']:4} trials, {row['too_late']:3} of them too late, {row['wrong']:d} wrong")
        print()
    left = Counter(name for _, trial in done for name in trial.left)
    print(f"left by SIGKILL, as may be: {', '.join(f'{name} {count}' for name, count in left.items()) or 'nothing'}")
    print(f"{len(done)} trials in {seconds:.0f} s, {sum(bool(trial.found) for _, trial in done)} wrong")


if __name__ == "__main__":
    sys.exit(main())
