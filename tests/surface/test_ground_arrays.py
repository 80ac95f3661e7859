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
from terrain_physics._kernels.surface.ground_arrays import MAP_ARRAYS, ground_at
from terrain_physics._kernels.surface.ground_arrays import Ground as Arrays
from terrain_physics.surface.ground_arrays import GroundArrays
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


def pointed_at(table):
    return [values.copy() for values in ground_at(table)]


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


def assert_table_fits(arrays):
    given = (*(arrays.maps or ()), *(arrays.mesh or ()))
    found = ground_at(arrays.table)
    present = found[0 if arrays.maps else MAP_ARRAYS : None if arrays.mesh else MAP_ARRAYS]
    assert_equal(present, given)
    for one, other in zip(present, given, strict=True):
        assert one.ctypes.data == other.ctypes.data
    assert not any(values.flags.writeable for values in found)


def test_the_table_points_to_the_arrays(ground):
    assert_table_fits(queries_of(ground).ground_arrays)


def test_fields_are_what_they_are_named():
    mesh, views = storage(roof()).arrays, storage(land()).views
    table = GroundArrays(views, (mesh.corners, mesh.order, mesh.boxes, mesh.children, mesh.frame))
    named = Arrays(
        heights=views[0],
        cells=views[1],
        blocks=views[2],
        frames=views[3],
        corners=mesh.corners,
        order=mesh.order,
        boxes=mesh.boxes,
        children=mesh.children,
        mesh_frame=mesh.frame,
    )
    assert_equal(ground_at(table.table), named)


def test_what_is_absent_is_empty():
    table = GroundArrays().table
    assert not table.any()
    shapes = [(0,), (0,), (0,), (0,), (0, 9), (0,), (0, 6, 16), (0,), (0,)]
    assert [values.shape for values in ground_at(table)] == shapes


def test_the_table_is_read_only(ground):
    with pytest.raises(ValueError, match="read-only"):
        queries_of(ground).ground_arrays.table[0, 0] = 0


def test_the_table_keeps_its_arrays_alive(ground):
    table = queries_of(ground).ground_arrays.table
    before = pointed_at(table)
    del ground
    junk = fill_freed_memory()
    assert_equal(ground_at(table), before)
    del junk


def test_nothing_else_keeps_them_alive():
    values: Any = np.zeros(4)  # of any kind: nobody reads them
    seen = weakref.ref(values)
    gc.disable()
    try:
        arrays = GroundArrays(maps=(values, values, values, values))
        table = arrays.table
        del values, arrays
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
        assert_equal(ground_at(arrays.table), before)
        now = pointed_at(queries_of(ground).ground_arrays.table)
        assert not np.array_equal(now[0], before[0], equal_nan=True)
        table = arrays.table
        del arrays
    junk = fill_freed_memory()
    assert_equal(ground_at(table), before)
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
        assert_equal(ground_at(arrays.table), before)
        with queries_of(ground).reading() as later:
            assert_equal(ground_at(later.table), now)
    assert not np.array_equal(now[0], before[0], equal_nan=True)


def test_a_held_table_stays_as_it_is_when_a_mesh_is_refitted():
    mesh = roof()
    table = queries_of(mesh).ground_arrays.table
    before = pointed_at(table)
    mesh.refit(mesh.vertices + 1.0)
    junk = fill_freed_memory()
    assert_equal(ground_at(table), before)
    assert ground_at(queries_of(mesh).ground_arrays.table).corners.min() == 1.0
    del junk


def test_edits_in_place_keep_the_table():
    ground = HeightMap(HEIGHTS)
    ground.carve((4, 4), 3, 1)
    table = queries_of(ground).ground_arrays.table
    ground.carve((4, 4), 3, 1)
    assert queries_of(ground).ground_arrays.table is table
    np.testing.assert_array_equal(ground_at(table).heights, ground.heights.ravel())


@pytest.mark.parametrize("name", ["holes", "thickness"])
def test_new_arrays_make_a_new_table(name):
    ground = HeightMap(HEIGHTS)
    old = queries_of(ground).ground_arrays.table
    if name == "holes":
        ground.holes[3, 4] = True
    else:
        ground.thickness = 5.0
    assert queries_of(ground).ground_arrays.table is not old
    assert_table_fits(queries_of(ground).ground_arrays)
    assert queries_of(ground).ground_arrays.maps is storage(ground).views


def test_a_copy_has_a_table_of_its_own(ground):
    expected = walked(ground)
    for made in (pickle.loads(pickle.dumps(ground)), copy.copy(ground), copy.deepcopy(ground)):
        assert_table_fits(queries_of(made).ground_arrays)
        assert walked(made) == expected
    assert walked(ground) == expected


def test_addresses_are_never_saved(ground):
    before = pickle.dumps(ground)
    walked(ground)
    assert pickle.dumps(ground) == before
