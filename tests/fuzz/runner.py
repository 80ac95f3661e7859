"""Runs a campaign in processes of its own, and survives what its cases do to them."""

import os
import queue
import sys
import threading
import time
from collections.abc import Mapping
from typing import IO, NamedTuple

from tests.helpers import forks

LONGEST = 120.0
"""Seconds that no case takes; the first one, which compiles, may take ten times as long."""

ENOUGH = 20
"""Failures after which a campaign ends: they will be of a kind."""


class Failure(NamedTuple):
    """A case that failed."""

    seed: int
    reason: str


class Tally(NamedTuple):
    """The findings of a campaign."""

    cases: int
    seconds: float
    failures: list[Failure]


def run(
    module: str,
    first: int,
    seconds: float,
    cases: int = sys.maxsize,
    *,
    longest: float = LONGEST,
    environment: Mapping[str, str] = os.environ,
) -> Tally:
    """Run cases of a module, from a seed on, for some seconds or until so many are done."""
    begun = time.monotonic()
    failures: list[Failure] = []
    seed = first
    while len(failures) < ENOUGH and seed < first + cases:
        left = begun + seconds - time.monotonic()
        if left <= 0.0 and seed > first:
            break
        read, written = os.pipe()
        numbers = seed, max(left, 0.0), first + cases - seed
        program = forks.start(
            *("-m", "tests.fuzz.worker", module, *numbers),
            stdout=written, stderr=sys.__stderr__, env=environment,
        )  # fmt: skip
        os.close(written)
        with open(read, "rb") as stream:  # noqa: PTH123 no path
            last, found = _follow(program, stream, longest)
        failures += found
        seed = max(last, seed) + 1
    return Tally(seed - first, time.monotonic() - begun, failures)


def _follow(program: forks.Program, stream: IO[bytes], longest: float) -> tuple[int, list[Failure]]:
    """Read along until a program ends or hangs; return its last seed and what failed."""
    lines: queue.Queue[bytes] = queue.Queue()
    reader = threading.Thread(target=_read, args=(stream, lines), daemon=True)
    reader.start()
    try:
        return _told(program, lines, longest)
    finally:
        program.end()
        reader.join()


def _told(
    program: forks.Program, lines: "queue.Queue[bytes]", longest: float
) -> tuple[int, list[Failure]]:
    failures: list[Failure] = []
    seed, wait = -1, 10.0 * longest
    while True:
        try:
            line = lines.get(timeout=wait)
        except queue.Empty:
            program.abort()  # on the way out it says where its threads are
            return seed, [*failures, Failure(seed, f"took more than {wait:g} s, see above")]
        if not line:
            program.communicate()
            reason = f"ended the process with status {program.returncode}"
            return seed, [*failures, Failure(seed, reason)]
        word, number = line.split()
        if word == b"end":
            return seed, failures
        if word == b"failed":
            failures.append(Failure(seed, "failed, see above"))
        elif seed >= 0:
            wait = longest
        seed = int(number)


def _read(stream: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    for line in stream:
        lines.put(line)
    lines.put(b"")
