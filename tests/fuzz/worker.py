"""The process that runs a campaign's cases and tells which one it is at: `python -m` this.

A case may end the process or never end; so another one, `tests.fuzz.runner`, reads along.
"""

import contextlib
import faulthandler
import importlib
import sys
import time
import traceback
from itertools import count

MEMORY = 8 << 30
"""Bytes of address space: what would take more raises MemoryError."""


def limit_memory() -> None:
    with contextlib.suppress(ImportError):  # Windows has no limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))


def tell(word: str, seed: int) -> None:
    sys.stdout.write(f"{word} {seed}\n")
    sys.stdout.flush()


def work(module: str, first: int, seconds: float, cases: int) -> None:
    """Run the cases of a module until time is over or all are done."""
    case = importlib.import_module(module).case
    end = time.monotonic() + seconds
    for seed in count(first):
        tell("begin", seed)
        try:
            case(seed)
        except BaseException:
            traceback.print_exc()
            tell("failed", seed)
        if seed + 1 == first + cases or time.monotonic() >= end:
            break
    tell("end", seed)


if __name__ == "__main__":
    faulthandler.enable()
    limit_memory()
    work(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
