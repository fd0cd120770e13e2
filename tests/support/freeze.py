"""Hashes of all output: `python -m tests.support.freeze --write FILE` before a change that changes no output, and
`--against FILE` after it.

Every command in every format and with every preset, its help page, and 1,500 random commands on whole and broken files,
always the same: standard output, standard error, the exit code and the files that are written. The random ones are kept
beside the hashes, in a file `.cases`: what is drawn depends on the order in which options are declared. The sessions of
the pages are tests of their own.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pickle
import random
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ |= {"COLUMNS": "100", "SOURCE_DATE_EPOCH": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}

from fuzz import command, commands
from fuzz.case import Case
from gradedeval.kernel.options import PRESETS
from support.dated import dated
from support.every_command import POSITIONS, WORDS, collection, forms_of
from support.generated_docs import LEAVES
from support.generated_docs import commands as all_commands

RANDOM = 1500
PLAIN = dict.fromkeys(POSITIONS, b"cafe")
VARIES = re.compile(
    rb"/tmp/[\w./-]*|(?<=File \")[^\"]*\", line \d+|\(/[\w./-]*/gradedeval/__init__\.py\)|<dc:date>.*?</dc:date>"
    rb"|\bid=\"[\w-]+\"|#[mp][0-9a-f]{9,}\b|\d+\.\d+ (?:s|MB)\b"
)
"""Folders, lines of tracebacks, times, and the names that a picture gives its parts."""


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the name of each case, and its words; a random case is named by its number."""
    for name, _ in [("", None), *all_commands()]:
        yield f"{name} --help", (*name.split(), "--help")
    for name, leaf in LEAVES.items():
        presets = ["", *PRESETS] if any(param.name == "like" for param in leaf.params) else [""]
        for number, words in enumerate(WORDS[name]):
            filled = [word.format(**dict.fromkeys(POSITIONS, "cafe")) for word in words]
            for form in forms_of(name, leaf):
                target = ("-o", f"out{form}") if form.startswith(".") else ("-f", form) if form else ()
                for preset in presets if form in ("text", "csv", "json", "", ".svg", ".html") else [""]:
                    like = ("--like", preset) if preset else ()
                    if form != ".pdf":  # its streams are packed; the drawing is that of .svg
                        yield f"{name} {number} {form} {preset}", (*name.split(), *filled, *target, *like)
    for number in range(RANDOM):
        yield f"random {number}", (str(number),)


def frozen(case: tuple[str, tuple[str, ...]]) -> tuple[str, str]:
    """Return the name of a case, and a hash of all that it came to."""
    name, words = case
    with tempfile.TemporaryDirectory(prefix="freeze") as folder:
        here, stdin = Path(folder) / "here", b""
        here.mkdir()
        if name.startswith("random"):
            drawn = _DRAWN[int(words[0])]
            drawn.write(here)
            words = tuple(drawn.line)
        else:
            shutil.copytree(_collection(), here, dirs_exist_ok=True)
        inputs = {path.name for path in here.iterdir()}
        messages: list[str] = []
        try:
            with patch.object(tempfile, "tempdir", folder):
                done = command.run(words, here, stdin, messages)
            parts = [str(done.code).encode(), done.out, done.err]
        except Exception as error:
            parts = [repr(error).encode(), traceback.format_exc().encode()[-300:]]
        new = sorted(path for path in here.iterdir() if path.name not in inputs or path.name in words)
        parts += [b"%b: %b" % (path.name.encode(), dated(path.read_bytes())) for path in new if path.is_file()]
    whole = b"\0".join(VARIES.sub(b"", part) for part in [*parts, *(line.encode() for line in messages)])
    return name, hashlib.sha256(whole).hexdigest()[:16]


_MADE: list[Path] = []
_DRAWN: list[Case] = []


def _collection() -> Path:
    """Return the collection, made once in each process."""
    if not _MADE:
        _MADE.append(Path(tempfile.mkdtemp(prefix="freeze-collection")))
        with contextlib.chdir(_MADE[0]):
            collection(PLAIN)
    return _MADE[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.freeze", description=__doc__)
    parser.add_argument("--write", type=Path, help="keep the hashes in this file")
    parser.add_argument("--against", type=Path, help="say which cases have other hashes than in this file")
    parser.add_argument("--only", default="", help="cases whose name matches this pattern")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if re.search(arguments.only, case[0])]
    kept = arguments.against and arguments.against.with_suffix(".cases")
    if kept and kept.exists():
        _DRAWN.extend(pickle.loads(kept.read_bytes()))
    else:
        _DRAWN.extend(commands.draw(random.Random(f"freeze {number}")) for number in range(RANDOM))
    _collection()
    with get_context("fork").Pool(os.cpu_count()) as pool:
        hashes = dict(pool.imap_unordered(frozen, chosen, 8))
    shutil.rmtree(_MADE[0])
    if arguments.write:
        arguments.write.write_text(json.dumps(hashes, indent=0, sort_keys=True), encoding="utf-8")
        arguments.write.with_suffix(".cases").write_bytes(pickle.dumps(_DRAWN))
    old_hashes = json.loads(arguments.against.read_text(encoding="utf-8")) if arguments.against else hashes
    changed = [name for name, _ in chosen if hashes[name] != old_hashes.get(name)]
    changed += [name for name in old_hashes if name not in hashes and re.search(arguments.only, name)]
    print("\n".join([*(f"changed: {name}" for name in changed), f"{len(hashes)} cases, {len(changed)} changed"]))
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
