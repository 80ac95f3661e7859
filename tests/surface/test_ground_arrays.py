"""The table of arrays that characters stand on: what it points to, and how long that lives."""

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

from terrain_physics import CharacterGroup, CharacterMovement, Ground, HeightMap, SphereCollider
from terrain_physics import TriangleMesh as Mesh
from terrain_physics._kernels.ground.movers import no_part_shifts
from terrain_physics._kernels.ground.table import ground_at, map_of, maps_of, parts_of, sides_of
from terrain_physics._kernels.heightmap.grid import cell_bits, stored_corners
from terrain_physics._kernels.mesh.parts import ids_at, part_at
from terrain_physics.surface.ground_arrays import NO_MAPS, NO_MESHES, GroundArrays, map_rows
from terrain_physics.surface.surface import queries_of

pytestmark = pytest.mark.kernels

HEIGHTS = np.random.default_rng(7).uniform(0, 1, (9, 9))


def land(**options):
    return HeightMap(HEIGHTS, holes=np.eye(8) > 0, **options)


def roof(height=0.0):
    return Mesh(
        [(0, height, 0), (0, height, 8), (8, height, 0), (8, height, 8)], [(0, 1, 2), (2, 1, 3)]
    )


GROUNDS = {
    "map": land,
    "mesh": roof,
    "map and mesh": lambda: Ground([land(), roof(2.0)]),
    "maps": lambda: Ground([land(), land(origin=(8, 0, 0.5))]),
    "united maps": lambda: Ground(
        [HeightMap(HEIGHTS), HeightMap(HEIGHTS[:, ::-1], origin=(8, 0, 0))]
    ),
    "meshes": lambda: Ground([roof(), roof(2.0)]),
}


@pytest.fixture(params=GROUNDS)
def ground(request):
    return GROUNDS[request.param]()


def storage(ground) -> Any:
    queries: Any = queries_of(ground)
    return queries.storage


def pointed_to(table):
    """Return all arrays that a table points to: of maps, of meshes, then of the maps' sides."""
    found = ground_at(table, 6, no_part_shifts())
    arrays = []
    for row in range(len(maps_of(found))):
        grid, blocks = map_of(found, row)
        arrays += [grid.heights, grid.cells, blocks]
    rows = parts_of(found).rows
    for row in range(1, max(int(rows[0, 0]), 1)):
        arrays += mesh_arrays(rows, row)
    return arrays + arrays_of_sides(table)


def mesh_arrays(rows, row):
    part = part_at(rows, row)
    return [part.corners, part.order, part.boxes, part.children, part.frame]


def arrays_of_sides(table):
    rows, arrays = sides_of(ground_at(table, 6, no_part_shifts())).rows, []
    for row in range(1, max(int(rows[0, 0]), 1)):
        arrays += [*mesh_arrays(rows, row), ids_at(rows, row)]
    return arrays


def shown(table):
    """Return the same arrays, of a map in tiles only what its tiles have of them."""
    found, arrays = ground_at(table, 6, no_part_shifts()), pointed_to(table)
    for row in range(len(maps_of(found))):
        grid, _ = map_of(found, row)
        if grid.tiles != 0:
            cells = list(np.ndindex(grid.rows, grid.columns))
            arrays[3 * row] = np.array([stored_corners(grid, *cell) for cell in cells])
            arrays[3 * row + 1] = np.array([cell_bits(grid, *cell) for cell in cells])
    return arrays


def pointed_at(table):
    return [values.copy() for values in shown(table)]


def fill_freed_memory():
    """Write over what was freed, so that a table that points there is found out."""
    gc.collect()
    return [np.full(n, np.nan, kind) for n in range(1, 200) for kind in (np.float32, np.float64)]


