"""A height map as arrays, as a mesh and as files: the same ground."""

import re

import numpy as np
import pytest

from terrain_physics import AABB, HeightMap
from terrain_physics.heightmap.cells import Region

RNG = np.random.default_rng(7)
HEIGHTS = RNG.uniform(0, 3, (9, 12)).astype(np.float32)


def land(diagonal="a-c", **options):
    heights = HEIGHTS.copy()
    heights[4, 5] = np.nan
    holes = np.zeros((8, 11), dtype=bool)
    holes[1, 2:4] = True
    return HeightMap(
        heights, diagonal=diagonal, holes=holes, cell_size=(0.5, 1.25), height_scale=-1.5,
        origin=(3, 2, -7), border="open", **options,
    )  # fmt: skip


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest"])
def test_mesh_arrays_are_the_maps_own_triangles(diagonal):
    ground = land(diagonal)
    mesh = ground.to_mesh()
    triangles = mesh.vertices.astype(np.float64)[mesh.indices.reshape(-1, 3)]
    own = ground.triangles_in(AABB((-99, -99, -99), (99, 99, 99)))
    assert np.allclose(triangles, own.vertices, atol=1e-6)
    assert mesh.vertices.dtype == mesh.normals.dtype == np.float32
    assert mesh.indices.dtype == np.uint32
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)
    assert np.isfinite(mesh.vertices).all()
    used = np.unique(mesh.indices)
    assert (mesh.normals[used, 1] > 0).all()


def test_a_region_is_a_part_of_the_whole():
    ground = land()
    part = ground.to_mesh(Region(5, 7, 6, 9))
    triangles = part.vertices[part.indices.reshape(-1, 3)]
    assert len(triangles) == 2 * 2 * 3
    whole = ground.to_mesh()
    everything = {tuple(t.ravel()) for t in whole.vertices[whole.indices.reshape(-1, 3)]}
    assert {tuple(t.ravel()) for t in triangles} <= everything
    for region in (Region(0, 9, 0, 2), Region(-1, 2, 0, 2), Region(3, 3, 0, 2)):
        with pytest.raises(ValueError, match="region must be cells within"):
            ground.to_mesh(region)


@pytest.mark.parametrize(
    ("region", "error", "rule"),
    [
        ((0, 3), ValueError, "four whole numbers"),
        ((0, 1, 0, 1, 0), ValueError, "four whole numbers"),
        ((0, 3.5, 0, 3), TypeError, "four whole numbers"),
        (3, TypeError, "four whole numbers"),
        ("0303", TypeError, "four whole numbers"),
        ((0, 9, 0, 3), ValueError, r"cells within \(8, 11\)"),
        ((-1, 2, 0, 3), ValueError, r"cells within \(8, 11\)"),
        ((2, 2, 0, 3), ValueError, r"cells within \(8, 11\)"),
    ],
)
def test_regions_are_refused_by_name_rule_and_value(region, error, rule):
    with pytest.raises(error, match=f"region must be {rule}.* got {re.escape(repr(region))}"):
        land().to_mesh(region)


def test_saved_and_loaded_it_is_the_same_map(tmp_path):
    ground = land()
    assert ground.save(tmp_path / "land.npy") is None
    again = HeightMap.load(tmp_path / "land.npy")
    assert np.array_equal(again.heights, ground.heights, equal_nan=True)
    whole = HeightMap(HEIGHTS)
    found = whole.save(tmp_path / "land.png")
    assert found is not None
    again = HeightMap.load(tmp_path / "land.png", height_range=found)
    assert np.abs(again.heights - HEIGHTS).max() <= (found[1] - found[0]) / 65535
    with pytest.raises(ValueError, match=r"land\.png"):
        ground.save(tmp_path / "land.png")


def test_an_obj_file_holds_the_same_triangles(tmp_path):
    ground = land("shortest")
    ground.save_obj(tmp_path / "land.obj")
    lines = (tmp_path / "land.obj").read_text().splitlines()
    places = np.array([line.split()[1:] for line in lines if line.startswith("v ")], float)
    corners = [line.split()[1:] for line in lines if line.startswith("f ")]
    faces = np.array([[int(word.split("/")[0]) - 1 for word in face] for face in corners])
    own = ground.triangles_in(AABB((-99, -99, -99), (99, 99, 99)))
    assert np.array_equal(places[faces], own.vertices)


def boxes_by_loops(ground, cells):
    """Return the boxes around blocks of so many cells, from the samples alone."""
    (rows, columns), (size_x, size_z) = ground.cell_count, ground.cell_size
    x0, y0, z0 = ground.origin64
    y = y0 + ground.height_scale * ground.heights.astype(np.float64)
    lower, upper = [], []
    for row in range(0, rows, cells):
        for column in range(0, columns, cells):
            last_row, last_column = min(row + cells, rows), min(column + cells, columns)
            part = y[row : last_row + 1, column : last_column + 1]
            part = part[~np.isnan(part)]
            low, high = (part.min(), part.max()) if part.size else (np.nan, np.nan)
            lower.append((x0 + column * size_x, low, z0 + row * size_z))
            upper.append((x0 + last_column * size_x, high, z0 + last_row * size_z))
    shape = (-(-rows // cells), -(-columns // cells), 3)
    return np.reshape(lower, shape), np.reshape(upper, shape)


@pytest.mark.parametrize("shape", [(9, 12), (2, 2), (18, 66), (75, 530)])
@pytest.mark.parametrize("scale", [2.5, -0.5])
def test_blocks_are_the_boxes_around_their_samples(shape, scale):
    heights = np.random.default_rng(3).normal(0, 9, shape)
    heights[:, 9:18] = np.nan
    ground = HeightMap(heights, cell_size=(0.5, 2), height_scale=scale, origin=(4, 5, 6))
    for level in range(ground.block_levels):
        bounds = ground.blocks(level)
        assert bounds.cells == 8 ** (level + 1)
        lower, upper = boxes_by_loops(ground, bounds.cells)
        np.testing.assert_array_equal(bounds.lower, lower)
        np.testing.assert_array_equal(bounds.upper, upper)
    assert bounds.lower.shape == (1, 1, 3)
    for level in (-1, ground.block_levels):
        with pytest.raises(ValueError, match="level must be"):
            ground.blocks(level)


def test_blocks_follow_edits_and_are_copies():
    ground = HeightMap(np.zeros((40, 40)))
    before = ground.blocks()
    ground[20, 20] = 7.0
    after = ground.blocks()
    assert before.upper[..., 1].max() == 0.0
    assert after.upper[2, 2, 1] == 7.0
    assert (after.upper[..., 1] == 7.0).sum() == 1
    after.upper[:] = 99.0
    assert ground.blocks(1).upper[0, 0, 1] == 7.0
