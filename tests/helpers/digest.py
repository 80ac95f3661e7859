"""Hashes of answers: equal only where all bits are."""

import hashlib
import math
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from pyglm import glm

import terrain_physics as tp

# Answers are read by name, so that a hash says nothing about the form they come in.
_HIT = ("distance", "point", "normal", "triangle", "material")
FIELDS: dict[type, tuple[str, ...]] = {
    tp.AABB: ("lower64", "upper64"),
    tp.BlockBounds: ("cells", "lower", "upper"),
    tp.Capsule: ("a64", "b64", "radius"),
    tp.Contact: ("query", "triangle", "penetration", "normal", "point", "material", "depth"),
    tp.Contacts: ("query", "triangle", "penetration", "normal", "point", "material", "depth"),
    tp.GroupResult: (
        "grounded", "ground_normals", "contacts", "penetrations", "converged", "rounds", "lifted",
    ),
    tp.Field: ("distance", "direction"),
    tp.MeshArrays: ("vertices", "normals", "indices"),
    tp.MoveResult: (
        "grounded", "ground_normal", "contacts", "penetration", "converged", "rounds", "lifted",
    ),
    tp.MoveHit: ("triangle", "point", "normal", "speed", "other", "material", "reason"),
    tp.MoveHits: (
        "character", "triangle", "point", "normal", "speed", "other", "material", "reason",
    ),
    tp.OBB: ("center64", "half_extents64", "rotation64"),
    tp.Path: ("points", "length", "kinds"),
    tp.RayHit: _HIT,
    tp.RayHits: _HIT,
    tp.Region: ("row_start", "row_stop", "column_start", "column_stop"),
    tp.Segment: ("a64", "b64"),
    tp.Sphere: ("center64", "radius"),
    tp.SweepHit: ("fraction", *_HIT),
    tp.SweepHits: ("fraction", *_HIT),
    tp.Triangles: ("vertices", "normals", "ids"),
    tp.WalkGraph: ("indptr", "indices", "lengths", "kinds", "points"),
}  # fmt: skip


def named(answer: Any, *names: str) -> list[Any] | None:
    """Return parts of an answer, None for None."""
    return None if answer is None else [getattr(answer, name) for name in names]


def hash_of_members(group: tp.CharacterGroup) -> str:
    """Return 16 digits of a group's seed and the hashes of its characters, in any order."""
    parts = sorted(f"{type(key).__name__} {key}: {value}" for key, value in group.hashes())
    text = "\n".join([str(group.state().seed), *parts])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def digest(value: Any) -> str:
    """Return 32 hexadecimal digits for a value, or for values in any depth of each other.

    Floats count by their bits: 0.0 is not -0.0. All NaNs are one.
    """
    parts: list[bytes] = []
    _put(value, parts)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]


def _put(value: Any, parts: list[bytes]) -> None:
    """Append the bytes of a value, each kind of value with a mark of its own."""
    if value is None:
        parts.append(b"none;")
    elif isinstance(value, (bool, np.bool_)):
        parts.append(b"true;" if value else b"false;")
    elif isinstance(value, (int, np.integer)):
        parts.append(b"int %d;" % int(value))
    elif isinstance(value, (float, np.floating)):
        parts.append(b"float " + struct.pack("<d", math.nan if math.isnan(value) else value))
    elif isinstance(value, str):
        parts.append(b"str %d;" % len(value) + value.encode())
    elif isinstance(value, np.ndarray):
        _put_array(value, parts)
    elif isinstance(value, glm.vec3):
        parts.append(b"vec3 ")
        _put(value.to_tuple(), parts)
    elif type(value) in FIELDS:
        parts.append(type(value).__name__.encode())
        _put(named(value, *FIELDS[type(value)]), parts)
    elif isinstance(value, Iterable):
        parts.append(b"[")
        for part in value:
            _put(part, parts)
        parts.append(b"]")
    else:
        raise TypeError(f"no bytes are known for {value!r}")


def _put_array(values: np.ndarray[Any, Any], parts: list[bytes]) -> None:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
    parts.append(f"{values.dtype.kind}{values.dtype.itemsize}{values.shape};".encode())
    parts.append(values.astype(values.dtype.newbyteorder("<")).tobytes())
