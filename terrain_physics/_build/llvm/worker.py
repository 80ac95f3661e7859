"""A process that optimizes for one processor, and emits machine code for its systems and levels."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm import fused, optimizing
from terrain_physics._build.lowered import Extension, unpacked
from terrain_physics._build.platforms import PLATFORMS, Processor, Wanted
from terrain_physics._build.systems.linking import MachineCode

_SECONDS_BETWEEN_ANSWERS = 1.0


def work(
    orders: Connection, processor: Processor, wanted: Sequence[Wanted], cache: BuildCache
) -> None:
    """Optimize the libraries that come, and emit machine code of extension modules, until None.

    The answers are: what is emitted; in between the number of libraries that are
    optimized; and None at the end.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    optimizer = optimizing.Optimizer(processor, cache)
    told = time.monotonic()
    # The process that gives orders may end first, and Ctrl-C goes to all.
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while (order := unpacked(orders.recv_bytes())) is not None:
            if isinstance(order, Extension):
                orders.send(len(optimizer))
                for answer in _made(order, optimizer, wanted, cache):
                    orders.send(answer)
            else:
                optimizer.add(order)
            if time.monotonic() > told + _SECONDS_BETWEEN_ANSWERS:
                orders.send(len(optimizer))
                told = time.monotonic()
        orders.send(None)


def _made(
    extension: Extension,
    optimizer: optimizing.Optimizer,
    wanted: Sequence[Wanted],
    cache: BuildCache,
) -> Iterator[MachineCode]:
    """Emit machine code for each level of each system, unless an earlier build has."""
    whole = None
    for one in wanted:
        if not one.has(extension.place):
            continue
        place = "emitted", *one.name, extension.machine_code
        content = cache.read(*place)
        if content is None:
            if whole is None:
                whole = _linked(extension, optimizer)
            content = optimizing.emit(whole, PLATFORMS[one.target].triple, one.level)
            cache.keep(content, *place)
        yield MachineCode(extension.place, one, content)


def _linked(extension: Extension, optimizer: optimizing.Optimizer) -> Any:
    """Return an extension module in LLVM's language, which it can be made of."""
    whole = optimizer.linked(extension)
    if missing := optimizing.missing(whole, extension.source):
        raise RuntimeError(f"the runtime lacks functions of numba: {', '.join(missing)}")
    fused.refuse_elsewhere(whole, extension)
    return whole
