"""One call at a time beside libraries that a user can install: time of the processor, in turn.

Peers take part where they are installed: extra ``bench``, and panda3d. What is compared is what a
game types for one thing in one frame; where a peer has no such call, it has no row.
"""

import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    CapsuleCollider,
    Capsules,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Sphere,
    Spheres,
    TriangleMesh,
    World,
)
from tests.benchmarks.timing import print_table

Call = Callable[[], object]

FARTHEST, RADIUS, FRAME = 300.0, 0.5, 1 / 60
SIDE, TIMES, TURNS = 1025, 400, 15

_FIRST_UPDATE = """
from terrain_physics import CharacterMovement, HeightMap, SphereCollider
CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(1)).update(1 / 60)
"""


class Row(NamedTuple):
    """A question and the calls that answer it, ours first; what comes before each is not timed."""

    name: str
    calls: dict[str, Call]
    times: int = TIMES
    before: dict[str, Call] = {}  # noqa: RUF012 nobody writes to it


def main(*, smoke: bool = False) -> None:
    side, turns = (65, 1) if smoke else (SIDE, TURNS)
    rows = []
    for row in _rows(side, most_parts=100 if smoke else 10_000):
        seconds = _medians(row, 5 if smoke else row.times, turns)
        ours = next(iter(seconds.values()))
        told = (f"{name} {1e6 * s:8.2f} us ({s / ours:.2f} x)" for name, s in seconds.items())
        rows.append((row.name, "   ".join(told)))
    rows.append(("import to the first answer", _starts(turns)))
    print_table(f"One call from Python, land of {side} x {side}, time of the processor", rows)
    print("Jolt's CharacterVirtual in C++, once, on another machine: 5.6 us for one of 1,000.")


def _rows(side: int, most_parts: int) -> Iterator[Row]:
    yield from _questions(side)
    yield from _of_many(side)
    yield from _characters()
    yield from _moves()
    yield from _after_moves()
    yield from _after_an_edit(side)
    yield from _on_a_mesh()
    yield from _states()
    yield from _agents(4 if most_parts < 1_000 else 1_024)
    yield from _with_parts(most_parts)


def _medians(row: Row, times: int, turns: int) -> dict[str, float]:
    """Return the median seconds of one call; all take turns."""
    found: dict[str, list[float]] = {name: [] for name in row.calls}
    for turn in range(turns + 1):
        for name, call in row.calls.items():
            seconds = _seconds(call, times, row.before.get(name)) / times
            if turn:
                found[name].append(seconds)
    return {name: statistics.median(values) for name, values in found.items()}


def _seconds(call: Call, times: int, before: Call | None) -> float:
    """Return the seconds of so many calls, without what comes before each."""
    if before is None:
        start = time.process_time()
        for _ in range(times):
            call()
        return time.process_time() - start
    total = 0.0
    for _ in range(times):
        before()
        start = time.process_time()
        call()
        total += time.process_time() - start
    return total


def _starts(turns: int) -> str:
    """Return what a Python of its own takes until it has answered once; all take turns."""
    codes = {"terrain_physics": _FIRST_UPDATE, "numpy alone": "import numpy"}
    with suppress(ImportError):
        importlib.import_module("rapier3d")
        codes["rapier3d"] = "import rapier3d; rapier3d.PhysicsWorld().step()"
    found: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(turns):
        for name, code in codes.items():
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=True)
            after = os.times()
            found[name].append(sum(after[2:4]) - sum(before[2:4]))  # of children
    return "   ".join(f"{name} {statistics.median(took):.3f} s" for name, took in found.items())


# Land and places


def _land(side: int) -> HeightMap:
    z, x = np.mgrid[0:side, 0:side]
    noise = np.random.default_rng(1).normal(0, 0.05, (side, side))
    return HeightMap(5 * np.sin(x / 30) * np.cos(z / 25) + noise)


