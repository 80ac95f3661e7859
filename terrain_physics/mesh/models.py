"""Models of other programs as triangles; trimesh reads them, and is imported on demand."""

import io
import json
import os
import struct
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Floats, Int32s, Int64s
from terrain_physics._support.files import checked_size, file_name
from terrain_physics.mesh.assembly import displaced, joined
from terrain_physics.surface.ground_files import MOST_BYTES

_SUFFIXES = (".obj", ".ply", ".glb", ".gltf", ".stl", ".off")

_OTHERS = (".fbx", ".blend", ".dae", ".3ds", ".usd", ".usdz")  # known, and not read

_MOST_FILE_BYTES = 1 << 30  # a file is read as a whole
_ROW_BYTES = 24  # three numbers of a vertex or a face


def is_model(path: str | os.PathLike[str]) -> bool:
    """Tell by a file's name whether it is a model of another program."""
    return PurePath(file_name(path)).suffix.lower() in {*_SUFFIXES, *_OTHERS}


def model_triangles(path: str | os.PathLike[str]) -> tuple[Floats, Int32s | Int64s]:
    """Return the vertices and the faces of all meshes in a model, each where its scene has it."""
    name = file_name(path)
    suffix = PurePath(name).suffix.lower()
    if suffix in _OTHERS:
        rule = f"suffix must be .ground, or that of a model: {', '.join(_SUFFIXES)}"
        raise ValueError(f"{name}: {rule}, got {suffix!r}. Export it as .glb")
    if checked_size(name) > _MOST_FILE_BYTES:
        raise ValueError(f"{name}: must have at most {_MOST_FILE_BYTES} bytes")
    trimesh = _trimesh(name, suffix)
    content = Path(name).read_bytes()
    try:
        _refuse_counts(suffix, content)
        scene = trimesh.load(
            io.BytesIO(content),
            file_type=suffix[1:],
            resolver=_FilesBeside(name),
            force="scene",
            process=False,
            skip_materials=True,
        )
        found = _instances(scene)
    except Exception as error:  # its readers raise all kinds of errors for damaged files
        cause = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name}: file must be a {suffix} file, undamaged ({cause})") from error
    rows = sum(len(vertices) + len(faces) for _, vertices, faces in found)
    if rows * _ROW_BYTES > MOST_BYTES:
        raise ValueError(f"{name}: meshes must have at most {MOST_BYTES} bytes, got {rows} rows")
    if not found:
        raise ValueError(f"{name}: must hold triangles, got none")
    return joined([displaced(*instance) for instance in found])


class _FilesBeside:
    """The files of a model's folder, by the names that the model gives them: a resolver of trimesh.

    Whoever made the model wrote the names. They lead to no file elsewhere, to no device and no
    pipe, and to no more bytes than a model may have.
    """

    def __init__(self, model: str) -> None:
        self._folder = os.path.dirname(os.path.abspath(model))  # noqa: PTH100,PTH120 links stay
        self._left = _MOST_FILE_BYTES

    def __getitem__(self, name: str) -> bytes:
        """Return the content of a file."""
        place = os.path.normpath(os.path.join(self._folder, name.strip()))  # noqa: PTH118
        if not Path(place).is_relative_to(self._folder):
            raise ValueError(f"{name}: must be in the folder of the model, or below it")
        self._left -= checked_size(place)
        if self._left < 0:
            raise ValueError(
                f"{name}: files beside a model must have at most {_MOST_FILE_BYTES} bytes"
            )
        return Path(place).read_bytes()

    get = __getitem__  # readers of trimesh ask by one or the other


def _trimesh(name: str, suffix: str) -> Any:
    try:
        import trimesh
    except ImportError as error:
        remedy = f"{suffix} files need trimesh: pip install trimesh"
        raise ImportError(f"{name}: {remedy}", name="trimesh") from error
    return trimesh


def _instances(scene: Any) -> list[tuple[Floats, Floats, Int64s]]:
    """Return the matrix, the vertices and the faces of each mesh in a scene, or raise any error."""
    found = []
    for node in scene.graph.nodes_geometry:
        matrix, key = scene.graph[node]
        mesh = scene.geometry[key]
        if len(getattr(mesh, "faces", ())):  # lines and points have none
            vertices, faces = (
                np.asarray(mesh.vertices, np.float64),
                np.asarray(mesh.faces, np.int64),
            )
            _refuse_other_rows(vertices, faces)
            found.append((np.asarray(matrix, np.float64).reshape(4, 4), vertices, faces))
    return found


def _refuse_other_rows(vertices: Floats, faces: Int64s) -> None:
    """Refuse faces that name no vertex of their mesh: of all meshes they might name one."""
    if vertices.shape[1:] != (3,) or faces.shape[1:] != (3,):
        raise ValueError(f"vertices of shape {vertices.shape}, faces of shape {faces.shape}")
    least, most = int(faces.min()), int(faces.max())
    if least < 0 or most >= len(vertices):
        raise ValueError(f"faces of vertices {least} to {most}, of which there are {len(vertices)}")


def _refuse_counts(suffix: str, content: bytes) -> None:
    """Refuse a glTF file that claims to hold more than fits into memory.

    Its accessors may have counts without data, or share it; other files hold what they claim.
    """
    if suffix not in {".glb", ".gltf"}:
        return
    header = json.loads(content if suffix == ".gltf" else _json_of(content))
    counts = [int(accessor["count"]) for accessor in header.get("accessors", ())]
    used = [
        counts[index]
        for mesh in header.get("meshes", ())
        for primitive in mesh["primitives"]
        for index in (*primitive["attributes"].values(), primitive.get("indices", 0))
    ]
    if min(counts, default=0) < 0 or (sum(counts) + sum(used)) * _ROW_BYTES > MOST_BYTES:
        raise ValueError(f"accessors of {sum(counts)} rows, of which meshes use {sum(used)}")


def _json_of(content: bytes) -> bytes:
    """Return the first chunk of a .glb file."""
    _, length, kind = struct.unpack_from("<12sI4s", content)
    if kind != b"JSON":
        raise ValueError("no JSON at its begin")
    return content[20 : 20 + length]
