"""Triangle meshes: building, rays, closest points, shapes, and meshes that cross, beside others."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from terrain_physics import (
    Boxes,
    Capsules,
    Sphere,
    TriangleMesh,
)
from tests.benchmarks.timing import median_seconds, print_table
from tests.helpers.meshes import Case, bumpy_sphere, grid

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


def shapes(scale: int) -> None:
    rng = np.random.default_rng(2)
    side = 260 // scale
    vertices, faces = grid(rng.uniform(0, 1.5, (side + 1, side + 1)))
    mesh = TriangleMesh(vertices, faces)
    count = 100_000 // scale
    x, z = rng.uniform(1, side - 1, (2, count))
    centers = np.stack([x, mesh.height_at(x, z) + rng.uniform(-0.2, 0.5, count), z], axis=1)
    balls = np.column_stack([centers, np.full(count, 0.5)])
    ends = np.column_stack([centers, np.add(centers, (0.0, 0.8, 0.0)), np.full(count, 0.4)])
    half = np.array([(0.4, 0.9, 0.4)])
    turn = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    turn[:, :, 0] *= np.linalg.det(turn)[:, None]
    up = np.add(centers, (0.0, 1.0, 0.0))
    moving = np.column_stack([up, np.full(count, 0.5)])
    ways = rng.normal(size=(count, 3))
    ways *= 2.0 / np.linalg.norm(ways, axis=1, keepdims=True)
    tall = np.column_stack([up, np.add(up, (0.0, 0.8, 0.0)), np.full(count, 0.4)])
    calls: dict[str, Callable[[], object]] = {
        "contacts, balls r 0.5": lambda: mesh.contacts(balls, threads=1),
        "contacts, balls r 0.5, deepest": lambda: mesh.contacts(balls, keep="deepest", threads=1),
        "contacts, balls r 0.5, two threads": lambda: mesh.contacts(balls, threads=2),
        "contacts, capsules r 0.4": lambda: mesh.contacts(Capsules(ends), threads=1),
        "contacts, boxes (0.4, 0.9, 0.4)": lambda: mesh.contacts(
            Boxes(centers, half, turn), threads=1
        ),
        "sweeps of 2 m, balls r 0.5": lambda: mesh.sweep_many(moving, ways, threads=1),
        "sweeps of 2 m, balls, two threads": lambda: mesh.sweep_many(moving, ways, threads=2),
        "sweeps of 2 m, capsules r 0.4": lambda: mesh.sweep_many(Capsules(tall), ways, threads=1),
        "sweeps of 2 m, boxes": lambda: mesh.sweep_many(Boxes(up, half, turn), ways, threads=1),
    }
    times = median_seconds(calls, 3)
    rows = [(name, f"{1e-6 * count / seconds:6.3f} M/s") for name, seconds in times.items()]
    found = len(mesh.contacts(balls)) / count
    title = f"Shapes on {len(faces):,} triangles of 1 m, {count:,} at a time; a ball touches"
    print_table(f"{title} {found:.1f}", rows)
    one, way = Sphere(tuple(centers[0]), 0.5), tuple(ways[0])
    singles: dict[str, Callable[[], object]] = {
        "contacts of one ball": lambda: [mesh.contacts(one) for _ in range(1000)],
        "sweep of one ball": lambda: [mesh.sweep(one, way) for _ in range(1000)],
    }
    rows = [(name, f"{1e3 * s:6.2f} us") for name, s in median_seconds(singles, 5).items()]
    print_table("One at a time, from Python", rows)


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
    shapes(scale)
    crossing(scale)
