"""Several processes compile, and nothing twice: by forks, which share the cache on disk."""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from terrain_physics._kernels import _cache, _jit
from terrain_physics._support.job_order import job_order

CAN_FORK = hasattr(os, "fork")


def do_all(tasks: int, do: Callable[[int], object], processes: int) -> None:
    """Have forked processes do numbered tasks; each is done by the process that takes it first.

    The two processes of a pair come from both ends. A kernel that two tasks need is compiled by the
    first process that needs it; the other one waits, and loads it. If a process fails, it prints
    why, and the others continue.
    """
    with tempfile.TemporaryDirectory() as name:
        started = [_start(Path(name), number, processes, tasks, do) for number in range(processes)]
        for child in started:
            os.waitpid(child, 0)


def _start(
    folder: Path, number: int, processes: int, tasks: int, do: Callable[[int], object]
) -> int:
    if child := os.fork():
        return child
    try:
        _take_turns(folder)
        with _jit.collecting_rarely():
            for task in job_order(tasks, number, processes):
                if _is_mine(folder / f"task {task}"):
                    do(task)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(0)


def _is_mine(task: Path) -> bool:
    """Take a task, if no other process has."""
    try:
        task.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _take_turns(folder: Path) -> None:
    """Make this process wait for a kernel that another one compiles, and load it.

    No two processes wait for each other: each waits only for kernels that its own kernel calls, and
    no kernel calls itself.
    """
    import fcntl  # where there are forks

    kept: Any = _cache._KernelCache
    load, save = kept.load_overload, kept.save_overload
    held: dict[str, IO[str]] = {}

    def load_or_wait(self: Any, signature: Any, target: Any) -> Any:
        if (result := load(self, signature, target)) is not None:
            return result
        name = self.file(signature, target.codegen()).name
        lock = (folder / name).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (result := load(self, signature, target)) is None:
            held[name] = lock  # until it is saved, or this process ends
        else:
            lock.close()
        return result

    def save_and_let_go(self: Any, signature: Any, result: Any) -> None:
        save(self, signature, result)
        held.pop(self.file(signature, result.codegen).name).close()

    kept.load_overload, kept.save_overload = load_or_wait, save_and_let_go
