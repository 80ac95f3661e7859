"""Ground files: a height map, a mesh or a ground of several parts, saved with all its data.

A file is a zip archive. ``ground.json``, which is stored uncompressed, describes it:

- ``format``: "terrain_physics ground"; ``version``: 1; ``kind``: "height map", "mesh", "ground" or
  "tiled ground";
- ``parts``: a description of each part with its ``kind`` (see ``heightmap/saved.py``,
  ``mesh/saved.py`` and ``tiles/saving/land_content.py``); a height map or a mesh by itself is one
  part, and the first part of a tiled ground is its land;
- for a ground: ``keys``, the ascending keys of its parts; ``next_key``; the ``layers`` of each
  part; ``changes``, the count of its own changes; ``transforms`` (3 rows by 4) of meshes that were
  moved, by their keys, and ``scales`` of those that have one; ``same``, for the key of a mesh that
  is there before, the first key of that mesh; ``movers``: the ``count`` of moves, and the data of
  each of the ``parts`` that move, carry or let through (see ``ground/movers.py``); and the
  ``names`` of the parts that have one, by their keys.

The arrays of part k are members named ``k.NAME.npy``; a file holds nothing else. It is checked
against limits before memory is reserved for it, and a ground beyond the limits is not saved.
"""

import json
import math
import os
import pathlib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics._support.archives import (
    array_of,
    content_of,
    members_of,
    refuse_other_bytes,
    write_archive,
    write_array,
    write_member,
)
from terrain_physics._support.files import checked_size, file_name, written_whole

FORMAT, VERSION = "terrain_physics ground", 1

MOST_BYTES = 1 << 31
"""Of all parts, unpacked."""

MOST_HEADER_BYTES = 1 << 23
"""Of ``ground.json``."""

MOST_PARTS = 10_000
"""Of a ground."""

MOST_NUMBERS = 1 << 23
"""Of parts of a ground, those that were removed included: with 2^40 triangles each, ids fit."""

MOST_EDITS = 2**53
"""A version is at most this: characters remember it as a float64."""

_HEADER = "ground.json"
_ABOUT, _UNPACKED = f"bytes of {_HEADER}", "bytes of arrays, unpacked"
_MOST_ABOUT_ARRAY = 256  # bytes of an array's header

# Arrays that a file may have: type and number of dimensions.
_ARRAYS = {
    "heights": ("<f4", 2),
    "holes": ("|u1", 2),
    "diagonals": ("|u1", 2),
    "vertices": ("<f8", 2),
    "faces": ("<i4", 2),
    "order": ("<i4", 1),
    "materials": ("|u1", None),
    "edits": ("|u1", 1),
}

_LOADERS = {
    "height map": "HeightMap.load",
    "mesh": "TriangleMesh.load",
    "ground": "Ground.load",
    "tiled ground": "TiledGround.load",
}
"""What loads each kind of file."""


class SavedPart(NamedTuple):
    """Contents of a file for a height map or a mesh.

    Attributes
    ----------
    header : dict
        Its description, for JSON; ``kind`` is "height map" or "mesh".
    arrays : dict of ndarray
        By name.
    """

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def packed(self) -> tuple[dict[str, Any], bytes]:
        """Return a dict for JSON, and the bytes of all arrays."""
        shapes = {name: values.shape for name, values in self.arrays.items()}
        content = [
            values.astype(_ARRAYS[name][0], copy=False).tobytes()
            for name, values in self.arrays.items()
        ]
        return {"header": self.header, "shapes": shapes}, b"".join(content)

    @classmethod
    def unpacked(cls, about: Any, content: bytes) -> Self:
        """Return the part that was packed; raise any error if the content is too short or long."""
        arrays: dict[str, NDArray[Any]] = {}
        end = 0
        for name, shape in about["shapes"].items():
            sizes = [checks.whole(name, size, 0, len(content)) for size in shape]
            values = np.frombuffer(content, _ARRAYS[name][0], math.prod(sizes), end)
            arrays[name] = values.reshape(sizes)
            end += values.nbytes
        if end != len(content):
            raise ValueError(f"content must have {end} bytes, got {len(content)}")
        return cls(about["header"], arrays)


class SavedGround(NamedTuple):
    """Contents of a file for a ground of any kind.

    Attributes
    ----------
    kind : str
        "height map", "mesh", "ground" or "tiled ground".
    parts : list of SavedPart
    about : dict
        The other entries of the header, for JSON.
    """

    kind: str
    parts: list[SavedPart]
    about: dict[str, Any]


def save_parts(
    path: str | os.PathLike[str], kind: str, parts: Sequence[SavedPart], about: dict[str, Any]
) -> None:
    """Write a file of this kind; an existing one is replaced only when the new one is complete.

    ``about`` are the other entries of the header.
    """
    name = file_name(path)
    content = described(name, SavedGround(kind, list(parts), about))
    with written_whole(name) as file:
        write_archive(file, lambda archive: put_ground(archive, content, parts))


