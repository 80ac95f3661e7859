"""A world that is kept, put back and played again; moving parts and instances; rapier3d beside it.

Times are those of the processor, medians of calls that take turns.
"""

import importlib
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    CharacterState,
    Ground,
    HeightMap,
    Ray,
    Rewind,
    Sphere,
    TriangleMesh,
    World,
)
from tests.benchmarks.timing import median_seconds, print_table

FRAME = 1 / 60
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
FAR = 5_000.0  # meters

Calls = dict[str, Callable[[], object]]


def _hills(size: int = 257) -> HeightMap:
    x, z = np.meshgrid(np.arange(size), np.arange(size))
    return HeightMap(2.0 * np.sin(x / 7) + 1.5 * np.cos(z / 9), cell_size=2)


def _crowd(ground: Any, count: int) -> CharacterGroup:
    """Return characters that walk each their own way."""
    group = CharacterGroup(ground, BODY, threads=1)
    x, z = np.random.default_rng(2).uniform(30, 480, (2, count))
    group.add_many(range(count), np.column_stack([x, ground.height_at(x, z) + 0.05, z]))
    speeds = np.random.default_rng(3).uniform(-3, 3, (2, count))
    for _ in range(10):
        _walk(group, speeds)
    return group


def _walk(group: CharacterGroup, speeds: Any) -> None:
    group.walk(*speeds)
    group.update(FRAME)


def _timed(calls: Calls, repeats: int, each: int = 1) -> dict[str, float]:
    """Return microseconds of the processor of each call, which takes turns in rows of ``each``."""

    def row(call: Callable[[], object]) -> None:
        for _ in range(each):
            call()

    rows: Calls = {name: partial(row, call) for name, call in calls.items()}
    times = median_seconds(rows, repeats, time.process_time)
    return {name: 1e6 * seconds / each for name, seconds in times.items()}


def _print(title: str, times: dict[str, float], unit: str = "us") -> None:
    print_table(title, [(name, f"{value:10.2f} {unit}") for name, value in times.items()])


def _rapier() -> Any:
    """Return the package, or None where it is not installed."""
    try:
        return importlib.import_module("rapier3d")
    except ImportError:
        return None


