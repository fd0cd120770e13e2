"""Ids are bytes: every command, in every format, prints `caf\xe9` in the place of `cafe`."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.commands import Command, Outcome, python
from support.dated import dated
from support.every_command import BESIDE, POSITIONS, WORDS, collection, filled, forms_of
from support.generated_docs import LEAVES
from support.paths import ROOT

# What stands for the byte in an output: itself, or what can stand in JSON, LaTeX, and other text that is UTF-8.
STANDS = re.compile(rb"\xe9|\\udce9|\\textbackslash\{\}xe9|\\?\\xe9")
# Names of judgments and digests of files by their content, what fills columns up, and quotes around words of a command
# line.
VARIES = re.compile(rb"\b[0-9a-f]{6}\b|\b[0-9a-f]{12}\b|\b[0-9a-f]{64}\b|[ -]+|&#39;")

PICTURES = ("plot runs", "plot topics")
"""Those that the quick run draws."""

SHORTER = dict.fromkeys(("informative", "plot informative"), ("-m", "rr"))
"""Of all measures it is not the point here what they predict."""

Case = tuple[str, int, str]
CASES: list[Case] = [
    (name, number, form)
    for name, command in LEAVES.items()
    for number in range(len(WORDS.get(name, ())))
    for form in forms_of(name, command)
]


def sample() -> Iterator[Case]:
    """Yield one format of each command line, and few pictures, which take long."""
    for turn, ((name, number), each) in enumerate(groupby(CASES, itemgetter(0, 1)), 1):
        forms = [form for _, _, form in each]
        if not name.startswith("plot"):
            yield name, number, forms[turn % len(forms)]
        elif name in PICTURES:
            yield name, number, ".svg"


Folder = Callable[[str, bytes], tuple[Path, dict[str, bytes]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Return a collection with ids that end in a byte at a position, or at all, made once: its folder, and these
    ids."""
    folders: dict[tuple[str, bytes], Path] = {}

    def find(position: str, last: bytes) -> tuple[Path, dict[str, bytes]]:
        odd = {part: b"caf" + (last if position in (part, "all") else b"e") for part in POSITIONS}
        if (position, last) not in folders:
            folders[position, last] = tmp_path_factory.mktemp("ids")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folders[position, last])
                collection(odd)
        return folders[position, last], odd

    return find


def outputs_of(folder: Path, odd: dict[str, bytes], name: str, number: int, form: str, cli: Command) -> Outcome:
    """Return the outcome of a command in such a collection, with all its files."""
    words = [*filled(WORDS[name][number], odd), *SHORTER.get(name, ())]
    target = f"out{form}" if form.startswith(".") else ""
    written = [folder / name_of_file for name_of_file in (*BESIDE, target) if name_of_file]
    for path in written:
        path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = cli(*name.split(), *words, *(("-o", target) if target else ("-f", form) if form else ()))
    content_beside = b"".join(dated(path.read_bytes()) for path in written if path.exists())
    return Outcome(done.code, done.out + content_beside, done.err)


def text_of(output: bytes, form: str) -> bytes:
    """Return an output with the odd id as the plain one; the text of a picture."""
    if form in (".png", ".pdf"):
        return b""
    if form == ".svg":
        texts = [
            "".join(element.itertext()) for element in ElementTree.fromstring(output).iter() if "text" in element.tag
        ]
        output = b"\n".join(sorted(STANDS.sub(b"e", text.encode()) for text in texts))
    if form in ("latex", ".tex"):  # where the lines of a comment end depends on the length of what stands in them
        output = re.sub(rb"\n% *", b" ", output)
    return VARIES.sub(b"", STANDS.sub(b"e", output))


def check(case: Case, positions: Iterable[str], folder: Folder, cli: Command) -> None:
    """Check that the output for an id at each position is that for the plain id."""
    name, number, form = case
    plain = outputs_of(*folder("nowhere", b"e"), *case, cli)
    assert plain.code == 0 or name in ("check", "lint"), plain.messages
    for position in positions:
        odd = outputs_of(*folder(position, b"\xe9"), *case, cli)
        assert odd.code == plain.code, (position, odd.messages)
        assert text_of(odd.out, form) == text_of(plain.out, form), position
        assert text_of(odd.err, "") == text_of(plain.err, ""), position
        writes_a_table = "gains.csv" in WORDS[name][number]  # a table of bytes
        if form in ("json", "jsonl", "html", "latex", "junit", ".html", ".svg") and not writes_a_table:
            assert b"\xe9" not in odd.out.replace("é".encode(), b""), position  # it is UTF-8


def test_every_command_is_walked() -> None:
    assert sorted(LEAVES) == sorted(WORDS)


@pytest.mark.parametrize("case", list(sample())[::5], ids=str)
def test_an_id_is_told_byte_for_byte(case: Case, folder: Folder, cli: Command) -> None:
    check(case, ["all"], folder, cli)


def alone(case: Case) -> list[str]:
    """Return the positions at which an odd id stands alone: one in each format of a command, so that each position
    has a format; all of them if there are fewer formats."""
    name, number, form = case
    if form in (".png", ".pdf"):  # of which no text is read: the figure is that of the SVG
        return []
    # Where it is asked whether a file and its tag are the same, the two are odd together.
    where = POSITIONS[:2] if "--tag-is-filename" in WORDS[name][number] else POSITIONS
    forms = [form_of_case for *line, form_of_case in CASES if line == [name, number]]
    turn = forms.index(form)
    return list(where) if len(forms) < len(where) else [where[turn % len(where)]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_id_is_told_wherever_it_stands(case: Case, folder: Folder, cli: Command) -> None:
    check(case, ["all", *alone(case)], folder, cli)


@pytest.mark.exhaustive
def test_an_id_is_told_byte_for_byte_without_pyarrow() -> None:
    without = "import pytest, sys; sys.modules['pyarrow'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    words = [str(Path(__file__).relative_to(ROOT)), "-n0", "-pno:cacheprovider", "-ktold_byte_for_byte and not pyarrow"]
    done = python("-c", without, *words)
    assert done.returncode == 0, done.stdout
