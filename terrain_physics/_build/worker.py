"""A process that optimizes for one processor, and emits machine code for its systems and levels."""

import contextlib
import pickle
import signal
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

from terrain_physics._build import optimizing
from terrain_physics._build.lowered import Extension
from terrain_physics._build.platforms import PLATFORMS, Processor, Wanted
from terrain_physics._build.systems.linking import MachineCode

_SECONDS_BETWEEN_ANSWERS = 1.0


def work(orders: Connection, processor: Processor, wanted: Sequence[Wanted]) -> None:
    """Optimize the libraries that come, and emit machine code of extension modules, until None.

    The answers are: what is emitted; in between the number of libraries that are
    optimized; and None at the end.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    optimizer = optimizing.Optimizer(processor)
    told = time.monotonic()
    # The process that gives orders may end first, and Ctrl-C goes to all.
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while (order := pickle.loads(zlib.decompress(orders.recv_bytes()))) is not None:  # noqa: S301
            if isinstance(order, Extension):
                orders.send(len(optimizer))
                for answer in _made(order, optimizer, wanted):
                    orders.send(answer)
            else:
                optimizer.add(order)
            if time.monotonic() > told + _SECONDS_BETWEEN_ANSWERS:
                orders.send(len(optimizer))
                told = time.monotonic()
        orders.send(None)


def _made(
    extension: Extension, optimizer: optimizing.Optimizer, wanted: Sequence[Wanted]
) -> Iterator[MachineCode]:
    """Emit machine code for each level of each system."""
    whole = optimizer.linked(extension)
    if missing := optimizing.missing(whole, extension.source):
        raise RuntimeError(f"the runtime lacks functions of numba: {', '.join(missing)}")
    for one in wanted:
        triple = PLATFORMS[one.target].triple
        content = optimizing.emit(whole, triple, one.level.processor)
        yield MachineCode(extension.place, one, content)
