"""A map as a graph: its edges in compressed sparse rows, as SciPy and networkx take them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import read_only
from terrain_physics._kernels.walkability import layout
from terrain_physics._kernels.walkability.ways import graph
from terrain_physics._public import public
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.lengths import plain_lengths


@public
class WalkGraph(NamedTuple):
    """The edges of a map in compressed sparse rows; its m nodes are the places that stand.

    The edges of node i are ``indptr[i]`` to ``indptr[i + 1]`` in the other arrays, sorted by their
    ends. All arrays are read-only.

    Attributes
    ----------
    indptr : ndarray of int32, shape (m + 1,)
        Where the edges of each node begin, and the number e of all edges.
    indices : ndarray of int32, shape (e,)
        The node that each edge leads to.
    lengths : ndarray of float64, shape (e,)
        The length of each edge in space, in meters, a whole multiple of 2**-20 m.
    kinds : ndarray of uint8, shape (e,)
        The kind of each edge: 1 walk, 2 step, 3 drop.
    points : ndarray of float64, shape (m, 3)
        The position of each node: of a character at rest there. Node i is the i-th place that
        stands, ``numpy.argwhere(paths.standing)[i]``.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    lengths: NDArray[np.float64]
    kinds: NDArray[np.uint8]
    points: NDArray[np.float64]


def graph_of(places: Places) -> WalkGraph:
    """Return the edges of a map."""
    standing = np.flatnonzero(~np.isnan(places.heights))
    nodes = np.full(len(places), -1, dtype=np.int32)
    nodes[standing] = np.arange(len(standing), dtype=np.int32)
    count = sum(
        int(np.count_nonzero((places.kinds >> (2 * direction)) & 3))
        for direction in range(layout.DIRECTIONS)
    )
    indptr, indices = np.zeros(len(standing) + 1, np.int32), np.empty(count, np.int32)
    lengths, kinds = np.empty(count), np.empty(count, dtype=np.uint8)
    graph.put_edges(places.arrays(), plain_lengths(places), nodes, indptr, indices, lengths, kinds)
    return WalkGraph(*read_only(indptr, indices, lengths, kinds, places.points(standing)))
