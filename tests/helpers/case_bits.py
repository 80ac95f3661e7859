"""Cases that random draws seldom meet: ties, seams, crowds of masks, what was saved, lifts left."""

import copy
import itertools
import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

import terrain_physics as tp
from tests.helpers import draws as drawn
from tests.helpers.digest import hash_of_members, named
from tests.helpers.drawn_grounds import GROUNDS, MAPS, MESHES, AnyGround, box_of
from tests.helpers.draws import Draws, Floats
from tests.helpers.portable import cos, sin
from tests.oracles.motion import pose, turn

LEAVES: tuple[Literal["velocity", "up", "none"], ...] = ("velocity", "up", "none")
RESOLVERS: tuple[Literal["shuffled", "simultaneous"], ...] = ("shuffled", "simultaneous")
Groups = dict[str, Callable[[], Iterator[Any]]]

FRAME = 1 / 60
BODY = tp.CapsuleCollider(0.4, 1.8, offset=(0.0, 0.9, 0.0))


def _questions(ground: AnyGround, count: int = 60) -> Iterator[Any]:
    """Ask a ground something of each kind, also beyond its border."""
    low, high = box_of(ground)
    beyond = np.array((3.0, 0.0, 3.0))
    low, high = low - beyond, high + beyond + 0.5
    points = drawn.points(Draws(1), low, high, count).arrays[0]
    yield ground.height_at(points[:, 0], points[:, 2]), ground.normal_at(*points[:, [0, 2]].T)
    yield ground.contacts(*drawn.spheres(Draws(2), low, high, count).arrays)
    yield ground.raycast_many(*drawn.rays(Draws(3), low, high, count).arrays)
    (balls,) = drawn.spheres(Draws(4), low, high, count).arrays
    yield ground.sweep_many(balls, Draws(5).uniform(-3.0, 3.0, count, 3))
    yield named(ground.closest_points(points), "point", "distance", "triangle")


def _settings(ground: AnyGround) -> Any:
    """Return what a ground was made with."""
    if isinstance(ground, tp.HeightMap):
        frame = ground.cell_size, ground.height_scale, np.array(ground.origin64), ground.border
        return frame, ground.thickness, ground.heights, ground.holes[:], ground.materials[:]
    if isinstance(ground, tp.TriangleMesh):
        return ground.vertices, ground.faces
    return [
        (key, _settings(part), ground.layers_of(key), ground.transform(key))
        for key, part in ground.parts.items()
    ]


def _again(ground: Any, folder: Path) -> list[Any]:
    """Return a ground from a file, from a pickle, and its copy."""
    file = folder / "all.ground"
    ground.save(file)
    return [
        type(ground).load(file), pickle.loads(pickle.dumps(ground)), copy.deepcopy(ground),
    ]  # fmt: skip


def _made(make: Callable[[Draws], Any]) -> Any:
    """Return a drawn ground; one of several parts with settings of its own for some of them."""
    ground = make(Draws(7))
    if isinstance(ground, tp.Ground):
        meshes = [k for k, part in ground.parts.items() if isinstance(part, tp.TriangleMesh)]
        key, last = meshes[0], meshes[-1]
        ground.set_layers(key, 3)
        ground.set_surface_velocity(key, (0.5, 0.0, -0.25))
        ground.set_one_way(last, (0.0, 1.0, 0.0))
        ground.move(last, pose((0.5, 0.25, 0.0)), 0.5)
    return ground


def _saved_grounds() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        for make in (*MAPS, *MESHES, *GROUNDS):
            for ground in _again(_made(make), Path(folder)):
                yield _settings(ground)
                yield from _questions(ground, 24)
                yield from _walk(_walker(ground), 8)


def _walker(ground: AnyGround, **rules: Any) -> tp.CharacterMovement:
    low, high = box_of(ground)
    place = 0.5 * (low + high) * (1.0, 0.0, 1.0) + (0.1, high[1] + 0.5, 0.2)
    return tp.CharacterMovement(ground, BODY, position=place, seed=3, **rules)


def _walk(mover: tp.CharacterMovement, frames: int) -> Iterator[Any]:
    for frame in range(frames):
        mover.velocity.x, mover.velocity.z = 2.0, 0.25 * (frame % 8)
        yield mover.update(0.05), mover.position64
    yield mover.state_hash()


