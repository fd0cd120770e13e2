"""A trial: a command meets its end at a random moment, and what it leaves is looked at."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from gradedeval.kernel.trec.atomic_write import UNFINISHED
from kill_trials.commands import COMMANDS, Killed, write_inputs
from support.broken import contents
from support.commands import Outcome, environment
from support.dated import dated
from support.processes import processes_of

GONE = suppress(OSError, subprocess.TimeoutExpired)
"""What the end of a process between two looks at it raises."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGKILL)
TEMPORARY = ("pymp-",)
"""What SIGKILL leaves among temporary files: those of Python's own library."""

FULL = (b"(File too large)", b"the disk is full", b"temporary file: ", b"No usable temporary directory")
"""What is said where a file may not grow."""

PATIENCE = 90
"""Seconds in which a command ends, whatever happened to it; and its processes with it."""

# Whoever started the trials may ignore signals, as nohup does; that would be inherited.
PLAIN = (
    "import signal; [signal.signal(number, signal.SIG_DFL) for number in ({numbers})];"
    "signal.signal(signal.SIGINT, signal.default_int_handler); "
)
RUN = "from gradedeval.__main__ import run; run()"
STEPS = (
    "tempfile.mkstemp",
    "os.fsync",
    "os.write",
    "pathlib.Path.chmod",
    "pathlib.Path.replace",
    "pathlib.Path.unlink",
)
# The signal comes with a call of this step, before it or after it.
AT_A_STEP = """
import os, pathlib, tempfile
def at(owner, name, number, count, late):
    real, seen = getattr(owner, name), []
    def instead(*given, **named):
        seen.append(given)
        now = len(seen) == count
        if now and not late:
            os.kill(os.getpid(), number)
        try:
            return real(*given, **named)
        finally:
            if now and late:
                os.kill(os.getpid(), number)
    setattr(owner, name, instead)
at({owner}, "{name}", {number}, {count}, {late})
"""


@dataclass
class Trial:
    """What was done to a command, and what came of it.

    how     in words: the signal and the moment
    found   what is wrong
    ended   whether it was at its end before
    left    what SIGKILL left, which is allowed
    """

    name: str
    how: str
    found: list[str] = field(default_factory=list)
    ended: bool = False
    left: list[str] = field(default_factory=list)


