"""Paths, and files that are written completely or not at all."""

import errno
import io
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from terrain_physics._support import checks

CAN_REPLACE_OPEN = os.name != "nt"
"""Whether a file may be replaced while it is open."""


def file_name(path: Any) -> str:
    """Return a path as a string that the operating system accepts."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a str or os.PathLike, got {checks.shorten(path)}")
    name = os.fsdecode(path)
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:  # a lone surrogate
        raise ValueError(f"path must be one the system takes, got {name!r} ({error})") from None
    if "\0" in name:
        raise ValueError(f"path must be one the system takes, got {name!r} (null character)")
    return name


def checked_size(name: str) -> int:
    """Return how many bytes a file has; refuse what is no regular file."""
    status = Path(name).stat()
    if not stat.S_ISREG(status.st_mode):  # opening a named pipe would wait forever
        raise ValueError(f"{name}: must be a regular file, got {stat.filemode(status.st_mode)}")
    return status.st_size


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Let errors of the system name a file: by themselves they name none, or a hidden one."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, name) from error


class _Part(io.FileIO):
    """A file on its way to ``asked``, which errors of writing name."""

    def __init__(self, place: Path, asked: str) -> None:
        with naming(asked):
            super().__init__(place, "x+")
        self._asked = asked

    def write(self, content: Any) -> int:
        with naming(self._asked):
            return super().write(content)


@contextmanager
def written_whole(name: str, *, synced: bool = False) -> Iterator[BinaryIO]:
    """Yield a new file that replaces ``name`` when the block ends without an error.

    Until then, and after an error, an existing file of that name is unchanged. The new one may be
    read and written by the same users as before. Errors of the system name ``name``. If ``synced``,
    the new file is on the disk before it replaces the other.
    """
    with naming(name):
        target = _target(name)
        part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        # No BufferedWriter: NumPy would write to its descriptor, and lose the errors of that.
        with io.BufferedRandom(_Part(part, name)) as file:
            with naming(name), suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            with naming(name):
                if synced:
                    os.fsync(file.fileno())
        with naming(name):
            _replace(part, target)
    finally:
        with naming(name):
            part.unlink(missing_ok=True)


def _replace(part: Path, target: Path) -> None:
    try:
        part.replace(target)
    except PermissionError as error:
        if CAN_REPLACE_OPEN:
            raise
        rule = "Must not be open, here or in another program, to be replaced"
        raise PermissionError(error.errno, rule, str(target)) from error


def _target(name: str) -> Path:
    """Return where a file is to be written; refuse what it cannot replace."""
    target = Path(name).resolve()  # follows a link, so that the link itself is not replaced
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", name)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a folder", name)
    if target.exists() and not target.is_file():  # a device or a pipe would be replaced
        raise FileExistsError(errno.EEXIST, "Is there and no regular file", name)
    return target