def _places(land: HeightMap, above: float) -> Iterator[tuple[float, float, float]]:
    """Return places above a land, over and over."""
    end = land.cell_count[0] - 10
    xs, zs = np.random.default_rng(2).uniform(10, end, (2, 256))
    rows = np.column_stack([xs, land.height_at(xs, zs) + above, zs]).tolist()
    return _again([(x, y, z) for x, y, z in rows])


def _again(rows: list[Any]) -> Iterator[Any]:
    while True:
        yield from rows


class _Rapier:
    """A world of Rapier, and what asks it."""

    def __init__(self) -> None:
        self.own: Any = importlib.import_module("rapier3d")
        self.world = self.own.PhysicsWorld()

    def begin(self) -> Any:
        """Return what answers about all that was added."""
        self.world.step()
        self.world.update_query_pipeline()
        return self.world.query_pipeline

    def with_land(self, land: HeightMap) -> Any:
        rows, columns = land.cell_count
        field = self.own.Collider.heightfield(land.heights, (columns, 1.0, rows))
        self.world.add_collider(field.translation((columns / 2, 0.0, rows / 2)).build())
        return self.begin()


# Rows


def _questions(side: int) -> Iterator[Row]:
    land = _land(side)
    asked = None
    with suppress(ImportError):
        asked = _Rapier().with_land(land)
    near = _places(land, 0.3)
    yield from _rays(land, asked)
    yield from _shapes(land, asked, near)
    closest: dict[str, Call] = {"terrain_physics": lambda: land.closest_point(next(near))}
    if asked is not None:
        closest["rapier3d"] = lambda: asked.project_point(next(near), False)
    yield Row("closest_point(point)", closest)
    points: dict[str, Call] = {
        "contains(point)": lambda: land.contains(next(near)),
        "signed_distance(point)": lambda: land.signed_distance(next(near)),
        "height_at(x, z)": lambda: land.height_at(*next(near)[::2]),
    }
    for name, call in points.items():
        yield Row(name, {"terrain_physics": call})


def _rays(land: Any, asked: Any) -> Iterator[Row]:
    high = _places(land, 40.0)
    for name, way in (("down", (0.0, -1.0, 0.0)), ("oblique", (0.6, -0.64, 0.48))):
        calls: dict[str, Call] = {"terrain_physics": partial(_cast, land, high, way)}
        if asked is not None:
            calls["rapier3d"] = partial(_cast_by_rapier, asked, high, way)
        yield Row(f"raycast(origin, direction), {name}", calls)


def _cast(ground: Any, origins: Iterator[Any], way: Any) -> object:
    return ground.raycast(next(origins), way, FARTHEST)


def _cast_by_rapier(asked: Any, origins: Iterator[Any], way: Any) -> object:
    ray = sys.modules["rapier3d"].Ray(next(origins), way)
    return asked.cast_ray_and_get_normal(ray, FARTHEST, True)


def _shapes(land: HeightMap, asked: Any, near: Iterator[Any]) -> Iterator[Row]:
    balls = _again([Sphere(place, RADIUS) for place, _ in zip(near, range(256), strict=False)])
    touched: dict[str, Call] = {"terrain_physics": lambda: land.touches(next(balls))}
    swept: dict[str, Call] = {"terrain_physics": lambda: land.sweep(next(balls), (1.0, -2.0, 0.5))}
    if asked is not None:
        touched["rapier3d"] = partial(_touched_by_rapier(near), sys.modules["rapier3d"], asked)
        swept["rapier3d"] = partial(_swept_by_rapier(near), sys.modules["rapier3d"], asked)
    deepest: dict[str, Call] = {
        "a ball's deepest contact": lambda: land.contacts(next(balls), keep="deepest"),
        "that and its depth": lambda: land.contacts(next(balls), keep="deepest").depth,
    }
    for name, call in deepest.items():
        yield Row(name, {"terrain_physics": call})
    yield Row("touches(ball)", touched)
    yield Row("sweep(ball, 2.3 m)", swept)


