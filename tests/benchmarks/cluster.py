"""What a dask cluster costs beside `--jobs`: whole commands in turn, and tasks of a client, medians.

    python tests/benchmarks/cluster.py                  all parts, about ten minutes
    python tests/benchmarks/cluster.py --only many      one part alone
    python tests/benchmarks/cluster.py --folder /tmp/bench --rounds 5

`fixed` is the start: imports, scheduler, workers, first task, end. `many` (100 runs of 50 topics × 1,000), `more`
(1,000 of them, which are links to the same files) and `large` (one run of 6,980 × 1,000, 363 MB) are commands on one
process, two, a local cluster and a scheduler with workers that were started from a shell; what `more` takes longer
than `many` is what work costs without the start. `workers` scores the 1,000 runs on one worker and on two by a client
that is there already, and on workers that give freed memory back as dask sets them up. `tasks` are 10,000 small runs.
`bytes` compares what all ways print.

Processor seconds are those of a command and all its processes, orphans too, and of the workers that were there before.
Where a machine has other work to do, these and their ratios are what repeats. For Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from generate import Workload, in_form, workload

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent.parent)]
from support.dask_cluster import Started, started  # noqa: E402

PARTS = ("fixed", "many", "more", "workers", "large", "tasks", "bytes")
MEASURES = ("-m", "err@20 ndcg@10 ap")
PR_SET_CHILD_SUBREAPER = 36
START = """
import os, sys, time
begin = time.perf_counter()
from gradedeval.kernel.parallel import clusters, local_cluster
from gradedeval.kernel.parallel.executors import sent_task
laps = []
def lap(name):
    global begin
    now = time.perf_counter()
    laps.append(f"{name}={now - begin:.4f}")
    begin = now
if __name__ == "__main__":
    address = sys.argv[1]
    if address == "local":
        local_cluster.preload()
    import distributed
    lap("import")
    with clusters.connected(address, 2) as client:
        lap("scheduler, workers, client")
        clusters.threads_of(client)
        lap("versions")
        with clusters.scattered(client, abs, [1]) as submit:
            submit(0).result()
        lap("first task")
    lap("end")
    print(";".join(laps), flush=True)
"""


@dataclass(frozen=True)
class Spent:
    """Wall-clock seconds; processor seconds of a command, and of workers that were there before."""

    wall: float
    own: float
    workers: float
    out: bytes = b""


def reap() -> None:
    """Wait for what a command left behind: its processor seconds count when it has ended."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return


def children_of(process: int) -> list[int]:
    """Of whichever of its threads."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for one in lists for child in one.read_text().split()]


def processor(process: int) -> float:
    """Processor seconds of a process, and of its children, ended or not."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        children = children_of(process)
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(processor, children))


def peak_memory(process: int) -> Iterator[float]:
    """MiB at most, of a process and each of its children."""
    status = Path(f"/proc/{process}/status").read_text()
    yield int(status.split("VmHWM:")[1].split()[0]) / 1024
    for child in children_of(process):
        yield from peak_memory(child)


class Bench:
    """A cluster that was started from a shell, and commands in turn."""

    def __init__(self, cluster: Started, rounds: int) -> None:
        self.cluster, self.rounds = cluster, rounds

    def spent(self, command: Sequence[str]) -> Spent:
        """What a command takes, started by a process that adopts the children it leaves behind."""
        before, begin = self.standing(), time.perf_counter()
        child, own = _command(command)
        wall = time.perf_counter() - begin
        return Spent(wall, own, self.standing() - before, child)

    def standing(self) -> float:
        """Processor seconds so far of the scheduler and workers that were there before."""
        return sum(processor(process.pid) for process in self.cluster.processes)

    def in_turn(self, commands: dict[str, Sequence[str]]) -> dict[str, list[Spent]]:
        found: dict[str, list[Spent]] = {name: [] for name in commands}
        for at in range(self.rounds + 1):
            for name, command in commands.items():
                spent = self.spent(command)
                if at:  # the first round warms what is read
                    found[name].append(spent)
        for name, all_spent in found.items():
            wall, own, workers = (
                statistics.median(getattr(one, kind) for one in all_spent) for kind in ("wall", "own", "workers")
            )
            least = min(one.wall for one in all_spent)
            print(f"  {name:34s} {wall:6.2f} s ({least:.2f} at least)  processor {own:6.2f} + {workers:5.2f} s")
        return found


def _command(command: Sequence[str]) -> tuple[bytes, float]:
    """What a command prints, and processor seconds of all its processes. They end when it has, or soon after."""
    read, write = os.pipe()
    middle = os.fork()
    if not middle:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=environment)
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(done.stdout)
        reap()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        out = pipe.read()
    _, _, usage = os.wait4(middle, 0)
    return out, usage.ru_utime + usage.ru_stime


