"""Wavefront .obj files: what is written reads back to the last bit."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from terrain_physics.surface import obj_files as mesh_files
from terrain_physics.surface.obj_files import write_obj

CORNERS = np.array([[0, 0, 0], [0, 0, 4.5], [4, 1 / 3, 0], [4, -1e-300, 1e17]])
FACES = [[0, 1, 2], [2, 1, 3]]


def read_obj(path: Path) -> dict[str, list[list[str]]]:
    """Return the words of each line, by its first."""
    found: dict[str, list[list[str]]] = {"v": [], "vn": [], "f": []}
    for line in path.read_text(encoding="ascii").splitlines():
        kind, *words = line.split()
        found[kind].append(words)
    return found


def test_corners_read_back_to_the_last_bit(tmp_path):
    write_obj(tmp_path / "a.obj", CORNERS, FACES)
    found = read_obj(tmp_path / "a.obj")
    np.testing.assert_array_equal(np.array(found["v"], float), CORNERS)
    assert found["f"] == [["1", "2", "3"], ["3", "2", "4"]]
    assert not found["vn"]


def test_normals_have_the_numbers_of_their_corners(tmp_path):
    normals = np.array([[0, 1, -0.0]] * 4)
    write_obj(str(tmp_path / "a.obj"), CORNERS, np.array(FACES, np.uint8), normals)
    found = read_obj(tmp_path / "a.obj")
    assert found["vn"] == [["0.0", "1.0", "0.0"]] * 4
    assert found["f"] == [["1//1", "2//2", "3//3"], ["3//3", "2//2", "4//4"]]


def test_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_files, "_ROWS_AT_ONCE", 7)
    rng = np.random.default_rng(1)
    corners, faces = rng.normal(size=(100, 3)), rng.integers(0, 100, (50, 3))
    write_obj(tmp_path / "a.obj", corners, faces, corners)
    found = read_obj(tmp_path / "a.obj")
    np.testing.assert_array_equal(np.array(found["v"], float), corners)
    np.testing.assert_array_equal(np.array(found["vn"], float), corners)
    expected = [[f"{n + 1}//{n + 1}" for n in face] for face in faces.tolist()]
    assert found["f"] == expected


def test_a_large_mesh_needs_little_memory(tmp_path):
    corners = np.zeros((100_000, 3))
    faces = np.zeros((100_000, 3), np.int64)
    write_obj(tmp_path / "a.obj", corners[:1], faces[:1])  # loads kernels
    tracemalloc.start()
    try:
        write_obj(tmp_path / "a.obj", corners, faces)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert (tmp_path / "a.obj").stat().st_size == 100_000 * (len("v 0.0 0.0 0.0\n") + 8)


@pytest.mark.parametrize("faces", [[], np.empty((0, 3), int)])
def test_corners_alone(tmp_path, faces):
    write_obj(tmp_path / "a.obj", CORNERS, faces)
    assert len(read_obj(tmp_path / "a.obj")["v"]) == 4


@pytest.mark.parametrize(
    ("vertices", "faces", "normals", "error", "message"),
    [
        (CORNERS[:, :2], FACES, None, ValueError, r"vertices must have shape \(n, 3\)"),
        ([[0, 0, np.nan]], [], None, ValueError, "vertices must be finite"),
        (CORNERS, [[0, 1, 4]], None, ValueError, r"from 0 to 3, got 4 at \[0, 2\]"),
        (CORNERS, [[0, 1, 2], [0, -1, 2]], None, ValueError, r"from 0 to 3, got -1 at \[1, 1\]"),
        (CORNERS, [[0, 1]], None, ValueError, r"faces must have shape \(n, 3\), got \(1, 2\)"),
        (CORNERS, [[0, 1, 2], [0]], None, ValueError, "faces must be an array of integers"),
        (CORNERS, [[0.0, 1, 2]], None, TypeError, "faces must hold integers, got dtype float64"),
        (CORNERS, FACES, CORNERS[:3], ValueError, "one for each vertex, got 3 for 4"),
        (CORNERS, FACES, [[0, 0, np.inf]] * 4, ValueError, "normals must be finite"),
    ],
)
def test_bad_meshes_are_refused_and_change_nothing(
    tmp_path, vertices, faces, normals, error, message
):
    (tmp_path / "a.obj").write_text("as it was")
    with pytest.raises(error, match=message):
        write_obj(tmp_path / "a.obj", vertices, faces, normals)
    assert (tmp_path / "a.obj").read_text() == "as it was"
    assert [file.name for file in tmp_path.iterdir()] == ["a.obj"]


def test_path():
    with pytest.raises(TypeError, match=r"path must be a str or os\.PathLike, got None"):
        write_obj(None, CORNERS, FACES)  # type: ignore[arg-type]