def _touched_by_rapier(near: Iterator[Any]) -> Callable[[Any, Any], object]:
    shapes: list[Any] = []

    def ask(own: Any, asked: Any) -> bool:
        shapes[:] = shapes or [own.SharedShape.ball(RADIUS)]
        touched: list[Any] = []
        asked.intersect_shape(
            own.Isometry3.from_translation(*next(near)), shapes[0], touched.append
        )
        return bool(touched)

    return ask


def _swept_by_rapier(near: Iterator[Any]) -> Callable[[Any, Any], object]:
    kept: list[Any] = []

    def ask(own: Any, asked: Any) -> object:
        if not kept:
            options = own.ShapeCastOptions().with_max_time_of_impact(1.0)
            kept.extend((own.SharedShape.ball(RADIUS), options))
        place = own.Isometry3.from_translation(*next(near))
        return asked.cast_shape(place, (1.0, -2.0, 0.5), *kept)

    return ask


def _characters() -> Iterator[Row]:
    flat, stairs = (
        HeightMap(np.zeros((65, 65))),
        [TriangleMesh.box((0.3, 0.18 * (step + 1), 4.0)) for step in range(11)],
    )
    yield Row("a character walks, level", _walkers(Ground([flat]), flat, (), to_and_fro=2.0))
    yield Row("the same, the ground a map", _walkers(flat, flat, (), to_and_fro=2.0))
    yield Row("rough", {"terrain_physics": _walker(_land(129), (64, 9, 64), 2.0)})
    ground = Ground([flat])
    places = [(34.0 + 0.3 * k, 0.09 * (k + 1), 32.0) for k in range(len(stairs))]
    for box, place in zip(stairs, places, strict=True):
        ground.add(box, place)
    sizes = [((0.15, 0.09 * (k + 1), 2.0), place) for k, place in enumerate(places)]
    yield Row("up and down stairs of 11 boxes", _walkers(ground, flat, sizes, to_and_fro=3.0))
    yield Row("a group of one walks", {"terrain_physics": _group_of_one()})


def _walker(ground: Any, position: Any, to_and_fro: float) -> Call:
    """Return what walks a character one frame on, there for a second and back for one."""
    hero = CharacterMovement(ground, CapsuleCollider(0.3, 1.8), position=position)
    for _ in range(60):
        hero.update(FRAME)
    frame = 0

    def walk() -> object:
        nonlocal frame
        frame += 1
        hero.walk(to_and_fro if frame % 120 < 60 else -to_and_fro, 0.0)
        return hero.update(FRAME)

    return walk


def _group_of_one() -> Call:
    group = CharacterGroup(Ground([HeightMap(np.zeros((65, 65)))]), CapsuleCollider(0.3, 1.8))
    group.add("hero", (32, 0.0, 32))
    frame = 0

    def walk() -> object:
        nonlocal frame
        frame += 1
        group.walk(2.0 if frame % 120 < 60 else -2.0, 0.0)
        return group.update(FRAME)

    return walk


def _walkers(ground: Any, flat: HeightMap, boxes: Any, to_and_fro: float) -> dict[str, Call]:
    calls = {"terrain_physics": _walker(ground, (33, 1, 32), to_and_fro)}
    with suppress(ImportError):
        calls["rapier3d"] = _walker_of_rapier(flat, boxes, to_and_fro)
    if not boxes:
        with suppress(ImportError):
            calls["panda3d, a plane"] = _walker_of_panda(to_and_fro)
    return calls


