"""Arrays of NumPy: .npy and .npz files."""

import io
import re
import zipfile

import numpy as np

from terrain_physics._support.archives import content_of, members_of
from terrain_physics.heightmap.formats.source import (
    DEFLATE_RATIO,
    PIXEL_LIMIT,
    Loaded,
    Source,
    read_numbers,
)


def read_npy(source: Source) -> Loaded:
    """Return the array of a .npy file; nothing is ever unpickled."""
    # Three patterns read the header, which is a Python literal. NumPy's own reader evaluates it and
    # raises half a dozen kinds of exceptions and warnings for damaged files.
    start = source.file.read(12)
    if start[:6] != b"\x93NUMPY" or len(start) < 12:
        raise source.bad(f"must start as a NumPy file, got {start[:6]!r}")
    offset = 10 if start[6] == 1 else 12
    length = int.from_bytes(start[8:offset], "little")
    version = f"{start[6]}.{start[7]}"
    if version not in {"1.0", "2.0", "3.0"} or length > min(source.size, 65535):
        raise source.bad(f"damaged header (format version {version}, header of {length} bytes)")
    source.file.seek(offset)
    offset += length
    header = source.file.read(length).decode("latin-1")
    kind = re.search(r"""['"]descr['"]\s*:\s*['"]([<>|=]?(?:[iu][1248]|f[248]))['"]""", header)
    order = re.search(r"""['"]fortran_order['"]\s*:\s*(True|False)""", header)
    counts = re.search(r"""['"]shape['"]\s*:\s*\(([0-9,\s]{0,60})\)""", header)
    if kind is None or order is None or counts is None:
        raise source.bad(f"must hold integers or floats of up to 8 bytes, got {header[:80]!r}")
    sides = [int(count) for count in re.findall(r"[0-9]+", counts[1])]
    if len(sides) != 2 or min(sides) < 2:
        raise source.bad(f"must be two-dimensional, at least 2 x 2, got shape ({counts[1]})")
    needed = offset + sides[0] * sides[1] * np.dtype(kind[1]).itemsize
    if needed > source.size:
        raise source.bad(f"truncated: needs {needed} bytes, got {source.size}")
    source.file.seek(offset)
    if source.mmap:
        is_single = np.dtype(kind[1]) == np.float32  # in the machine's byte order
        if not is_single or order[1] == "True" or offset % 4:
            raise source.bad("mmap is for aligned float32 heights in C order, use mmap=False")
        # Writes are private: they stay in memory, and only pages that are written to are copied.
        return Loaded(np.asarray(np.memmap(source.file, "f4", "c", offset, (sides[0], sides[1]))))
    if order[1] == "True":
        return Loaded(read_numbers(source, kind[1], (sides[1], sides[0])).T)
    return Loaded(read_numbers(source, kind[1], (sides[0], sides[1])))


def read_npz(source: Source) -> Loaded:
    """Return the only array of a .npz file, or that with the given key."""
    try:
        archive = zipfile.ZipFile(source.file)
        members = members_of(source.file, archive)
    except Exception as error:  # zipfile raises all kinds of errors for damaged files
        raise _damaged(source, error) from error
    member = members[_member_name(source, list(members))]
    stored = member.compress_type == zipfile.ZIP_STORED
    most = member.compress_size * (1 if stored else DEFLATE_RATIO)
    most = most if stored else min(most, 8 * PIXEL_LIMIT)
    if member.file_size > most:
        raise source.bad(f"an array must unpack to at most {most} bytes, got {member.file_size}")
    try:
        content = content_of(archive, member)
    except Exception as error:
        raise _damaged(source, error) from error
    return read_npy(source._replace(file=io.BytesIO(content), size=len(content)))


def _damaged(source: Source, error: Exception) -> ValueError:
    return source.bad(f"damaged .npz file ({type(error).__name__}: {error})")


def _member_name(source: Source, members: list[str]) -> str:
    """Return the name of the member that holds the wanted array."""
    keys = [name.removesuffix(".npy") for name in members if name.endswith(".npy")]
    known = ", ".join(map(repr, keys[:20])) or "none"
    if source.key is None:
        if len(keys) != 1:
            raise source.bad(f"must hold one array, or be given its key, got {known}")
        return keys[0] + ".npy"
    if source.key not in keys:
        raise source.bad(f"key must be that of an array in it, {known}, got {source.key!r}")
    return source.key + ".npy"
