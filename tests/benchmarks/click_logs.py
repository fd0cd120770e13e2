"""A million sessions of clicks: reading them, as whole processes in turn, and fitting click models to 200,000 of them.

python tests/benchmarks/click_logs.py [--folder FOLDER] [--rounds 3]

Each line has the ten docnos that were shown; in the second log also one of 300,000 users, the name of the session and a
time, by which `--idle 60m` goes.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from speed import apart, program, show, timed

from gradedeval import clicks
from gradedeval.clicks.click_models import fit_model, items_of
from gradedeval.clicks.model_kinds import read_models

SESSIONS, LISTS, USERS, TOPICS, DAY = 1_000_000, 14_000, 300_000, 2_000, 86_400
MODELS, FITTED, ITERATIONS = "pbm ubm reader ccm dbn dbn(gamma=fit)", 200_000, 100


def shown_lists(draw: np.random.Generator) -> list[str]:
    """Return topic and ten docnos of some 26 bytes, ready for a line."""
    docnos = draw.integers(10**12, size=(LISTS, 10))
    return [
        f"q{number % TOPICS}\t" + " ".join(f"clueweb12-{d:012d}-00" for d in row) for number, row in enumerate(docnos)
    ]


def clicked(draw: np.random.Generator, sessions: int) -> list[str]:
    """Return clicks of readers who go on with .8 and click with .3, some of them out of the order of ranks."""
    depth = draw.geometric(0.2, sessions)
    clicks = (draw.random((sessions, 10)) < 0.3) & (np.arange(10) < depth[:, None])
    bits = clicks @ (1 << np.arange(10))
    text = [" ".join(str(rank + 1) for rank in range(10) if code >> rank & 1) for code in range(1024)]
    return [text[code] for code in bits.tolist()]


def write(folder: Path) -> None:
    """Write the two logs."""
    draw = np.random.default_rng(1)
    lists, chosen = shown_lists(draw), draw.integers(LISTS, size=SESSIONS).tolist()
    rows = [(*lists[number].split("\t"), ranks) for number, ranks in zip(chosen, clicked(draw, SESSIONS), strict=True)]
    with open(folder / "plain.tsv", "w") as file:
        file.write("topic\tshown\tclicks\n")
        file.writelines("\t".join(row) + "\n" for row in rows)
    users, times = draw.integers(USERS, size=SESSIONS).tolist(), draw.integers(DAY, size=SESSIONS).tolist()
    with open(folder / "users.tsv", "w") as file:
        file.write("topic\tshown\tclicks\tuser\tsession\ttime\n")
        for number, (row, user, seconds) in enumerate(zip(rows, users, times, strict=True)):
            file.write("\t".join((*row, f"u{user}", f"s{number}", str(seconds))) + "\n")


def reading(folder: Path, rounds: int) -> None:
    if not (folder / "users.tsv").exists():
        apart(write, folder)
    observe = [*program(), "clicks", "observe"]
    commands = {
        "each session a user of its own": [*observe, str(folder / "plain.tsv")],
        "with users, names and times": [*observe, str(folder / "users.tsv")],
        "the same with --idle 60m": [*observe, str(folder / "users.tsv"), "--idle", "60m"],
    }
    show("clicks observe, a million sessions", timed(commands, rounds), "each session a user of its own")


def fitting(rounds: int) -> None:
    """Time EM on 200,000 sessions over 1,440 lists, with parameters by document, the prior and 100 iterations."""
    draw = np.random.default_rng(2)
    run = {
        f"r{n}": {f"q{t}": {f"d{d}": -i for i, d in enumerate(draw.permutation(60)[:10])} for t in range(30)}
        for n in range(48)
    }
    qrels = {f"q{t}": {f"d{d}": int(draw.integers(3)) for d in range(60)} for t in range(30)}
    log = clicks.simulate("rbp(p=0.8,gain=0.05:0.3:0.7)", run, qrels, sessions=FITTED)
    items = items_of(log, "document", None)
    cells = items.cells(log)
    print(f"\nEM, {FITTED} sessions ({cells.item.shape[1]} kinds), {ITERATIONS} iterations: processor seconds")
    for model in read_models(MODELS):
        seconds = []
        for _ in range(rounds):
            begin = time.process_time()
            fit_model(model, items, cells, (1.0, 1.0), ITERATIONS)
            seconds.append(time.process_time() - begin)
        print(f"  {model!s:16} {sorted(seconds)[rounds // 2]:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where the logs are kept, 600 MB; default: nowhere")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    fitting(arguments.rounds)
    with tempfile.TemporaryDirectory() as nowhere:
        folder = arguments.folder or Path(nowhere)
        folder.mkdir(exist_ok=True)
        reading(folder, arguments.rounds)


if __name__ == "__main__":
    main()
