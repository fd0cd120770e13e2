"""Small faults, each planted in a copy of the package: the quick tests of its room must find it.

python -m tests.support.mutations [PART OF A FILE'S NAME]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent.parent

MUTATIONS = [
    ("rankings/grade.py", "if unjudged < 255 else np.fromiter", "if unjudged < 256 else np.fromiter"),
    (
        "rankings/grade.py",
        "len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1)",
        "len(lines), unjudged, dtype=np.min_scalar_type(unjudged)",
    ),
    (
        "rankings/grade.py",
        "start), unjudged, dtype=np.min_scalar_type(unjudged + 1)",
        "start), unjudged, dtype=np.min_scalar_type(unjudged)",
    ),
    ("rankings/batch.py", "climbs = score[1:] >= score[:-1]", "climbs = score[1:] > score[:-1]"),
    ("rankings/batch.py", 'order = np.argsort(-worth, kind="stable")', 'order = np.argsort(worth, kind="stable")'),
    ("rankings/batch.py", 'names, options.ties == "docno-desc")', 'names, options.ties == "docno-asc")'),
    ("rankings/batch.py", "-1, code.astype(np.int64))", "0, code.astype(np.int64))"),
    ("trec/tokenizer.py", "(whole + fraction <= 19)", "(whole + fraction <= 20)"),
    ("trec/lines.py", 'fields[0].count(b",") >= 2', 'fields[0].count(b",") > 2'),
    ("trec/stream.py", "        stream.close()", "        pass"),
    ("measures/cumulated_gain.py", "np.log2(rank + 1) if log is None", "np.log(rank + 1) if log is None"),
    ("measures/cumulated_gain.py", "np.log(rank) / np.log(log), 1)", "np.log(rank + 1) / np.log(log), 1)"),
    ("measures/precision.py", "ranks_of_relevant <= depth[:, None]", "ranks_of_relevant < depth[:, None]"),
    ("measures/precision.py", "relevant = g.gain >= min_gain", "relevant = g.gain > min_gain"),
    ("measures/cascade_models.py", "score += left * beyond(", "score += 0 * left * beyond("),
    ("measures/cascade_models.py", "np.append(_from_file(utility), 0)", "np.append(_from_file(utility), 1)"),
    ("measures/bounds.py", 'g.ideal.ravel()), side="right")', 'g.ideal.ravel()), side="left")'),
    ("measures/tied.py", "(found - 1) / np.maximum(size - 1, 1)", "(found - 1) / np.maximum(size, 1)"),
    ("scoring/intervals.py", "std(1, ddof=1) / math.sqrt", "std(1, ddof=0) / math.sqrt"),
    ("scoring/intervals.py", "math.floor(alpha / 2 * (draws + 1) + 1e-9)", "math.floor(alpha / 2 * draws + 1e-9)"),
    ("scoring/doubts.py", "tied > TIED * of", "tied >= TIED * of"),
    ("scoring/scores.py", "key=lambda pair: (pair[0], pair[1].run)", "key=lambda pair: pair[0]"),
    (
        "analysis/significance.py",
        "np.maximum.accumulate(p[order] * np.arange(count, 0, -1))",
        "p[order] * np.arange(count, 0, -1)",
    ),
    ("analysis/significance.py", "differences.sum(1)) - 1e-12 *", "differences.sum(1)) + 1e-12 *"),
    ("analysis/flips.py", "(ranks <= batch.retrieved[:, None])", "(ranks < batch.retrieved[:, None])"),
    ("parallel/workers.py", "if count < 2 and self.executor is None", "if count < 1 and self.executor is None"),
    ("interop/trec_eval.py", "if tied <= TIED * sum(", "if tied < TIED * sum("),
    ("ltr/objectives.py", "(given >= 0)", "(given > 0)"),
    ("ltr/objectives.py", "there = np.arange(width) < block.lengths", "there = np.arange(width) <= block.lengths"),
]
"""A file, what stands there once, and what stands there instead."""


def found(file: str, old: str, new: str) -> bool:
    """Whether the quick tests of the file's room fail where it is changed so."""
    with TemporaryDirectory() as folder:
        package = shutil.copytree(ROOT / "gradedeval", Path(folder) / "gradedeval")
        text = (package / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{file}: {old!r} stands there {text.count(old)} times")
        (package / file).write_text(text.replace(old, new), encoding="utf-8")
        # -P: this folder, from which pytest is started, has the package as it is.
        command = [sys.executable, "-P", "-m", "pytest", "-x", "-n0", "-p", "no:cacheprovider", "-o"]
        done = subprocess.run(
            [*command, f"pythonpath={folder} {ROOT} {ROOT / 'tests'}", f"tests/{file.partition('/')[0]}"],
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
    chosen = [one for one in MUTATIONS if part in one[0]]
    missed = 0
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for (file, _, new), caught in zip(chosen, threads.map(lambda one: found(*one), chosen), strict=True):
            print(f"{'caught' if caught else 'MISSED'}  {file}: {new}", flush=True)
            missed += not caught
    print(f"{missed} of {len(chosen)} missed")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