def _saved_characters() -> Iterator[Any]:
    """Walk, save and load, and walk on."""
    for make, resolver, leave in zip(
        (*MAPS, *MESHES, *GROUNDS), itertools.cycle(RESOLVERS),
        itertools.cycle(LEAVES), strict=False,
    ):  # fmt: skip
        ground = make(Draws(8))
        mover = _walker(
            ground, resolver=resolver, leave=leave, slope_limit=1.0, mask=5, layers=2, mass=60.0,
            gravity_scale=0.75, material_rules={1: {"speed": 0.5}}, keep_off_ledges=True,
        )  # fmt: skip
        group = tp.CharacterGroup(ground, BODY, seed=4, collide=True)
        for key in range(3):
            x, y, z = mover.position64
            group.add(key, (x + 1.1 * key, y, z + 0.5), layers=1 + key)
        yield from _walk(mover, 12)
        state = mover.state()
        other = tp.CharacterMovement(ground, BODY, seed=9)
        for again in (pickle.loads(pickle.dumps(state)), _by_json(state)):
            other.restore(again)
            yield from _walk(other, 8)
        group.update(0.1)
        restored = tp.CharacterGroup(ground, seed=8, collide=True)
        restored.restore(_by_json(group.state()))
        for _ in range(4):
            yield restored.update(0.1), restored.positions
        yield hash_of_members(restored)


def _by_json(state: Any) -> Any:
    """Return a state that went through a text."""
    return type(state).from_dict(json.loads(json.dumps(state.to_dict())))


def _crowds() -> Iterator[Any]:
    """Give the frames of crowds whose members meet some others, and ride on what moves."""
    for seed in range(4):
        draws = Draws(600 + seed)
        slab, lift = tp.TriangleMesh.box((7.0, 0.5, 7.0)), tp.TriangleMesh.box((4.0, 0.5, 4.0))
        ground = tp.Ground([tp.HeightMap(draws.uniform(0.0, 0.2, 25, 25)), slab])
        moving = {1: (8.0, 0.0, 8.0), ground.add(lift, layers=2): (16.0, -0.1, 14.0)}
        group = tp.CharacterGroup(
            ground, BODY, seed=seed, collide=True, threads=1 + seed % 2,
            heads=("slide", "stand")[seed // 2],
        )  # fmt: skip
        for key in range(50):
            group.add(
                key, draws.uniform((4.0, 0.5, 4.0), (19.0, 3.0, 17.0), 3),
                layers=draws.one_of((1, 2, 4, 3)), mask=draws.one_of((1, 2, 6, 0xFFFFFFFF)),
                mass=draws.one_of((40.0, 80.0, np.inf)), leave=draws.one_of(("velocity", "up")),
                keep_off_ledges=draws.chance(0.5),
            )  # fmt: skip
        for frame in range(40):
            for key, middle in moving.items():
                swung = sin(0.05 * frame * key)
                place = np.add(middle, (2.0 * swung, 0.3 * swung, 0.0))
                ground.move(key, pose(place, turn((0, 1, 0), 0.02 * frame)), FRAME)
            group.walk(*draws.uniform(-3.0, 3.0, 2, 50))
            yield group.update(FRAME), group.positions
        yield group.velocities, hash_of_members(group)


def _seams() -> Iterator[Any]:
    """Edit each border and corner of maps in a square of three by three, and ask across them."""
    cells, heights = 6, Draws(700).uniform(0.0, 1.0, 19, 19)
    ground = tp.Ground([
        tp.HeightMap(
            heights[cells * i : cells * i + 7, cells * j : cells * j + 7],
            origin=(float(cells * j), 0.0, float(cells * i)), border="open",
        )
        for i, j in itertools.product(range(3), repeat=2)
    ])  # fmt: skip
    sides = (slice(0, 1), slice(2, 4), slice(6, 7))
    x, z = np.meshgrid(*2 * [np.arange(0.25, 18.0, 0.5)])
    places = np.stack([x, np.full(x.shape, 1.0), z], axis=-1).reshape(-1, 3)
    balls = np.hstack([places, np.full((len(places), 1), 0.75)])
    for part, rows, columns in itertools.product((4, 1, 3, 8), sides, sides):
        land = ground.parts[part]
        assert isinstance(land, tp.HeightMap)
        land[rows, columns] = land[rows, columns] + 0.5 + 0.125 * part
        yield ground.height_at(x, z), ground.normal_at(x, z), ground.version
        yield ground.contacts(balls[part::5])
    yield [part.heights for part in ground.parts.values() if isinstance(part, tp.HeightMap)]


def _at_ties(radius: float) -> Iterator[tuple[Floats, Floats]]:
    """Give triangles, and balls (r, x, y, z) about as far from a face, an edge or a corner."""
    corners = np.array([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 4.0, 0.0)])
    # From the face, an edge and a corner; from within, the corner that is farthest.
    nearest = np.array([(0.5, 1.0, 0.0), (1.5, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 4.0, 0.0)])
    ways = np.array([(0.0, 0.0, 1.0), (0.0, -0.6, 0.8), (-0.6, -0.8, 0.0), (0.0, -1.0, 0.0)])
    off = np.array([0.0, 5e-11, 0.98e-10, 1e-10, 1.02e-10, 2e-10, 1e-9])
    off = np.concatenate([off, -off])
    for turned in (np.eye(3), Draws(1).turn(), Draws(2).turn()):
        for shift in (0.0, 7.25):
            centers = nearest[:, None] + ways[:, None] * (radius + off[:, None])
            placed = (centers.reshape(-1, 1, 3) * turned).sum(axis=-1) + shift
            balls = np.hstack([np.full((len(placed), 1), radius), placed])
            yield (corners[:, None] * turned).sum(axis=-1)[None] + shift, balls


