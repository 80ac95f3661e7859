"""Meshes for trimesh, by what stands for it: arrays as they are, and its absence."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from terrain_physics import AABB, HeightMap, TriangleMesh

HEIGHTS = np.random.default_rng(3).uniform(0, 2, (5, 6))


@pytest.fixture
def trimesh(monkeypatch):
    """Stand for trimesh: its Trimesh keeps what it is given, and takes nothing else."""
    module = ModuleType("trimesh")

    def kept(vertices, faces, *, vertex_normals, process):
        return SimpleNamespace(
            vertices=vertices, faces=faces, vertex_normals=vertex_normals, process=process
        )

    vars(module)["Trimesh"] = kept
    monkeypatch.setitem(sys.modules, "trimesh", module)


@pytest.mark.usefixtures("trimesh")
def test_a_map_is_what_its_obj_file_is():
    land = HeightMap(
        HEIGHTS, cell_size=0.3, origin=(1e6, 0, 1 / 3), diagonal="shortest", border="open"
    )
    land.holes[1, 1:4] = land.holes[2, 1:4] = True  # samples (2, 2) and (2, 3) are of no triangle
    made = land.to_trimesh()
    assert not made.process
    assert made.vertices.dtype == np.float64
    own = land.triangles_in(AABB((0, -99, -99), (9e6, 99, 99)))
    np.testing.assert_array_equal(made.vertices[made.faces], own.vertices)
    assert len(made.vertices) == HEIGHTS.size - 2 == len(np.unique(made.faces))
    np.testing.assert_allclose(np.linalg.norm(made.vertex_normals, axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("trimesh")
def test_a_mesh_comes_back():
    box = TriangleMesh.box((1, 2, 3))
    made = box.to_trimesh()
    again = TriangleMesh.from_trimesh(made)
    np.testing.assert_array_equal(again.vertices, box.vertices)
    np.testing.assert_array_equal(again.faces, box.faces)
    made.vertices[:] = 0  # its own
    assert box.vertices.any()


def test_without_trimesh_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    for ground in (HeightMap(HEIGHTS), TriangleMesh.box((1, 1, 1))):
        with pytest.raises(ImportError, match="to_trimesh needs trimesh: pip install trimesh"):
            ground.to_trimesh()
