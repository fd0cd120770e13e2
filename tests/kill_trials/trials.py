"""A trial: a command is ended at a random moment, and its files are checked."""

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

IGNORE_ENDED = suppress(OSError, subprocess.TimeoutExpired)
"""Ignores the errors of a process that ends between two looks at it."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGKILL)
TEMPORARY = ("pymp-",)
"""Prefixes of temporary files of Python's library, which SIGKILL leaves."""

FULL_DISK_MESSAGES = (b"(File too large)", b"the disk is full", b"temporary file: ", b"No usable temporary directory")
"""Messages about a file that cannot grow."""

PATIENCE = 90
"""Seconds within which a command and its processes end."""

# A parent that ignores signals, such as nohup, would pass that on.
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
# The signal is sent before or after a call of this step.
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
    """The treatment of a command, and its result.

    cause     the signal and the moment, in words
    problems  the faults
    ended     whether the command had ended before
    left      files that SIGKILL left, which is allowed
    """

    name: str
    cause: str
    problems: list[str] = field(default_factory=list)
    ended: bool = False
    left: list[str] = field(default_factory=list)


class Trials:
    """Trials in one folder. Each command runs undisturbed once, for its files and its time."""

    def __init__(self, folder: Path) -> None:
        self.inputs, self.folder = folder / "inputs", folder / "work"
        self.inputs.mkdir()
        write_inputs(self.inputs)
        self._complete: dict[str, tuple[dict[str, bytes | None], Outcome, float]] = {}

    def complete(self, name: str) -> tuple[dict[str, bytes | None], Outcome, float]:
        """Return the files, the outcome and the seconds of an undisturbed command."""
        if name not in self._complete:
            with self.fresh() as temporary:
                begin = time.monotonic()
                process = start(COMMANDS[name], self.folder, temporary)
                done = outcome_of(process)
                assert done.code == 0, f"{name}: {done.err.decode()}"
                assert os.listdir(temporary) == [], f"{name} leaves {os.listdir(temporary)}"
                self._complete[name] = files_in(self.folder), done, time.monotonic() - begin
        return self._complete[name]

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """Restore the inputs, and yield an empty folder for temporary files, with a name short enough for a socket."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.inputs, self.folder)
        with tempfile.TemporaryDirectory(prefix="kill-") as temporary:
            yield temporary

    def killed(self, name: str, dice: random.Random, number: signal.Signals | None = None) -> Trial:
        """Send a signal at a moment of a command, or at a step of writing."""
        command, (_, _, seconds) = COMMANDS[name], self.complete(name)
        number = number or dice.choice(SIGNALS)
        without_outputs = dice.random() < 0.3  # no output file exists
        to_all = dice.random() < 0.3
        step, count, late = dice.choice(STEPS), dice.choice([1, 1, 2, 3]), dice.random() < 0.5
        moment = dice.uniform(0.05, 1.0) * seconds if dice.random() < 0.6 else None
        where = f"{'after' if late else 'at'} {step} {count}" if moment is None else f"{moment:.2f} s"
        trial = Trial(name, f"{number.name}{' to all' if to_all and moment else ''} {where}")
        with self.fresh() as temporary:
            for file in (*command.writes, *filter(None, [command.grows])) if without_outputs else ():
                (self.folder / file).unlink()
            before = files_in(self.folder)
            owner, _, method = step.rpartition(".")
            step_code = AT_A_STEP.format(owner=owner, name=method, number=int(number), count=count, late=late)
            process = start(command, self.folder, temporary, "" if moment else step_code)
            if moment is not None:
                trial.ended = ended_within(process, moment)
                if not trial.ended:
                    (os.killpg if to_all else os.kill)(process.pid, number)
            done = outcome_of(process)
            trial.ended |= moment is None and done.code == 0
            # 0: the signal arrived as the command ended.
            if done.code not in ({0} if trial.ended else {0, -number, 128 + number}):
                trial.problems.append(f"exit code {done.code}: {done.err[-300:]!r}")
            self._look(trial, command, before, done, temporary, number is signal.SIGKILL)
            trial.problems += running_processes(process.pid)
        return trial

    def full(self, name: str, dice: random.Random) -> Trial:
        """Limit the size of files, as a full disk does."""
        command, (complete, _, _) = COMMANDS[name], self.complete(name)
        sizes = [len(complete[file] or b"") for file in (*command.writes, *filter(None, [command.grows]))]
        limit = dice.choice([0, 1, 100, *sizes, *(dice.randrange(size) for size in sizes)])
        trial = Trial(name, f"files of {limit} bytes at most")
        with self.fresh() as temporary:
            before = files_in(self.folder)
            done = outcome_of(start(command, self.folder, temporary, limit=limit))
            trial.ended = done.code == 0
            if done.code not in (0, 1, 3):
                trial.problems.append(f"exit code {done.code}: {done.err[-300:]!r}")
            elif done.code and not any(words in done.err for words in FULL_DISK_MESSAGES):
                trial.problems.append(f"says {done.err[-300:]!r}")
            self._look(trial, command, before, Outcome(done.code, done.out, b""), temporary, True)
            trial.problems += [f"leaves {file}" for file in trial.left]
        return trial

    def worker(self, name: str, dice: random.Random) -> Trial:
        """Kill a process that shares the work: another does its part."""
        command, (complete, complete_outcome, seconds) = COMMANDS[name], self.complete(name)
        number = dice.choice([signal.SIGKILL, signal.SIGTERM])
        trial = Trial(name, f"{number.name} to a worker")
        with self.fresh() as temporary:
            process = start(command, self.folder, temporary)
            until = time.monotonic() + dice.uniform(0.3, 1) * seconds
            trial.ended = True
            while process.poll() is None:
                if time.monotonic() > until and (others := workers(process.pid)):
                    trial.ended = False
                    with IGNORE_ENDED:
                        os.kill(dice.choice(others), number)
                    break
                time.sleep(0.01)
            done = outcome_of(process)
            if done.code != 0 or done.err != complete_outcome.err:
                trial.problems.append(f"exit code {done.code}: {done.err[-300:]!r}")
            now = files_in(self.folder)
            trial.problems += [f"{file} is another" for file in command.writes if now.get(file) != complete.get(file)]
            trial.problems += [f"leaves {name} among temporary files" for name in os.listdir(temporary)]
            trial.problems += running_processes(process.pid)
        return trial

    def appends(self, name: str, dice: random.Random) -> Trial:
        """Let many processes append to one history at the same time, and kill some."""
        command, (complete, _, seconds) = COMMANDS["a history"], self.complete("a history")
        count = dice.choice([3, 6, 10])
        trial = Trial("appends", f"{count} at the same time")
        with self.fresh() as temporary:
            before = files_in(self.folder)[command.grows] or b""
            entries = (complete[command.grows] or b"").removeprefix(before)
            only = Killed(command.words.replace("-f csv -o out.csv", ""), (), command.grows)
            processes = [start(only, self.folder, temporary) for _ in range(count)]
            killed = dice.sample(processes, count // 3)
            time.sleep(dice.uniform(0.2, 1) * seconds)
            for process in killed:
                process.send_signal(dice.choice([signal.SIGTERM, signal.SIGKILL]))
            done = sum(outcome_of(process).code == 0 for process in processes)
            after = files_in(self.folder)[command.grows] or b""
            times = after.count(entries)
            if after != before + entries * times or not done <= times <= count:
                trial.problems.append(f"{times} evaluations of {done} that ended: {after[-300:]!r}")
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
        """Add faults of the files and messages; `outright`: SIGKILL may leave temporary files."""
        complete, complete_outcome, _ = self.complete(trial.name)
        for name, content in files_in(self.folder).items():
            was, new = before.get(name), complete.get(name)
            if name in command.writes:
                trial.problems += [] if content in (was, new) else [f"{name} is neither the old file nor the new one"]
            elif name == command.grows and content is not None and new is not None:
                whole = (was or b"") + new[len(self.inputs.joinpath(name).read_bytes()) :]
                torn = outright and whole.startswith(content) and content.startswith(was or b"")
                trial.problems += [] if content in (was, whole) or torn else [f"{name} is torn"]
            elif name.startswith(UNFINISHED):
                (trial.left if outright else trial.problems).append(f"{UNFINISHED}*")
            elif name not in before or content != was:
                trial.problems.append(f"{name} is new or changed")
        trial.problems += [f"{name} is gone" for name in before if not (self.folder / name).exists()]
        for name in os.listdir(temporary):
            leftover = next((f"{prefix}*" for prefix in TEMPORARY if name.startswith(prefix)), "")
            (trial.left if outright and leftover else trial.problems).append(leftover or f"temporary file {name}")
        expected_lines = set(complete_outcome.err.splitlines())
        lines = [line for line in done.err.splitlines() if not line.startswith(b"interrupted; ")]
        trial.problems += [f"says {line!r}" for line in lines if line not in expected_lines]


def start(
    command: Killed, folder: Path, temporary: str, set_up: str = "", limit: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own."""
    numbers = ",".join(str(int(number)) for number in SIGNALS if number is not signal.SIGKILL)
    script = f"{PLAIN.format(numbers=numbers)}{command.set_up}{set_up}\n{RUN}"
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


