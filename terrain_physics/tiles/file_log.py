"""A log in a file that one process has open."""

import errno
import os
import shutil
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from terrain_physics._locks import LongCalls, lasting
from terrain_physics._support.files import (
    CAN_REPLACE_OPEN,
    checked_size,
    file_name,
    naming,
    written_whole,
)
from terrain_physics._support.interruptions import carried_out
from terrain_physics.tiles.log import Log, Read

fcntl: Any
msvcrt: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

_AT_ONCE = 1 << 20

# A byte that Windows locks and no reader wants. Wine cannot seek to places as far as 2^62.
_LOCKED = 1 << 40

# Where an open file cannot be replaced, its readers have so many seconds to end.
_PATIENCE, _MOMENT = 5.0, 0.002

# An entry for each fork that led to this process: to ask the system which one it is takes longer.
_forks: list[None] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(None))


class FileLog(Log):
    """Bytes in a file that no other process may have open as edits.

    The lock is one of the system (flock), which ends with the process, however that ends.
    """

    def __init__(self, path: str | os.PathLike[str], start: bytes) -> None:
        """Open a file of edits, or begin a new one by ``start``."""
        self.name, self._process, self._forks = file_name(path), os.getpid(), len(_forks)
        if not self.name:
            raise ValueError("path of edits must not be empty, got '': None keeps them in memory")
        self._path = os.path.abspath(self.name)  # noqa: PTH100 a program may go to another folder
        if os.path.exists(self._path):  # noqa: PTH110
            checked_size(self.name)
        self._readers = None if CAN_REPLACE_OPEN else LongCalls()
        self._is_torn = False  # whether bytes may follow that are no record
        self._hold([_taken(self._path, self.name)])
        begun = _bytes_at(self._descriptor, 0, len(start))
        self._is_new = len(begun) < len(start) and start.startswith(begun)
        if self._is_new:  # no record can be there
            self.cut(0)
            self.append(start)

    def _hold(self, opened: list[int]) -> None:
        """Have an open file, which is closed by itself when nobody has the log any more."""
        (descriptor,) = opened
        closing = weakref.finalize(self, _let_go, opened, self._process)
        closing.atexit = False  # the end of Python closes it: a thread may still write
        size, begun = os.fstat(descriptor).st_size, object()
        # Nothing is called in between, so no signal handler runs.
        self._descriptor, self._closing, self.size, self.begun = descriptor, closing, size, begun

    def append(self, content: bytes) -> int:
        self._refuse_others()
        place = self.size
        if self._is_torn:
            self.cut(place)
        self._is_torn = True
        try:
            with naming(self.name):
                done = os.write(self._descriptor, content)
                while done < len(content):  # it is long, or the disk is full, as the next call says
                    done += os.write(self._descriptor, memoryview(content)[done:])
        except BaseException:
            self.cut(place)
            raise
        self.size += done
        self._is_torn = False
        return place

    def _refuse_closed(self) -> None:
        if self._descriptor < 0:
            raise ValueError(f"{self.name}: edits must be open, got ones that were closed")

    def _refuse_others(self) -> None:
        """Refuse to write if the file is closed, or in a forked process."""
        self._refuse_closed()
        if len(_forks) != self._forks:
            raise ValueError(
                f"{self.name}: edits must be made in the process that opened their file, got one "
                "that was forked from it: open the ground there with edits=None"
            )

    def room(self) -> float:
        with naming(self.name):
            return shutil.disk_usage(Path(self._path).resolve().parent).free

    def cut(self, size: int) -> None:
        with naming(self.name):
            os.ftruncate(self._descriptor, size)
        self.size, self._is_torn = size, False

    @contextmanager
    def reading(self) -> Iterator[Read]:
        self._refuse_closed()
        with nullcontext() if self._readers is None else lasting(self._readers.add):
            descriptor = _to_read(self._descriptor, self._path)
            try:
                yield partial(_bytes_at, descriptor)
            finally:
                os.close(descriptor)

    def reader(self) -> BinaryIO:
        with naming(self.name):
            return Path(self._path).open("rb", buffering=_AT_ONCE)

    def replace(self, content: bytes) -> None:
        self._refuse_others()
        opened: list[int] = []
        try:
            with naming(self.name), written_whole(self._path, synced=True) as file:
                file.write(content)
                if self._readers is None:
                    opened.append(_taken(file.name, self.name))
                else:  # no file is replaced there while it is open
                    self._wait_for(self._readers)
                    self._closing()
        finally:
            carried_out(partial(self._go_on, opened, self._closing))
        self.sync()

    def _go_on(self, opened: list[int], former: Callable[[], object]) -> None:
        """Go on with the file that is at the path now: the former one, or that which is opened."""
        if opened and not _is_at(opened[0], self._path):
            _let_go(opened, -1)
        if not opened and self._closing.alive:
            return
        former()
        if not opened:
            opened.append(_taken(self._path, self.name))
        self._hold(opened)
        self._is_torn, self._is_new = False, True

    def _wait_for(self, readers: LongCalls) -> None:
        """Wait until nobody reads; refuse to wait long, as it may be who waits that reads."""
        end = time.monotonic() + _PATIENCE
        while readers:
            if time.monotonic() > end:
                rule = "Edits must not be read while their file is replaced"
                raise PermissionError(errno.EACCES, rule, self.name)
            time.sleep(_MOMENT)

    def sync(self) -> None:
        if self._descriptor < 0:
            return
        with naming(self.name):
            os.fsync(self._descriptor)
            if self._is_new:  # the folder has its name only then
                _sync_folder(self._path)
                self._is_new = False

    def close(self) -> None:
        self._closing()
        self._descriptor = -1  # the system may give the old number to another file


def _to_read(descriptor: int, path: str) -> int:
    """Return another descriptor of a file that is open at a path, for one reader."""
    if hasattr(os, "pread"):
        return os.dup(descriptor)
    return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # with a place of its own


def _bytes_at(descriptor: int, place: int, length: int) -> bytes:
    """Return bytes of an open file, which is read by nobody else at the same time."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, place)
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, length)


def _taken(path: str, name: str) -> int:
    """Return the descriptor of a file that is open for this process alone; name it in errors."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        rule = "Edits must be in a file that can be written to"
        raise type(error)(error.errno, f"{rule} ({error.strerror})", name) from None
    try:
        _lock(descriptor, path)
    except BlockingIOError:
        os.close(descriptor)
        rule = "Edits must be open once only: another ground, here or in another process, has them"
        raise BlockingIOError(errno.EAGAIN, rule, name) from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, path: str) -> None:
    """Take the lock of a file, or raise BlockingIOError."""
    if fcntl is None:
        os.lseek(descriptor, _LOCKED, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise BlockingIOError from None
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(descriptor, path):
            raise BlockingIOError  # its owner has just put another file in its place


def _is_at(descriptor: int, path: str) -> bool:
    """Tell whether an open file is the one at a path."""
    return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 as fstat


def _let_go(opened: list[int], process: int) -> None:
    """Close a file; its lock ends in all forked processes too, if its own process closes it."""
    while opened:
        if fcntl is not None and process == os.getpid():
            fcntl.flock(opened[0], fcntl.LOCK_UN)
        os.close(opened.pop())


def _sync_folder(name: str) -> None:
    """Return when the folder of a file is on the disk, where the system can tell."""
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(Path(name).resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
