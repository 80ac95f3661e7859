"""Models of other programs as meshes, read by trimesh (extra ``data``), and its absence."""

import base64
import json
import os
import random
import struct
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from terrain_physics import TriangleMesh
from terrain_physics.mesh import models
from tests.heightmap.test_files_damaged import mutated
from tests.helpers.examples import times
from tests.helpers.extras import library

CORNERS = np.array([(0, 0, 0), (0, 0, 4), (4, 0, 0)], "<f4")
SQUARE = b"v 0 0 0\nv 0 0 4\nv 4 0 4\nv 4 0 0\n"
PLY = (
    "ply\nformat {form} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n"
    "property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture
def load(tmp_path):
    """Load a file of this content by trimesh, or skip."""
    library("trimesh", "data")

    def loaded(content: bytes, name: str, **options: Any) -> TriangleMesh:
        path: Path = tmp_path / name
        path.write_bytes(content)
        return TriangleMesh.load(path, **options)

    return loaded


def document(nodes: list[Any], *, roots: Any = (0,), accessor: Any = None, uri: Any = None) -> Any:
    """A glTF document of one triangle, which nodes place."""
    accessor = accessor or {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(roots)}],
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"byteLength": CORNERS.nbytes} | ({"uri": uri} if uri else {})],
        "bufferViews": [{"buffer": 0, "byteLength": CORNERS.nbytes}],
        "accessors": [accessor],
    }


def glb(header: Any) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    content = CORNERS.tobytes()
    body = struct.pack("<I4s", len(text), b"JSON") + text
    body += struct.pack("<I4s", len(content), b"BIN\0") + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def ply(points: Any, faces: str, count: int) -> bytes:
    head = PLY.format(form="ascii", vertices=len(points), faces=count)
    return (head + "".join(f"{x} {y} {z}\n" for x, y, z in points) + faces).encode()


def binary_stl() -> bytes:
    numbers = np.concatenate([[0, 1, 0], CORNERS.ravel()]).astype("<f4")
    return bytes(80) + struct.pack("<I", 1) + numbers.tobytes() + b"\0\0"


# What is read


def test_polygons_are_cut_into_triangles(load):
    mesh = load(SQUARE + b"f 1 2 3 4\n", "a.obj")
    assert (len(mesh), mesh.height_at(1, 3), mesh.height_at(3, 1)) == (2, 0, 0)
    assert (mesh.normals == (0, 1, 0)).all()
    five = ply([(0, 0, 0), (0, 0, 2), (1, 0, 3), (2, 0, 2), (2, 0, 0)], "5 0 1 2 3 4\n", 1)
    assert len(load(five, "a.PLY")) == 3


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.obj", SQUARE + b"usemtl none\nf 1 2 4\n"),
        ("a.ply", ply(CORNERS.tolist(), "3 0 1 2\n", 1)),
        ("a.stl", binary_stl()),
        ("a.off", b"OFF\n3 1 0\n0 0 0\n0 0 4\n4 0 0\n3 0 1 2\n"),
        ("a.glb", glb(document([{"mesh": 0}]))),
    ],
)
def test_a_triangle_of_each_kind(load, name, content):
    mesh = load(content, name)
    assert len(mesh) == 1
    np.testing.assert_array_equal(mesh.vertices[mesh.faces[0]], CORNERS)
    assert mesh.height_at(1, 1) == 0
    turned = load(content, name, axes="z-up")
    np.testing.assert_array_equal(
        turned.vertices[turned.faces[0]], CORNERS[:, [0, 2, 1]] * (1, 1, -1)
    )


def test_objects_of_one_file_are_one_mesh(load):
    content = (
        b"mtllib none.mtl\no one\n" + SQUARE + b"usemtl a\nf 1 2 4\no two\nusemtl b\nf 2 3 4\n"
    )
    content += b"l 1 2\np 1\n"
    assert load(content, "a.obj").height_at(3.5, 3.5) == 0


