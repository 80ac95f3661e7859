"""Warnings that name the line of the game, however deep in the library they arise."""

import sys
import warnings

_LIBRARY = __package__.partition(".")[0]


def warn(message: str) -> None:
    """Warn of what a game has probably not meant, at its own line."""
    frame, level = sys._getframe(), 1  # noqa: SLF001 the way of `warnings` itself
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _LIBRARY
