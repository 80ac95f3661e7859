"""The processes that optimize what this one lowers, one for each processor that is compiled for.

They are started anew, not forked: so it works on each system. As many work at a time as there are
cores and memory for; the others begin as soon as one is done.
"""

import multiprocessing
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from queue import SimpleQueue

from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm.worker import work
from terrain_physics._build.platforms import Processor, Wanted
from terrain_physics._build.systems.linking import MachineCode

_BYTES = 1_100_000_000
"""The memory that a process needs."""


class _Worker:
    """A process, what it has not been told yet, and what it has answered."""

    def __init__(self, processor: Processor, wanted: Sequence[Wanted], cache: BuildCache) -> None:
        self.processor = processor.name
        self.optimized = 0
        self.made: SimpleQueue[MachineCode] = SimpleQueue()
        self.is_begun = self.is_done = False
        context = multiprocessing.get_context("spawn")
        self.answers, self._theirs = context.Pipe()
        self._process = context.Process(target=work, args=(self._theirs, processor, wanted, cache))
        self._orders: SimpleQueue[bytes] = SimpleQueue()
        self.order = self._orders.put

    def begin(self) -> None:
        self.is_begun = True
        self._process.start()
        self._theirs.close()
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self) -> None:
        """Send orders, from a thread: nobody waits until the process takes what was sent before."""
        with suppress(OSError):  # it has failed: see `hear`
            while True:
                self.answers.send_bytes(self._orders.get())

    def hear(self) -> None:
        """Note what it has answered."""
        while self.is_begun and not self.is_done:
            try:
                if not self.answers.poll():
                    return
                answer = self.answers.recv()
            except (EOFError, ConnectionError):
                self._process.join()
                status = f"status {self._process.exitcode}"
                reason = f"the process for {self.processor} has failed ({status})"
                raise ChildProcessError(reason) from None
            if answer is None:
                self.is_done = True
            elif isinstance(answer, int):
                self.optimized = answer
            else:
                self.made.put(answer)

    def end(self) -> None:
        """Wait for its end if all is done; have it end now if not."""
        if self.is_begun:
            if not self.is_done:
                self._process.terminate()
            self._process.join()


@contextmanager
def started(wanted: Sequence[Wanted], cache: BuildCache) -> Iterator["WorkerProcesses"]:
    """Start the processes; at the end of the block they have ended."""
    by_processor: dict[Processor, list[Wanted]] = {}
    for one in wanted:
        by_processor.setdefault(one.level.compiled_for, []).append(one)
    with ExitStack() as block:
        workers = []
        for processor, same in by_processor.items():
            workers.append(_Worker(processor, same, cache))
            block.callback(workers[-1].end)
        yield WorkerProcesses(workers, _at_once())


def _at_once() -> int:
    """Return how many processes this machine has cores and memory for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        told = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return cores or 1
    found = re.search(r"^MemAvailable: +(\d+) kB", told, re.MULTILINE)
    free = int(found[1]) * 1024 if found else _BYTES
    return max(1, min(cores or 1, free // _BYTES))


class WorkerProcesses:
    """All of these processes: each gets the same orders."""

    def __init__(self, workers: Sequence[_Worker], at_once: int) -> None:
        self._workers = workers
        self.at_once = at_once
        self._begin()

    @property
    def optimized(self) -> dict[str, int]:
        """Return how many functions are optimized for each processor, as far as it is known."""
        return {worker.processor: worker.optimized for worker in self._workers}

    def new(self) -> Iterator[MachineCode]:
        """Yield what is made and was not yielded before."""
        for worker in self._workers:
            while not worker.made.empty():
                yield worker.made.get()

    def order(self, data: bytes) -> None:
        """Have a packed library optimized, or machine code emitted; None: that was all."""
        for worker in self._workers:
            worker.order(data)
        self._hear()

    def rest(self) -> Iterator[None]:
        """Wait until all is done; yield after each answer."""
        yield  # the last order may have heard all that was left
        while working := [one for one in self._workers if one.is_begun and not one.is_done]:
            wait([worker.answers for worker in working])
            self._hear()
            yield

    def _hear(self) -> None:
        for worker in self._workers:
            worker.hear()
        self._begin()

    def _begin(self) -> None:
        working = sum(worker.is_begun and not worker.is_done for worker in self._workers)
        waiting = [worker for worker in self._workers if not worker.is_begun]
        for worker in waiting[: self.at_once - working]:
            worker.begin()
