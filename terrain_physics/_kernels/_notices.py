"""A line for a user who waits: by ``logging``, or on a terminal where no logging is set up.

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
    """The readers of standard error."""

    def __init__(self) -> None:
        self.runs_our_command = False
        """Whether the program is ``terrain-physics``: then its user waits, terminal or not."""
        self.sees_progress = False
        """Whether something else shows already that work is done."""

    def is_there(self) -> bool:
        """Tell whether anybody sees a line on standard error."""
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
    """The time that a task takes, nested tasks included; it tells once that this takes long."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._first: object = None
        self._begun = 0.0
        self._spent = 0.0
        self._has_told = False

    def begin(self, what: object) -> None:
        """Begin a task, perhaps within another one."""
        if self._first is None:
            self._first, self._begun = what, time.monotonic()
        self._look()

    def end(self, what: object) -> None:
        """End a task; one that was not begun, or is within another one, is ignored."""
        if what is self._first:
            self._look()
            self._first, self._spent = None, self._spent + time.monotonic() - self._begun

    def _look(self) -> None:
        if self._has_told or self._spent + time.monotonic() - self._begun < PATIENCE:
            return
        self._has_told = True
        tell(self._text())