def _ties() -> Iterator[Any]:
    for radius in (0.5, 2.0, 7.0):
        for triangle, balls in _at_ties(radius):
            many = np.repeat(triangle, 5, axis=0)
            yield tp.count_touching(many, balls), tp.TouchCounter(triangle).count(balls)
            spheres = balls[:, [1, 2, 3, 0]]
            for row, sphere in enumerate(spheres):
                ball = tp.Sphere(sphere[:3], sphere[3])
                yield tp.surface_touches(ball, tp.Triangle(*triangle[0]))
                yield tp.surface_touches(ball, tp.Segment(*triangle[0, [row % 3, 2 - row % 2]]))
            yield tp.rows.surface_touches_triangle(
                spheres, np.broadcast_to(triangle, (len(balls), 3, 3))
            )


def _touching_objects() -> Iterator[Any]:
    """Ask octrees of boxes side by side and of balls that touch."""
    places = np.argwhere(np.ones((6, 5, 4))).astype(np.float64)
    gaps = places + 2.0**-30 * (places[:, [1]] % 3.0 == 2.0)
    for lowers, capacity in itertools.product((places, gaps), (1, 16, 200)):
        tree = tp.Octree.from_aabbs(lowers, lowers + 1.0, leaf_capacity=capacity)
        yield tree.overlapping_pairs(), tree.query_aabbs_many(places + 1.0, places + 1.0)
        yield [tree.query_aabb(tp.AABB(place, place + 1.0)) for place in places[::9]]
        yield [tree.query_sphere(tp.Sphere(place - 0.5, 0.5)) for place in places[::9]]
        yield tree.raycast_many(places - (0.0, 0.0, 9.0), [(0.0, 0.0, 1.0)])
        balls = tp.Octree(lowers, 0.5, leaf_capacity=capacity)
        yield balls.overlapping_pairs(), balls.query_spheres_many(np.insert(places, 3, 0.5, axis=1))
        yield balls.query_aabbs_many(places + 0.5, places + 0.5)
        yield balls.raycast_many(places - (9.0, 0.5, 0.0), [(1.0, 0.0, 0.0)])


