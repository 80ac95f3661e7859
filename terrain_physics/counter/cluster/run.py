"""The command ``count --scheduler``: workers of a cluster of Dask read files and count.

Nothing is written before all counts are there. A worker that is killed is replaced by others, which
do its work again; one that falls silent is given up after a while, and treated the same.
"""

import asyncio
import errno
import logging
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support.threads import processors
from terrain_physics.counter.cluster import partitions, ranges
from terrain_physics.counter.text import TextError

_LOOK = 1.0  # seconds between looks at the workers
_GOODBYE = 5.0  # seconds at most to close what may not answer
_ROWS_AT_ONCE = 1 << 20


class ClusterError(RuntimeError):
    """A cluster that cannot be had, or that failed; the message says why."""


class Counted(NamedTuple):
    """The counts, and how they came about.

    Attributes
    ----------
    counts : iterator of ndarray of int64
        The counts of all spheres, in order, in blocks; none if they are in a folder.
    plan : Plan
        As it was made before the count.
    seconds : float
        How long it took.
    """

    counts: Iterator[NDArray[np.int64]]
    plan: ranges.Plan
    seconds: float


class Progress(Protocol):
    """An object that is told how far the work is."""

    def begin(self, step: str, total: int | None, unit: str) -> None:
        """Note that another step begins, of so many units if that is known."""

    def advance(self, done: int) -> None:
        """Note that so many units more are done; 0: some time has passed."""


def count(
    scheduler: str,
    triangles: Sequence[str],
    spheres: Sequence[str],
    *,
    patience: float,
    out: str | None,
    counter_of: ranges.CounterOf,
    progress: Progress,
) -> Counted:
    """Count, and return the counts, or write them as Parquet to a new folder ``out``.

    Parameters
    ----------
    scheduler : str
        "local", "local:WORKERS" or the address of a scheduler.
    triangles, spheres : sequence of str
        Files, patterns, or folders of Parquet.
    patience : float
        Seconds for which workers may be silent, or missing.
    out : str, optional
        A folder that is not there yet, where workers can write.
    counter_of : callable
        Makes a counter of triangles (n, 9): `TouchCounter`.
    progress : Progress
        Is told what is being done.

    Raises
    ------
    TextError
        For bad input.
    ClusterError
        If the cluster fails.
    OSError
        If a file cannot be read.
    """
    start = time.perf_counter()
    parts = {
        "triangles": partitions.partitions_of("triangles", triangles),
        "spheres": partitions.partitions_of("spheres", spheres),
    }
    # A folder that cannot be written is refused before anything is read.
    with (
        ExitStack() as kept,
        _folder_or_not(out) as folder,
        _connected(scheduler, patience) as client,
    ):
        workers = _ClusterWorkers(client, patience, progress)
        workers.wait()
        rows, balls = _lazy(parts["triangles"], 9), _lazy(parts["spheres"], 4)
        planned = ranges.plan(rows, balls, counter_of, workers.step)
        blocks = list(planned.counts.to_delayed().ravel())
        progress.begin("counting", planned.sphere_count, " spheres")
        counts: Iterator[NDArray[np.int64]] = iter(())
        if folder is None:
            spool = kept.enter_context(tempfile.TemporaryFile(buffering=0))
            _keep(spool, workers.results(blocks), progress)
            counts = _spooled(spool, kept.pop_all())
        else:
            with _writing(out):
                _write_parquet(workers, blocks, folder, progress)
        return Counted(counts, planned, time.perf_counter() - start)


def _keep(spool: IO[bytes], blocks: Iterable[Any], progress: Progress) -> None:
    for block in blocks:
        left = np.ascontiguousarray(block, np.int64).view(np.uint8).data
        try:
            while left:
                left = left[spool.write(left) :]
        except OSError as error:
            raise ClusterError(
                f"cannot keep the counts in {tempfile.gettempdir()}: {error.strerror}"
            ) from None
        progress.advance(len(block))


def _spooled(spool: IO[bytes], kept: ExitStack) -> Iterator[NDArray[np.int64]]:
    with kept:
        spool.seek(0)
        while data := spool.read(8 * _ROWS_AT_ONCE):
            yield np.frombuffer(data, np.int64)


def _lazy(parts: Sequence[partitions.Partition], columns: int) -> Any:
    import dask.array as da
    from dask.delayed import delayed

    read = delayed(partitions.read, pure=True)
    return da.concatenate(
        [da.from_delayed(read(part), (np.nan, columns), np.float64) for part in parts]
        or [da.zeros((0, columns))]
    )


# Writing


def _write_parquet(
    workers: "_ClusterWorkers", blocks: Sequence[Any], folder: Path, progress: Progress
) -> None:
    from dask.delayed import delayed

    write = delayed(_write_part)
    parts = [
        write(block, str(folder / f"part-{number:06}.parquet"))
        for number, block in enumerate(blocks)
    ]
    for count in workers.results(parts):
        progress.advance(count)


