"""A height map as arrays, as a mesh and as files: the same ground."""

import numpy as np
import pytest

from terrain_physics import AABB, HeightMap, TriangleMesh
from terrain_physics.map_cells import Region

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


def test_height_triangles_rays_and_mesh_agree_at_a_million_points():
    rng = np.random.default_rng(1)
    for diagonal in ("a-c", "b-d", "alternating", "shortest"):
        ground = land(diagonal)
        x, z = rng.uniform(2.5, 9, 250_000), rng.uniform(-7.5, 3.5, 250_000)
        heights = ground.height_at(x, z)
        arrays = ground.to_mesh(relative_to=(3, 2, -7))
        faces = arrays.indices.reshape(-1, 3)
        origin = np.array([3.0, 2.0, -7.0])
        mesh = TriangleMesh(arrays.vertices.astype(np.float64) + origin, faces)
        meshed = mesh.height_at(x, z)
        assert np.array_equal(np.isnan(heights), np.isnan(meshed))
        there = ~np.isnan(heights)
        assert there.mean() > 0.5
        assert np.abs(heights[there] - meshed[there]).max() < 1e-6
        normals = ground.normal_at(x[there], z[there])
        assert (np.abs(normals - mesh.normal_at(x[there], z[there])).max(axis=1) < 1e-5).all()


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
