"""A process that optimizes for one processor, and makes the extension modules of its levels."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from terrain_physics._build import optimizing
from terrain_physics._build.c_compiler import Linker
from terrain_physics._build.lowered import Extension
from terrain_physics._build.platforms import PLATFORMS, Level

_SECONDS_BETWEEN_ANSWERS = 1.0


def work(orders: Connection, levels: Sequence[Level], linker: Linker, folder: Path) -> None:
    """Optimize the libraries that come, and make the extension modules in a folder, until None.

    The answers are: each file that is made, with its place and name; in between the number of
    libraries that are optimized; and None at the end.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends a C compiler, too
    optimizer = optimizing.Optimizer(levels[0].compiled_for)
    told = time.monotonic()
    # The process that gives orders may end first, and Ctrl-C goes to all.
    with contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt):
        while (order := orders.recv()) is not None:
            if isinstance(order, Extension):
                orders.send(len(optimizer))
                for answer in _made(order, optimizer, levels, linker, folder):
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
    levels: Sequence[Level],
    linker: Linker,
    folder: Path,
) -> Iterator[tuple[str, Path]]:
    """Make a module for each level; yield its place and name, and its file."""
    whole = optimizer.linked(extension)
    if missing := optimizing.missing(whole, extension.source):
        raise RuntimeError(f"the runtime lacks functions of numba: {', '.join(missing)}")
    platform = PLATFORMS[linker.target]
    for level in levels:
        name = f"_native_{level.name}"
        place = f"{extension.place}/{name}{platform.suffix}"
        module = folder / place.replace("/", ".")
        source, machine_code = module.with_suffix(".c"), module.with_suffix(".o")
        source.write_text(extension.source, encoding="utf-8")
        machine_code.write_bytes(optimizing.emit(whole, platform.triple, level.processor))
        defined = [
            *extension.defined,
            f'PROCESSOR="{level.processor}"',
            f'MODULE_NAME="{name}"',
            f"INIT=PyInit_{name}",
        ]
        if level.processor.startswith("x86-64-v"):
            defined.append(f"X86_64_LEVEL={level.processor[-1]}")
        linker.link([source, machine_code], module, defined)
        yield place, module