def ways(files: Workload, address: str, *options: str) -> dict[str, list[str]]:
    words = [sys.executable, "-m", "gradedeval", *map(str, files.runs), str(files.qrels), *MEASURES, *options]
    return {
        "one process": [*words, "--jobs", "1"],
        "--jobs 2": [*words, "--jobs", "2"],
        "--cluster local --jobs 1": [*words, "--cluster", "local", "--jobs", "1"],
        "--cluster local --jobs 2": [*words, "--cluster", "local", "--jobs", "2"],
        "scheduler and workers of a shell": [*words, "--cluster", address],
    }


def fixed(bench: Bench, folder: Path) -> None:
    script = folder / "start.py"
    script.write_text(START)
    for address in ("local", bench.cluster.address):
        laps: dict[str, list[float]] = {}
        for _ in range(bench.rounds):
            said, own = _command([sys.executable, str(script), address])
            for part in said.decode().strip().split(";"):
                name, seconds = part.split("=")
                laps.setdefault(name, []).append(float(seconds))
            laps.setdefault("processor, all processes", []).append(own)
        print(f"fixed, {'local' if address == 'local' else 'a scheduler that runs'}")
        for name, seconds in laps.items():
            print(f"  {name:34s} {statistics.median(seconds):6.3f} s ({min(seconds):.3f} at least)")


def commands(bench: Bench, name: str, files: Workload) -> None:
    print(f"{name}: {len(files.runs)} runs, {sum(map(os.path.getsize, files.runs)) / 1e6:.0f} MB")
    bench.in_turn(ways(files, bench.cluster.address))


def linked(folder: Path, files: Workload, times: int) -> Workload:
    """The same runs so many times, under other names."""
    links = []
    for number in range(times):
        for run in files.runs:
            links.append(run.with_name(f"again-{number}-{run.name}"))
            if not links[-1].exists():
                links[-1].symlink_to(run)
    return Workload(links, files.qrels)


GIVES_BACK = """
from gradedeval.kernel.parallel import executors
from gradedeval.kernel.scoring import sharing
executors.keep_freed_memory = sharing.keep_freed_memory = int
"""
"""What makes a worker of dask leave its memory as dask sets it up."""


def workers(bench: Bench, folder: Path, files: Workload) -> None:
    """What the same runs take the workers of a client that is connected, beside one process. Each cluster ends before
    the next begins: one without work takes a tenth of a core."""
    import distributed

    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(bench.rounds):
        begin, spent = time.perf_counter(), time.process_time()
        scored(files, None)
        found.setdefault("one process", []).append((time.perf_counter() - begin, time.process_time() - spent))
        for name, count, preload in (("1 worker", 1, ""), ("2 workers", 2, ""), ("2 that give back", 2, GIVES_BACK)):
            words = ("--preload", preload) if preload else ()
            with (
                started(folder, count, *words) as cluster,
                distributed.Client(cluster.address, set_as_default=False) as client,
            ):
                client.wait_for_workers(count, timeout=60)
                client.run(eval, "__import__('gradedeval.cluster') and None")
                crew = Bench(cluster, 1)
                before, begin = crew.standing(), time.perf_counter()
                scored(files, client)
                wall = time.perf_counter() - begin
                found.setdefault(name, []).append((wall, crew.standing() - before))
    for name, some in found.items():
        wall, spent = (statistics.median(column) for column in zip(*some, strict=True))
        print(f"  {name:34s} {wall:6.2f} s, processor of who does the work {spent:6.2f} s")


def scored(files: Workload, executor: Any) -> None:
    """As the command does it where nobody asks for topics."""
    import gradedeval
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.parallel import Workers
    from gradedeval.kernel.scoring.evaluate import evaluate_runs

    runs = {str(run): run for run in files.runs}
    crew = Workers() if executor is None else Workers.of(executor=executor)
    measures = gradedeval.parse_measures(MEASURES[1])
    evaluate_runs(runs, files.qrels, measures, Options(), by_topic=False, workers=crew)


def tasks(bench: Bench, folder: Path) -> None:
    """10,000 runs of ten topics × ten documents, of which fifty are a task; and 2,000 of which each is one."""
    import distributed

    from gradedeval.cluster import plan, work
    from gradedeval.kernel.parallel import Workers

    small = workload(folder, "tiny", 10, 10)
    with distributed.Client(bench.cluster.address, set_as_default=False) as client:
        for many, runs_a_task in ((10_000, None), (2_000, 1)):
            runs = {f"r{number}": small.runs[0] for number in range(many)}
            planned = plan(runs, small.qrels, MEASURES[1], by_topic=False, runs_a_task=runs_a_task)
            crew, before, spent = Workers.of(executor=client), bench.standing(), time.process_time()
            begin, sent, got = time.perf_counter(), 0, 0
            for task, result in crew.imap_unordered(partial(work, planned.scorer), planned.tasks):
                sent, got = sent + len(pickle.dumps(task)), got + len(pickle.dumps(result))
            count, seconds = len(planned.tasks), time.perf_counter() - begin
            own, others = time.process_time() - spent, bench.standing() - before
            print(f"tasks: {many} runs in {count}: {count / seconds:.0f} tasks, {many / seconds:.0f} runs a second")
            print(f"  processor, ms a task: client {1000 * own / count:.2f}, workers {1000 * others / count:.2f}")
            print(f"  bytes a task: {sent // count} to, {got // count} back")
    print(f"scorer of these, once a worker: {len(pickle.dumps(planned.scorer)) / 1e3:.0f} kB")


