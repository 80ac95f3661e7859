"""Answers of maps, meshes and grounds of several parts to the questions they have in common."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import terrain_physics as tp
from tests.helpers import drawn_grounds
from tests.helpers import draws as drawn
from tests.helpers.digest import named
from tests.helpers.drawn_grounds import AnyGround, box_of, edit
from tests.helpers.draws import Draws, Floats, Rows

Groups = dict[str, Callable[[], Iterator[Any]]]

# So many rows that threads are used; questions that are answered at length have fewer.
ROWS, FEW, SINGLES = 1200, 300, 30
KINDS = {
    "HeightMap": drawn_grounds.MAPS,
    "TriangleMesh": drawn_grounds.MESHES,
    "Ground": drawn_grounds.GROUNDS,
}


@cache
def _grounds(kind: str) -> tuple[AnyGround, ...]:
    """Return the grounds of a class, and one of each that was edited."""
    made = [make(Draws(seed)) for seed, make in enumerate(KINDS[kind])]
    changed = [make(Draws(50 + seed)) for seed, make in enumerate(KINDS[kind])]
    for seed, land in enumerate(changed):
        draws = Draws(100 + seed)
        for _ in range(5):
            edit(draws, land)
    return (*made, *changed)


def _around(land: AnyGround) -> tuple[Floats, Floats]:
    """Return the corners of a box somewhat larger than a ground, to ask within."""
    low, high = box_of(land)
    return low - (1.5, 0.5, 1.5), high + 1.5


def _asked(make: Callable[..., Rows], land: AnyGround, count: int, seed: int) -> Rows:
    return make(Draws(seed), *_around(land), count)


def _places(land: AnyGround) -> tuple[Floats, Floats]:
    """Return x and z of places, some of them on the lines of a map."""
    places = _asked(drawn.points, land, ROWS, 1).arrays[0]
    return places[:, 0], places[:, 2]


def _heights(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        x, z = _places(land)
        yield land.height_at(x, z), land.height_at(x, z, threads=1), land.height_at(x[:9], z[0])
        for place in zip(x[:SINGLES].tolist(), z[:SINGLES].tolist(), strict=True):
            yield land.height_at(*place)


def _normals(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        x, z = _places(land)
        yield land.normal_at(x, z), land.normal_at(x, z, threads=1), land.normal_at(x[:9], z[0])
        for place in zip(x[:SINGLES].tolist(), z[:SINGLES].tolist(), strict=True):
            yield land.normal_at(*place)


def _triangles_in(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        boxes = _asked(drawn.aabbs, land, SINGLES, 2)
        for row in range(SINGLES):
            yield land.triangles_in(boxes.one(row), margin=0.25 * (row % 3))
        boxes = _asked(drawn.aabbs, land, FEW, 3)
        yield land.triangles_in_many(*boxes.arrays), land.triangles_in_many(*boxes.arrays, margin=0)


def _raycasts(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        rays = _asked(drawn.rays, land, 2 * SINGLES, 4)
        for row in range(2 * SINGLES):
            yield land.raycast(rays.one(row)), land.raycast(rays.one(row), 1.25)


def _raycasts_many(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        starts, ways = _asked(drawn.rays, land, ROWS, 5).arrays
        yield land.raycast_many(starts, ways), land.raycast_many(starts, ways, 2.0, threads=1)
        yield land.raycast_many(starts, [(0.0, -1.0, 0.0)], threads=2)


_MANY: dict[str, tuple[Callable[..., Rows], Callable[..., Any]]] = {
    "spheres": (drawn.spheres, tp.Spheres),
    "capsules": (drawn.capsules, tp.Capsules),
    "boxes": (drawn.obbs, tp.Boxes),
}
_SHAPES = (drawn.spheres, drawn.capsules, drawn.obbs, drawn.aabbs)


def _contacts_of_many(kind: str, name: str) -> Iterator[Any]:
    for land in _grounds(kind):
        make, shapes = _MANY[name]
        arrays = _asked(make, land, ROWS, 6).arrays
        bodies, few = shapes(*arrays), shapes(*(values[:FEW] for values in arrays))
        yield land.contacts(bodies), land.contacts(bodies, keep="deepest")
        yield land.contacts(few, threads=1), land.contacts(few, keep="deepest", threads=2)


def _contacts(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        for make in _SHAPES:
            bodies = _asked(make, land, SINGLES, 7)
            for row in range(SINGLES):
                found = land.contacts(bodies.one(row))
                yield found, land.contacts(bodies.one(row), keep="deepest"), list(found)[:1]
            shapes = [bodies.one(row) for row in range(SINGLES)]
            yield land.contacts(shapes), land.contacts(shapes, keep="deepest")


def _contact_counts(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        yield land.contact_counts(*_asked(drawn.spheres, land, ROWS, 9).arrays)
        for make in _SHAPES:
            bodies = _asked(make, land, FEW, 9)
            shapes = [bodies.one(row) for row in range(FEW)]
            yield land.contact_counts(shapes, threads=1), land.contact_counts(shapes[0])


def _ways(count: int) -> Floats:
    ways = Draws(11).mixed(-4.0, 4.0, count, 3)
    ways[::6, ::2] = 0.0
    ways[::25] = 0.0
    return ways


def _sweeps_of_many(kind: str, name: str) -> Iterator[Any]:
    for land in _grounds(kind):
        make, shapes = _MANY[name]
        bodies, down = shapes(*_asked(make, land, FEW, 10).arrays), [(0.5, -2.0, 0.25)]
        yield land.sweep_many(bodies, _ways(FEW)), land.sweep_many(bodies, down, threads=1)


def _sweeps_of_one(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        for make, _ in _MANY.values():
            bodies = _asked(make, land, SINGLES, 12)
            shapes = [bodies.one(row) for row in range(SINGLES)]
            yield land.sweep_many(shapes, _ways(SINGLES))
            for shape, way in zip(shapes, _ways(SINGLES), strict=True):
                yield land.sweep(shape, way)


def _map_blocks() -> Iterator[Any]:
    for land in _grounds("HeightMap"):
        assert isinstance(land, tp.HeightMap)
        yield land.block_levels, [land.blocks(level) for level in range(land.block_levels)]


def _map_meshes() -> Iterator[Any]:
    for land in _grounds("HeightMap"):
        assert isinstance(land, tp.HeightMap)
        yield land.to_mesh(), land.to_mesh(tp.Region(2, 7, 1, 9), relative_to=land.origin64)


def _map_edits() -> Iterator[Any]:
    for seed, make in enumerate(drawn_grounds.MAPS):
        draws, land = Draws(300 + seed), make(Draws(seed))
        for _ in range(16):
            edit(draws, land)
            yield land.heights, land.holes[:], land.materials[:], land.thickness
        yield land.version, land.changes_since(3), land.blocks(), land.to_mesh()
        low, high = box_of(land)
        x, _, z = draws.uniform(low, high, 200, 3).T
        yield land.height_at(x, z), land.normal_at(x, z)


def _meshes() -> list[tp.TriangleMesh]:
    return [land for land in _grounds("TriangleMesh") if isinstance(land, tp.TriangleMesh)]


def _closest_point(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        for point in _asked(drawn.points, land, 2 * SINGLES, 13).arrays[0]:
            yield named(land.closest_point(point), "point", "distance", "triangle")


def _closest_points(kind: str) -> Iterator[Any]:
    for land in _grounds(kind):
        points = _asked(drawn.points, land, ROWS, 14).arrays[0]
        yield named(land.closest_points(points), "point", "distance", "triangle")
        yield named(land.closest_points(points[:9], threads=1), "point", "distance", "triangle")


def _intersecting_pairs() -> Iterator[Any]:
    meshes = _meshes()
    for mesh in meshes:
        for other in meshes:
            yield mesh.intersecting_pairs(other)


def _self_intersections() -> Iterator[Any]:
    for mesh in _meshes():
        yield mesh.self_intersections(), mesh.self_intersections(threads=1)


def _mesh_properties() -> Iterator[Any]:
    for mesh in _meshes():
        yield mesh.vertices, mesh.faces, mesh.normals, mesh.bounds, mesh.bounding_sphere
        yield named(mesh.neighbors, "welded", "across", "ring_offsets", "ring")


def _ground_parts() -> Iterator[Any]:
    for ground in _grounds("Ground"):
        assert isinstance(ground, tp.Ground)
        starts, ways = _asked(drawn.rays, ground, FEW, 15).arrays
        hits = ground.raycast_many(starts, ways)
        met = hits.triangle[hits.triangle >= 0]
        yield ground.part_of(met), ground.part_of(int(met[0]))


def _ground_edits() -> Iterator[Any]:
    for seed, make in enumerate(drawn_grounds.GROUNDS):
        draws, ground = Draws(400 + seed), make(Draws(seed))
        low, high = box_of(ground)
        for _ in range(14):
            edit(draws, ground)
            x, _, z = draws.uniform(low, high, 60, 3).T
            yield ground.height_at(x, z), ground.version
        if any(isinstance(part, tp.HeightMap) for part in ground.parts.values()):
            ground.carve((8.0, 7.0), 4.0, 1.5)
        yield [
            part.heights if isinstance(part, tp.HeightMap) else part.vertices
            for part in ground.parts.values()
        ]


GROUPS: Groups = {}
for _kind in KINDS:
    GROUPS |= {
        f"{_kind}.height_at": partial(_heights, _kind),
        f"{_kind}.normal_at": partial(_normals, _kind),
        f"{_kind}.triangles_in": partial(_triangles_in, _kind),
        f"{_kind}.raycast": partial(_raycasts, _kind),
        f"{_kind}.raycast_many": partial(_raycasts_many, _kind),
        f"{_kind}.contacts": partial(_contacts, _kind),
        f"{_kind}.contact_counts": partial(_contact_counts, _kind),
        f"{_kind}.sweep": partial(_sweeps_of_one, _kind),
        f"{_kind}.closest_point": partial(_closest_point, _kind),
        f"{_kind}.closest_points": partial(_closest_points, _kind),
    }
    for _name in _MANY:
        GROUPS |= {
            f"{_kind}.contacts of {_name}": partial(_contacts_of_many, _kind, _name),
            f"{_kind}.sweep_many of {_name}": partial(_sweeps_of_many, _kind, _name),
        }
GROUPS |= {
    "HeightMap.blocks": _map_blocks,
    "HeightMap.to_mesh": _map_meshes,
    "HeightMap edits": _map_edits,
    "TriangleMesh.intersecting_pairs": _intersecting_pairs,
    "TriangleMesh.self_intersections": _self_intersections,
    "TriangleMesh properties": _mesh_properties,
    "Ground parts": _ground_parts,
    "Ground edits": _ground_edits,
}
