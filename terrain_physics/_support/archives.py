"""Archives of arrays, like NumPy's ``.npz``: read from anybody, written without pickles.

The claims of an archive are checked before memory is reserved for it: a small one may hold
gigabytes. A bad archive raises `zipfile.BadZipFile`, or an error of NumPy or zipfile.
"""

import io
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # those that unpack piece by piece


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
    return np.frombuffer(content, found, count, stream.tell()).reshape(shape)


def write_array(archive: zipfile.ZipFile, name: str, values: NDArray[Any]) -> None:
    """Write an array as a member."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(values), (1, 0), allow_pickle=False)
    write_member(archive, name, stream.getbuffer(), zipfile.ZIP_DEFLATED)


def write_member(archive: zipfile.ZipFile, name: str, content: Any, packing: int) -> None:
    """Write a member, dated the same at any time: equal contents are equal files."""
    archive.writestr(zipfile.ZipInfo(name), content, packing)
