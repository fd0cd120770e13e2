"""gradedeval and other tools as whole processes, in turn, several times: medians, ratios and peak memory.

python tests/benchmarks/speed.py                  all rows of the table
python tests/benchmarks/speed.py --only small     one of: small, large, many, forms, growth, measures, all_trec, loop
python tests/benchmarks/speed.py --trec-eval ~/trec_eval/trec_eval

The workloads are written once to --folder (about 6 GB with all rows). Nothing here belongs to the tests, but for a
small smoke of it. Commands find this gradedeval, and none of the variables that tell Python otherwise: without compiled
modules every start would take a third longer.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import Process
from pathlib import Path
from typing import Any, TypeVar

import training_loop
from generate import FORMS, Workload, in_form, judged_alike, longer, workload

Made = TypeVar("Made")

MEASURES = ["-m", "err@20", "-m", "ndcg@10", "--residuals"]
TWENTY = (
    "ap ndcg ndcg@10 ndcg@20 err err@20 rbp(p=.8) rbp(p=.95) gap q bpref p@5 p@10 p@100 recall@100 recall@1000 rr "
    "rprec success@10 judged@10"
)
PYTREC_EVAL = """
import sys, pytrec_eval
*runs, qrels = sys.argv[1:]
with open(qrels) as file:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"map", "ndcg_cut_10"})
for run in runs:
    with open(run) as file:
        scores = evaluator.evaluate(pytrec_eval.parse_run(file))
    for name in ("map", "ndcg_cut_10"):
        print(run, name, sum(topic[name] for topic in scores.values()) / len(scores))
"""
# All that pytrec_eval knows; relstring and runid are text, and no scores.
PYTREC_EVAL_ALL = PYTREC_EVAL.replace(
    '{"map", "ndcg_cut_10"})', 'pytrec_eval.supported_measures - {"relstring", "runid"})', 1
)


HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Taken:
    """The cost of a command: median and least seconds, median processor seconds of all its processes, and their peak
    memory in MiB."""

    seconds: float
    least: float
    processor: float
    memory: float


def environment() -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**plain, "PYTHONPATH": str(HERE.parent.parent)}


def together(process: int) -> float:
    """Return MiB of a process and its children; shared pages count once. The lower of two measurements is taken: a
    process that begins or ends during one counts twice."""
    return min(_looked(process), _looked(process))


def _looked(process: int) -> float:
    try:
        size = next(
            int(line.split()[1])
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            if line.startswith("Pss:")
        )
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (OSError, StopIteration):
        return 0.0
    return size / 1024 + sum(_looked(int(child)) for child in children)


def peak(command: list[str]) -> float:
    """Return the most memory that a command and its processes take, looked at every few milliseconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    most = 0.0
    while process.poll() is None:
        most = max(most, together(process.pid))
        time.sleep(0.002)
    return most