def _walker_of_rapier(flat: HeightMap, boxes: Any, to_and_fro: float) -> Call:
    rapier = _Rapier()
    own = rapier.own
    for half, place in boxes:
        rapier.world.add_collider(own.Collider.cuboid(*half).translation(place).build())
    asked = rapier.with_land(flat)
    controller = own.KinematicCharacterController(offset=0.01)
    controller.autostep = own.CharacterAutostep(
        max_height=own.CharacterLength.absolute(0.3), min_width=own.CharacterLength.absolute(0.1),
        include_dynamic_bodies=False,
    )  # fmt: skip
    shape, at, frame = own.SharedShape.capsule_y(0.6, 0.3), [33.0, 0.92, 32.0], 0

    def walk() -> object:
        nonlocal frame
        frame += 1
        way = (to_and_fro if frame % 120 < 60 else -to_and_fro) * FRAME
        pose = own.Isometry3.from_translation(*at)
        moved = controller.move_shape(FRAME, None, None, asked, shape, pose, (way, -0.1, 0.0))
        at[:] = [a + b for a, b in zip(at, moved.translation, strict=True)]
        return moved

    return walk


def _walker_of_panda(to_and_fro: float) -> Call:
    bullet: Any = importlib.import_module("panda3d.bullet")
    core: Any = importlib.import_module("panda3d.core")
    world = bullet.BulletWorld()
    world.set_gravity(core.Vec3(0, 0, -9.81))
    plane = bullet.BulletRigidBodyNode("plane")
    plane.add_shape(bullet.BulletPlaneShape(core.Vec3(0, 0, 1), 0))
    world.attach(plane)
    body = bullet.BulletCharacterControllerNode(bullet.BulletCapsuleShape(0.3, 1.2, 2), 0.3, "hero")
    node = core.NodePath(body)
    node.set_pos(0, 0, 0.95)
    world.attach(body)
    frame = 0

    def walk() -> object:
        nonlocal frame
        frame += 1
        way = to_and_fro if frame % 120 < 60 else -to_and_fro
        body.set_linear_movement(core.Vec3(way, 0, 0), True)
        world.do_physics(FRAME, 1, FRAME)
        return node.get_pos()

    return walk


def _far_boxes(count: int) -> tuple[Ground, Call]:
    """Return a ground with boxes far off, and what moves all of them."""
    ground = Ground([HeightMap(np.zeros((257, 257)))])
    box = TriangleMesh.box((2, 0.4, 2))
    keys = [ground.add(box) for _ in range(count)]
    places = np.column_stack([np.full(count, 5000.0), np.zeros(count), 4.0 * np.arange(count)])

    def move() -> None:
        places[:, 1] += 0.01
        if keys:
            ground.move_many(keys, places, FRAME)

    return ground, move


def _lift() -> tuple[Call, Call]:
    """Return what moves a lift up and down, and what updates its rider then."""
    ground = Ground([HeightMap(np.zeros((65, 65)))])
    lift = ground.add(TriangleMesh.box((4, 0.4, 4)), (32, 3, 32))
    hero = CharacterMovement(ground, CapsuleCollider(0.3, 1.8), position=(32, 3.2, 32))
    frame = 0

    def move() -> None:
        nonlocal frame
        frame += 1
        height = 3.0 + 0.01 * abs(frame % 200 - 100)
        ground.move(lift, (32.0, height, 32.0), FRAME)

    def ride() -> object:
        move()
        return hero.update(FRAME)

    return move, ride


