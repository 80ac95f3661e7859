"""Partial counts: those of some of the triangles of a problem, as files that can be added up.

A file is an archive of a description and the counts, not packed, so that it cannot claim more than
it holds. It says which spheres were counted, and which triangles, by hashes of their numbers, and
holds a hash of the counts.
"""

import hashlib
import json
import operator
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import archives, checks, files

_FORMAT = 1
_ABOUT, _COUNTS = "about.json", "counts.npy"
_LARGEST_ABOUT = 1 << 24  # bytes
_MOST_TRIANGLES = 1 << 40  # of a part: the sums of millions of parts are below 2^63


class PartialError(ValueError):
    """A file that is no partial count, or does not go with others; the message names it."""


class Identity:
    """Which spheres and triangles were counted, told by hashes, as they are read."""

    def __init__(self) -> None:
        self._spheres = hashlib.sha256()
        self._triangles: dict[str, int] = {}

    def passing(self, blocks: Iterator[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
        """Yield blocks of spheres, and remember them."""
        for block in blocks:
            self._spheres.update(block.data)
            yield block

    def add_triangles(self, name: str, triangles: NDArray[np.float64]) -> None:
        """Remember triangles; refuse those that are there already."""
        key = hashlib.sha256(np.ascontiguousarray(triangles).data).hexdigest()
        if len(triangles) and key in self._triangles:
            raise PartialError(f"{name}: holds the triangles of an earlier file of --triangles")
        self._triangles[key] = len(triangles)

    def write(self, path: str, counts: Sequence[NDArray[Any]]) -> None:
        """Write counts of these spheres and triangles to a file, wholly or not at all."""
        whole = np.concatenate([np.empty(0, np.int64), *counts])
        about = {
            "format": _FORMAT,
            "spheres": self._spheres.hexdigest(),
            "triangles": self._triangles,
            "counts": hashlib.sha256(whole.data).hexdigest(),
        }
        try:
            with (
                files.written_whole(path) as file,
                zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
            ):
                archives.write_member(archive, _ABOUT, json.dumps(about), zipfile.ZIP_STORED)
                with archive.open(zipfile.ZipInfo(_COUNTS), "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, whole, (1, 0), allow_pickle=False)
        except OSError as error:
            raise PartialError(f"{path}: cannot be written: {error.strerror}") from None


class _Partial(NamedTuple):
    spheres: str
    triangles: dict[str, int]
    counts: NDArray[np.int64]


class Merged(NamedTuple):
    """The sums of partial counts, and of how many triangles they are."""

    counts: NDArray[np.int64]
    triangle_count: int


def merged(paths: Sequence[str]) -> Merged:
    """Return the sums of partial counts of the same spheres.

    Raises
    ------
    PartialError
        For a file that is no partial count or is damaged, one of other spheres, and one with
        a file of triangles that an earlier one has counted. Files that share only some of their
        triangles are not noticed, nor is one that is missing.
    OSError
        If a file cannot be read.
    """
    first = _read(paths[0])
    total, seen = first.counts.copy(), dict.fromkeys(first.triangles, paths[0])
    triangle_count = sum(first.triangles.values())
    for path in paths[1:]:
        part = _read(path)
        if part.spheres != first.spheres or len(part.counts) != len(total):
            raise PartialError(f"{path}: counts other spheres than {paths[0]}")
        for key, number in part.triangles.items():
            if number and key in seen:
                raise PartialError(f"{path}: counts triangles that {seen[key]} has counted")
        seen |= dict.fromkeys(part.triangles, path)
        total += part.counts
        triangle_count += sum(part.triangles.values())
    return Merged(total, triangle_count)


def _read(path: str) -> _Partial:
    try:
        files.checked_size(path)
    except ValueError as error:
        raise PartialError(str(error)) from None
    with Path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = archives.members_of(file, archive)
                return _partial(path, archive, members[_ABOUT], members[_COUNTS])
        except (PartialError, OSError, MemoryError):
            raise
        except Exception as error:  # whatever damage leads to
            raise PartialError(
                f"{path}: must be a file that --partial has written, and whole ({error})"
            ) from None


def _partial(
    path: str, archive: zipfile.ZipFile, described: zipfile.ZipInfo, counted: zipfile.ZipInfo
) -> _Partial:
    if {described.compress_type, counted.compress_type} != {zipfile.ZIP_STORED}:
        raise zipfile.BadZipFile("another packing")
    if described.file_size > _LARGEST_ABOUT:
        raise zipfile.BadZipFile("too long a description")
    about = json.loads(archives.content_of(archive, described))
    if about["format"] != _FORMAT:
        raise PartialError(
            f"{path}: has the format {checks.shorten(about['format'])}, which this version lacks"
        )
    counts = archives.array_of(archive, counted, "<i8", 1)
    if hashlib.sha256(counts.data).hexdigest() != about["counts"]:
        raise zipfile.BadZipFile("a checksum differs")
    triangles = {str(key): operator.index(n) for key, n in dict(about["triangles"]).items()}
    all_triangles = sum(triangles.values())
    if min(triangles.values(), default=0) < 0 or all_triangles > _MOST_TRIANGLES:
        raise ValueError("a number of triangles that cannot be")
    if len(counts) and not 0 <= counts.min() <= counts.max() <= all_triangles:
        raise ValueError("a count that cannot be")  # printing trusts counts
    return _Partial(str(about["spheres"]), triangles, counts)
