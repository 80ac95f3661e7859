"""Arrays that somebody else writes to while a call checks them: refused, or not noticed."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import terrain_physics as tp
from tests.helpers.digest import digest
from tests.helpers.examples import times

_PACKAGE = str(Path(tp.__file__).parent)

_LAND = np.arange(25.0).reshape(5, 5) % 3
_CORNERS = np.array([(0, 0, 0), (0, 0, 4), (4, 0, 0), (4, 1, 4)], dtype=np.float64)
_FACES = np.array([(0, 1, 2), (1, 3, 2)])
_BALLS = np.array([(1.2, 0.5, 1.1, 1.0), (2.5, 0.5, 2.5, 0.7)])
_CAPSULES = np.array([(1, 0.5, 1, 1, 1.5, 1, 0.4), (2, 0.5, 2, 2, 1.5, 2, 0.4)])
_PLACES = np.array([(1.0, 2.0, 1.0), (2.0, 1.5, 3.0)])
_MOVES = np.array([(0.0, -3.0, 0.0), (1.0, -3.0, 0.0)])
_HALVES = np.full((2, 3), 0.6)
_TURNS = np.array([np.eye(3), np.eye(3)])
_TRIANGLES = np.array([(0, 0, 0, 4, 0, 0, 0, 0, 4), (1, 0, 1, 2, 0, 1, 1, 0, 2)], dtype=np.float64)
_IDS = np.array([0, 1])
_MASK = np.eye(5, dtype=np.bool_)
_HOLES = np.eye(4, dtype=np.bool_)
_MATERIALS = np.eye(4, dtype=np.int64)
_PLACED = np.diag([1.0, 2.0, 1.0, 1.0])
_NAN = np.nan


def _land() -> tp.HeightMap:
    return tp.HeightMap(_LAND, material_names=["grass", "rock"])


def _mesh() -> tp.TriangleMesh:
    return tp.TriangleMesh(_CORNERS, _FACES)


def _mesh_of(mesh: tp.TriangleMesh) -> Any:
    return mesh.faces, mesh.vertices, mesh.height_at(1, 1)


def _refitted(vertices: np.ndarray) -> Any:
    mesh = _mesh()
    mesh.refit(vertices)
    return _mesh_of(mesh)


def _map_of(land: tp.HeightMap) -> Any:
    return land.heights, land.height_at(1, 1), land.blocks()


def _edited(edit: Callable[[tp.HeightMap], None]) -> Any:
    land = _land()
    edit(land)
    return _map_of(land), land.holes[:], land.materials[:], land.thickness


def _octree() -> tp.Octree:
    return tp.Octree(_PLACES, 1.0)


def _moved(octree: tp.Octree, *arguments: Any) -> Any:
    octree.move_many(*arguments)
    return octree.overlapping_pairs(), octree.query_sphere(tp.Sphere((1, 1, 1), 2))


# A call by name, and each array that it takes with a number that no array of its kind may hold.
_CASES: dict[str, tuple[Callable[..., Any], list[tuple[np.ndarray, Any]]]] = {
    "mesh": (
        lambda v, f: _mesh_of(tp.TriangleMesh(v, f)),
        [(_CORNERS, _NAN), (_FACES, 1 << 20)],
    ),
    "mesh of another library": (
        lambda v, f: _mesh_of(tp.TriangleMesh.from_trimesh(SimpleNamespace(vertices=v, faces=f))),
        [(_CORNERS, _NAN), (_FACES, 1 << 20)],
    ),
    "moved mesh": (lambda m: _mesh_of(_mesh().transformed(m)), [(_PLACED, _NAN)]),
    "refit": (
        _refitted,
        [(_CORNERS, 1e90)],
    ),
    "map": (
        lambda h: _map_of(tp.HeightMap(h)),
        [(_LAND, np.inf)],
    ),
    "map with all": (
        lambda h, m: (
            tp.HeightMap(_LAND, holes=h, materials=m, material_names=["a", "b"])
            .materials[:]
            .tolist()
        ),
        [(_HOLES, True), (_MATERIALS, 77)],
    ),
    "diagonals": (lambda d: tp.HeightMap(_LAND, diagonal=d).height_at(1.2, 1.6), [(_HOLES, False)]),
    "heights": (lambda h: _edited(lambda m: m.__setitem__(slice(None), h)), [(_LAND, np.inf)]),
    "mask": (lambda k: _edited(lambda m: m.__setitem__(k, 9.0)), [(_MASK, True)]),
    "holes": (lambda h: _edited(lambda m: setattr(m, "holes", h)), [(_HOLES, False)]),
    "materials": (lambda k: _edited(lambda m: setattr(m, "materials", k)), [(_MATERIALS, 300)]),
    "heights at": (lambda x, z: _land().height_at(x, z), [(_IDS * 1.0, _NAN), (_IDS + 0.5, _NAN)]),
    "boxes": (
        lambda a, b: _land().triangles_in_many(a, b),
        [(_PLACES, _NAN), (_PLACES + 1.0, _NAN)],
    ),
    "rays on a map": (lambda o, d: _land().raycast_many(o, d), [(_PLACES, _NAN), (_MOVES, _NAN)]),
    "rays on a mesh": (lambda o, d: _mesh().raycast_many(o, d), [(_PLACES, _NAN), (_MOVES, _NAN)]),
    "contacts on a map": (lambda s: _land().contacts(s), [(_BALLS, _NAN)]),
    "contacts on a mesh": (lambda s: _mesh().contacts(s), [(_BALLS, _NAN)]),
    "capsules": (lambda s: _land().contacts(tp.Capsules(s)), [(_CAPSULES, _NAN)]),
    "turned boxes": (
        lambda c, h, r: _mesh().contacts(tp.Boxes(c, h, r)),
        [(_PLACES, _NAN), (_HALVES, -1.0), (_TURNS, 3.0)],
    ),
    "counts": (lambda s: _land().contact_counts(s), [(_BALLS, -1.0)]),
    "touched": (lambda s: _land().touches(s), [(_BALLS, -1.0)]),
    "sweeps on a map": (lambda s, m: _land().sweep_many(s, m), [(_BALLS, _NAN), (_MOVES, _NAN)]),
    "sweeps on a mesh": (
        lambda s, m: _mesh().sweep_many(s, m),
        [(_BALLS, _NAN), (_MOVES, _NAN)],
    ),
    "closest points": (lambda p: _land().closest_points(p), [(_PLACES, _NAN)]),
    "inside": (lambda p: _land().contains(p), [(_PLACES, _NAN)]),
    "signed distances": (lambda p: _mesh().signed_distance(p), [(_PLACES, _NAN)]),
    "parts": (
        lambda i: tp.Ground([_mesh(), _land()]).part_of(i)[1].tolist(),
        [(_IDS, 1 << 40)],
    ),
    "octree": (
        lambda c, r: tp.Octree(c, r).overlapping_pairs(),
        [(_PLACES, _NAN), (np.array([1.0, 2.0]), -1.0)],
    ),
    "octree of boxes": (
        lambda a, b: tp.Octree.from_aabbs(a, b).overlapping_pairs(),
        [(_PLACES, _NAN), (_PLACES + 1.0, _NAN)],
    ),
    "moved": (lambda i, s: _moved(_octree(), i, s), [(_IDS, 1 << 40), (_BALLS, _NAN)]),
    "octree queries": (lambda s: _octree().query_spheres_many(s), [(_BALLS, _NAN)]),
    "octree rays": (lambda o, d: _octree().raycast_many(o, d), [(_PLACES, _NAN), (_MOVES, _NAN)]),
    "count": (tp.count_touching, [(_TRIANGLES, _NAN), (_BALLS, _NAN)]),
    "counter": (lambda t: tp.TouchCounter(t).count(_BALLS), [(_TRIANGLES, _NAN)]),
    "counter's spheres": (lambda s: tp.TouchCounter(_TRIANGLES).count(s), [(_BALLS, -1.0)]),
    "spheres and triangles": (
        lambda s, t: tp.rows.intersect_sphere_triangle(s, t.reshape(-1, 3, 3)),
        [(_BALLS, _NAN), (_TRIANGLES, _NAN)],
    ),
    "enclosing": (lambda p: tp.smallest_enclosing_sphere(p).radius, [(_PLACES, _NAN)]),
}


def _outcome(call: Callable[..., Any], given: list[np.ndarray]) -> str:
    """Return a hash of the answer, or "" for a refusal by name."""
    try:
        return digest(call(*given))
    except (ValueError, TypeError, KeyError):
        return ""


def _interrupted(
    call: Callable[..., Any], arrays: list[tuple[np.ndarray, Any]], line: int
) -> tuple[str, int]:
    """Return the outcome where others write to the arrays before the n-th line of the library."""
    given, passed = [values.copy() for values, _ in arrays], 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal passed
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            return None
        if event == "line":
            if passed == line:
                for values, (_, bad) in zip(given, arrays, strict=True):
                    values[...] = bad
            passed += 1
        return trace

    sys.settrace(trace)
    try:
        return _outcome(call, given), passed
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("name", _CASES)
def test_a_write_in_between_is_refused_or_not_noticed(name):
    call, arrays = _CASES[name]
    wanted = _outcome(call, [values.copy() for values, _ in arrays])
    later = _outcome(call, [np.full_like(values, bad) for values, bad in arrays])
    assert wanted not in {"", later}
    line, passed = 0, 1
    while line < passed:
        outcome, passed = _interrupted(call, arrays, line)
        assert outcome in {wanted, later, ""}, line
        line += 5 - times(4)  # each line in the tier `full`, each fourth one by default