def travels(files: Workload) -> None:
    """Bytes of the scorer and, a task, both ways."""
    from gradedeval.cluster import plan, work

    for by_topic in (True, False):
        planned = plan([str(run) for run in files.runs], files.qrels, MEASURES[1], by_topic=by_topic, part=1 << 26)
        task = planned.tasks[0]
        back = len(pickle.dumps(work(planned.scorer, task)))
        scorer, there = len(pickle.dumps(planned.scorer)) / 1e6, len(pickle.dumps(task))
        what = "scores of topics" if by_topic else "summaries"
        print(f"  {what}: scorer {scorer:.2f} MB once a worker; {len(planned.tasks)} tasks,", end=" ")
        print(f"the first of {len(task.runs)} runs: {there} B to, {back} B back")


SPAWNED = """
from gradedeval.kernel.parallel import executors
executors.can_fork = lambda: False
if __name__ == "__main__":
    from gradedeval.cli import main
    main()
"""
"""The command where no process is forked."""

THREADS = """
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from gradedeval.cli import main
from gradedeval.kernel.parallel import clusters
clusters.connected = contextmanager(lambda address, count: iter([ThreadPoolExecutor(count)]))
main()
"""
"""The command where `--cluster` is a pool of threads."""


def other_ways(files: Workload, folder: Path, *options: str) -> dict[str, list[str]]:
    """Processes that are spawned, and threads."""
    words = [*map(str, files.runs), str(files.qrels), *MEASURES, *options, "--jobs", "2"]
    spawn, threads = folder / "spawned.py", folder / "threads.py"
    spawn.write_text(SPAWNED)
    threads.write_text(THREADS)
    return {
        "spawned processes": [sys.executable, str(spawn), *words],
        "threads": [sys.executable, str(threads), *words, "--cluster", "local"],
    }


def compared(bench: Bench, folder: Path, many: Workload, large: Workload) -> None:
    """Each form by each way: what is printed, notes and all, is the same bytes."""
    packed = folder / "packed.run.gz"
    packed.write_bytes(gzip.compress(many.runs[0].read_bytes(), 1))
    turns = in_form(workload(folder, "turns", 300, 1000).runs[0], "interleaved")
    forms: dict[str, tuple[Workload, tuple[str, ...]]] = {
        "100 runs": (many, ()),
        "100 runs, -q": (many, ("-q",)),
        "100 runs, residuals, C/W/L": (many, ("--residuals", "-m", "insq(T=2)", "--cwl", "-q")),
        "large": (large, ()),
        "large, -q": (large, ("-q",)),
        "gz": (Workload([packed], many.qrels), ("-q",)),
        "topics that take turns": (Workload([turns], workload(folder, "turns", 300, 1000).qrels), ("-q",)),
    }
    for name, (files, options) in forms.items():
        every = ways(files, bench.cluster.address, *options) | other_ways(files, folder, *options)
        made = {way: _command(words)[0] for way, words in every.items()}
        different = [way for way, out in made.items() if out != made["one process"]]
        print(f"  {name:34s} {'; '.join(different) + ': DIFFERENT' if different else 'the same bytes'}")
        if different:
            sys.exit(1)


@contextmanager
def standing(folder: Path, rounds: int) -> Iterator[Bench]:
    import distributed

    with started(folder) as cluster:
        with distributed.Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            client.run(eval, "__import__('gradedeval.cluster') and None")
        yield Bench(cluster, rounds)
        for process, who in zip(cluster.processes, ("scheduler", "worker", "worker"), strict=True):
            sizes = " + ".join(f"{size:.0f}" for size in peak_memory(process.pid))
            print(f"memory at most, {who} (with its nanny first): {sizes} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "gradedeval-benchmarks")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    many = workload(given.folder, "many", 50, 1000, 100)
    large = workload(given.folder, "large", 6980, 1000)
    with standing(given.folder, given.rounds) as bench:
        parts: dict[str, Callable[[], Any]] = {
            "fixed": lambda: fixed(bench, given.folder),
            "many": lambda: (commands(bench, "many", many), travels(many)),
            "more": lambda: commands(bench, "more", linked(given.folder, many, 10)),
            "workers": lambda: workers(bench, given.folder, linked(given.folder, many, 10)),
            "large": lambda: (commands(bench, "large", large), travels(large)),
            "tasks": lambda: tasks(bench, given.folder),
            "bytes": lambda: compared(bench, given.folder, many, large),
        }
        for name in [given.only] if given.only else parts:
            parts[name]()


if __name__ == "__main__":
    main()