def _rapier_world(rapier: Any, count: int) -> tuple[Any, list[Any]]:
    """Return a world with a floor and kinematic boxes in rows, and their handles."""
    world = rapier.PhysicsWorld((0.0, -9.81, 0.0))
    world.add_collider(rapier.Collider.cuboid(300.0, 0.1, 300.0).build())
    handles = []
    for k in range(count):
        body = rapier.RigidBody.kinematic_position_based()
        body = body.translation((4.0 * (k % 20), 2.0, 4.0 * (k // 20)))
        handles.append(world.add_body(body, [rapier.Collider.cuboid(1.0, 0.2, 1.0)]))
    world.step()
    return world, handles


# The parts of the benchmark


def group_states(count: int, repeats: int) -> None:
    """Keep a group by itself."""
    group = _crowd(Ground(_hills()), count)
    states = [group.state()]
    calls: Calls = {
        "state": group.state,
        "restore": lambda: group.restore(states[0]),
        "state_hash": group.state_hash,
        "a copy of its rows": lambda: group._data.rows().copy(),
    }
    _print(f"A group of {count:,} without owners", _timed(calls, repeats))


def world_states(count: int, repeats: int) -> None:
    """Keep a world with one group."""
    ground = Ground([_hills(), TriangleMesh.box((4, 0.4, 4))])
    ground.move(1, (50, 9, 50), FRAME)
    world, group = World(ground), _crowd(ground, count)
    world.add("crowd", group)
    rewind = Rewind(world)
    for frame in range(16):
        rewind.save(frame)
    frames, kept = iter(range(16, 10**9)), world.state()
    newest = 15

    def save() -> None:
        nonlocal newest
        newest = next(frames)
        rewind.save(newest)

    calls: Calls = {
        "Rewind.save": save,
        "Rewind.restore": lambda: rewind.restore(newest),
        "World.state": world.state,
        "World.restore": lambda: world.restore(kept),
        "World.hashes": world.hashes,
        "World.state_hash": world.state_hash,
        "to_bytes": kept.to_bytes,
    }
    rapier = _rapier()
    if rapier is not None:
        other, _ = _rapier_world(rapier, count)
        blob = other.snapshot()
        calls["rapier3d: snapshot of so many boxes"] = other.snapshot
        calls["rapier3d: restore"] = lambda: rapier.PhysicsWorld.restore(blob)
    _print(f"A world of {count:,} characters and a lift, 513 m of hills", _timed(calls, repeats))
    sizes = {"a state": kept.nbytes / 1000, "to_bytes": len(kept.to_bytes()) / 1000}
    if rapier is not None:
        sizes["rapier3d: a snapshot"] = len(blob) / 1000
    _print("Sizes", sizes, "kB")


def one_state(repeats: int) -> None:
    """Keep one character."""
    ground = Ground(_hills())
    hero = CharacterMovement(ground, BODY, position=(40, ground.height_at(40, 40) + 0.1, 40))
    for _ in range(30):
        _step_hero(hero)
    kept = [hero.state()]
    calls: Calls = {
        "state": hero.state,
        "restore": lambda: hero.restore(kept[0]),
        "state_hash": hero.state_hash,
        "restore, walk, update": lambda: _step_hero(hero, kept[0]),
        "walk, update": lambda: _step_hero(hero),
    }
    _print("One character", _timed(calls, repeats, 200))


def _step_hero(hero: CharacterMovement, state: CharacterState | None = None) -> None:
    if state is not None:
        hero.restore(state)
    hero.walk(2.0, 1.0)
    hero.update(FRAME)


class _Match:
    """Eight heroes, one of them on a lift, and a crater every eighth frame."""

    def __init__(self) -> None:
        self.ground = Ground([HeightMap(np.zeros((129, 129))), TriangleMesh.box((4, 0.4, 4))])
        self.world, self.frame = World(self.ground), 0
        self.heroes = []
        for k in range(8):
            place = (60.0 + 3 * k, 1.5 if k == 0 else 0.0, 64.0)
            self.heroes.append(CharacterMovement(self.ground, BODY, position=place))
            self.world.add(k, self.heroes[-1])
        self.ground.move(1, (60, 1, 64))
        self.rewind = Rewind(self.world)
        for _ in range(20):
            self.forth()

    def step(self, frame: int) -> None:
        phase = frame % 240
        self.ground.move(1, (60, 1 + 0.02 * min(phase, 240 - phase), 64), FRAME)
        if frame % 8 == 0:
            self.ground.carve((90, 90), 4, 0.05 if frame % 16 else -0.05)
        speed = 3.0 if frame % 120 < 60 else -3.0
        for hero in self.heroes[1:]:
            hero.walk(0.0, speed)
        self.world.update(FRAME)

    def forth(self) -> None:
        """Go on by one frame."""
        self.rewind.save(self.frame)
        self.step(self.frame)
        self.frame += 1

    def again(self) -> None:
        """Play eight frames again, and one more."""
        self.rewind.replay(self.frame - 8, self.frame, self.step)
        self.forth()

    def nine(self) -> None:
        """Play nine frames without keeping any."""
        for _ in range(9):
            self.step(self.frame)
            self.frame += 1


def rollback(repeats: int) -> None:
    """Go back eight frames in each frame, beside as many frames without that."""
    calls: Calls = {
        "eight frames again, and one": _Match().again,
        "nine frames, none kept": _Match().nine,
    }
    times = _timed(calls, repeats)
    again, plain = times.values()
    times["ratio"] = again / plain
    _print("8 heroes, a lift, craters", times)


def moves(count: int, repeats: int) -> None:
    """Move boxes: in a loop, in one call, and by rapier3d."""
    box = TriangleMesh.box((2, 0.4, 2))
    boxes = [TriangleMesh.box((2, 0.4, 2)) for _ in range(count)]
    ground = Ground([HeightMap(np.zeros((65, 65)), cell_size=2), *boxes])
    keys = np.arange(1, count + 1)
    places = np.tile(np.eye(4), (count, 1, 1))
    places[:, 0, 3], places[:, 2, 3] = 4.0 * (np.arange(count) % 20), 4.0 * (np.arange(count) // 20)
    heights = iter(range(10**9))

    def lifted() -> Any:
        places[:, 1, 3] = 3.0 + 0.001 * (next(heights) % 1000)
        return places

    def in_a_loop() -> None:
        for key, place in zip(keys.tolist(), lifted(), strict=True):
            ground.move(key, place, FRAME)

    hero = CharacterMovement(ground, BODY, position=(4, 3.4, 4))

    def ride() -> None:
        ground.move(22, lifted()[21], FRAME)
        hero.update(FRAME)

    calls: Calls = {
        "move, in a loop": in_a_loop,
        "move_many, matrices": lambda: ground.move_many(keys, lifted(), FRAME),
        "move_many, positions": lambda: ground.move_many(keys, lifted()[:, :3, 3], FRAME),
    }
    rapier = _rapier()
    if rapier is not None:
        world, handles = _rapier_world(rapier, count)
        bodies = world.rigid_bodies

        def move_bodies() -> None:
            for handle, (x, y, z) in zip(handles, lifted()[:, :3, 3].tolist(), strict=True):
                bodies[handle].set_next_kinematic_translation((x, y, z))
            world.step()

        calls["rapier3d: translations in a loop, and a step"] = move_bodies
        calls["rapier3d: a step alone"] = world.step
    _print(f"{count} boxes move", _timed(calls, repeats))
    ground = Ground([HeightMap(np.zeros((65, 65)), cell_size=2), box])
    keys = np.array([1])
    hero = CharacterMovement(ground, BODY, position=(4, 3.4, 4))
    one: Calls = {
        "a move": lambda: ground.move(1, lifted()[21 % count], FRAME),
        "a rider's frame: move, update": lambda: _ride(ground, hero, next(heights)),
    }
    _print("One box moves", _timed(one, repeats, 100))


def _ride(ground: Ground, hero: CharacterMovement, turn: int) -> None:
    phase = turn % 240
    ground.move(1, (4.0, 3.2 + 0.02 * min(phase, 240 - phase), 4.0), FRAME)
    hero.update(FRAME)


def far_movers(repeats: int) -> None:
    """Update beside movers that are far, or stopped long ago."""
    heroes, crowds, grounds = {}, {}, {}
    for name, count in _FAR.items():
        land = HeightMap(np.zeros((257, 257)), cell_size=2)
        boxes = [TriangleMesh.box((2, 0.4, 2)) for _ in range(max(count, 1))]
        ground = grounds[name] = Ground([land, *boxes])
        _move_far(ground, count, 0)
        heroes[name] = [CharacterMovement(ground, BODY, position=(x, 0, 50)) for x in (50, 60)]
        crowds[name] = [_crowd(ground, 10), _crowd(ground, 500)]
    _print_ratios("A hero's update", _updates_beside(grounds, heroes, repeats, 30))
    _print_ratios("An update of 500 walkers", _updates_beside(grounds, crowds, repeats, 5))
    _riding_beside(repeats)


_FAR = {"no mesh ever moved": 0, "a box was moved once, far off": 1, "200 boxes move, far off": 200}


def _move_far(ground: Ground, count: int, turn: int) -> None:
    for key in range(1, count + 1):
        ground.move(key, (FAR, 4.0 * key + 0.01 * (turn % 50), FAR), FRAME)


def _updates_beside(
    grounds: dict[str, Ground], walkers: dict[str, list[Any]], repeats: int, each: int
) -> dict[str, float]:
    """Return microseconds of an update alone; before it boxes move, and caches are warmed."""
    times: dict[str, list[float]] = {name: [] for name in walkers}
    for turn in range(repeats * each):
        for name, (first, second) in walkers.items():
            if _FAR[name] > 1:
                _move_far(grounds[name], _FAR[name], turn)
            speed = 2.0 if turn % 60 < 30 else -2.0
            first.walk(speed, 0.0)
            first.update(FRAME)
            second.walk(speed, 0.0)
            begun = time.process_time()
            second.update(FRAME)
            if turn >= 40:  # one move long ago is forgotten then
                times[name].append(1e6 * (time.process_time() - begun))
    return {name: float(np.median(values)) for name, values in times.items()}


def _riding_beside(repeats: int) -> None:
    """Update a rider whose lift is one of 200 movers that all move in each frame."""
    heroes = {}
    for count in (1, 200):
        boxes = [TriangleMesh.box((2, 0.4, 2)) for _ in range(count)]
        ground = Ground([HeightMap(np.zeros((65, 65)), cell_size=2), *boxes])
        ground.move_many(np.arange(1, count + 1), np.full((count, 3), FAR))
        heroes[count] = CharacterMovement(ground, BODY, position=(4, 3.4, 4))
    turn = iter(range(10**9))
    calls: Calls = {
        f"{count} movers": partial(lambda hero: _ride(hero.ground, hero, next(turn)), hero)
        for count, hero in heroes.items()
    }
    _print_ratios("A rider's frame beside others", _timed(calls, repeats, 100))


def _print_ratios(title: str, times: dict[str, float]) -> None:
    first = next(iter(times.values()))
    rows = [(name, f"{value:8.2f} us, {value / first:5.3f}") for name, value in times.items()]
    print_table(title, rows)


def house() -> TriangleMesh:
    """Return a house of 800 triangles."""
    parts = [TriangleMesh.box((8, 4, 6)).transformed(glm.translate(glm.vec3(0, 2, 0)))]
    for k in range(66):
        shift = glm.translate(glm.vec3(-3.5 + 0.65 * (k % 11), 4.0 + 0.3 * (k // 11), 0))
        parts.append(TriangleMesh.box((0.5, 0.3, 5)).transformed(shift))
    return TriangleMesh.merged(parts)


def instances(count: int, questions: int, repeats: int) -> None:
    """One house at many places beside copies of it."""
    side = round(count**0.5)
    places = [(20.0 * (k % side) + 10, 0.0, 20.0 * (k // side) + 10) for k in range(count)]
    land = HeightMap(np.zeros((201, 201)), cell_size=2)
    mesh = house()
    ground = Ground([land])
    ground.add(mesh, transform=(0, -1000, 0))
    tracemalloc.start()
    begun = time.process_time()
    before = tracemalloc.get_traced_memory()[0]
    for place in places:
        ground.add(mesh, transform=place)
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    placed = {"memory of an instance": held / count}
    _print(f"{count} instances of a house of {len(mesh.faces)} triangles", placed, "bytes")
    copies = Ground(
        [land, *(mesh.transformed(glm.translate(glm.vec3(*place))) for place in places)]
    )
    _print("Adding them", {"each": 1e6 * (time.process_time() - begun) / count})
    wide = 20.0 * side
    centers = np.random.default_rng(1).uniform((0, 0, 0), (wide, 6, wide), (questions, 3))
    balls = [Sphere(center, 0.5) for center in centers.tolist()]
    rays = [
        Ray(c, d)
        for c, d in zip(
            centers.tolist(), np.random.default_rng(2).normal(size=(questions, 3)), strict=True
        )
    ]
    rows = np.column_stack([centers, np.full(questions, 0.5)])
    walkers = {
        id(on): CharacterMovement(on, BODY, position=(5, 0.05, 5)) for on in (ground, copies)
    }

    def walk(on: Ground) -> None:
        hero = walkers[id(on)]
        for k in range(questions):
            hero.walk(3 * np.cos(k / 400), 3 * np.sin(k / 300))
            hero.update(FRAME)

    asked: dict[str, Callable[[Ground], object]] = {
        "a ray": lambda on: [on.raycast(ray, 300.0) for ray in rays],
        "contacts of a ball": lambda on: [on.contacts(ball) for ball in balls],
        "contacts of many balls": lambda on: on.contacts(rows, threads=1),
        "a sweep": lambda on: [on.sweep(ball, (0, -2, 0)) for ball in balls],
        "a closest point": lambda on: [on.closest_point(c) for c in centers.tolist()],
        "a height": lambda on: [on.height_at(x, z) for x, _, z in centers.tolist()],
        "a frame of a walk": walk,
    }
    table = []
    for name, ask in asked.items():
        own, theirs = _timed(
            {"instances": partial(ask, ground), "copies": partial(ask, copies)}, repeats
        ).values()
        table.append((name, f"{own / questions:7.3f} us, {own / theirs:.3f} times as for copies"))
    print_table("Questions", table)


def walking(count: int, repeats: int) -> None:
    """Update where no mesh ever moved."""
    speeds = np.random.default_rng(3).uniform(-3, 3, (2, count))
    group = _crowd(_hills(), count)
    land = _hills()
    hero = CharacterMovement(land, BODY, position=(40, land.height_at(40, 40) + 0.1, 40))
    turn = iter(range(10**9))

    def step() -> None:
        hero.walk(2.0 if next(turn) % 600 < 300 else -2.0, 0.0)
        hero.update(FRAME)

    times = _timed({f"{count:,} walkers": partial(_walk, group, speeds)}, repeats)
    times |= _timed({"one hero": step}, repeats, 200)
    _print("Updates without movers", times)


def main(*, smoke: bool = False) -> None:
    repeats = 3 if smoke else 41
    group_states(100 if smoke else 1_000, repeats)
    world_states(100 if smoke else 1_000, repeats)
    one_state(repeats)
    rollback(repeats)
    moves(20 if smoke else 200, repeats)
    far_movers(repeats)
    instances(25 if smoke else 400, 50 if smoke else 1_000, 3 if smoke else 9)
    walking(100 if smoke else 1_000, repeats)
