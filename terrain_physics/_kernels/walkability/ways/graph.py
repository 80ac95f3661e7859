"""Edges of a map as a sparse matrix: rows of edges, one behind another."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats, Int32s
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    NO_EDGE,
    PlaceArrays,
    end_of,
    kind_of,
)
from terrain_physics._kernels.walkability.ways.lengths import Lengths, edge_length, flat_length


@kernel(no_refcount=True)
def put_edges(
    places: PlaceArrays,
    lengths: Lengths,
    nodes: Int32s,
    row_ends: Int32s,
    ends: Int32s,
    lengths_out: Floats,
    kinds_out: Bytes,
) -> None:
    """Write all edges, those of each place in the order of their ends.

    ``nodes`` (n,) are the new numbers of places that stand, others are -1. ``row_ends`` says, for
    each of the new numbers, where its edges end; the first row of it is 0 before.
    """
    count = 0
    for place in range(len(nodes)):
        if nodes[place] < 0:
            continue
        first = count
        for direction in range(DIRECTIONS):
            kind = kind_of(places, place, direction)
            if kind == NO_EDGE:
                continue
            end = end_of(places, place, direction)
            node, k = int(nodes[end]), count
            while k > first and ends[k - 1] > node:
                ends[k], lengths_out[k] = ends[k - 1], lengths_out[k - 1]
                kinds_out[k] = kinds_out[k - 1]
                k -= 1
            flat = flat_length(lengths, direction)
            ends[k], lengths_out[k] = node, edge_length(places, lengths, flat, place, end)
            kinds_out[k] = kind
            count += 1
        row_ends[nodes[place] + 1] = count