def _lifts_left() -> Iterator[Any]:
    """Leave rising and sinking lifts, by a jump and over an edge, with each rule."""
    for leave, rise, jump in itertools.product(LEAVES, (2.0, -2.0), (0.0, 3.0)):
        lift = tp.TriangleMesh.box((2.0, 0.5, 2.0))
        ground = tp.Ground([tp.HeightMap([[-30.0] * 2] * 2, cell_size=90.0), lift])
        ground.move(1, pose((40.0, 10.0, 40.0)))
        mover = tp.CharacterMovement(ground, BODY, position=(40.2, 10.25, 40.0), leave=leave)
        mover.update(FRAME)
        for frame in range(1, 40):
            ground.move(1, pose((40.0 + frame / 60, 10.0 + rise * frame / 60, 40.0)), FRAME)
            mover.velocity.x = 3.0 if jump == 0.0 else 0.0
            if frame == 12:
                mover.velocity.y += jump
            yield mover.update(FRAME), mover.position64, mover.velocity, mover.world_velocity


def _rays_along_lines() -> Iterator[Any]:
    """Send rays along lines of cells, and down and aslant through their corners and edges."""
    x, z = (values.ravel() for values in np.meshgrid(*2 * [np.arange(0.0, 14.5, 0.5)]))
    above = np.stack([x, np.full(x.shape, 9.0), z], axis=1)
    level = np.stack([x - 20.0, np.full(x.shape, 0.5), z], axis=1)
    for make in MAPS[:3]:
        land = make(Draws(9))
        low = box_of(land)[0] * (1.0, 0.0, 1.0)
        for other in (land, land.to_mesh(), tp.Ground([land])):
            ground = other
            if isinstance(other, tp.MeshArrays):
                ground = tp.TriangleMesh(other.vertices, other.indices.reshape(-1, 3))
            for ways in ((0.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, -2.0, 1.0), (-1.0, -1.0, 0.5)):
                yield ground.raycast_many(above + low, [ways])
            yield ground.raycast_many(level + low, [(1.0, 0.0, 0.0)])
            yield [ground.raycast(tp.Ray(place, (0.0, -1.0, 0.0))) for place in above[::40] + low]


def _materials_underfoot() -> Iterator[Any]:
    """Walk over materials with rules, and let go; a belt and a part of other layers lie there."""
    names, rules = ("grass", "ice", "mud"), {"ice": {"friction": 0.1}, 2: {"speed": 0.5}}
    for seed, resolver in enumerate(RESOLVERS * 2):
        draws = Draws(800 + seed)
        land = tp.HeightMap(
            draws.uniform(0.0, 0.3, 21, 21), material_names=names,
            materials=np.floor(draws.uniform(0.0, 3.0, 20, 20)).astype(np.uint8),
        )  # fmt: skip
        belt, ghost = tp.TriangleMesh.box((4.0, 0.5, 8.0)), tp.TriangleMesh.box((2.0, 9.0, 9.0))
        ground = tp.Ground([land, belt])
        ground.move(1, pose((13.0, 0.2, 9.0)))
        ground.set_surface_velocity(1, (0.0, 0.0, 1.5))
        ground.move(ground.add(ghost, layers=4), pose((8.0, 2.0, 9.0)))
        mover = tp.CharacterMovement(
            ground, BODY, position=(3.0, 1.0, 6.0 + seed), resolver=resolver, seed=seed,
            material_rules=rules, mask=(1, 5)[seed % 2], ground_friction=8.0,
        )  # fmt: skip
        for frame in range(120):
            if frame % 20 < 14:
                mover.velocity.x, mover.velocity.z = 4.0, 0.5
            yield mover.update(1 / 30), mover.position64, mover.ground_report().material


def _refits() -> Iterator[Any]:
    """Move the vertices of a mesh of a ground, on which some rest, and ask it."""
    for make in (MESHES[0], MESHES[3]):
        mesh = make(Draws(11))
        ground = tp.Ground([tp.HeightMap([[-2.0] * 2] * 2, cell_size=40.0), mesh])
        mover, group = _walker(ground), tp.CharacterGroup(ground, BODY)
        mover.position = (7.1, 3.0, 7.2)
        for key in range(6):
            group.add(key, (2.0 * key + 1.0, 3.0, 6.0))
        for _ in range(60):
            mover.update(1 / 30)
            group.update(1 / 30)
        for step in range(4):
            vertices = mesh.vertices.copy()
            vertices[step::3, 1] += 0.4 * cos(float(step))
            mesh.refit(vertices)
            yield from _questions(ground, 30)
            for _ in range(6):
                yield mover.update(1 / 30), mover.position64
                yield group.update(1 / 30), group.positions
            yield hash_of_members(group), ground.version


