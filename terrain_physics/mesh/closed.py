"""Closed meshes: which edges leave a mesh open, and on which side its outside is.

A mesh is closed if the two directions of each edge cancel: as many faces run along it one way as
the other. Then each point has a winding number, and those that have another one than 0 are inside.
Vertices at one position count as one.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.mesh.adjacency import weld
from terrain_physics._kernels.mesh.parts import INSIDE_OUT, SOLID
from terrain_physics._kernels.types import Floats, Int32s, Int64s


class _DirectedEdge(NamedTuple):
    """An edge that leaves a mesh open."""

    start: int  # a vertex
    end: int
    along: list[int]  # the faces that run along it
    against: list[int]  # those that run the other way


def refuse_open(what: str, vertices: Floats, faces: Int32s) -> None:
    """Raise ValueError for a mesh that is not closed: ``what`` and its first open edge."""
    edge = _open_edge(vertices, faces)
    if edge is None:
        return
    ends = " to ".join(f"vertex {k} at {tuple(vertices[k].tolist())}" for k in edge[:2])
    sides = edge.along + edge.against
    if len(sides) == 1:
        why = f"is of face {sides[0]} alone"
    elif len(sides) == 2:
        why = f"is of faces {sides[0]} and {sides[1]}, which are wound against each other"
    else:
        why = f"is of {len(sides)} faces that do not pair up: {', '.join(map(str, sorted(sides)))}"
    raise ValueError(f"{what}, but the edge from {ends} {why}")


def _open_edge(vertices: Floats, faces: Int32s) -> _DirectedEdge | None:
    """Return the open edge of the lowest face, with its ends as that face has them."""
    welded = weld(vertices)[faces].astype(np.int64)
    starts, ends = welded.ravel(), np.roll(welded, -1, axis=1).ravel()
    halves = np.flatnonzero(starts != ends)
    keys = _edge_keys(starts[halves], ends[halves])
    order = np.argsort(keys, kind="stable")
    keys, halves = keys[order], halves[order]
    if not len(keys):
        return None
    runs = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    ways = np.where(starts[halves] < ends[halves], 1, -1)
    is_open = np.repeat(np.add.reduceat(ways, runs) != 0, np.diff(runs, append=len(keys)))
    if not is_open.any():
        return None
    first = int(halves[is_open].min())
    same = halves[keys == keys[int(np.flatnonzero(halves == first)[0])]]
    along = starts[same] == starts[first]
    face, corner = divmod(first, 3)
    return _DirectedEdge(
        int(faces[face, corner]),
        int(faces[face, (corner + 1) % 3]),
        (same[along] // 3).tolist(),
        (same[~along] // 3).tolist(),
    )


def _edge_keys(starts: Int64s, ends: Int64s) -> Int64s:
    """Return a number for each edge, the same for both directions."""
    return (np.minimum(starts, ends) << 32) | np.maximum(starts, ends)


def facing_of(vertices: Floats, faces: Int32s) -> int:
    """Return how a closed mesh faces: inside out if the volume behind its faces is below 0."""
    middle = vertices[faces[0, 0]]
    a, b, c = (vertices[faces[:, k]] - middle for k in range(3))
    volumes = (
        a[:, 0] * (b[:, 1] * c[:, 2] - b[:, 2] * c[:, 1])
        + a[:, 1] * (b[:, 2] * c[:, 0] - b[:, 0] * c[:, 2])
        + a[:, 2] * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    )
    return INSIDE_OUT if math.fsum(volumes.tolist()) < 0.0 else SOLID
