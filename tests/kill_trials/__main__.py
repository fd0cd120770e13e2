"""`python -m tests.kill_trials`: kill 200 commands, fill their disk or kill a worker at random moments.

The exit code is 1 if a file is neither the old one nor the new one, or a process is left."""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kill_trials.commands import COMMANDS
from kill_trials.trials import KINDS, Trial, Trials, draw_trials


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kill_trials", description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="a number or a word")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind")
    parser.add_argument("--only", action="append", choices=list(COMMANDS), help="only this command")
    arguments = parser.parse_args()
    print(
        f"seed {arguments.seed}: python -m tests.kill_trials --trials {arguments.trials} --seed {arguments.seed}",
        flush=True,
    )
    begin, finished = time.monotonic(), list[tuple[str, Trial]]()
    with tempfile.TemporaryDirectory(prefix="kill-trials-") as folder:
        trials = Trials(Path(folder))
        for kind, name, dice in draw_trials(
            arguments.trials, arguments.seed, arguments.kind or KINDS, arguments.only or COMMANDS
        ):
            trial = KINDS[kind][0](trials, name, dice)
            finished.append((kind, trial))
            if trial.problems:
                print(f"WRONG {kind}, {trial.name}, {trial.cause}: {'; '.join(trial.problems)}", flush=True)
    report(finished, time.monotonic() - begin)
    return 1 if any(trial.problems for _, trial in finished) else 0


def report(finished: list[tuple[str, Trial]], seconds: float) -> None:
    """Print the number of trials of each kind, command and signal, and the files left by SIGKILL."""
    for label in ("kind", "command", "signal"):
        counts: dict[str, Counter[str]] = {}
        for kind, trial in finished:
            group = {"kind": kind, "command": trial.name, "signal": trial.cause.split()[0] if kind == "killed" else ""}[
                label
            ]
            row = counts.setdefault(group, Counter())
            row.update(trials=1, wrong=bool(trial.problems), too_late=trial.ended)
        for group, row in sorted(counts.items()):
            if group:
                print(
                    f"{group:16} {row['trials']:4} trials, {row['too_late']:3} of them too late, {row['wrong']:d} wrong"
                )
        print()
    leftovers = Counter(name for _, trial in finished for name in trial.left)
    print(
        f"left by SIGKILL, as may be: {', '.join(f'{name} {count}' for name, count in leftovers.items()) or 'nothing'}"
    )
    print(f"{len(finished)} trials in {seconds:.0f} s, {sum(bool(trial.problems) for _, trial in finished)} wrong")


if __name__ == "__main__":
    sys.exit(main())
