"""Axes of other engines: the same ground, whichever way it is written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from terrain_physics import HeightMap, Ray, TriangleMesh
from terrain_physics.surface.axes import frame_of

# The engine's axes x, y and z, as directions here: right, up, and towards or away from who looks.
AXES = {
    "y-up": np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "z-up": np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)]),
    "y-up-left": np.array([(1, 0, 0), (0, 1, 0), (0, 0, -1)]),
}
LAND = HeightMap(
    np.random.default_rng(4).uniform(0, 3, (6, 8)), origin=(-3, 1, 2), cell_size=(0.5, 1.25)
)


@pytest.mark.parametrize("axes", AXES)
def test_points_and_turns_are_converted_exactly(axes):
    frame, directions = frame_of(axes), AXES[axes]
    rng = np.random.default_rng(5)
    rows, matrix = rng.normal(size=(20, 3)), rng.normal(size=(3, 3))
    ours = rows @ directions
    np.testing.assert_array_equal(frame.to_ours.rows(rows), ours)
    np.testing.assert_array_equal(frame.from_ours.rows(ours), rows)
    for row, our in zip(rows.tolist(), ours.tolist(), strict=True):
        assert frame.to_ours.point(tuple(row)) == tuple(our)
        assert frame.from_ours.point(tuple(our)) == tuple(row)
    turned = frame.to_ours.linear(matrix)
    np.testing.assert_array_equal(frame.from_ours.linear(turned), matrix)
    np.testing.assert_allclose((rows @ matrix.T) @ directions, ours @ turned.T, atol=1e-12)
    assert directions[frame.up].tolist() == [0, 1, 0]


@pytest.mark.parametrize("axes", AXES)
def test_a_map_goes_out_and_comes_in_as_the_same_ground(axes):
    arrays, own = LAND.to_mesh(axes=axes), LAND.to_mesh()
    assert arrays.vertices.dtype == arrays.normals.dtype == np.float32
    assert arrays.vertices.flags.c_contiguous
    assert arrays.normals.flags.c_contiguous
    np.testing.assert_array_equal(arrays.vertices @ AXES[axes], own.vertices)
    np.testing.assert_array_equal(arrays.normals @ AXES[axes], own.normals)
    np.testing.assert_array_equal(arrays.indices, own.indices)

    faces = arrays.indices.reshape(-1, 3)
    foreign = SimpleNamespace(vertices=arrays.vertices, faces=faces)
    mesh = TriangleMesh(arrays.vertices, faces, axes=axes)
    refitted = TriangleMesh(np.zeros_like(arrays.vertices), faces)
    refitted.refit(arrays.vertices, axes=axes)
    for same in (mesh, refitted, TriangleMesh.from_trimesh(foreign, axes=axes)):
        np.testing.assert_array_equal(same.vertices, own.vertices.astype(np.float64))
        assert not same.vertices.flags.writeable
        hit = same.raycast(Ray((-1.1, 9, 4.2), (0, -1, 0)))
        assert hit is not None
        assert hit.normal.y > 0  # the front is still above
        assert hit.point.y == pytest.approx(LAND.height_at(-1.1, 4.2), abs=1e-6)


def test_arrays_relative_to_a_point_of_the_map():
    arrays = LAND.to_mesh(relative_to=(-3, 0, 2), axes="z-up")
    assert arrays.vertices[0, :2].tolist() == [0, 0]
    assert (arrays.vertices[:, 1] <= 0).all()  # rows go along +Z, which is -y there
    assert not np.signbit(arrays.vertices[arrays.vertices == 0]).any()


def test_holes_stay_holes():
    heights = np.zeros((4, 4))
    heights[1, 1] = np.nan
    arrays = HeightMap(heights, border="open").to_mesh(axes="z-up")
    assert np.isfinite(arrays.vertices).all()
    assert len(arrays.indices) == 3 * 2 * 5


@pytest.mark.parametrize("axes", ["Y-up", "z-up-left", "", None, 3])
def test_other_axes_are_refused(axes):
    message = "axes must be one of 'y-up', 'z-up', 'y-up-left', got"
    box = TriangleMesh.box((1, 1, 1))
    for ask in (
        lambda: LAND.to_mesh(axes=axes),
        lambda: TriangleMesh(box.vertices, box.faces, axes=axes),
        lambda: TriangleMesh.from_trimesh(box, axes=axes),
        lambda: box.refit(box.vertices, axes=axes),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