def test_each_mesh_stands_where_its_scene_has_it(load):
    turn = [0, 0.5**0.5, 0, 0.5**0.5]  # a quarter about +Y: x to -z
    nodes = [
        {"children": [1, 2], "translation": [10, 5, 0]},
        {"mesh": 0, "scale": [2, 1, 2]},
        {"mesh": 0, "rotation": turn, "translation": [0, -1, 0]},
        {"mesh": 0, "scale": [-1, 1, 1]},
        {"camera": 0},
    ]
    mesh = load(glb(document(nodes, roots=(0, 3, 4)) | {"cameras": [CAMERA]}), "a.glb")
    assert len(mesh) == 3
    np.testing.assert_allclose(mesh.normals, [(0, 1, 0)] * 3, atol=1e-6)
    assert mesh.height_at(11, 5) == 5  # twice as large
    assert mesh.height_at(11, -1) == pytest.approx(4)  # turned
    assert mesh.height_at(-1, 1) == 0  # mirrored: its front is still above
    assert np.isnan(mesh.height_at(1, 1))


CAMERA = {"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}}


def test_a_mesh_that_its_scene_flattens(load):
    tall = [{"mesh": 0, "rotation": [0.5**0.5, 0, 0, 0.5**0.5], "scale": [1, 1, 0]}]
    assert len(load(glb(document(tall)), "a.glb")) == 1


def test_buffers_in_other_files_and_in_text(load, tmp_path):
    text = "data:application/octet-stream;base64," + base64.b64encode(CORNERS.tobytes()).decode()
    assert len(load(json.dumps(document([{"mesh": 0}], uri=text)).encode(), "a.gltf")) == 1
    beside = json.dumps(document([{"mesh": 0}], uri="a.bin")).encode()
    with pytest.raises(ValueError, match=r"b.gltf: file must be a \.gltf file, .*FileNotFound"):
        load(beside, "b.gltf")
    (tmp_path / "a.bin").write_bytes(CORNERS.tobytes())
    assert load(beside, "b.gltf").height_at(1, 1) == 0


def test_a_model_reads_no_file_of_another_folder(load, tmp_path):
    below, elsewhere = tmp_path / "parts", tmp_path.parent / f"{tmp_path.name}.bin"
    below.mkdir()
    for place in (below / "a.bin", elsewhere):
        place.write_bytes(CORNERS.tobytes())

    def model(uri: Any) -> bytes:
        return json.dumps(document([{"mesh": 0}], uri=str(uri))).encode()

    for uri in ("parts/a.bin", "parts/../parts/a.bin", below / "a.bin"):
        assert load(model(uri), "a.gltf").height_at(1, 1) == 0
    for uri in (f"../{elsewhere.name}", f"parts/../../{elsewhere.name}", elsewhere, "/dev/zero"):
        with pytest.raises(ValueError, match=r"a\.gltf: file must be .*in the folder of the model"):
            load(model(uri), "a.gltf")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_a_buffer_that_is_a_pipe_is_not_waited_for(load, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = json.dumps(document([{"mesh": 0}], uri="pipe")).encode()
    with pytest.raises(ValueError, match=r"a\.gltf: .*pipe: must be a regular file"):
        load(content, "a.gltf")


def test_files_beside_a_model_are_no_larger_than_a_model(load, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "_MOST_FILE_BYTES", 2000)
    for name, size in (("a.bin", 1200), ("b.bin", 900)):
        (tmp_path / name).write_bytes(CORNERS.tobytes() + bytes(size - CORNERS.nbytes))
    both = document([{"mesh": 0}], uri="a.bin")
    assert len(load(json.dumps(both).encode(), "a.gltf")) == 1
    both["buffers"].append(both["buffers"][0] | {"uri": "b.bin"})
    with pytest.raises(
        ValueError, match=r"b\.bin: files beside a model must have at most 2000 bytes"
    ):
        load(json.dumps(both).encode(), "a.gltf")


def test_a_saved_mesh_takes_no_axes(tmp_path):
    TriangleMesh.box((1, 1, 1)).save(tmp_path / "a.ground")
    assert len(TriangleMesh.load(tmp_path / "a.ground")) == 12
    with pytest.raises(ValueError, match=r"a.ground: axes are those of models, .* got 'z-up'"):
        TriangleMesh.load(tmp_path / "a.ground", axes="z-up")
    with pytest.raises(ValueError, match="axes must be one of"):
        TriangleMesh.load(tmp_path / "a.glb", axes="up")  # type: ignore[arg-type]


def test_a_model_takes_materials(load):
    content = SQUARE + b"f 1 2 3\n"
    named = load(content, "a.obj", materials="wood", material_names=["ice", "wood"])
    assert named.materials.tolist() == [1]
    assert named.material_names == ("ice", "wood")
    with pytest.raises(ValueError, match=r"a.obj: materials must be numbers where there are no"):
        load(content, "a.obj", materials="wood")


def test_a_saved_mesh_takes_no_materials(tmp_path):
    named = TriangleMesh.box((1, 1, 1), materials="wood", material_names=["ice", "wood"])
    named.save(tmp_path / "a.ground")
    assert TriangleMesh.load(tmp_path / "a.ground").material_names == ("ice", "wood")
    with pytest.raises(ValueError, match=r"a.ground: materials are for models, .* got \[0\]"):
        TriangleMesh.load(tmp_path / "a.ground", materials=[0])
    with pytest.raises(ValueError, match=r"a.ground: material_names are for models"):
        TriangleMesh.load(tmp_path / "a.ground", material_names=["ice"])


# What is refused


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.obj", b"", "must hold triangles, got none"),
        ("a.obj", SQUARE, "must hold triangles, got none"),
        ("a.obj", SQUARE + b"l 1 2\n", "must hold triangles, got none"),
        ("a.obj", SQUARE + b"f 1 2 9\n", r"must be a \.obj file, undamaged .IndexError"),
        ("a.obj", SQUARE + b"f 1 2 x\n", r"must be a \.obj file, undamaged"),
        ("a.obj", b"v 0 nan 0\n" + SQUARE + b"f 1 2 3\n", "vertices must be finite, got nan"),
        ("a.obj", b"v 0 2e38 0\n" + SQUARE + b"f 1 2 3\n", "vertices must be"),
        ("a.ply", b"", r"must be a \.ply file, undamaged"),
        ("a.ply", ply(CORNERS.tolist(), "", 0), "must hold triangles, got none"),
        ("a.ply", ply(CORNERS.tolist(), "3 0 1 3\n", 1), "faces of vertices 0 to 3, of which"),
        ("a.ply", ply(CORNERS.tolist(), "3 0 1 -1\n", 1), "faces of vertices -1 to 1, of which"),
        ("a.stl", binary_stl()[:-20], "must hold triangles, got none|undamaged"),
        ("a.glb", b"glTF", r"must be a \.glb file, undamaged .error: unpack_from"),
        ("a.glb", glb(document([{}])), "must hold triangles, got none"),
        ("a.glb", glb(document([{"children": [1]}, {"children": [0], "mesh": 0}])), "undamaged"),
        ("a.gltf", b"{", r"must be a \.gltf file, undamaged .JSONDecodeError"),
    ],
)
def test_what_holds_no_triangles_is_refused_by_name(load, tmp_path, name, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        load(content, name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


NO_DATA = {"componentType": 5126, "count": 3_000_000_000, "type": "VEC3"}
HUGE = {
    "a.glb": glb(document([{"mesh": 0}], accessor=NO_DATA)),
    "b.gltf": json.dumps(document([{"mesh": 0}], accessor=NO_DATA)).encode(),
    "c.glb": glb(document([{"mesh": 0}], accessor=NO_DATA | {"count": -3})),
    "d.ply": PLY.format(form="binary_little_endian", vertices=3, faces=10**12).encode(),
    "e.ply": PLY.format(form="ascii", vertices=10**12, faces=1).encode() + b"0 0 0\n",
    "f.off": b"OFF\n1000000000000 1000000000000 0\n0 0 0\n",
    "g.stl": bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50),
}


@pytest.mark.parametrize("name", HUGE)
def test_claims_take_no_memory(load, tmp_path, name):
    load(SQUARE + b"f 1 2 4\n", "whole.obj")  # imports, which are not measured
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=f"{name}: "):
            load(HUGE[name], name)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_mesh_that_is_used_too_often_is_refused(load, monkeypatch):
    nodes = [{"mesh": 0, "translation": [4 * k, 0, 0]} for k in range(100)]
    content = glb(document(nodes, roots=range(100)))
    assert len(load(content, "a.glb")) == 100
    monkeypatch.setattr("terrain_physics.mesh.models.MOST_BYTES", 24 * 399)
    with pytest.raises(ValueError, match=r"a.glb: meshes must have at most 9576 bytes, got 400 r"):
        load(content, "a.glb")
    monkeypatch.setattr("terrain_physics.mesh.models._MOST_FILE_BYTES", 99)
    with pytest.raises(ValueError, match=r"a.glb: must have at most 99 bytes"):
        load(content, "a.glb")


