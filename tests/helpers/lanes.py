"""Two lanes for tests of several workers: `alone` go one at a time, with nothing beside them.

Signals, forks, threads and limits of memory are what other tests could disturb. The lanes are one
lock of a file: a test beside others holds it shared, one alone holds it whole.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there, tests that go alone only go last
    fcntl = None  # type: ignore[assignment]

_FILE = "TERRAIN_PHYSICS_TEST_LANES"


def begin() -> None:
    """Make the file, for this process and the workers that it starts."""
    number, name = tempfile.mkstemp(prefix="terrain-physics-lanes-")
    os.close(number)
    os.environ[_FILE] = name


def end() -> None:
    """Remove the file."""
    if name := os.environ.pop(_FILE, None):
        Path(name).unlink(missing_ok=True)


@contextmanager
def lane(*, alone: bool) -> Iterator[None]:
    """Wait until a test may run, and let others wait for it."""
    name = os.environ.get(_FILE)
    if name is None or fcntl is None:
        yield
        return
    with Path(name).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            yield
        finally:  # a child that is left over has the file open, too
            fcntl.flock(file, fcntl.LOCK_UN)