class Trials:
    """Trials in one folder; each command is run to its end once, to know what it writes and how long it takes."""

    def __init__(self, folder: Path) -> None:
        self.inputs, self.folder = folder / "inputs", folder / "work"
        self.inputs.mkdir()
        write_inputs(self.inputs)
        self._complete: dict[str, tuple[dict[str, bytes | None], Outcome, float]] = {}

    def complete(self, name: str) -> tuple[dict[str, bytes | None], Outcome, float]:
        """What a command leaves that nobody disturbs, what it says, and how many seconds it takes."""
        if name not in self._complete:
            with self.fresh() as temporary:
                begin = time.monotonic()
                process = started(COMMANDS[name], self.folder, temporary)
                done = outcome(process)
                assert done.code == 0, f"{name}: {done.err.decode()}"
                assert os.listdir(temporary) == [], f"{name} leaves {os.listdir(temporary)}"
                self._complete[name] = left_in(self.folder), done, time.monotonic() - begin
        return self._complete[name]

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """The inputs as they were, and an empty folder for temporary files; its name is short enough for a socket."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.inputs, self.folder)
        with tempfile.TemporaryDirectory(prefix="kill-") as temporary:
            yield temporary

    def killed(self, name: str, dice: random.Random, number: signal.Signals | None = None) -> Trial:
        """A signal at a moment of a command, or at a step of what it writes."""
        command, (_, _, seconds) = COMMANDS[name], self.complete(name)
        number = number or dice.choice(SIGNALS)
        anew = dice.random() < 0.3  # nothing was there before
        to_all = dice.random() < 0.3
        step, count, late = dice.choice(STEPS), dice.choice([1, 1, 2, 3]), dice.random() < 0.5
        moment = dice.uniform(0.05, 1.0) * seconds if dice.random() < 0.6 else None
        where = f"{'after' if late else 'at'} {step} {count}" if moment is None else f"{moment:.2f} s"
        trial = Trial(name, f"{number.name}{' to all' if to_all and moment else ''} {where}")
        with self.fresh() as temporary:
            for file in (*command.writes, *filter(None, [command.grows])) if anew else ():
                (self.folder / file).unlink()
            before = left_in(self.folder)
            owner, _, method = step.rpartition(".")
            at = AT_A_STEP.format(owner=owner, name=method, number=int(number), count=count, late=late)
            process = started(command, self.folder, temporary, "" if moment else at)
            if moment is not None:
                trial.ended = waited(process, moment)
                if not trial.ended:
                    (os.killpg if to_all else os.kill)(process.pid, number)
            done = outcome(process)
            trial.ended |= moment is None and done.code == 0
            if done.code not in ({0} if trial.ended else {0, -number, 128 + number}):  # 0: it came as the command ended
                trial.found.append(f"exit code {done.code}: {done.err[-300:]!r}")
            self._look(trial, command, before, done, temporary, number is signal.SIGKILL)
            trial.found += left_running(process.pid)
        return trial

    def full(self, name: str, dice: random.Random) -> Trial:
        """A limit of the size of files, as of a disk that is full."""
        command, (complete, _, _) = COMMANDS[name], self.complete(name)
        sizes = [len(complete[file] or b"") for file in (*command.writes, *filter(None, [command.grows]))]
        limit = dice.choice([0, 1, 100, *sizes, *(dice.randrange(size) for size in sizes)])
        trial = Trial(name, f"files of {limit} bytes at most")
        with self.fresh() as temporary:
            before = left_in(self.folder)
            done = outcome(started(command, self.folder, temporary, limit=limit))
            trial.ended = done.code == 0
            if done.code not in (0, 1, 3):
                trial.found.append(f"exit code {done.code}: {done.err[-300:]!r}")
            elif done.code and not any(words in done.err for words in FULL):
                trial.found.append(f"says {done.err[-300:]!r}")
            self._look(trial, command, before, Outcome(done.code, done.out, b""), temporary, True)
            trial.found += [f"leaves {file}" for file in trial.left]
        return trial

    def worker(self, name: str, dice: random.Random) -> Trial:
        """A process that shares the work dies: another does its part."""
        command, (complete, said, seconds) = COMMANDS[name], self.complete(name)
        number = dice.choice([signal.SIGKILL, signal.SIGTERM])
        trial = Trial(name, f"{number.name} to a worker")
        with self.fresh() as temporary:
            process = started(command, self.folder, temporary)
            until = time.monotonic() + dice.uniform(0.3, 1) * seconds
            trial.ended = True
            while process.poll() is None:
                if time.monotonic() > until and (others := workers(process.pid)):
                    trial.ended = False
                    with GONE:
                        os.kill(dice.choice(others), number)
                    break
                time.sleep(0.01)
            done = outcome(process)
            if done.code != 0 or done.err != said.err:
                trial.found.append(f"exit code {done.code}: {done.err[-300:]!r}")
            now = left_in(self.folder)
            trial.found += [f"{file} is another" for file in command.writes if now.get(file) != complete.get(file)]
            trial.found += [f"leaves {name} among temporary files" for name in os.listdir(temporary)]
            trial.found += left_running(process.pid)
        return trial

    def appends(self, name: str, dice: random.Random) -> Trial:
        """Many processes append to one history at the same time, and some are killed."""
        command, (complete, _, seconds) = COMMANDS["a history"], self.complete("a history")
        count = dice.choice([3, 6, 10])
        trial = Trial("appends", f"{count} at the same time")
        with self.fresh() as temporary:
            before = left_in(self.folder)[command.grows] or b""
            own = (complete[command.grows] or b"").removeprefix(before)
            only = Killed(command.words.replace("-f csv -o out.csv", ""), (), command.grows)
            processes = [started(only, self.folder, temporary) for _ in range(count)]
            killed = dice.sample(processes, count // 3)
            time.sleep(dice.uniform(0.2, 1) * seconds)
            for process in killed:
                process.send_signal(dice.choice([signal.SIGTERM, signal.SIGKILL]))
            done = sum(outcome(process).code == 0 for process in processes)
            after = left_in(self.folder)[command.grows] or b""
            times = after.count(own)
            if after != before + own * times or not done <= times <= count:
                trial.found.append(f"{times} evaluations of {done} that ended: {after[-300:]!r}")
        return trial

    def _look(
        self,
        trial: Trial,
        command: Killed,
        before: dict[str, bytes | None],
        done: Outcome,
        temporary: str,
        outright: bool,
    ) -> None:
        """What must hold, and what SIGKILL may leave (`outright`)."""
        complete, said, _ = self.complete(trial.name)
        for name, content in left_in(self.folder).items():
            was, new = before.get(name), complete.get(name)
            if name in command.writes:
                trial.found += [] if content in (was, new) else [f"{name} is neither the old file nor the new one"]
            elif name == command.grows and content is not None and new is not None:
                whole = (was or b"") + new[len(self.inputs.joinpath(name).read_bytes()) :]
                torn = outright and whole.startswith(content) and content.startswith(was or b"")
                trial.found += [] if content in (was, whole) or torn else [f"{name} is torn"]
            elif name.startswith(UNFINISHED):
                (trial.left if outright else trial.found).append(f"{UNFINISHED}*")
            elif name not in before or content != was:
                trial.found.append(f"{name} is new or changed")
        trial.found += [f"{name} is gone" for name in before if not (self.folder / name).exists()]
        for name in os.listdir(temporary):
            known = next((f"{one}*" for one in TEMPORARY if name.startswith(one)), "")
            (trial.left if outright and known else trial.found).append(known or f"temporary file {name}")
        known_lines = set(said.err.splitlines())
        others = [line for line in done.err.splitlines() if not line.startswith(b"interrupted; ")]
        trial.found += [f"says {line!r}" for line in others if line not in known_lines]


def started(
    command: Killed, folder: Path, temporary: str, before: str = "", limit: int | None = None
) -> subprocess.Popen[bytes]:
    """A command in a process group of its own."""
    numbers = ",".join(str(int(number)) for number in SIGNALS if number is not signal.SIGKILL)
    script = f"{PLAIN.format(numbers=numbers)}{command.before}{before}\n{RUN}"
    return subprocess.Popen(
        [sys.executable, "-c", script, *command.arguments],
        cwd=folder,
        env={**environment(), "TMPDIR": temporary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


def left_in(folder: Path) -> dict[str, bytes | None]:
    """The files of a folder, histories as of one day."""
    return {name: None if content is None else dated(content) for name, content in contents(folder).items()}


def outcome(process: subprocess.Popen[bytes]) -> Outcome:
    try:
        out, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, said = process.communicate()
        return Outcome(-1, out, b"hangs: " + said)
    return Outcome(process.returncode, out, said)


def waited(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for a process so long; whether it has ended."""
    with GONE:
        process.wait(seconds)
    return process.returncode is not None