SEEDS = {
    "a.obj": SQUARE + b"f 1 2 4\nf 2 3 4\n",
    "a.ply": ply(CORNERS.tolist(), "3 0 1 2\n", 1),
    "a.stl": binary_stl(),
    "a.glb": glb(document([{"mesh": 0, "translation": [1, 2, 3]}])),
}


@pytest.mark.filterwarnings("ignore")  # NumPy's and trimesh's, about damaged numbers
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_models_load_or_are_refused_by_name(load, tmp_path, name):
    content, chance = SEEDS[name], random.Random(name)  # noqa: S311
    assert len(load(content, name)) > 0
    damaged = [content[:end] for end in range(0, len(content), 1 if times(100) == 100 else 9)]
    for bad in (*damaged, *(mutated(content, chance) for _ in range(times(200)))):
        try:
            load(bad, name)
        except ValueError as error:
            assert str(error).startswith(f"{tmp_path / name}: ")  # noqa: PT017 it may load as well


# Without trimesh


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".GLB", ".gltf", ".stl", ".off"])
def test_without_trimesh_the_error_says_what_to_install(tmp_path, monkeypatch, suffix):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    path = tmp_path / f"a{suffix}"
    with pytest.raises(FileNotFoundError):
        TriangleMesh.load(path)
    path.write_bytes(SQUARE)
    with pytest.raises(ImportError, match=r"a\..*: \.[a-z]+ files need trimesh: pip install trim"):
        TriangleMesh.load(path)


