"""Errors of a machine that has no memory left, whatever libraries make of them.

A library that was not loaded for lack of memory is there all the same. What takes it for missing
would run as plain Python, hundreds of times slower.
"""

import contextlib
import errno
import os
from collections.abc import Iterator

_WORDS = (
    os.strerror(errno.ENOMEM).lower(),  # "out of memory" on some systems
    "cannot allocate memory",
    "failed to map segment",
    "paging file is too small",
    "error return without exception set",
    "can't start new thread",
)
"""What loaders of libraries say, of Linux, macOS and Windows, and Python where it has no words."""


_CODES = {8, 14, 1455}
"""Errors of Windows: too little memory, of two kinds, and too small a paging file."""


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an error is one of missing memory, or came of one."""
    known: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in known:
        if isinstance(found, MemoryError) or _says_so(found):
            return True
        known.append(found)
        found = found.__cause__ or found.__context__
    return False


def _says_so(error: BaseException) -> bool:
    """Tell whether an error reports missing memory."""
    if not isinstance(error, (OSError, ImportError, SystemError, RuntimeError)):
        return False
    if getattr(error, "errno", None) == errno.ENOMEM or getattr(error, "winerror", None) in _CODES:
        return True
    text = str(error).lower()
    return any(word in text for word in _WORDS)


def refuse_without_memory(what: str, error: BaseException) -> None:
    """Raise MemoryError, of an error for lack of memory; return after any other one."""
    if lacks_memory(error):
        raise MemoryError(f"not enough memory to load {what}") from error


@contextlib.contextmanager
def doing_without(what: str, errors: type[Exception] = Exception) -> Iterator[None]:
    """Pass over errors of what can be missing, but MemoryError where only memory is."""
    try:
        yield
    except errors as error:
        refuse_without_memory(what, error)