def left_running(group: int) -> list[str]:
    """What is wrong with processes that outlive the first of their group; they have a moment to notice."""
    until = time.monotonic() + 20
    while others := processes_of(group):
        if time.monotonic() > until:
            os.killpg(group, signal.SIGKILL)
            return [f"{len(others)} processes are left"]
        time.sleep(0.05)
    return []


def workers(first: int) -> list[int]:
    """The processes that do the work of a first one: its children, or those of the one that it has them forked by."""
    found, helpers = [], []
    for process in set(processes_of(first)) - {first}:
        with GONE:
            words = Path(f"/proc/{process}/cmdline").read_bytes()
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            if b"resource_tracker" in words:
                continue
            (helpers if b"forkserver" in words and parent == first else found).append(process)
    return found


Kind = Callable[[Trials, str, random.Random], Trial]
KINDS: dict[str, tuple[Kind, tuple[str, ...], int]] = {
    "killed": (Trials.killed, tuple(COMMANDS), 16),
    "full": (Trials.full, tuple(COMMANDS), 4),
    "worker": (Trials.worker, tuple(name for name, command in COMMANDS.items() if command.shares), 3),
    "appends": (Trials.appends, ("a history",), 16),
}
"""What may happen, to which commands, and how many turns of it each has in some 300 trials."""

NEEDS = {"parquet": "pyarrow", "a picture": "matplotlib"}
"""What some commands need that need not be installed."""


def drawn(
    count: int, seed: str, kinds: Iterable[str] = KINDS, names: Iterable[str] = COMMANDS
) -> Iterator[tuple[str, str, random.Random]]:
    """The kind, the command and the dice of each trial."""
    known = [name for name in names if name not in NEEDS or find_spec(NEEDS[name])]
    turns = [(kind, name) for kind in kinds for name in KINDS[kind][1] if name in known for _ in range(KINDS[kind][2])]
    random.Random(seed).shuffle(turns)
    for at in range(count):
        yield (*turns[at % len(turns)], random.Random(f"{seed} {at}"))