def test_models_that_nobody_reads_name_one_that_is(tmp_path):
    for suffix in (".fbx", ".BLEND"):
        with pytest.raises(ValueError, match=rf"a{suffix}: suffix must be .* Export it as \.glb"):
            TriangleMesh.load(tmp_path / f"a{suffix}")


def test_a_class_of_a_game_loads_itself(tmp_path, monkeypatch):
    """And meshes of a stand-in for trimesh, with lines and points among them."""
    module = ModuleType("trimesh")
    geometry = {
        "mesh": SimpleNamespace(vertices=CORNERS, faces=[(0, 1, 2)]),
        "line": SimpleNamespace(vertices=CORNERS),
    }
    scene = SimpleNamespace(geometry=geometry)

    class Graph(dict[str, Any]):
        nodes_geometry = ("one", "two", "three")

    scene.graph = Graph(one=(np.eye(4), "mesh"), two=(np.eye(4), "line"), three=(SHIFT, "mesh"))
    vars(module)["load"] = lambda *_, **__: scene
    vars(module)["resolvers"] = SimpleNamespace(FilePathResolver=str)
    monkeypatch.setitem(sys.modules, "trimesh", module)

    class Level(TriangleMesh):
        pass

    (tmp_path / "a.obj").write_bytes(b"")
    level = Level.load(tmp_path / "a.obj")
    assert type(level) is Level
    assert (level.height_at(1, 1), level.height_at(11, 1)) == (0, 3)


SHIFT = np.array([[1, 0, 0, 10], [0, 1, 0, 3], [0, 0, 1, 0], [0, 0, 0, 1]])
