"""Small faults, each planted in a copy of the package: the quick tests of its room must find it.

python -m tests.support.mutations [PART OF THE NAMES OF FILES]
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent.parent

MUTATIONS = [
    ("if unjudged < 255 else np.fromiter", "if unjudged < 256 else np.fromiter"),
    (
        "len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1)",
        "len(lines), unjudged, dtype=np.min_scalar_type(unjudged)",
    ),
    (
        "start), unjudged, dtype=np.min_scalar_type(unjudged + 1)",
        "start), unjudged, dtype=np.min_scalar_type(unjudged)",
    ),
    ("climbs = score[1:] >= score[:-1]", "climbs = score[1:] > score[:-1]"),
    ("(falling[1:] == falling[:-1])\n    in_tie", "(falling[1:] <= falling[:-1] + 1)\n    in_tie"),
    ('order = np.argsort(-gain_of_label, kind="stable")', 'order = np.argsort(gain_of_label, kind="stable")'),
    ('docnos, options.ties == "docno-desc")', 'docnos, options.ties == "docno-asc")'),
    ("-1, code.astype(np.int64))", "0, code.astype(np.int64))"),
    ("(whole + fraction <= 19)", "(whole + fraction <= 20)"),
    ('fields[0].count(b",") >= 2', 'fields[0].count(b",") > 2'),
    (
        "with closing(Stream(source, ahead=False)) as stream:\n        return stream.peek(most)",
        "return Stream(source, ahead=False).peek(most)",
    ),
    ("np.log2(rank + 1) if log is None", "np.log(rank + 1) if log is None"),
    ("np.log(rank) / np.log(log), 1)", "np.log(rank + 1) / np.log(log), 1)"),
    ("ranks_of_relevant <= depth[:, None]", "ranks_of_relevant < depth[:, None]"),
    ("relevant = g.gain >= min_gain", "relevant = g.gain > min_gain"),
    ("score += remaining * beyond(", "score += 0 * remaining * beyond("),
    ("np.append(_utilities_of(utility), 0)", "np.append(_utilities_of(utility), 1)"),
    ('g.ideal.ravel()), side="right")', 'g.ideal.ravel()), side="left")'),
    ("(relevant_in_tie - 1) / np.maximum(size - 1, 1)", "(relevant_in_tie - 1) / np.maximum(size, 1)"),
    ("std(1, ddof=1) / math.sqrt", "std(1, ddof=0) / math.sqrt"),
    ("math.floor(alpha / 2 * (draws + 1) + 1e-9)", "math.floor(alpha / 2 * draws + 1e-9)"),
    ("tied > TIED * documents", "tied >= TIED * documents"),
    ("key=lambda pair: (pair[0], pair[1].run)", "key=lambda pair: pair[0]"),
    ("np.maximum.accumulate(p[order] * np.arange(count, 0, -1))", "p[order] * np.arange(count, 0, -1)"),
    ("differences.sum(1)) - 1e-12 *", "differences.sum(1)) + 1e-12 *"),
    ("tied[ties.rows] &= np.arange(width) < np.maximum", "tied[ties.rows] &= np.arange(width) <= np.maximum"),
    ("(ranks <= batch.retrieved[:, None])", "(ranks < batch.retrieved[:, None])"),
    ("startable(count + OVERHEAD) - OVERHEAD)) < 2", "startable(count + OVERHEAD) - OVERHEAD)) < 1"),
    ("lists) or not (np.isfinite(values) & (values >= 0))", "lists) or not (np.isfinite(values) & (values > 0))"),
    ("there = np.arange(width) < block.lengths", "there = np.arange(width) <= block.lengths"),
]
"""Text that stands in the package once, and the fault in its place."""


def place(old: str) -> str:
    """Return the one file of the package in which it stands."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "gradedeval").rglob("*.py")}
    files = [path.relative_to(ROOT / "gradedeval").as_posix() for path, text in texts.items() if old in text]
    if len(files) != 1 or texts[ROOT / "gradedeval" / files[0]].count(old) != 1:
        raise ValueError(f"{old!r} does not stand in the package once: {files}")
    return files[0]


def is_caught(file: str, old: str, new: str) -> bool:
    """Return whether the quick tests of the file's room fail with this fault."""
    room = Path(file).parts[: 2 if file.startswith("kernel/") else 1]
    with TemporaryDirectory() as folder:
        changed = Path(shutil.copytree(ROOT / "gradedeval", Path(folder) / "gradedeval")) / file
        changed.write_text(changed.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        # -P: this folder, from which pytest is started, has the package as it is.
        command = [sys.executable, "-P", "-m", "pytest", "-x", "-n0", "-p", "no:cacheprovider", "-o"]
        done = subprocess.run(
            [*command, f"pythonpath={folder} {ROOT} {ROOT / 'tests'}", str(Path("tests", *room))],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stdout + done.stderr)
        return done.returncode == 1


def main(part: str = "") -> int:
    chosen = [(file, *mutation) for mutation in MUTATIONS if part in (file := place(mutation[0]))]
    missed = 0
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for (file, old, new), caught in zip(
            chosen, threads.map(lambda mutation: is_caught(*mutation), chosen), strict=True
        ):
            print("caught" if caught else "MISSED", f"{file}: {old!r} -> {new!r}", flush=True)
            missed += not caught
    print(f"{missed} of {len(chosen)} missed")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
