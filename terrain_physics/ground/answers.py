"""The answers of several parts of a ground, joined, always in the same order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Int64s
from terrain_physics.surface.results import Triangles

# Parts have lower numbers than 2 to this, and there is no memory for 2^40 queries.
_PART_BITS = 63 - ID_BITS


class Owners(NamedTuple):
    """The owners of the triangles in an answer.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        The ground's ids of the triangles.
    parts : ndarray of int64, shape (n,)
        The parts that own the triangles.
    """

    ids: Int64s
    parts: Int64s


def keys_of(queries: Sequence[Int64s], owners: Sequence[Owners]) -> Int64s:
    """Return the keys that order joined answers: by query, then by part."""
    return np.concatenate(
        [query << _PART_BITS | owner.parts for query, owner in zip(queries, owners, strict=True)]
    )


def order_of(keys: Int64s) -> Int64s:
    """Return the order by keys: ascending stretches, which this sort finds and merges."""
    return np.argsort(keys, kind="stable")


def joined_triangles(answers: Sequence[Triangles], owners: Sequence[Owners]) -> Triangles:
    """Return triangles by part and the part's own order."""
    order = order_of(np.concatenate([owner.parts for owner in owners]))
    return Triangles(
        np.concatenate([answer.vertices for answer in answers])[order],
        np.concatenate([answer.normals for answer in answers])[order],
        np.concatenate([owner.ids for owner in owners])[order],
    )


def joined_lists(offsets: Sequence[Int64s], owners: Sequence[Owners]) -> tuple[Int64s, Int64s]:
    """Return (offsets, ids) of lists for each query, by part and the part's own order."""
    queries = [np.repeat(np.arange(len(starts) - 1), np.diff(starts)) for starts in offsets]
    order = order_of(keys_of(queries, owners))
    return np.sum(offsets, axis=0), np.concatenate([owner.ids for owner in owners])[order]
