"""Adjacency: the faces of a mesh at an edge, and the vertices at a vertex. Sorted by NumPy."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats, Int32s, Int64s, UInt64s
from terrain_physics._public import public

BORDER = -1
CROWDED = -2

_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


@public
class Neighbors(NamedTuple):
    """The faces and vertices next to each face and vertex. Vertices at one position count as one.

    Attributes
    ----------
    welded : ndarray of int32, shape (v,)
        The lowest vertex at the same position; a vertex alone is its own.
    across : ndarray of int32, shape (n, 3)
        The face across edge k of a face, which runs from corner k to corner k + 1 (edge 2: from
        corner 2 to corner 0), whichever way round that face runs; -1 at a border, -2 where more
        than two faces share the edge. A face with two corners at one position lies across nothing,
        and has -1 on all sides.
    ring_offsets : ndarray of int32, shape (v + 1,)
        Where each vertex's part of ``ring`` begins, and ends.
    ring : ndarray of int32
        The vertices at the other ends of the edges of each vertex, ascending. All are welded, and
        only those have a part of their own: look up ``welded[vertex]``.
    """

    welded: Int32s
    across: Int32s
    ring_offsets: Int32s
    ring: Int32s


def find_neighbors(vertices: Floats, faces: Int32s) -> Neighbors:
    """Return the neighbors of all faces (n, 3) and vertices (v, 3)."""
    welded = weld(vertices)
    corners = welded[faces]
    ends = np.roll(corners, -1, axis=1)
    keys = _edge_keys(np.minimum(corners, ends), np.maximum(corners, ends)).ravel()
    whole = (corners != ends).all(axis=1)
    is_edge = (corners != ends).ravel()

    # Faces that are a segment or a point come first, each edge on its own, and are cut off.
    halves = np.argsort(np.where(np.repeat(whole, 3), keys, np.uint64(0)))
    halves = halves[3 * int(np.count_nonzero(~whole)) :].astype(np.int32)
    sorted_keys = keys[halves]
    starts = _starts(sorted_keys)
    lengths = np.diff(starts, append=len(sorted_keys))
    across = np.full(keys.shape, BORDER, np.int32)
    pairs = starts[lengths == 2]
    one, two = halves[pairs], halves[pairs + 1]
    across[one], across[two] = two // 3, one // 3
    across[halves[np.repeat(lengths > 2, lengths)]] = CROWDED

    edges = np.sort(keys[is_edge])
    edges = edges[_starts(edges)]
    both = np.concatenate([edges, (edges << _SHIFT) | (edges >> _SHIFT)])
    both.sort()
    counts = np.bincount((both >> _SHIFT).astype(np.int64), minlength=len(vertices))
    offsets = np.zeros(len(vertices) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    result = Neighbors(welded, across.reshape(-1, 3), offsets, (both & _LOW).astype(np.int32))
    for values in result:
        values.setflags(write=False)
    return result


def weld(vertices: Floats) -> Int32s:
    """Return for each vertex (v, 3) the lowest at the same position."""
    places = vertices + 0.0  # -0 is 0
    keys = _place_keys(places)
    order = np.argsort(keys)
    found = keys[order]
    same = (places[order[1:]] == places[order[:-1]]).all(axis=1)
    if not np.array_equal(same, found[1:] == found[:-1]):
        order = np.lexsort(places.T)
        same = (places[order[1:]] == places[order[:-1]]).all(axis=1)
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    lowest = np.minimum.reduceat(order, starts)
    welded = np.empty(len(vertices), np.int32)
    welded[order] = np.repeat(lowest, np.diff(starts, append=len(order)))
    return welded


def _place_keys(places: Floats) -> UInt64s:
    """Return a number for each position (v, 3), equal for equal ones, hardly ever for others."""
    x, y, z = np.ascontiguousarray(places.T).view(np.uint64)
    keys: UInt64s = x * np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> _SHIFT
    keys = (keys ^ y) * np.uint64(0xC2B2AE3D27D4EB4F)
    keys ^= keys >> _SHIFT
    keys ^= z
    keys *= np.uint64(0x165667B19E3779F9)
    return keys


def _edge_keys(low: Int32s, high: Int32s) -> UInt64s:
    return (low.astype(np.uint64) << _SHIFT) | high.astype(np.uint64)


def _starts(keys: UInt64s) -> Int64s:
    """Return where runs of equal sorted keys begin."""
    if len(keys) == 0:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