def files_in(folder: Path) -> dict[str, bytes | None]:
    """Return the files of a folder, with one date in histories."""
    return {name: None if content is None else dated(content) for name, content in contents(folder).items()}


def outcome_of(process: subprocess.Popen[bytes]) -> Outcome:
    """Wait for a process, and return its outcome; kill it if it hangs."""
    try:
        out, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
        return Outcome(-1, out, b"hangs: " + errors)
    return Outcome(process.returncode, out, errors)


def ended_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for a process, and return whether it has ended."""
    with IGNORE_ENDED:
        process.wait(seconds)
    return process.returncode is not None


def running_processes(group: int) -> list[str]:
    """Return the fault of processes that outlive the first of their group by 20 seconds."""
    until = time.monotonic() + 20
    while others := processes_of(group):
        if time.monotonic() > until:
            os.killpg(group, signal.SIGKILL)
            return [f"{len(others)} processes are left"]
        time.sleep(0.05)
    return []


def workers(first: int) -> list[int]:
    """Return the processes that work for the first one: its children, or those of its fork server."""
    processes, helpers = [], []
    for process in set(processes_of(first)) - {first}:
        with IGNORE_ENDED:
            words = Path(f"/proc/{process}/cmdline").read_bytes()
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            if b"resource_tracker" in words:
                continue
            (helpers if b"forkserver" in words and parent == first else processes).append(process)
    return processes


Kind = Callable[[Trials, str, random.Random], Trial]
KINDS: dict[str, tuple[Kind, tuple[str, ...], int]] = {
    "killed": (Trials.killed, tuple(COMMANDS), 16),
    "full": (Trials.full, tuple(COMMANDS), 4),
    "worker": (Trials.worker, tuple(name for name, command in COMMANDS.items() if command.shares), 3),
    "appends": (Trials.appends, ("a history",), 16),
}
"""Kind -> its trial, its commands, and its share in about 300 trials."""

NEEDS = {"parquet": "pyarrow", "a picture": "matplotlib"}
"""Command -> the optional package it needs."""


def draw_trials(
    count: int, seed: str, kinds: Iterable[str] = KINDS, names: Iterable[str] = COMMANDS
) -> Iterator[tuple[str, str, random.Random]]:
    """Yield the kind, the command and the dice of each trial."""
    available = [name for name in names if name not in NEEDS or find_spec(NEEDS[name])]
    turns = [
        (kind, name) for kind in kinds for name in KINDS[kind][1] if name in available for _ in range(KINDS[kind][2])
    ]
    random.Random(seed).shuffle(turns)
    for index in range(count):
        yield (*turns[index % len(turns)], random.Random(f"{seed} {index}"))
