"""Triangle meshes: building, rays, closest points, and two meshes that cross, beside others."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from terrain_physics import TriangleMesh
from tests.benchmarks.timing import median_seconds, print_table
from tests.mesh_cases import Case, bumpy_sphere

NOT_RUN = "not run (not installed)"


def _pair(scale: int) -> tuple[Case, Case]:
    rings = max(4, 159 // scale)
    return bumpy_sphere(rings), bumpy_sphere(rings, seed=1, center=(0.9, 0.2, 0.1))


def building(scale: int) -> None:
    vertices, faces = bumpy_sphere(max(4, 159 // scale))
    mesh = TriangleMesh(vertices, faces)

    def neighbors() -> object:
        mesh.refit(vertices)
        return mesh.neighbors

    calls: dict[str, Callable[[], object]] = {
        "built": lambda: TriangleMesh(vertices, faces),
        "vertices moved (refit)": lambda: mesh.refit(vertices),
        "refit, and neighbors found": neighbors,
    }
    times = median_seconds(calls, 7)
    rows = [(name, f"{1e3 * seconds:6.1f} ms") for name, seconds in times.items()]
    print_table(f"A mesh of {len(faces):,} triangles", rows)


def queries(scale: int) -> None:
    vertices, faces = bumpy_sphere(max(4, 159 // scale))
    mesh = TriangleMesh(vertices, faces)
    rng = np.random.default_rng(1)
    count = 200_000 // scale
    origins = rng.normal(size=(count, 3))
    origins *= 3 / np.linalg.norm(origins, axis=1, keepdims=True)
    directions = rng.uniform(-0.8, 0.8, (count, 3)) - origins
    near = rng.choice(vertices, count) * rng.uniform(0.9, 1.1, (count, 1))
    around = rng.uniform(-1.5, 1.5, (count, 3))
    calls: dict[str, Callable[[], object]] = {
        "rays from all around": lambda: mesh.raycast_many(origins, directions, threads=1),
        "closest points, within 10% of the surface": lambda: mesh.closest_points(near, threads=1),
        "closest points, anywhere": lambda: mesh.closest_points(around, threads=1),
    }
    times = median_seconds(calls, 3)
    rows = [(name, f"{1e-6 * count / seconds:6.2f} M/s") for name, seconds in times.items()]
    print_table(f"Queries of {len(faces):,} triangles, {count:,} at a time, one thread", rows)


def crossing(scale: int) -> None:
    first, second = _pair(scale)
    one, two = TriangleMesh(*first), TriangleMesh(*second)
    calls: dict[str, Callable[[], object]] = {
        "intersecting_pairs, one thread": lambda: one.intersecting_pairs(two, threads=1),
        "intersecting_pairs, all threads": lambda: one.intersecting_pairs(two),
        "both meshes built, then intersecting_pairs": lambda: TriangleMesh(
            *first
        ).intersecting_pairs(TriangleMesh(*second)),
        "self_intersections, one thread": lambda: one.self_intersections(threads=1),
    }
    peers: dict[str, Callable[[Case, Case], Callable[[], object]]] = {
        "python-fcl, all pairs of triangles": _fcl,
        "trimesh CollisionManager (python-fcl)": _trimesh,
        "coal, all pairs of triangles": _coal,
    }
    missing = []
    for name, prepare in peers.items():
        try:
            calls[name] = prepare(first, second)
        except ImportError:
            missing.append((name, NOT_RUN))
    times = median_seconds(calls, 5)
    rows = []
    for name, seconds in times.items():
        found = calls[name]()
        pairs = found if isinstance(found, int) else len(np.asarray(found))
        rows.append((name, f"{1e3 * seconds:8.1f} ms, {pairs} pairs"))
    title = f"{len(first[1]):,} against {len(second[1]):,} triangles; others' trees built before"
    print_table(title, rows + missing)


def _fcl(first: Case, second: Case) -> Callable[[], object]:
    fcl: Any = import_module("fcl")

    def model(case: Case) -> Any:
        tree = fcl.BVHModel()
        tree.beginModel(len(case[0]), len(case[1]))
        tree.addSubModel(*case)
        tree.endModel()
        return fcl.CollisionObject(tree, fcl.Transform())

    one, two = model(first), model(second)

    def collide() -> int:
        request = fcl.CollisionRequest(num_max_contacts=1_000_000, enable_contact=True)
        result = fcl.CollisionResult()
        fcl.collide(one, two, request, result)
        return len({(contact.b1, contact.b2) for contact in result.contacts})

    return collide


def _trimesh(first: Case, second: Case) -> Callable[[], object]:
    import_module("fcl")  # trimesh says nothing of it until it is asked
    trimesh: Any = import_module("trimesh")

    manager, other = (trimesh.collision.CollisionManager() for _ in range(2))
    manager.add_object("first", trimesh.Trimesh(*first, process=False))
    other.add_object("second", trimesh.Trimesh(*second, process=False))

    def collide() -> int:
        _, contacts = manager.in_collision_other(other, return_data=True)
        return len({(contact.index("first"), contact.index("second")) for contact in contacts})

    return collide


def _coal(first: Case, second: Case) -> Callable[[], object]:
    coal: Any = import_module("coal")

    def model(case: Case) -> Any:
        tree = coal.BVHModelOBBRSS()
        tree.beginModel(len(case[1]), len(case[0]))
        tree.addVertices(np.asfortranarray(case[0]))
        tree.addTriangles(np.asfortranarray(case[1], np.int64))
        tree.endModel()
        return tree

    one, two, place = model(first), model(second), coal.Transform3s()

    def collide() -> int:
        request = coal.CollisionRequest(coal.CollisionRequestFlag.CONTACT, 1_000_000)
        result = coal.CollisionResult()
        coal.collide(one, place, two, place, request, result)
        return len({(contact.b1, contact.b2) for contact in result.getContacts()})

    return collide


def main(*, smoke: bool = False) -> None:
    scale = 10 if smoke else 1
    building(scale)
    queries(scale)
    crossing(scale)