def _moves() -> Iterator[Row]:
    move, ride = _lift()
    yield Row("one move", {"terrain_physics": move})
    yield Row("a rider's frame: move and update", {"terrain_physics": ride})
    for count in (1, 200, 1000):
        calls: dict[str, Call] = {"terrain_physics": _far_boxes(count)[1]}
        with suppress(ImportError):
            calls["rapier3d, told only"] = _moves_of_rapier(count)
        yield Row(f"{count} boxes are moved", calls, max(4, TIMES // count))


def _moves_of_rapier(count: int) -> Call:
    rapier = _Rapier()
    own = rapier.own
    handles = []
    for number in range(count):
        body = own.RigidBody.kinematic_position_based().translation((5000.0, 0.0, 4.0 * number))
        handles.append(
            rapier.world.add_body(body.build(), [own.Collider.cuboid(1, 0.2, 1).build()])
        )
    bodies, height = rapier.world.rigid_bodies, 0.0

    def move() -> None:
        nonlocal height
        height += 0.01
        for number, handle in enumerate(handles):
            bodies[handle].set_next_kinematic_translation((5000.0, height, 4.0 * number))

    return move


def _after_moves() -> Iterator[Row]:
    """What comes first after far boxes have moved; the moves are not timed.

    Moves on another ground tell what it costs that the processor has had other memory meanwhile.
    """
    walks: dict[str, Call] = {}
    rays: dict[str, Call] = {}
    moves: dict[str, Call] = {}
    for count in (1, 200, 1000):
        (ground, move), (_, move_others) = _far_boxes(count), _far_boxes(count)
        for name, before in ((f"{count} moved", move), (f"{count} elsewhere", move_others)):
            walks[name] = _walker(ground, (100, 1, 100), 2.0)
            rays[name] = partial(ground.raycast, (100.0, 9.0, 90.0), (0.0, -1.0, 0.0), FARTHEST)
            moves[name] = before
    yield Row("the first update after far moves", walks, 40, moves)
    yield Row("the first raycast after far moves", rays, 40, moves)


def _after_an_edit(side: int) -> Iterator[Row]:
    """What comes first after a map was edited far from a body at rest; the edit is not timed."""
    updates: dict[str, Call] = {}
    edits: dict[str, Call] = {}
    for name in ("another map", "a map", "a Ground"):
        flat = HeightMap(np.zeros((side, side)))
        ground = Ground([flat]) if name == "a Ground" else flat
        hero = CharacterMovement(ground, CapsuleCollider(0.3, 1.8), position=(5, 0, 5))
        for _ in range(60):
            hero.update(FRAME)
        updates[name] = partial(hero.update, FRAME)
        edited = HeightMap(np.zeros((side, side))) if name == "another map" else flat
        edits[name] = partial(edited.raise_, (0.9 * side, 0.9 * side), 2.0, 0.01)
    yield Row("the first update at rest after a far edit", updates, 40, edits)


def _of_many(side: int) -> Iterator[Row]:
    """Batches, of which the time of all is printed."""
    land = _land(side)
    centers = np.array([place for place, _ in zip(_places(land, 0.3), range(256), strict=False)])
    width, tops = np.full((len(centers), 1), RADIUS), centers + np.array([0.0, 1.0, 0.0])
    shapes_of: dict[str, Spheres | Capsules] = {
        "balls": Spheres(np.hstack([centers, width])),
        "capsules": Capsules(np.hstack([centers, tops, width])),
    }
    for name, shapes in shapes_of.items():
        calls: dict[str, Call] = {
            "all": partial(land.contacts, shapes, threads=1),
            "deepest": partial(land.contacts, shapes, keep="deepest", threads=1),
            "counted": partial(land.contact_counts, shapes, threads=1),
        }
        yield Row(f"contacts of 256 {name}", calls, 20)


def _states() -> Iterator[Row]:
    """What it takes to keep characters and to put them back."""
    group = _crowd(100)
    kept = group.state()
    group.walk(1.0, 0.0)
    group.update(FRAME)
    both = _again([kept, group.state()])
    saved: dict[str, Call] = {"terrain_physics": group.state}
    put: dict[str, Call] = {"terrain_physics": lambda: group.restore(next(both))}
    with suppress(ImportError):
        saved["mujoco"], put["mujoco"] = _states_of_mujoco(100)
    yield Row("the state of 100 characters", saved)
    yield Row("its restore", put)
    many = _crowd(1000)
    world = World(many.ground)
    world.add("crowd", many)
    hashes: dict[str, Call] = {"a group's": many.state_hash, "a world's": world.state_hash}
    yield Row("the state_hash of 1,000", hashes, 20)


def _agents(count: int) -> Iterator[Row]:
    """Agents that learn to walk: four updates a step, and what each sees then."""
    group = CharacterGroup(_land(129), CapsuleCollider(0.3, 1.8), threads=1)
    places = np.random.default_rng(3).uniform(10, 118, (count, 2))
    group.add_many(range(count), np.column_stack([places[:, 0], np.full(count, 9.0), places[:, 1]]))
    seen = np.stack(np.meshgrid(*2 * [np.linspace(-2, 2, 9)]), axis=-1).reshape(-1, 2)
    ways = _again([*np.random.default_rng(4).uniform(-2, 2, (16, 2, count))])

    def step() -> object:
        group.walk(*next(ways))
        for _ in range(4):
            group.update(1 / 200)
        return group.height_scan(seen)

    for _ in range(100):
        step()
    yield Row(f"{count:,} agents step: 4 updates, 81 heights each", {"terrain_physics": step}, 4)


def _crowd(count: int) -> CharacterGroup:
    group = CharacterGroup(Ground([HeightMap(np.zeros((129, 129)))]), CapsuleCollider(0.3, 1.8))
    for number in range(count):
        group.add(number, (5.0 + 3.0 * (number % 32), 0.0, 5.0 + 3.0 * (number // 32)))
    for _ in range(5):
        group.update(FRAME)
    return group


def _states_of_mujoco(count: int) -> tuple[Call, Call]:
    mujoco: Any = importlib.import_module("mujoco")
    bodies = "".join(
        f"<body pos='{3 * number} 0 1'><freejoint/><geom type='capsule' size='0.3 0.6'/></body>"
        for number in range(count)
    )
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom type='plane' size='999 9 1'/>{bodies}</worldbody></mujoco>"
    )
    data, what = mujoco.MjData(model), mujoco.mjtState.mjSTATE_INTEGRATION
    room = np.empty(mujoco.mj_stateSize(model, what))
    return (
        lambda: mujoco.mj_getState(model, data, room, what),
        lambda: mujoco.mj_setState(model, data, room, what),
    )


def _with_parts(most: int) -> Iterator[Row]:
    """What a ground of one part takes, and one of many."""
    box = TriangleMesh.box((1, 1, 1))
    grounds = {}
    for count in (1, most):
        ground = Ground([HeightMap(np.zeros((65, 65)))])
        for number in range(count):
            ground.add(box, (3.0 * (number % 100), 0.0, 3.0 * (number // 100)))
        grounds[f"{count:,} boxes"] = ground

    def add_and_remove(ground: Ground) -> None:
        ground.remove(ground.add(box, (9.0, 9.0, 9.0)))

    asks: dict[str, Callable[[Ground], object]] = {
        "a part is added and removed": add_and_remove,
        "the state of a ground": lambda ground: ground.state(),
        "its bounds": lambda ground: ground.bounds,
    }
    for name, ask in asks.items():
        yield Row(name, {own: partial(ask, ground) for own, ground in grounds.items()}, 20)


def _on_a_mesh() -> Iterator[Row]:
    side = 141
    z, x = np.mgrid[0:side, 0:side]
    mesh = HeightMap(3 * np.sin(x / 9) * np.cos(z / 7)).to_mesh()
    own = TriangleMesh(mesh.vertices, mesh.indices.reshape(-1, 3))
    land = HeightMap(3 * np.sin(x / 9) * np.cos(z / 7))
    high, near = _places(land, 40.0), _places(land, 0.4)
    way = (0.3, -0.9, 0.3)
    rays: dict[str, Call] = {"terrain_physics": partial(_cast, own, high, way)}
    closest: dict[str, Call] = {"terrain_physics": lambda: own.closest_point(next(near))}
    with suppress(ImportError):
        rapier = _Rapier()
        faces = mesh.indices.reshape(-1, 3).astype(np.uint32)
        shape = rapier.own.Collider.trimesh(mesh.vertices.astype(np.float32), faces)
        rapier.world.add_collider(shape.build())
        asked = rapier.begin()
        rays["rapier3d"] = partial(_cast_by_rapier, asked, high, way)
        closest["rapier3d"] = lambda: asked.project_point(next(near), False)
    yield Row(f"a mesh of {len(own):,} faces: raycast", rays)
    yield Row("closest_point", closest)
