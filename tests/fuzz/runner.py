"""Runs a campaign in processes of its own, and survives what its cases do to them."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import IO, NamedTuple

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
        command = [sys.executable, "-m", "tests.fuzz.worker", module]
        numbers = map(str, (seed, max(left, 0.0), first + cases - seed))
        with subprocess.Popen(
            [*command, *numbers], stdout=subprocess.PIPE, env=dict(environment)
        ) as process:
            last, found = _follow(process, longest)
        failures += found
        seed = max(last, seed) + 1
    return Tally(seed - first, time.monotonic() - begun, failures)


def _follow(process: "subprocess.Popen[bytes]", longest: float) -> tuple[int, list[Failure]]:
    """Read along until a process ends or hangs; return its last seed and what failed."""
    assert process.stdout is not None
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    failures: list[Failure] = []
    seed, wait = -1, 10.0 * longest
    while True:
        try:
            line = lines.get(timeout=wait)
        except queue.Empty:
            return seed, [*failures, Failure(seed, f"took more than {wait:g} s{_end(process)}")]
        if not line:
            reason = f"ended the process with status {process.wait()}"
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


def _end(process: "subprocess.Popen[bytes]") -> str:
    """End a process that hangs; on the way out it says where its threads are."""
    process.send_signal(signal.SIGABRT)
    try:
        process.wait(10.0)
    except subprocess.TimeoutExpired:
        process.kill()
    return ", see above"
