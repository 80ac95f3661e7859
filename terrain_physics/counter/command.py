"""The command ``count``: reads problems, writes counts, in bounded memory.

Spheres are read and counted in blocks, and then freed. Only the triangles, their tree and the
counts are kept. The counts are written once everything has been read without an error.
"""

import errno
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._memory import lacks_memory
from terrain_physics._kernels.counter.tree import Tree
from terrain_physics._support.threads import Workers
from terrain_physics.counter import counter
from terrain_physics.counter.cluster import run as cluster
from terrain_physics.counter.text import NumberReader, TextError, write_counts

WRONG_COUNT = 1
BAD_INPUT = 2

_PATIENCE = 1.0  # seconds of work before a progress bar appears
_BOX_TESTS = 1 << 27  # at most, for each block of spheres, to find out how many pairs are tested
_LARGEST_INT32 = 2**31 - 1
_LINES_AT_ONCE = 1 << 16

Counts = list[NDArray[np.integer[Any]]]
Stats = Literal["text", "json"] | None


class WrongCountError(Exception):
    """A recount by brute force gave another count; the message says where."""


class _Bar:
    """A bar on standard error, if that is a terminal and the work takes long enough."""

    def __init__(self, total: int | None = None) -> None:
        self._step, self._total, self._unit = "", total, " spheres"
        self._done = 0
        self._bar: Any = None
        self._start = time.monotonic() if _is_seen() else float("inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def begin(self, step: str, total: int | None, unit: str) -> None:
        """Show a bar of another step of the work."""
        self._close()
        self._step, self._total, self._unit = step, total, unit
        self._done = 0
        self.advance(0)

    def advance(self, count: int) -> None:
        """Show how many are done; with 0 more, how much time has passed."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
            if not count:
                self._bar.refresh()
        elif time.monotonic() - self._start > _PATIENCE:
            import tqdm  # here, because most runs end earlier

            self._bar = tqdm.tqdm(
                desc=self._step or None,
                total=self._total,
                initial=self._done,
                unit=self._unit,
                unit_scale=True,
                leave=False,
                file=sys.stderr,
            )


def _is_seen() -> bool:
    """Tell whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _tell(message: object) -> None:
    """Write a line to standard error, if that is not closed."""
    if sys.stderr is not None:  # None stands for standard output
        print(message, file=sys.stderr)


class _AuditSample:
    """A sample of a stream of spheres: all are equally likely, and it is the same each time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rng = np.random.default_rng(0)
        self._keys = np.empty(0)
        self.rows = np.empty(0, np.int64)
        self.spheres = np.empty((0, 4))
        self.counts: NDArray[np.int64] | None = None

    def offer(self, spheres: NDArray[np.float64], first: int) -> None:
        if self._size == 0:
            return
        keys = np.concatenate([self._keys, self._rng.random(len(spheres))])
        rows = np.concatenate([self.rows, np.arange(first, first + len(spheres))])
        chosen = np.argsort(keys, kind="stable")[: self._size]
        self._keys, self.rows = keys[chosen], rows[chosen]
        self.spheres = np.concatenate([self.spheres, spheres])[chosen]


class _Problem:
    """Counts for the spheres of one problem, against one set of triangles after the other."""

    def __init__(self, workers: Workers, name: str, *, stats: Stats, verify: int) -> None:
        self._workers = workers
        self._name = name
        self._stats = stats
        self._sample = _AuditSample(verify)
        self._triangles = self._spheres = self._tested = 0
        self._is_estimate = False
        self._seconds = dict.fromkeys(("parse", "build", "query"), 0.0)
        self.counts: Counts = []

    def timed(self, what: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a call returns, and add its time to the statistics."""
        start = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            self._seconds[what] += time.perf_counter() - start

    def count(
        self,
        triangles: NDArray[np.float64],
        blocks: Iterable[NDArray[np.float64]],
        q: int | None,
        *,
        may_grow: bool = False,
    ) -> None:
        """Add to the counts how many triangles (n, 9) the spheres (q, 4) of all blocks touch."""
        workers, sample = self._workers, self._sample
        tree = self.timed("build", counter.build_tree, workers, triangles)
        self._triangles += len(triangles)
        is_first = not self.counts
        keep = np.int64 if may_grow or len(triangles) > _LARGEST_INT32 else np.int32
        first = 0
        remaining = iter(blocks)
        with _Bar(q) as progress:
            for index in range(sys.maxsize):
                spheres = self.timed("parse", next, remaining, None)
                if spheres is None:
                    break
                counts = self.timed(
                    "query", counter.count_with, workers, tree, spheres, progress.advance
                )
                if is_first:
                    self.counts.append(counts.astype(keep))
                    sample.offer(spheres, first)
                else:
                    self.counts[index] += counts
                if self._stats is not None:
                    self._tested += self._pairs_tested(tree, spheres)
                first += len(spheres)
                del spheres  # frees the memory before the next block is read
        self._spheres = first
        if len(sample.rows):
            recounted = counter.recount(workers, triangles, sample.spheres)
            sample.counts = recounted if sample.counts is None else sample.counts + recounted

    def _pairs_tested(self, tree: Tree, spheres: NDArray[np.float64]) -> int:
        step = -(-len(spheres) * len(tree.leaf_boxes) // _BOX_TESTS) or 1
        self._is_estimate |= step > 1
        some = np.ascontiguousarray(spheres[::step])
        return counter.pairs_tested(self._workers, tree, some) * len(spheres) // len(some)

    def finish(self) -> None:
        """Compare with the recount, and print statistics and the result if they were asked for."""
        if self._stats is not None:
            self._tell_stats()
        rows = self._sample.rows
        if self._sample.counts is None or not len(rows):
            return
        counted = _taken(self.counts, rows)
        for row, count, recount in sorted(zip(rows, counted, self._sample.counts, strict=True)):
            if count != recount:
                raise WrongCountError(
                    f"{self._name}: sphere {row + 1} touches {recount} triangles by brute force, "
                    f"but {count} were counted"
                )
        _tell(f"{self._name}: {len(rows)} spheres recounted, all counts agree")

    def _tell_stats(self) -> None:
        touched = sum(int(counts.sum(dtype=np.int64)) for counts in self.counts)
        told = {
            "problem": self._name,
            "n": self._triangles,
            "q": self._spheres,
            "pairs_touched": touched,
            "pairs_tested": self._tested,
            "is_estimate": self._is_estimate,
            "seconds": self._seconds,
        }
        about = "about " if self._is_estimate else ""
        times = ", ".join(f"{what} {time:.3f} s" for what, time in self._seconds.items())
        line = (
            f"{self._name}: n {self._triangles}, q {self._spheres}, pairs touched {touched}, "
            f"pairs tested {about}{self._tested}, {times}"
        )
        _tell_as(self._stats, told, line)


def _taken(counts: Counts, rows: NDArray[np.int64]) -> list[int]:
    return [
        int(counts[row // counter.SPHERES_AT_ONCE][row % counter.SPHERES_AT_ONCE])
        for row in rows.tolist()
    ]


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    if file == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return nullcontext(sys.stdin.buffer)
    return Path(file).open("rb", buffering=0)


def _name(file: str) -> str:
    return "stdin" if file == "-" else file


class _Command:
    """Reads and counts; ``answers`` holds the counts of all problems, in order."""

    def __init__(self, workers: Workers, *, stats: Stats, verify: int) -> None:
        self._workers = workers
        self._options: dict[str, Any] = {"stats": stats, "verify": verify}
        self.answers: Counts = []

    def _read(self, stack: ExitStack, file: str) -> NumberReader:
        return NumberReader(self._workers, stack.enter_context(_opened(file)), _name(file))

    def whole(self, file: str) -> None:
        """Answer the problem in a file that holds n, q, triangles and spheres."""
        problem = _Problem(self._workers, _name(file), **self._options)
        with ExitStack() as stack:
            reader = problem.timed("parse", self._read, stack, file)
            n, q = reader.counts()
            triangles = problem.timed("parse", reader.triangles, n)
            problem.count(triangles, reader.spheres(q, counter.SPHERES_AT_ONCE), q)
        problem.finish()
        self.answers += problem.counts

    def parts(self, triangle_files: Sequence[str], sphere_file: str) -> None:
        """Answer a problem spread over files: counts add up over the files of triangles."""
        problem = _Problem(self._workers, _name(sphere_file), **self._options)
        several = len(triangle_files) > 1
        with ExitStack() as stack:
            spheres = problem.timed("parse", self._read, stack, sphere_file)
            blocks = spheres.spheres(None, counter.SPHERES_AT_ONCE)
            # The text is parsed once: later rounds read the spheres from this file.
            spool = stack.enter_context(tempfile.TemporaryFile()) if several else None
            for index, file in enumerate(triangle_files):
                with ExitStack() as inner:
                    triangles = problem.timed("parse", self._triangles, inner, file)
                if spool is not None:
                    blocks = _spooled(spool) if index else _spooling(blocks, spool)
                problem.count(triangles, blocks, None, may_grow=several)
                del triangles  # frees the memory before the next file is read
        problem.finish()
        self.answers += problem.counts

    def _triangles(self, stack: ExitStack, file: str) -> NDArray[np.float64]:
        return self._read(stack, file).triangles()


def _spooling(
    blocks: Iterator[NDArray[np.float64]], spool: BinaryIO
) -> Iterator[NDArray[np.float64]]:
    for block in blocks:
        spool.write(block.data)
        yield block


def _spooled(spool: BinaryIO) -> Iterator[NDArray[np.float64]]:
    spool.seek(0)
    while data := spool.read(32 * counter.SPHERES_AT_ONCE):
        yield np.frombuffer(bytearray(data)).reshape(-1, 4)


def run(
    files: Sequence[str],
    triangles: Sequence[str],
    spheres: str | None,
    *,
    threads: int | None,
    stats: Stats,
    verify: int,
) -> int:
    """Count, print the counts, and return the exit status."""

    def counts() -> Counts:
        command = _Command(Workers(threads), stats=stats, verify=verify)
        if spheres is not None:
            command.parts(triangles, spheres)
        else:
            for file in files or ["-"]:
                command.whole(file)
        return command.answers

    return _answered(counts)


def run_on_cluster(
    scheduler: str,
    triangles: Sequence[str],
    spheres: Sequence[str],
    *,
    patience: float,
    out: str | None,
    stats: Stats,
) -> int:
    """Have a cluster count, print or write Parquet, and return the exit status."""

    def counts() -> Iterable[NDArray[np.integer[Any]]]:
        with _Bar() as progress:
            progress.begin("waiting for workers", None, " parts")
            found = cluster.count(
                scheduler,
                triangles,
                spheres,
                patience=patience,
                out=out,
                counter_of=counter.TouchCounter,
                progress=progress,
            )
        if stats is not None:
            _tell_of_cluster(found, stats)
        return found.counts

    return _answered(counts)


def _tell_of_cluster(found: cluster.Counted, stats: Stats) -> None:
    plan = found.plan
    told = {
        "n": plan.triangle_count,
        "q": plan.sphere_count,
        "block_pairs": plan.pair_count,
        "all_block_pairs": plan.all_pairs,
        "seconds": found.seconds,
    }
    line = (
        f"n {plan.triangle_count}, q {plan.sphere_count}, block pairs {plan.pair_count} of "
        f"{plan.all_pairs}, {found.seconds:.3f} s"
    )
    _tell_as(stats, told, line)


def _tell_as(stats: Stats, told: dict[str, Any], line: str) -> None:
    """Write statistics to standard error, as JSON or as a line."""
    if stats == "json":
        import json  # here, because most runs do without

        line = json.dumps(told)
    _tell(line)


def _answered(answer: Callable[[], Iterable[NDArray[np.integer[Any]]]]) -> int:
    """Print counts, or what is wrong with the input, and return the exit status.

    OSError if the output cannot be written.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    try:
        answers = answer()
    except TextError as error:
        _tell(error)
        return BAD_INPUT
    except cluster.ClusterError as error:
        _tell(f"terrain-physics: {error}")
        return BAD_INPUT
    except WrongCountError as error:
        _tell(error)
        return WRONG_COUNT
    except OSError as error:
        if lacks_memory(error):
            raise
        name = error.filename or "stdin"
        _tell(f"terrain-physics: cannot read {name}: {error.strerror or error}")
        return BAD_INPUT
    for counts in answers:
        for first in range(0, len(counts), _LINES_AT_ONCE):  # in memory that is there
            sys.stdout.buffer.write(write_counts(counts[first : first + _LINES_AT_ONCE]))
    sys.stdout.buffer.flush()
    return 0
