"""The command ``count --scheduler``: workers of a cluster of Dask read files and count.

Nothing is written before all counts are there. A worker that is killed is replaced by others, which
do its work again; one that falls silent is given up after a while, and treated the same.
"""

import asyncio
import errno
import logging
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._threads import processors
from terrain_physics.counter import pieces, ranges
from terrain_physics.counter.text import TextError

_LOOK = 1.0  # seconds between looks at the workers
_ROWS_AT_ONCE = 1 << 20


class ClusterError(RuntimeError):
    """A cluster that cannot be had, or that failed; the message says why."""


class Counted(NamedTuple):
    """What was counted, and how.

    Attributes
    ----------
    counts : iterator of ndarray of int64
        The counts of all spheres, in order, in blocks; none if they are in a folder.
    plan : Plan
        What was planned.
    seconds : float
        How long it took.
    """

    counts: Iterator[NDArray[np.int64]]
    plan: ranges.Plan
    seconds: float


Advance = Callable[[int], None]


def count(
    scheduler: str,
    triangles: Sequence[str],
    spheres: Sequence[str],
    *,
    patience: float,
    out: str | None,
    advance: Callable[[int], Any],
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
    advance : callable
        Is told how many spheres more are counted.

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
        "triangles": pieces.pieces_of("triangles", triangles),
        "spheres": pieces.pieces_of("spheres", spheres),
    }
    with ExitStack() as kept, _connected(scheduler, patience) as workers:
        rows, balls = _lazy(parts["triangles"], 9), _lazy(parts["spheres"], 4)
        planned = ranges.plan(rows, balls, workers.results)
        blocks = list(planned.counts.to_delayed().ravel())
        counts: Iterator[NDArray[np.int64]] = iter(())
        if out is None:
            spool = kept.enter_context(tempfile.TemporaryFile(buffering=0))
            _keep(spool, workers.results(blocks), advance)
            counts = _spooled(spool, kept.pop_all())
        else:
            with _new_folder(out) as folder:
                _write_parquet(workers, blocks, folder, advance)
        return Counted(counts, planned, time.perf_counter() - start)


def _keep(spool: IO[bytes], blocks: Iterable[Any], advance: Advance) -> None:
    for block in blocks:
        left = np.ascontiguousarray(block, np.int64).view(np.uint8).data
        try:
            while left:
                left = left[spool.write(left) :]
        except OSError as error:
            raise ClusterError(
                f"cannot keep the counts in {tempfile.gettempdir()}: {error.strerror}"
            ) from None
        advance(len(block))


def _spooled(spool: IO[bytes], kept: ExitStack) -> Iterator[NDArray[np.int64]]:
    with kept:
        spool.seek(0)
        while data := spool.read(8 * _ROWS_AT_ONCE):
            yield np.frombuffer(data, np.int64)


def _lazy(parts: Sequence[pieces.Piece], columns: int) -> Any:
    import dask.array as da
    from dask.delayed import delayed

    read = delayed(pieces.read, pure=True)
    return da.concatenate(
        [da.from_delayed(read(part), (np.nan, columns), np.float64) for part in parts]
        or [da.zeros((0, columns))]
    )


# Writing


def _write_parquet(
    workers: "_Workers", blocks: Sequence[Any], folder: Path, advance: Advance
) -> None:
    from dask.delayed import delayed

    write = delayed(_write_part)
    parts = [
        write(block, str(folder / f"part-{number:06}.parquet"))
        for number, block in enumerate(blocks)
    ]
    for count in workers.results(parts):
        advance(count)


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


@contextmanager
def _new_folder(name: str) -> Iterator[Path]:
    """Yield a hidden folder that gets its name when the block ends without an error."""
    target = Path(name).absolute()
    hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        if target.exists():
            raise FileExistsError(errno.EEXIST, "it exists already")
        hidden.mkdir()
        yield hidden
        hidden.rename(target)
    except OSError as error:
        raise ClusterError(f"cannot write {name}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


# The cluster


@contextmanager
def _connected(scheduler: str, patience: float) -> Iterator["_Workers"]:
    """Yield the workers of a cluster; what goes wrong with the cluster becomes a `ClusterError`."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs what pip install 'terrain-physics[dask]' brings ({error})"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack, dask.config.set({"distributed.comm.timeouts.connect": patience}):
        try:
            is_local = scheduler == "local" or scheduler.startswith("local:")
            address = stack.enter_context(_cluster(scheduler)) if is_local else scheduler
            if not is_local:
                _greet(scheduler, patience)
            client = stack.enter_context(distributed.Client(address, timeout=patience))
            client.wait_for_workers(1, timeout=patience)
        except Exception as error:  # whatever answers there
            raise ClusterError(
                f"no workers at {scheduler} within {patience:g} s: {_told(error)}"
            ) from None
        try:
            yield _Workers(client, patience)
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


@contextmanager
def _cluster(scheduler: str) -> Iterator[Any]:
    """Yield a cluster of processes of one thread each, on this machine."""
    import distributed

    _, _, workers = scheduler.partition(":")
    with distributed.LocalCluster(
        n_workers=int(workers or processors()),
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


class _Workers:
    """Workers of a cluster, watched by whoever waits for them.

    Those that are silent are given up; if there have been none for a while, so is the count.
    """

    def __init__(self, client: Any, patience: float) -> None:
        self._client, self._patience = client, patience
        self._seen = time.monotonic()

    def results(self, values: Sequence[Any]) -> Iterator[Any]:
        """Yield what lazy values are, in order, and let go of each."""
        futures = list(reversed(self._client.compute(list(values))))
        while futures:
            yield self._result(futures.pop())

    def _result(self, future: Any) -> Any:
        self._seen = time.monotonic()
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if future.status == "error":  # of the task itself
                    raise
                self._look()

    def _look(self) -> None:
        if self._client.run_on_scheduler(_without_silent, patience=self._patience):
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > self._patience:
            raise ClusterError(f"no worker was heard of for {self._patience:g} s")


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