def _write_part(counts: NDArray[np.int64], file: str) -> int:
    """Write counts to a file, anew if another worker has begun it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    begun = f"{file}.{uuid.uuid4().hex}"
    try:
        pq.write_table(pa.table({"count": counts}), begun, write_page_checksum=True)
        Path(begun).replace(file)
    finally:
        Path(begun).unlink(missing_ok=True)
    return len(counts)


def _folder_or_not(name: str | None) -> AbstractContextManager[Path | None]:
    return nullcontext() if name is None else _new_folder(name)


@contextmanager
def _new_folder(name: str) -> Iterator[Path]:
    """Yield a hidden folder that gets its name when the block ends without an error."""
    target = Path(name).absolute()
    hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with _writing(name):
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "it exists already")
            hidden.mkdir()
        yield hidden
        with _writing(name):
            hidden.rename(target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def _writing(name: str | None) -> Iterator[None]:
    """Say of what the system refuses that it was to be written."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # a lost connection
            raise
        raise ClusterError(f"cannot write {name}: {error.strerror}") from None


# The cluster


@contextmanager
def _connected(scheduler: str, patience: float) -> Iterator[Any]:
    """Yield a client of a cluster; failures of the cluster become a `ClusterError`."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs what pip install 'terrain-physics[dask]' brings ({error})"
        ) from None
    _silence()
    with ExitStack() as stack, dask.config.set({"distributed.comm.timeouts.connect": patience}):
        try:
            is_local = scheduler == "local" or scheduler.startswith("local:")
            address = stack.enter_context(_cluster(scheduler)) if is_local else scheduler
            if not is_local:
                _greet(scheduler, patience)
            client = distributed.Client(address, timeout=patience)
            stack.callback(_close, client)
        except Exception as error:  # whatever answers there
            raise ClusterError(
                f"no workers at {scheduler} within {patience:g} s: {_told(error)}"
            ) from None
        try:
            yield client
        except (TextError, ClusterError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise ClusterError(f"the cluster failed: {_told(error)}") from None


def _told(error: BaseException) -> str:
    """Return an error, and what led to it, in a line."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return told if error.__cause__ is None else f"{told}, by {_told(error.__cause__)}"


def _greet(address: str, patience: float) -> None:
    """Make sure that a scheduler is there, in time: clients wait forever for an odd greeting."""
    from distributed.core import rpc
    from distributed.security import Security

    async def identity() -> Any:
        arguments = Security().get_connection_args("client")
        async with rpc(address, connection_args=arguments) as scheduler:
            return await scheduler.identity()

    found = asyncio.run(asyncio.wait_for(identity(), patience))
    if found["type"] != "Scheduler":
        raise ValueError(f"this is the address of a {found['type']}")


def _silence() -> None:
    """Drop everything that Dask logs: our errors say all that the user needs."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado", "asyncio"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _close(client: Any) -> None:
    """Close a client, which tells its scheduler; do not wait for one that does not answer."""
    with suppress(Exception):
        client.close(timeout=_GOODBYE)
    client.status = "closed"  # else it is closed once more, and waited for, when it is freed


@contextmanager
def _cluster(scheduler: str) -> Iterator[Any]:
    """Yield a cluster of processes of one thread each, on this machine."""
    import distributed

    _, _, workers = scheduler.partition(":")
    with distributed.LocalCluster(
        n_workers=int(workers or processors()),
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # else other machines could look
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


class _ClusterWorkers:
    """Workers of a cluster, watched by the thread that waits for them.

    Those that are silent are given up; if there have been none for a while, so is the count.
    """

    def __init__(self, client: Any, patience: float, progress: Progress) -> None:
        self._client, self._patience, self._progress = client, patience, progress
        self._seen = time.monotonic()

    def wait(self) -> None:
        """Wait until there are any."""
        self._seen = time.monotonic()
        while not self._look():
            time.sleep(_LOOK / 10)

    def step(self, what: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield what lazy values are, in order, as a step of the work that has a name."""
        self._progress.begin(what, len(values), " parts")
        for result in self.results(values):
            self._progress.advance(1)
            yield result

    def results(self, values: Sequence[Any]) -> Iterator[Any]:
        """Yield what lazy values are, in order, and let go of each."""
        futures = list(reversed(self._client.compute(list(values))))
        while futures:
            yield self._result(futures.pop())

    def _result(self, future: Any) -> Any:
        """Wait for a result, and look at the workers meanwhile.

        The waiting is never given up: `Future.result` with a timeout may cancel a request before it
        is sent, Dask keeps that, and the next request fails by it.
        """
        self._seen = time.monotonic()
        coroutine = self._client.gather(future, asynchronous=True)
        result = asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)
        while not wait([result], _LOOK).done:
            self._look()
            self._progress.advance(0)
        return result.result()

    def _look(self) -> bool:
        """Tell whether there are any; give up those that are silent, and a silent scheduler."""
        try:
            left: int = self._client.run_on_scheduler(
                _without_silent, patience=self._patience, callback_timeout=self._patience
            )
        except TimeoutError:
            raise ClusterError(f"the scheduler was not heard of for {self._patience:g} s") from None
        if left:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > self._patience:
            raise ClusterError(f"no worker was heard of for {self._patience:g} s")
        return left > 0


async def _without_silent(dask_scheduler: Any, patience: float) -> int:
    """Have a scheduler give up its silent workers; return how many are left."""
    now = time.time()
    silent = [
        address
        for address, worker in dask_scheduler.workers.items()
        if now - worker.last_seen > patience
    ]
    for address in silent:
        await dask_scheduler.remove_worker(address, stimulus_id="silent-worker", close=False)
    return len(dask_scheduler.workers)
