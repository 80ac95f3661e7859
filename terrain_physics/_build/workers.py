"""The processes that optimize what this one lowers, one for each processor that is compiled for.

They are started anew, not forked: so it works on each system.
"""

import multiprocessing
import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from queue import SimpleQueue

from terrain_physics._build.c_compiler import Linker
from terrain_physics._build.lowered import Extension, Library
from terrain_physics._build.platforms import Level
from terrain_physics._build.worker import work


class _Worker:
    """A process, what it has not been told yet, and what it has answered."""

    def __init__(self, levels: Sequence[Level], linker: Linker, folder: Path) -> None:
        self.processor = levels[0].compiled_for
        self.optimized = 0
        self.made: dict[str, Path] = {}
        self.is_done = False
        context = multiprocessing.get_context("spawn")
        self.answers, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, levels, linker, folder))
        self._process.start()
        theirs.close()
        self._orders: SimpleQueue[bytes] = SimpleQueue()
        self.order = self._orders.put
        threading.Thread(target=self._send, daemon=True).start()

    def _send(self) -> None:
        """Send orders, from a thread: nobody waits until the process takes what was sent before."""
        with suppress(OSError):  # it has failed: see `hear`
            while True:
                self.answers.send_bytes(self._orders.get())

    def hear(self) -> None:
        """Note what it has answered."""
        while not self.is_done:
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
                place, file = answer
                self.made[place] = file

    def end(self) -> None:
        """Wait for its end if all is done; have it end now if not."""
        if not self.is_done:
            self._process.terminate()
        self._process.join()


@contextmanager
def started(levels: Sequence[Level], linker: Linker, folder: Path) -> Iterator["WorkerProcesses"]:
    """Start the processes, which work in a folder; at the end of the block they have ended."""
    by_processor: dict[str, list[Level]] = {}
    for level in levels:
        by_processor.setdefault(level.compiled_for, []).append(level)
    with ExitStack() as block:
        workers = []
        for same in by_processor.values():
            workers.append(_Worker(same, linker, folder))
            block.callback(workers[-1].end)
        yield WorkerProcesses(workers)


class WorkerProcesses:
    """All of these processes: each gets the same orders."""

    def __init__(self, workers: Sequence[_Worker]) -> None:
        self._workers = workers

    @property
    def optimized(self) -> dict[str, int]:
        """Return how many functions are optimized for each processor, as far as it is known."""
        return {worker.processor: worker.optimized for worker in self._workers}

    @property
    def made(self) -> dict[str, Path]:
        """Return the files that are made, by the names that they are to get."""
        return {place: file for worker in self._workers for place, file in worker.made.items()}

    def order(self, order: Library | Extension | None) -> None:
        """Have a library optimized or an extension module made; None: that was all."""
        data = pickle.dumps(order)
        for worker in self._workers:
            worker.order(data)
        self._hear()

    def rest(self) -> Iterator[None]:
        """Wait until all is done; yield after each answer."""
        while working := [worker for worker in self._workers if not worker.is_done]:
            wait([worker.answers for worker in working])
            self._hear()
            yield

    def _hear(self) -> None:
        for worker in self._workers:
            worker.hear()