def _decks_behind_walls() -> Iterator[Any]:
    """Fall on a low wall with a one-way deck behind it: it may be a step, or a wall alone."""
    wall = tp.TriangleMesh.box((0.01, 1.0, 10.0), transform=pose((1.005, 0.5, 0.0)))
    floor = tp.HeightMap([[0.0] * 2] * 2, cell_size=40.0, origin=(-20.0, 0.0, -20.0))
    box = tp.BoxCollider((0.4, 0.9, 0.4))
    for foot, speed, fall in itertools.product((0.9, 1.05, 1.2, 1.4), (1.0, 4.0), (-14.0, -7.0)):
        for seconds in (1 / 5, 1 / 10, 1 / 20):
            ground = tp.Ground([floor, wall, tp.TriangleMesh.box((4.0, 0.02, 8.0))])
            ground.move(2, pose((3.02, 0.99, 0.0)))
            ground.set_one_way(2, (0.0, 1.0, 0.0))
            mover = tp.CharacterMovement(ground, box, position=(0.5, 0.9 + foot, 0.0))
            mover.velocity = (speed, fall, 0.0)
            mover.update(seconds)
            yield mover.position64, mover.hits()


UPWARDS = np.array((0.2, 1.0, 0.1))


def _solid_houses() -> Iterator[tp.TriangleMesh]:
    """Give solid meshes: turned, inside out, hollow, and of two bodies."""
    place = pose((12.0, 2.0, 12.0), turn((0.0, 1.0, 0.0), 0.4))
    house = tp.TriangleMesh.box((8, 5, 6), transform=place, solid=True)
    small = tp.TriangleMesh.cylinder(2, 3, sections=7, transform=place)
    yield house
    yield tp.TriangleMesh(house.vertices, house.faces[:, ::-1], solid=True)
    vertices = np.concatenate([house.vertices, small.vertices])
    for faces in (small.faces, small.faces[:, ::-1]):
        rows = np.concatenate([house.faces, faces + len(house.vertices)])
        yield tp.TriangleMesh(vertices, rows, solid=True)


def _solid_meshes() -> Iterator[Any]:
    """Ask solid meshes, put them on crowds, and push these with them."""
    draws = Draws(11)
    for house in _solid_houses():
        points = draws.uniform(4.0, 20.0, 80, 3) * np.array((1.0, 0.3, 1.0))
        yield house.contains(points), house.signed_distance(points)
        for shapes in (
            np.column_stack([points, np.full(80, 0.7)]),
            tp.Capsules(np.column_stack([points, points + UPWARDS, np.full(80, 0.3)])),
            tp.Boxes(points, np.full((80, 3), 0.5)),
        ):
            yield house.contacts(shapes), house.contacts(shapes, keep="deepest")
        land = tp.Ground([tp.HeightMap(draws.uniform(-0.1, 0.1, 25, 25))])
        group = tp.CharacterGroup(land, BODY, collide=True)
        places = draws.uniform(8.0, 16.0, 20, 3)
        places[:, 1] = 0.5
        group.add_many(range(20), places)
        for frame in range(90):
            if frame == 30:
                key = land.add(house)
            if frame > 60:
                land.move(key, pose((0.05 * (frame - 60), 0.0, 0.0)), FRAME)
            result = group.update(FRAME)
            yield group.positions, group.velocities, result.lifted, result.converged
        yield [group[k].state_hash() for k in range(20)]


GROUPS: Groups = {
    "crowds of masks and riders": _crowds,
    "decks behind walls": _decks_behind_walls,
    "edits of borders and corners": _seams,
    "lifts left": _lifts_left,
    "materials underfoot": _materials_underfoot,
    "octrees that touch": _touching_objects,
    "rays along lines": _rays_along_lines,
    "refits of parts": _refits,
    "saved characters": _saved_characters,
    "saved grounds": _saved_grounds,
    "solid meshes": _solid_meshes,
    "ties of the counter": _ties,
}
