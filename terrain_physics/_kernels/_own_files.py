"""Files that nobody else can have written: machine code is loaded from no others.

Loading runs what a file holds. So the file and its folder must belong to this user or to root, and
nobody else may write to them. Nor may anybody else move them away: others may write to a folder
above only if nobody there can move what others own, as in ``/tmp``. Windows has no such marks:
there the place decides. A user with write access to the installed package could edit its sources as
well.
"""

import os
import stat
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent

_ROOT = 0
_UNKNOWN = 65534  # as Linux shows owners from outside of a container, most often root


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)


def write_new(file: Path, content: bytes) -> None:
    """Write a file that only this user may write to."""
    with open(file, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as opened:
        opened.write(content)


def read(file: Path) -> bytes:
    """Return what a file holds; raise OSError if somebody else may have written it.

    So it does for anything but a file: a named pipe would keep the reader waiting for a writer.
    """
    has_owners = refuse_shared(file.parent)
    with open(file, "rb", opener=_open_at_once) as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{file} is not a file")
        if has_owners:
            _refuse(file, status)
        return opened.read()


def _open_at_once(name: str, flags: int) -> int:
    """Open a file for reading, and wait for nobody at the other end of a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))


@cache  # of folders that are not refused
def refuse_shared(folder: Path) -> bool:
    """Raise OSError, which names the reason, if others may write to a folder.

    Returns whether each file must be checked too; that is not so where the place decides.
    """
    place = folder.resolve()
    if place.is_relative_to(_PACKAGE):
        return False
    if not hasattr(os, "geteuid"):
        if not place.is_relative_to(Path.home().resolve()):
            raise PermissionError(f"{place} is not in the user's own folder")
        return False
    _refuse(place, place.stat())
    for above in place.parents:
        _refuse_above(above, above.stat())
    return True


def _refuse(place: Path, status: os.stat_result) -> None:
    if status.st_uid not in {os.geteuid(), _ROOT}:
        raise PermissionError(f"{place} belongs to somebody else")
    if _may_be_written(status):
        raise PermissionError(f"others may write to {place}")


def _refuse_above(place: Path, status: os.stat_result) -> None:
    if status.st_uid not in {os.geteuid(), _ROOT, _UNKNOWN}:
        raise PermissionError(f"{place} belongs to somebody else")
    if _may_be_written(status) and not status.st_mode & stat.S_ISVTX:
        raise PermissionError(f"others may write to {place}")


def _may_be_written(status: os.stat_result) -> bool:
    """Tell whether somebody else may write there."""
    by_group = status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid)
    return bool(status.st_mode & stat.S_IWOTH or by_group)


def _is_private(group: int) -> bool:
    """Tell whether a group is this user's alone, which Debian and Fedora give to each user."""
    try:
        import grp
        import pwd

        user, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    is_named_alike = group == user.pw_gid and members.gr_name == user.pw_name
    return is_named_alike and set(members.gr_mem) <= {user.pw_name}
