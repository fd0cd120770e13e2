"""Processes that share work: each number is worked on once, and nobody is left behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from gradedeval.errors import InputError
from gradedeval.parallel import forks as forked
from gradedeval.parallel.forks import Failed, imap_unordered, in_order
from support.processes import linux, nobody_is_left, wait_for


@linux
def test_each_number_is_worked_on_once_and_comes_back() -> None:
    found = dict(imap_unordered(lambda number: (number * number, os.getpid()), range(50), 3))
    assert {number: square for number, (square, _) in found.items()} == {n: n * n for n in range(50)}
    assert len({process for _, process in found.values()}) <= 3
    assert nobody_is_left()


@linux
def test_the_process_that_starts_others_works_too() -> None:
    def work(number: int) -> int:
        time.sleep(0.05)
        return os.getpid()

    assert os.getpid() in dict(imap_unordered(work, range(20), 2)).values()


@linux
def test_a_free_process_takes_the_next_number(tmp_path: Path) -> None:
    def work(number: int) -> int:
        if number == 0:  # long work: it ends when all other numbers are done
            for _ in range(3000):
                if len(list(tmp_path.iterdir())) == 9:
                    return os.getpid()
                time.sleep(0.01)
            raise TimeoutError
        (tmp_path / str(number)).touch()
        return os.getpid()

    found = dict(imap_unordered(work, range(10), 2))
    assert len({found[number] for number in range(1, 10)}) == 1
    assert found[0] != found[1]


@linux
def test_what_fails_comes_back_as_failed_and_the_rest_is_done(tmp_path: Path) -> None:
    parent = os.getpid()

    def work(number: int) -> int:
        if number == 3:
            raise KeyError(number)
        if os.getpid() == parent:
            wait_for(lambda: (tmp_path / "taken").exists())
            return number
        (tmp_path / "taken").write_text(str(number))
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    found = dict(imap_unordered(work, [0, 1, 2, 4, 5, 3], 2))
    lost = int((tmp_path / "taken").read_text())
    assert sorted(number for number, result in found.items() if isinstance(result, Failed)) == sorted({lost, 3})
    assert {number: number for number in range(6) if number not in (lost, 3)}.items() <= found.items()
    assert nobody_is_left()


@linux
def test_results_that_fill_the_pipe_do_not_keep_a_process_from_working(tmp_path: Path) -> None:
    """The parent takes none of them before its own work is done, and that ends when all else is done."""
    parent, size = os.getpid(), 2 * forked.PIPE

    def work(number: int) -> bytes:
        if os.getpid() == parent:
            (tmp_path / "parent").touch()
            wait_for(lambda: len(list(tmp_path.iterdir())) == 1 + forked.WAITING)
            return b""
        # Otherwise it may have taken all before its parent takes the first.
        wait_for((tmp_path / "parent").exists)
        (tmp_path / str(number)).touch()
        return bytes([number]) * size

    found = dict(imap_unordered(work, range(1 + forked.WAITING), 2))
    assert sorted(len(str(result)) > size for result in found.values()) == [False, True, True]
    assert all(result == bytes([number]) * size for number, result in found.items() if result)
    assert nobody_is_left()


@linux
def test_who_stops_early_leaves_nobody_behind() -> None:
    parent = os.getpid()
    results = imap_unordered(lambda number: None if os.getpid() == parent else time.sleep(100), range(10), 3)
    assert next(results)[1] is None
    results.close()
    assert nobody_is_left()


def test_results_come_in_order() -> None:
    assert list(in_order([(2, "c"), (0, "a"), (1, "b"), (3, "d")])) == ["a", "b", "c", "d"]


def test_a_fault_is_the_same_after_a_journey() -> None:
    import pickle

    error = InputError("a.run:3", "what", "cure", usage=True, also=[InputError("a.run:4", "more")], beyond=5)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.usage, again.place, again.exit_code) == (str(error), True, "a.run:3", 2)
