"""Archives of arrays, like NumPy's ``.npz``: read from anybody, written without pickles.

The claims of an archive are checked before memory is reserved for it: a small one may hold
gigabytes. A bad archive raises `zipfile.BadZipFile`, or an error of NumPy or zipfile.
"""

import io
import struct
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks

_LOCAL = struct.Struct("<26xHH")  # of a member: the lengths of its name and of what follows that
_END = struct.Struct("<4s16xH")  # of an archive: its mark, and the length of a comment
_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # those that unpack piece by piece


class Pieces:
    """Bytes, or the rows of an array, that are taken one piece after another."""

    def __init__(self, content: Any) -> None:
        self._content, self._end = content, 0

    def take(self, size: Any) -> Any:
        """Return so many more; ValueError if there are not as many."""
        first = self._end
        self._end += checks.whole("size", size, 0, len(self._content) - first)
        return self._content[first : self._end]

    def end(self) -> None:
        """Refuse what nobody has taken."""
        if self._end != len(self._content):
            raise ValueError("content must be as long as it says")


def members_of(file: BinaryIO, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive in an open file, by name."""
    members = {member.filename: member for member in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise zipfile.BadZipFile("a name twice")
    # zipfile takes memory for as much as they claim to have packed.
    packed = sum(member.compress_size for member in members.values())
    if packed > file.seek(0, io.SEEK_END):
        raise zipfile.BadZipFile("more than the file")
    return members


def refuse_other_bytes(file: BinaryIO, archive: zipfile.ZipFile) -> None:
    """Refuse bytes before, between and after the members, which zipfile passes over."""
    file.seek(-_END.size, io.SEEK_END)
    if _END.unpack(file.read(_END.size)) != (b"PK\5\6", 0):
        raise zipfile.BadZipFile("more after its end")
    end = 0
    for member in sorted(archive.infolist(), key=lambda each: each.header_offset):
        if member.header_offset != end:
            raise zipfile.BadZipFile("more than its members")
        file.seek(end)
        end += _LOCAL.size + sum(_LOCAL.unpack(file.read(_LOCAL.size))) + member.compress_size
    if end != archive.start_dir:
        raise zipfile.BadZipFile("more than its members")


def content_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return what a member holds; no more is unpacked than it claims to hold."""
    if member.compress_type not in _PACKINGS:
        raise zipfile.BadZipFile("another packing")
    with archive.open(member) as packed:
        return packed.read(member.file_size)


def array_of(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, dtype: str, dimensions: int | None = None
) -> NDArray[Any]:
    """Return the array of a type that a member holds, read-only; None: of any dimensions."""
    content = content_of(archive, member)
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise zipfile.BadZipFile("another version of arrays")
    shape, is_column_first, found = np.lib.format.read_array_header_1_0(stream)
    if found != np.dtype(dtype) or is_column_first or dimensions not in {None, len(shape)}:
        raise zipfile.BadZipFile("another array")
    if min(shape, default=0) < 0:
        raise zipfile.BadZipFile("another array")
    # A product that would overflow is more than there is.
    count = int(np.prod(np.array(shape, dtype=object)))
    if stream.tell() + count * found.itemsize != len(content):
        raise zipfile.BadZipFile("more or less than the array")
    return np.frombuffer(content, found, count, stream.tell()).reshape(shape)


def write_archive(file: BinaryIO, put: Callable[[zipfile.ZipFile], None]) -> None:
    """Write an archive to a file.

    After an error, such as that of a signal handler in the middle of a member, nothing is written
    any more: zipfile would raise another error.
    """
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    try:
        put(archive)
        archive.close()
    finally:
        archive.fp = None  # closed, also for the garbage collector


def write_array(archive: zipfile.ZipFile, name: str, values: NDArray[Any]) -> None:
    """Write an array as a member."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(values), (1, 0), allow_pickle=False)
    write_member(archive, name, stream.getbuffer(), zipfile.ZIP_DEFLATED)


def write_member(archive: zipfile.ZipFile, name: str, content: Any, packing: int) -> None:
    """Write a member, dated the same at any time: equal contents are equal files."""
    archive.writestr(zipfile.ZipInfo(name), content, packing)
