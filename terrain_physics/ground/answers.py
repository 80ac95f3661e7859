"""The answers of several parts of a ground, joined, always in the same order."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.ground.rows import put_rows
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.results import Contacts, Triangles

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


def joined_contacts(
    answers: Sequence[Contacts],
    owners: Sequence[Owners],
    materials: Sequence[Bytes],
    room: ContactRoom,
    *,
    deepest: bool,
    led_out: Int64s,
) -> Contacts:
    """Return contacts by query, part and the part's own order; or only the deepest of each query.

    None of the answers is empty. ``materials`` are the ground's numbers for theirs. Contacts are
    written to ``room``, where none of the answers is. The deepest of a query in ``led_out`` is the
    deepest of those that lead up.
    """
    queries = [answer.query for answer in answers]
    keys = keys_of(queries, owners)
    if len(answers) == 1 and (keys[1:] >= keys[:-1]).all():
        return answers[0].with_triangles(owners[0].ids, materials[0])
    order = order_of(keys)
    if deepest:
        if len(led_out):
            up = np.concatenate([answer.normal[:, 1] for answer in answers]) > 0.0
            order = order[(up | ~np.isin(np.concatenate(queries), led_out))[order]]
        depths = np.concatenate([answer.depth for answer in answers])[order]
        order = order[_first_deepest(np.concatenate(queries)[order], depths)]
    room.reserve(len(order))
    ints, floats = room.first(len(order))
    np.take(np.concatenate(queries), order, out=ints[0])
    np.take(np.concatenate([owner.ids for owner in owners]), order, out=ints[1])
    places = np.full(len(keys), -1)
    places[order] = np.arange(len(order))
    start = 0
    for answer in answers:
        here = places[start : start + len(answer)]
        put_rows(here, answer.penetration, floats[0])
        put_rows(here, answer.normal, floats[1])
        put_rows(here, answer.point, floats[2])
        start += len(answer)
    return Contacts(ints, floats, np.concatenate(materials)[order])


def _first_deepest(queries: Int64s, depths: NDArray[np.float64]) -> Int64s:
    """Return the place of the first greatest depth of each query; queries are sorted, n >= 1."""
    is_new = np.ones(len(queries), dtype=np.bool_)
    is_new[1:] = queries[1:] != queries[:-1]
    greatest = np.maximum.reduceat(depths, np.flatnonzero(is_new))
    deep = np.flatnonzero(depths == greatest[np.cumsum(is_new) - 1])
    is_first = np.ones(len(deep), dtype=np.bool_)
    is_first[1:] = queries[deep[1:]] != queries[deep[:-1]]
    first: Int64s = deep[is_first]
    return first


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


def highest(heights: Sequence[Floats], normals: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the greatest heights (n,) and their normals (n, 3); of equals, the first."""
    best, result = heights[0], normals[0]
    for level, normal in zip(heights[1:], normals[1:], strict=True):
        is_higher = (level > best) | (np.isnan(best) & ~np.isnan(level))
        best = np.where(is_higher, level, best)
        result = np.where(is_higher[:, np.newaxis], normal, result)
    return best, result