def assert_equal(some, others):
    for one, other in zip(some, others, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def walked(ground):
    """Return the hashes of a character and of a group after a walk."""
    mover = CharacterMovement(ground, SphereCollider(0.3), position=(2.5, 3, 4.5), seed=3)
    group = CharacterGroup(ground, SphereCollider(0.3), threads=1)
    group.add("ada", (5.5, 3, 4.5))
    for _ in range(30):
        mover.velocity.x = 1.0
        mover.update(1 / 20)
        group.update(1 / 20)
    return mover.state_hash(), group.state_hash()


def own_arrays(part):
    if isinstance(part, HeightMap):
        return list(storage(part).views[:3])
    mesh = storage(part).arrays
    return [mesh.corners, mesh.order, mesh.boxes, mesh.children, mesh.frame]


def assert_table_fits(ground):
    """The arrays of meshes and of a map alone are the parts' own; others are copies."""
    parts = list(ground.parts.values()) if isinstance(ground, Ground) else [ground]
    maps = [part for part in parts if isinstance(part, HeightMap)]
    meshes = [part for part in parts if isinstance(part, Mesh)]
    table = queries_of(ground).ground_arrays.table
    found = shown(table)
    found = found[: len(found) - len(arrays_of_sides(table))]
    assert not any(values.flags.writeable for values in pointed_to(table))
    own = [values for part in (*maps[: len(maps) == 1], *meshes) for values in own_arrays(part)]
    assert_equal(found[len(found) - len(own) :], own)
    for one, other in zip(found[len(found) - len(own) :], own, strict=True):
        assert one.ctypes.data == other.ctypes.data


def test_the_table_points_to_the_arrays(ground):
    assert_table_fits(ground)


def test_what_is_absent_is_empty():
    assert not shown(GroundArrays(NO_MAPS, NO_MESHES).table)


def test_the_table_is_read_only(ground):
    with pytest.raises(ValueError, match="read-only"):
        queries_of(ground).ground_arrays.table[0, 0] = 0


def test_the_table_keeps_its_arrays_alive(ground):
    table = queries_of(ground).ground_arrays.table
    before = pointed_at(table)
    del ground
    junk = fill_freed_memory()
    assert_equal(shown(table), before)
    del junk


def test_nothing_else_keeps_them_alive():
    values: Any = np.zeros(4)  # of any kind: nobody reads them
    seen = weakref.ref(values)
    gc.disable()
    try:
        number = np.zeros(1, np.int64)
        rows = map_rows([(values, values, values, values)], [number], [1])
        arrays = GroundArrays(rows, NO_MESHES)
        table = arrays.table
        del values, rows, arrays
        assert seen() is not None
        del table
        assert seen() is None
    finally:
        gc.enable()


def test_a_held_table_stays_as_it_is_while_a_map_is_edited():
    ground = land()
    with queries_of(ground).reading() as arrays:
        before = pointed_at(arrays.table)
        ground.carve((4, 4), 3, 1)
        assert_equal(shown(arrays.table), before)
        now = pointed_at(queries_of(ground).ground_arrays.table)
        assert not np.array_equal(now[0], before[0], equal_nan=True)
        table = arrays.table
        del arrays
    junk = fill_freed_memory()
    assert_equal(shown(table), before)
    del junk


@pytest.mark.parametrize("parts", [1, 2])
def test_a_held_table_stays_as_it_is_while_parts_are_edited(parts):
    lands = [land(), land(origin=(8, 0, 0.5))][:parts]
    ground = Ground([*lands, roof(2.0)])
    with queries_of(ground).reading() as arrays:
        before = pointed_at(arrays.table)
        for part in lands:
            part.carve((8, 4), 3, 1)
        now = pointed_at(queries_of(ground).ground_arrays.table)
        assert_equal(shown(arrays.table), before)
        with queries_of(ground).reading() as later:
            assert_equal(shown(later.table), now)
    assert not np.array_equal(now[0], before[0], equal_nan=True)


def test_a_held_table_stays_as_it_is_when_a_mesh_is_refitted():
    mesh = roof()
    table = queries_of(mesh).ground_arrays.table
    before = pointed_at(table)
    mesh.refit(mesh.vertices + 1.0)
    junk = fill_freed_memory()
    assert_equal(shown(table), before)
    assert shown(queries_of(mesh).ground_arrays.table)[0].min() == 1.0
    del junk


def test_edits_in_place_keep_the_table():
    ground = HeightMap(HEIGHTS)
    ground.carve((4, 4), 3, 1)
    table = queries_of(ground).ground_arrays.table
    ground.carve((4, 4), 3, 1)
    assert queries_of(ground).ground_arrays.table is table
    np.testing.assert_array_equal(shown(table)[0], ground.heights.ravel())


@pytest.mark.parametrize("name", ["holes", "thickness"])
def test_new_arrays_make_a_new_table(name):
    ground = HeightMap(HEIGHTS)
    old = queries_of(ground).ground_arrays.table
    if name == "holes":
        ground.holes[3, 4] = True
    else:
        ground.thickness = 5.0
    assert queries_of(ground).ground_arrays.table is not old
    assert_table_fits(ground)


def test_a_copy_has_a_table_of_its_own(ground):
    expected = walked(ground)
    for made in (pickle.loads(pickle.dumps(ground)), copy.copy(ground), copy.deepcopy(ground)):
        assert_table_fits(made)
        assert walked(made) == expected
    assert walked(ground) == expected


def test_addresses_are_never_saved(ground):
    before = pickle.dumps(ground)
    walked(ground)
    assert pickle.dumps(ground) == before
