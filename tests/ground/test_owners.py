"""Owners of the triangles of united maps, and rows put in another order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap
from terrain_physics._kernels.ground.rows import put_rows
from terrain_physics._locks import Rank, new_lock
from terrain_physics.heightmap.tiled import TiledMap, UnionTile
from terrain_physics.surface.watching import Reader

pytestmark = pytest.mark.kernels


def united(tiles: list[HeightMap]) -> TiledMap:
    """Return maps with cells of 1 m as one map."""
    spots = np.array([(*tile.origin64[::-2], *tile.cell_count) for tile in tiles], dtype=np.int64)
    low = spots[:, :2].min(axis=0)
    spots[:, :2] -= low
    lock = new_lock(Rank.GROUND)
    origin = (float(low[1]), 0.0, float(low[0]))
    return TiledMap([UnionTile(own._storage) for own in tiles], spots, origin, lock, Reader(lock))


@given(st.data())
def test_every_triangle_of_a_union_is_of_its_part(data):
    """Parts of a random tiling, some of them left out, in any order."""
    cuts = [sorted({0, *data.draw(st.lists(st.integers(1, 7), max_size=3)), 8}) for _ in range(2)]
    spans = [
        (row, column)
        for row in zip(cuts[0], cuts[0][1:], strict=False)
        for column in zip(cuts[1], cuts[1][1:], strict=False)
    ]
    spans = data.draw(st.permutations(spans))
    spans = spans[: data.draw(st.integers(1, len(spans)))]
    tiles = [
        HeightMap(
            np.zeros((row[1] - row[0] + 1, column[1] - column[0] + 1)),
            origin=(column[0], 0, row[0]),
        )
        for row, column in spans
    ]
    union = united(tiles)
    parts = np.array(
        sorted(data.draw(st.sets(st.integers(0, 30), min_size=len(tiles), max_size=len(tiles))))
    )
    first_ids = 1000 * parts + 7
    x0, _, z0 = union.origin
    rows, columns = union.cell_count
    asked, ids, owners = [-1], [-1], [parts[0]]
    for k, (row, column) in enumerate(spans):
        own = 0
        for r in range(*row):
            for c in range(*column):
                for half in range(2):
                    asked.append(2 * ((r - int(z0)) * columns + c - int(x0)) + half)
                    ids.append(first_ids[k] + own)
                    owners.append(parts[k])
                    own += 1
    order = np.array(data.draw(st.permutations(range(len(asked)))))
    found = union.owners(np.array(asked)[order], parts, first_ids)
    assert np.array_equal(found[0], np.array(ids)[order])
    assert np.array_equal(found[1], np.array(owners)[order])
    assert max(asked) < 2 * rows * columns


def test_rows_to_places():
    rows = np.arange(12.0).reshape(4, 3)
    rows.setflags(write=False)
    out = np.zeros((5, 3))
    put_rows(np.array([4, -1, 0, 2]), rows, out)
    assert np.array_equal(out, [rows[2], [0] * 3, rows[3], [0] * 3, rows[0]])
