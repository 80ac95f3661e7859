"""Stands in for systems that lack something: a plugin of pytest, and fixtures' tools.

``TERRAIN_PHYSICS_TEST_LACKS=pread python -m pytest -p tests.helpers.lacking`` runs tests as on a
system without `os.pread`.
"""

import errno
import mmap
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows has the true msvcrt
    _fcntl = None  # type: ignore[assignment]

_F_OFD_SETLK = 37  # from Python 3.13 on `fcntl` has this number of Linux

VARIABLE = "TERRAIN_PHYSICS_TEST_LACKS"


class Locking:
    """``msvcrt.locking`` where there is none, by Linux's locks of open files."""

    LK_NBLCK = 2

    def locking(self, descriptor: int, mode: int, length: int) -> None:
        """Lock a byte at the place where a file is, or raise OSError."""
        assert (mode, length) == (self.LK_NBLCK, 1)
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        assert place < 1 << 62, "wine cannot seek so far"
        wanted = struct.pack("hhqqi4x", _fcntl.F_WRLCK, os.SEEK_SET, place, length, 0)
        _fcntl.fcntl(descriptor, _F_OFD_SETLK, wanted)


def _file_of(descriptor: int) -> tuple[int, int]:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return -1, -1
    return status.st_dev, status.st_ino


def _is_open(path: Path) -> bool:
    """Tell whether this process has a file open (Linux)."""
    try:
        own = path.stat()
    except FileNotFoundError:
        return False
    found = [_file_of(int(name)) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 as text
    return (own.st_dev, own.st_ino) in found


_replace = Path.replace


def _replace_closed(self: Path, target: Any) -> Path:
    """Replace a file as Windows does: not one that is open."""
    if _is_open(Path(target)):
        raise PermissionError(errno.EACCES, "Permission denied", str(self), None, str(target))
    return _replace(self, target)


def _no_fcntl() -> None:
    locking = Locking()
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    sys.modules["msvcrt"] = SimpleNamespace(  # type: ignore[assignment]
        locking=locking.locking, LK_NBLCK=locking.LK_NBLCK
    )


def _no_replacing() -> None:
    from terrain_physics._support import files

    files.CAN_REPLACE_OPEN = False
    Path.replace = _replace_closed  # type: ignore[assignment,method-assign]


def _without(module: Any, name: str) -> Callable[[], None]:
    return lambda: delattr(module, name)


LACKS: dict[str, Callable[[], None]] = {
    "pread": _without(os, "pread"),
    "fork": _without(os, "fork"),
    "mkfifo": _without(os, "mkfifo"),
    "sched_getaffinity": _without(os, "sched_getaffinity"),
    "MADV_DONTNEED": _without(mmap, "MADV_DONTNEED"),
    "fcntl": _no_fcntl,
    "replacing open files": _no_replacing,
}

for lack in filter(None, os.environ.get(VARIABLE, "").split(",")):
    LACKS[lack]()