def described(name: str, saved: SavedGround) -> bytes:
    """Return the header of a ground; ValueError, with the file's name, for too large a ground."""
    kind, parts, about = saved
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "parts": [part.header for part in parts],
    } | about
    content = json.dumps(header, allow_nan=False).encode()
    arrays = [values for part in parts for values in part.arrays.values()]
    _refuse_more(name, "parts", len(parts), MOST_PARTS)
    _refuse_more(name, _ABOUT, len(content), MOST_HEADER_BYTES)
    _refuse_more(name, _UNPACKED, sum(values.nbytes for values in arrays), MOST_BYTES)
    return content


def put_ground(archive: zipfile.ZipFile, content: bytes, parts: Sequence[SavedPart]) -> None:
    """Write a ground, of which ``content`` is the header, to an archive."""
    write_member(archive, _HEADER, content, zipfile.ZIP_STORED)
    for number, part in enumerate(parts):
        for array, values in part.arrays.items():
            write_array(
                archive, f"{number}.{array}.npy", values.astype(_ARRAYS[array][0], copy=False)
            )


def load_parts(path: str | os.PathLike[str], kind: str) -> tuple[list[SavedPart], Any]:
    """Return the parts and the header of a file of this kind, or raise ValueError naming it."""
    name = file_name(path)
    checked_size(name)
    with pathlib.Path(name).open("rb") as file:
        return _loaded(name, file, kind)


def _refuse_more(name: str, what: str, got: int, limit: int) -> None:
    if got > limit:
        raise RefusedError(f"{name}: a saved ground must have at most {limit} {what}, got {got}")


class RefusedError(ValueError):
    """Error for a file that holds too much, or is of another kind or version."""


def _loaded(name: str, file: BinaryIO, kind: str) -> tuple[list[SavedPart], Any]:
    with damaged_otherwise(name), zipfile.ZipFile(file) as archive:
        members = members_of(file, archive)
        refuse_other_bytes(file, archive)
        parts, header = ground_in(name, archive, members)
        found = header["kind"]
        if found != kind:
            raise RefusedError(
                f"{name}: file must hold a {kind}, got a {checks.shorten(found)}: "
                f"{_LOADERS[found]} loads it"
            )
    return parts, header


def ground_in(
    name: str, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]
) -> tuple[list[SavedPart], Any]:
    """Return the parts and the header of a ground, which has these members of an archive.

    Any error if it is damaged.
    """
    others = members.copy()
    about = others.pop(_HEADER)
    sizes = [max(member.file_size - _MOST_ABOUT_ARRAY, 0) for member in others.values()]
    _refuse_more(name, _ABOUT, about.file_size, MOST_HEADER_BYTES)
    _refuse_more(name, _UNPACKED, sum(sizes), MOST_BYTES)
    header = json.loads(stored_text(archive, about))
    _refuse_others(name, header)
    _refuse_more(name, "parts", len(header["parts"]), MOST_PARTS)
    if len(header["parts"]) > len(others):
        raise zipfile.BadZipFile("parts without arrays")
    arrays = _arrays_of(archive, others, len(header["parts"]))
    return [SavedPart(*part) for part in zip(header["parts"], arrays, strict=True)], header


@contextmanager
def damaged_otherwise(path: str | os.PathLike[str], what: str = "ground") -> Iterator[None]:
    """Raise an error that a file is damaged if its numbers are refused."""
    try:
        yield
    except (RefusedError, MemoryError):
        raise
    except Exception as error:  # damage may cause any error
        raise ValueError(f"{file_name(path)}: file must be a saved {what}, undamaged") from error


def stored_text(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the header, or refuse a compressed one: a few bytes could become many objects."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise zipfile.BadZipFile("a packed header")
    return content_of(archive, member)


def _refuse_others(name: str, header: Any) -> None:
    """Refuse files of later versions."""
    if header["format"] != FORMAT:
        raise zipfile.BadZipFile
    version = header["version"]
    if version != VERSION:
        raise RefusedError(
            f"{name}: file must be of version {VERSION}, got {checks.shorten(version)}: another "
            "version of terrain_physics saved it, and can load it"
        )


def _arrays_of(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], count: int
) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of ``count`` parts, by name."""
    arrays: list[dict[str, NDArray[Any]]] = [{} for _ in range(count)]
    for member in members.values():
        number, array, suffix = member.filename.split(".")
        if suffix != "npy" or number != str(abs(int(number))):
            raise zipfile.BadZipFile("another name")
        dtype, dimensions = _ARRAYS[array]
        arrays[int(number)][array] = array_of(archive, member, dtype, dimensions)
    return arrays


def checked_keys(keys: Any, next_key: Any, count: int) -> tuple[list[int], int]:
    """Return the ascending keys of ``count`` parts, and the next key."""
    end = checks.whole("next_key", next_key, 1, MOST_NUMBERS)
    found = [checks.whole("keys", key, 0, end - 1) for key in keys]
    if len(found) != count or count == 0 or sorted(set(found)) != found:
        raise ValueError(f"keys must ascend, one for each part, got {checks.shorten(keys)}")
    return found, end


def as_marks(numbers: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return marks that were saved as numbers."""
    return numbers.astype(np.bool_)
