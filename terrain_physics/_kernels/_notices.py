"""A line to whoever waits: by ``logging``, or on a terminal where nobody has set that up.

The library prints nothing else, and sets nothing up. ``TERRAIN_PHYSICS_QUIET=1`` silences this too.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable

IS_QUIET = os.environ.get("TERRAIN_PHYSICS_QUIET", "0") not in {"", "0"}

PATIENCE = 2.0
"""Seconds that pass without a word."""


class _Audience:
    """Who reads what is written to standard error."""

    def __init__(self) -> None:
        self.runs_our_command = False
        """Whether the program is ``terrain-physics``: then its user waits, terminal or not."""
        self.sees_progress = False
        """Whether something else shows already that work is done."""

    def is_there(self) -> bool:
        """Tell whether somebody sees a line on standard error."""
        if sys.stderr is None or self.sees_progress:
            return False
        return self.runs_our_command or sys.stderr.isatty()


audience = _Audience()


def tell(text: str) -> None:
    """Log a line; write it to standard error if no log is kept and somebody reads there."""
    if IS_QUIET:
        return
    import logging

    logger = logging.getLogger("terrain_physics")
    if logger.hasHandlers() and logger.isEnabledFor(logging.INFO):
        logger.info(text)
        return
    with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads on
        if audience.is_there():
            sys.stderr.write(f"terrain_physics: {text}\n")
            sys.stderr.flush()


class Stopwatch:
    """Time that one thing takes and those that begin within it; says once that it takes long."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._first: object = None
        self._begun = 0.0
        self._spent = 0.0
        self._has_told = False

    def begin(self, what: object) -> None:
        """Begin something, perhaps within something else."""
        if self._first is None:
            self._first, self._begun = what, time.monotonic()
        self._look()

    def end(self, what: object) -> None:
        """End it: what was not begun, or within something else, is no end."""
        if what is self._first:
            self._look()
            self._first, self._spent = None, self._spent + time.monotonic() - self._begun

    def _look(self) -> None:
        if self._has_told or self._spent + time.monotonic() - self._begun < PATIENCE:
            return
        self._has_told = True
        tell(self._text())