def timed(commands: dict[str, list[str]], rounds: int) -> dict[str, Taken]:
    """Return each command run `rounds` times, one after the other, so that a busy machine slows all alike; and once
    more for its memory."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    processor: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        for name, command in commands.items():
            begin, start = time.perf_counter(), os.times()
            done = subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(), check=False
            )
            if done.returncode:
                sys.exit(f"{name} failed: {done.stderr.strip().splitlines()[-1:]}")
            if round_number:  # the first round fills the cache of files
                after = os.times()
                seconds[name].append(time.perf_counter() - begin)
                spent = after.children_user + after.children_system
                processor[name].append(spent - start.children_user - start.children_system)
    return {
        name: Taken(
            statistics.median(elapsed),
            min(elapsed),
            statistics.median(processor[name]),
            peak(commands[name]),
        )
        for name, elapsed in seconds.items()
    }


def apart(make: Callable[..., Made], *arguments: Any) -> Made:
    """Return the result of `make`, called in a process of its own: its memory would count as that of the commands."""
    process = Process(target=make, args=arguments)
    process.start()
    process.join()
    return make(*arguments)


def program() -> list[str]:
    """Return the installed command, or the module if none is installed."""
    installed = shutil.which("gradedeval", path=sysconfig.get_path("scripts"))
    return [installed] if installed else [sys.executable, "-m", "gradedeval"]


def gradedeval(files: Workload, *options: str) -> list[str]:
    return [*program(), *map(str, files.runs), str(files.qrels), *options]


def peers(files: Workload, trec_eval: str | None) -> dict[str, list[str]]:
    """Return the commands of the other tools that are there."""
    commands: dict[str, list[str]] = {}
    if find_spec("pytrec_eval"):
        commands["pytrec_eval, a script"] = [sys.executable, "-c", PYTREC_EVAL, *map(str, files.runs), str(files.qrels)]
    if trec_eval:
        loop = 'for run in "${@:3}"; do "$1" -m map -m ndcg_cut.10 "$2" "$run"; done'
        commands["trec_eval, a shell loop"] = [
            "bash",
            "-c",
            loop,
            "-",
            trec_eval,
            str(files.qrels),
            *map(str, files.runs),
        ]
    return commands


def show(title: str, measurements: dict[str, Taken], against: str) -> None:
    print(f"\n{title}\n  {'':<26}   seconds    least processor      memory")
    for name, costs in measurements.items():
        ratio = costs.seconds / measurements[against].seconds
        figures = f"{costs.seconds:7.3f} s {costs.least:6.3f} s {costs.processor:7.3f} s {costs.memory:7.0f} MiB"
        print(f"  {name:<26} {figures}   {ratio:6.2f} × {against}", flush=True)


def beside_peers(title: str, files: Workload, rounds: int, trec_eval: str | None) -> None:
    """Time one command for all runs, a shell loop of trec_eval with one process a run, and one process of
    pytrec_eval for all."""
    commands = {"gradedeval": gradedeval(files, *MEASURES)}
    if len(files.runs) > 1 or files.size > 1 << 25:
        commands["gradedeval --jobs 1"] = gradedeval(files, *MEASURES, "--jobs", "1")
    show(f"{title}, {files.size / 1e6:.0f} MB", timed({**commands, **peers(files, trec_eval)}, rounds), "gradedeval")


def forms(large: Workload, rounds: int) -> None:
    commands = {"regular": gradedeval(large, *MEASURES)}
    for form in FORMS:
        commands[form] = gradedeval(Workload([apart(in_form, large.runs[0], form)], large.qrels), *MEASURES)
    commands["gzip -dc"] = ["gzip", "-dc", str(in_form(large.runs[0], "gz"))]
    show("the large run in other forms", timed(commands, rounds), "regular")


def growth(large: Workload, short: Path, rounds: int) -> None:
    """Time a tenth of the large run, the run, and ten times as many topics, all with the same qrels.

    By one process: what more of them take depends on how a small file is shared, and the question is what a line costs.
    Topics that the run lacks would cost the short one something: `--topics both` leaves them out.
    """
    runs = {"0.1 ×": short, "1 ×": large.runs[0], "10 ×": apart(longer, large.runs[0], 10)}
    qrels = apart(judged_alike, large.qrels, 10)
    for jobs in (["--jobs", "1"], []):
        commands = {
            name: gradedeval(Workload([run], qrels), *MEASURES, "--topics", "both", *jobs) for name, run in runs.items()
        }
        measurements = timed(commands, rounds)
        show(
            f"a tenth of the large run, the run, ten times as many topics; {' '.join(jobs) or 'all cores'}",
            measurements,
            "1 ×",
        )
        seconds = [measurement.seconds for measurement in measurements.values()]
        print(f"  (t70 - t7) / (t7 - t0.7) = {(seconds[2] - seconds[1]) / (seconds[1] - seconds[0]):.2f}")


def measures(large: Workload, rounds: int) -> None:
    commands = {"ap": gradedeval(large, "-m", "ap"), "20 measures": gradedeval(large, "-m", TWENTY)}
    show("20 measures instead of one", timed(commands, rounds), "ap")


def all_trec(large: Workload, rounds: int, trec_eval: str | None) -> None:
    """Time the drop-in with all of trec_eval's measures, and the tools whose measures they are."""
    files = [str(large.qrels), str(large.runs[0])]
    commands = {"gradedeval trec_eval -m all_trec": [*program(), "trec_eval", "-m", "all_trec"]}
    commands["gradedeval trec_eval -m map"] = [*program(), "trec_eval", "-m", "map"]
    if find_spec("pytrec_eval"):
        commands["pytrec_eval, all measures"] = [sys.executable, "-c", PYTREC_EVAL_ALL]
    if trec_eval:
        commands["trec_eval -m all_trec"] = [trec_eval, "-m", "all_trec"]
        commands["trec_eval -m map"] = [trec_eval, "-m", "map"]
    for name, command in commands.items():
        command += reversed(files) if "pytrec_eval" in name else files
    show("all of trec_eval's measures", timed(commands, rounds), "gradedeval trec_eval -m all_trec")


def shortened(large: Workload, topics: int) -> Path:
    """Return the first topics of the large run."""
    target = large.runs[0].with_suffix(".short")
    if not target.exists():
        with large.runs[0].open("rb") as lines:
            target.write_bytes(b"".join(line for line, _ in zip(lines, range(topics * 1000), strict=False)))
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/gradedeval-benchmark"))
    rows = ["small", "large", "many", "forms", "growth", "measures", "all_trec", "loop"]
    parser.add_argument("--only", choices=rows)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--topics", type=int, default=6980, help="topics of the large run")
    parser.add_argument("--runs", type=int, default=100, help="runs of many runs")
    parser.add_argument("--trec-eval", default=shutil.which("trec_eval"), help="a trec_eval binary")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    def wanted(*names: str) -> bool:
        return arguments.only is None or arguments.only in names

    if wanted("small"):
        files = apart(workload, arguments.folder, "small", 50, 1000)
        beside_peers("50 topics × 1,000", files, 2 * arguments.rounds, arguments.trec_eval)
    if wanted("many"):
        files = apart(workload, arguments.folder, f"many{arguments.runs}", 50, 1000, arguments.runs)
        beside_peers(f"{arguments.runs} runs × 50 × 1,000", files, arguments.rounds, arguments.trec_eval)
    if wanted("large", "forms", "growth", "measures", "all_trec"):
        large = apart(workload, arguments.folder, f"large{arguments.topics}", arguments.topics, 1000)
        if wanted("large"):
            beside_peers(f"{arguments.topics:,} topics × 1,000", large, arguments.rounds, arguments.trec_eval)
        if wanted("measures"):
            measures(large, arguments.rounds)
        if wanted("all_trec"):
            all_trec(large, arguments.rounds, arguments.trec_eval)
        if wanted("forms"):
            forms(large, arguments.rounds)
        if wanted("growth"):
            growth(large, apart(shortened, large, arguments.topics // 10), arguments.rounds)
    if wanted("loop"):
        training_loop.main(rounds=2 * arguments.rounds)


if __name__ == "__main__":
    main()
