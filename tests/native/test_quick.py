"""Entries in C: the same bits, results and errors as the methods that they stand in for."""

import copy
import gc
import inspect
import itertools
import math
import pickle
import pydoc
import threading
import tracemalloc
import weakref
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    BoxCollider,
    Capsule,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    SphereCollider,
    Surface,
    TriangleMesh,
)
from terrain_physics._kernels import _jit
from terrain_physics._kernels.mesh.parts import WELDED
from terrain_physics.character.view import CharacterView
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from tests.helpers.calls import calls_of

pytestmark = pytest.mark.skipif(_jit.native is None, reason="entries are in machine code of wheels")

FRAME = 1 / 60


def by_python(thing, name):
    """Return the method itself, past its entry."""
    return getattr(type(thing), name).__get__(thing)


def rough():
    z, x = np.mgrid[0:65, 0:65]
    return HeightMap(2 * np.sin(x / 5) * np.cos(z / 4))


def with_parts():
    return Ground([rough(), TriangleMesh.box((4, 1, 4), position=(30, 3, 30))])


def with_a_wheel():
    return Ground([rough(), TriangleMesh.box((4, 1, 4))])


def with_holes():
    return HeightMap(np.eye(9), holes=np.eye(8, dtype=bool))


def with_names():
    ground = Ground([rough()])
    ground.add(TriangleMesh.box((6, 4, 6)), name="crate")
    return ground


GROUNDS = {"map": rough, "parts": with_parts, "mesh": lambda: TriangleMesh.box((64, 1, 64))}
BODIES = (SphereCollider(0.5), CapsuleCollider(0.3, 1.8), BoxCollider((1, 1, 1)))


def pair(ground=rough, body=BODIES[1], kind=CharacterMovement, **options):
    """Return two characters alike, each on a ground of its own."""
    return [kind(ground(), body, position=(30, 5, 30), **options) for _ in range(2)]


def numbers(hero):
    row = hero._numbers
    live = [
        (vector.to_tuple(), vector.shown.to_tuple(), vector.written, math.copysign(1, vector.x))
        for vector in (hero._position, hero._velocity)
    ]
    time = hero._time
    return (
        *(part.tobytes() for part in row),
        repr(live),
        time.last,
        time.in_update,
        time._too_long,
    )


OF_POINTS = ("closest_point", "contains", "signed_distance")
OF_SHAPES = ("contacts", "touches")
OF_PLACES = ("height_at", "normal_at")
ENTRIES = [
    (CharacterMovement, "update"),
    (CharacterView, "walk"),
    (CharacterGroup, "update"),
    *((Ground, name) for name in ("move", "move_many")),
    (Surface, "raycast"),
    *((Surface, name) for name in (*OF_POINTS, *OF_SHAPES, "sweep", *OF_PLACES)),
]


HOLDERS: dict[type, Any] = {
    CharacterMovement: lambda: pair()[0],
    CharacterView: lambda: pair()[0],
    CharacterGroup: lambda: CharacterGroup(rough()),
    Ground: with_parts,
    Surface: rough,
}


def outcome(call, *given, **options):
    """Return the result of a call, or its error."""
    try:
        return repr(call(*given, **options))
    except Exception as error:
        return type(error), str(error)


def same(quick, plain, name, *given, **options):
    """Make a call by both roads, and compare all that comes of it."""
    found = outcome(getattr(quick, name), *given, **options)
    assert found == outcome(by_python(plain, name), *given, **options), (name, given)
    assert numbers(quick) == numbers(plain), (name, given)
    assert (quick._idle is None) == (plain._idle is None)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_walk_has_the_same_bits(ground, body):
    quick, plain = pair(GROUNDS[ground], body, slope_limit=math.radians(50))
    draws = np.random.default_rng(3)
    for frame in range(240):
        way = draws.uniform(-4, 4, 2).tolist()
        if frame % 60 < 40:
            same(quick, plain, "walk", *way)
        if frame % 70 == 11:
            quick.velocity.y = plain.velocity.y = 5
        if frame % 70 == 33:
            quick.position += glm.vec3(0.1, 0, 0)
            plain.position += glm.vec3(0.1, 0, 0)
        same(quick, plain, "update", FRAME)
    for _ in range(120):
        same(quick, plain, "update", FRAME)
    assert quick.update(FRAME) is quick.update(FRAME)  # it rests


class Number(float):
    pass


HOSTILE = [
    0.0, -0.0, 1e-320, 1e300, -1e308, math.nan, math.inf, -math.inf, 3, 10**400, True, False, None,
    "1", b"1", 1j, np.float64(0.02), np.float32(0.02), np.int32(1), np.array(0.5), np.array([0.5]),
    Number(0.02), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), [1, 2], glm.vec2(1, 2), glm.vec3(1, 2, 3),
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_hostile_numbers_have_the_same_effect(value):
    quick, plain = pair()
    for calls in ([("update", value)], [("walk", value)], [("walk", value, 1.0)]):
        for name, *given in [*calls, ("walk", 2.0, value), ("update", FRAME)]:
            same(quick, plain, name, *given)


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
@pytest.mark.parametrize("name", ["position", "velocity"])
def test_hostile_writes_have_the_same_effect(name, value):
    quick, plain = pair()
    for axis in "xyz":
        found = [outcome(setattr, getattr(hero, name), axis, value) for hero in (quick, plain)]
        assert found[0] == found[1]
        same(quick, plain, "walk", 1.0, 2)
        same(quick, plain, "update", FRAME)
        for hero in (quick, plain):
            hero.reset((30, 5, 30))


def test_other_calls_are_those_of_the_method():
    quick, plain = pair()
    same(quick, plain, "update", delta_time=FRAME)
    same(quick, plain, "walk", 1, vz=2)
    same(quick, plain, "walk", vx=1, vz=2)
    for given in ((), (1, 2, 3), (FRAME, FRAME)):
        same(quick, plain, "update", *given)
        same(quick, plain, "walk", *given)
    same(quick, plain, "update", dt=FRAME)
    for self in (None, 3, "hero", rough()):
        for name in ("update", "walk"):
            entry = getattr(CharacterMovement, name)
            method = entry.__get__(None, CharacterMovement)
            assert outcome(entry, self, FRAME) == outcome(method, self, FRAME)


class Block:
    def __init__(self):
        self.position = glm.vec3(30, 5, 30)


class Parts:
    def __init__(self):
        self.x, self.y, self.z = 30.0, 5.0, 30.0


class Turned:
    def __init__(self):
        self.position, self.rotation = (30.0, 5.0, 30.0), glm.quat()


class Flat:
    def __init__(self):
        self.position = (30.0, 30.0)


class Kept:
    """An object that stays within bounds of its own, and counts what is asked."""

    def __init__(self):
        self._position, self.asked = (30.0, 5.0, 30.0), []

    @property
    def position(self):
        self.asked.append("read")
        return self._position

    @position.setter
    def position(self, value):
        self.asked.append(value)
        x, y, z = value
        self._position = min(x, 30.2), y, z


OWNERS = [Block, Parts, Turned, Flat, Kept]


def owned(owner, ground=rough, **options):
    """Return two characters alike, each with an owner of its own."""
    owners = owner(), owner()
    heroes = [CharacterMovement(ground(), BODIES[1], owner=own, **options) for own in owners]
    return *heroes, *owners


@pytest.mark.parametrize("owner", OWNERS)
def test_owners_are_served(owner):
    quick, plain, *owners = owned(owner)
    for frame in range(60):
        same(quick, plain, "walk", 1.0, 2.0)
        same(quick, plain, "update", FRAME)
        assert str(vars(owners[0])) == str(vars(owners[1]))
        if frame % 20 == 9:  # the game puts it elsewhere
            for one in owners:
                if hasattr(one, "x"):
                    one.z -= 1.5
                else:
                    one.position = type(one.position)([*[*one.position][:-1], 29.0])
        if frame % 20 == 15:
            for hero in (quick, plain):
                hero.velocity.y = 3.0
        if frame == 35:  # refused, and nothing has changed then
            for hero in (quick, plain):
                hero.velocity.y = math.nan
            same(quick, plain, "update", FRAME)
            for hero in (quick, plain):
                hero.velocity.y = 0.5


def test_owners_turn_with_the_ground():
    quick, plain, *owners = owned(Turned, with_a_wheel, turn_with_ground=True)
    for frame in range(60):
        for hero in (quick, plain):
            angle = glm.angleAxis(0.02 * frame, (0, 1, 0))
            hero.ground.move(1, ((30, 3, 30), angle), FRAME)
        same(quick, plain, "update", FRAME)
        assert str(vars(owners[0])) == str(vars(owners[1]))
    assert owners[0].rotation != glm.quat()


class Meddling(Block):
    """An object whose own code does something to its character, or raises, when it is asked."""

    def __init__(self):
        self.hero, self.deed, self.place = None, None, (30.0, 5.0, 30.0)

    @property
    def position(self):
        if self.deed is not None:
            deed, self.deed = self.deed, None
            deed(self, self.hero)
        return self.place

    @position.setter
    def position(self, value):
        self.place = value


def _raise(_own, hero):
    raise ZeroDivisionError(type(hero).__name__)


MEDDLING = {
    "raises": _raise,
    "is nowhere": lambda own, _: setattr(own, "place", (0.0, math.nan, 0.0)),
    "drives": lambda _, hero: setattr(hero, "velocity", (0.25, 1.0, 0.0)),
    "writes": lambda _, hero: setattr(hero.velocity, "x", 0.5),
    "moves": lambda _, hero: hero.teleport((31, 6, 31)),
    "updates": lambda _, hero: hero.update(FRAME),
    "resizes": lambda _, hero: hero.resize(CapsuleCollider(0.3, 1.5)),
    "restores": lambda _, hero: hero.restore(hero.state()),
    "joins": lambda _, hero: CharacterGroup(hero.ground, BODIES[1]).add("me", movement=hero),
}


@pytest.mark.parametrize("deed", MEDDLING.values(), ids=MEDDLING.keys())
def test_owners_may_do_anything_meanwhile(deed):
    quick, plain, *owners = owned(Meddling)
    for frame in range(12):
        for one, hero in zip(owners, (quick, plain), strict=True):
            one.hero, one.deed = hero, deed if frame == 5 else None
        same(quick, plain, "walk", 1.0, 2.0)
        same(quick, plain, "update", FRAME)
        assert str(owners[0].place) == str(owners[1].place)


def test_edits_and_moves_of_the_ground_are_seen():
    quick, plain = pair(with_parts)
    for frame in range(60):
        if frame % 7 == 3:
            for hero in (quick, plain):
                hero.ground.move(1, (30, 3 + frame / 100, 30))
        same(quick, plain, "update", FRAME)
    quick, plain = pair()
    for frame in range(60):
        if frame % 7 == 3:
            for hero in (quick, plain):
                hero.ground[28:32, 28:32] = frame / 40
        same(quick, plain, "update", FRAME)


def meddle(hero, frame):
    """Change the ground near or far from a body at rest, or what else wakes it."""
    land: Any = hero.ground.parts[0] if isinstance(hero.ground, Ground) else hero.ground
    if frame % 3 == 0:
        land[60:62, 60:62] = frame / 40
    if frame in {31, 61}:
        land[29:32, 29:32] = frame / 40
    if frame == 40:
        land.thickness = 2.0
    if frame == 45 and isinstance(hero.ground, Ground):
        hero.ground.add(HeightMap(np.zeros((3, 3)), origin=(500, 0, 0)))
    if frame == 70:
        hero.velocity.y = 2.0
    if frame == 110:
        hero.restore(hero.state())


@pytest.mark.parametrize("ground", [rough, with_parts])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: type(body).__name__)
def test_a_body_at_rest_sees_what_changes(ground, body):
    quick, plain = pair(ground, body, slope_limit=math.radians(50))
    for _ in range(90):
        same(quick, plain, "update", FRAME)
    rested = 0
    for frame in range(140):
        meddle(quick, frame)
        meddle(plain, frame)
        idle = quick._idle
        same(quick, plain, "update", FRAME)
        rested += idle is not None and quick._idle is not None and quick._idle.result is idle.result
    assert rested > 40


def test_an_update_at_rest_after_a_far_edit_takes_few_calls():
    calls = []
    for ground in (rough, lambda: Ground([rough()])):
        hero = CharacterMovement(ground(), BODIES[1], position=(30, 5, 30))
        land: Any = hero.ground.parts[0] if isinstance(hero.ground, Ground) else hero.ground
        for _ in range(200):
            hero.update(FRAME)
        for _ in range(3):
            land[60, 60] += 1.0
            count = calls_of(partial(hero.update, FRAME))
        calls.append(count)
    assert calls[0] <= 20
    assert calls[1] <= 70


def test_in_a_group_the_method_refuses():
    (hero, _), group = pair(), CharacterGroup(rough())
    group.add("hero", movement=hero)
    with pytest.raises(RuntimeError, match="left to the group"):
        hero.update(FRAME)
    hero.walk(1.0, 2.0)
    assert hero.velocity == glm.vec3(1, 0, 2)


def test_a_lock_that_is_held_is_waited_for():
    hero, _ = pair()
    lock, begun, done = hero.ground._queries.lock, threading.Event(), threading.Event()

    def update():
        begun.set()
        hero.update(FRAME)
        done.set()

    with lock:
        thread = threading.Thread(target=update)
        thread.start()
        begun.wait()
        assert not done.wait(0.02)
    thread.join()
    assert done.is_set()
    assert lock.acquire(blocking=False)  # it was given back
    lock.release()


def test_an_error_of_the_method_leaves_nothing_behind():
    hero, _ = pair()
    hero.velocity.x = math.nan
    with pytest.raises(ValueError, match=r"velocity\.x must be finite"):
        hero.update(FRAME)
    assert not hero._time.in_update
    hero.velocity.x = 0.0
    hero.update(FRAME)


def test_threads_that_write_break_nothing():
    hero, _ = pair()
    stop = threading.Event()

    def write():
        while not stop.is_set():
            hero.velocity.x = 1.0
            hero.velocity = (0.0, 0.0, 1.0)
            hero.walk(0.5, 0.5)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        assert hero.update(FRAME).converged
    stop.set()
    for thread in threads:
        thread.join()


class Hero(CharacterMovement):
    """Calls what it overrides, and counts."""

    calls: int = 0

    def update(self, delta_time):
        self.calls += 1
        return super().update(delta_time)

    def walk(self, vx, vz=None):
        self.calls += 1
        super().walk(vx, vz)


def test_subclasses_override_and_call_the_entries():
    quick, plain = Hero(rough(), BODIES[1], position=(30, 5, 30)), pair()[1]
    for _ in range(30):
        quick.walk(1.0, 2.0)
        plain.walk(1.0, 2.0)
        assert quick.update(FRAME) == plain.update(FRAME)
    assert quick.calls == 60
    assert numbers(quick) == numbers(plain)


LANDS = {
    "map": rough,
    "materials": lambda: HeightMap(
        np.eye(9), materials=np.arange(64, dtype=np.uint8).reshape(8, 8)
    ),
    "names": lambda: HeightMap(np.eye(9), materials="ice", material_names=("mud", "ice")),
    "holes": with_holes,
    "painted holes": lambda: HeightMap(
        np.eye(9),
        holes=np.eye(8, dtype=bool),
        materials=np.arange(64, dtype=np.uint8).reshape(8, 8),
    ),
    "thin": lambda: HeightMap(rough().heights, thickness=1.5),
    "endless": lambda: HeightMap(np.eye(9), border="extend"),
    "parts": with_parts,
    "mesh": lambda: TriangleMesh.box((64, 1, 64)),
    "crate": lambda: TriangleMesh.box((6, 4, 6), position=(5, 3, 5), solid=True),
    "painted mesh": lambda: painted(()),
    "named mesh": lambda: painted(("mud", "ice", "rock")),
    "named parts": with_names,
    "three maps": lambda: Ground([rough(), HeightMap(np.eye(9), origin=(0, 3, 0), materials=3)]),
}


def painted(names):
    box = TriangleMesh.box((6, 4, 6))
    materials = np.arange(len(box), dtype=np.uint8) % 3
    return TriangleMesh(box.vertices, box.faces, materials=materials, material_names=names or None)


@pytest.mark.parametrize("name", LANDS)
def test_rays_have_the_same_bits(name):
    land, draws = LANDS[name](), np.random.default_rng(5)
    cast = by_python(land, "raycast")
    for number in range(150):
        origin, way = draws.uniform(-2, 12, 3).tolist(), draws.uniform(-1, 1, 3).tolist()
        if number % 3 == 0:
            way = [0.0, way[1], -0.0]
        reach = draws.uniform(0, 20)
        forms: list[tuple[Any, dict[str, Any]]] = [
            ((tuple(origin), tuple(way)), {}),
            ((glm.vec3(origin), glm.vec3(way), reach), {}),
            ((Ray(origin, way),), {"max_distance": reach}),
            ((origin, np.array(way)), {"max_distance": int(reach), "mask": 1}),
        ]
        for given, options in forms:
            hit, known = land.raycast(*given, **options), cast(*given, **options)
            assert type(hit) is type(known)
            assert repr(hit) == repr(known)
            assert hit == known
            assert hash(hit and tuple(map(str, hit))) == hash(known and tuple(map(str, known)))
            assert hash(hit) == hash(known)


@pytest.mark.parametrize("value", [*HOSTILE, 1e38, (0.0, 0.0, 0.0), (1e200, 1e200, 0.0)], ids=repr)
def test_hostile_rays_have_the_same_effect(value):
    land = rough()
    cast = by_python(land, "raycast")
    place, way = (30.0, 9.0, 30.0), (0.0, -1.0, 0.1)
    calls = [
        ((value, way), {}),
        ((place, value), {}),
        (((30.0, value, 30.0), way), {}),
        ((place, (0.1, value, 0.0)), {}),
        ((place, way, value), {}),
        ((Ray(place, way), value), {}),
        ((place, way), {"max_distance": value}),
        ((place, way), {"mask": value}),
        ((place, way, 5.0), {"max_distance": value}),
        ((place, way, 5.0, value), {}),
        ((), {"origin": place, "direction": value}),
        ((value,), {}),
    ]
    for given, options in calls:
        assert outcome(land.raycast, *given, **options) == outcome(cast, *given, **options)


@pytest.mark.parametrize("question", OF_POINTS)
@pytest.mark.parametrize("name", LANDS)
def test_points_have_the_same_bits(name, question):
    land, draws = LANDS[name](), np.random.default_rng(6)
    ask, by_method = getattr(land, question), by_python(land, question)
    live = CharacterMovement(rough(), BODIES[0]).position
    for number in range(120):
        place = draws.uniform(-2, 12, 3)
        if number % 3 == 0:
            place = np.round(place)
        live.x, live.y, live.z = place
        forms: list[tuple[Any, dict[str, Any]]] = [
            (tuple(place.tolist()), {}),
            (tuple(map(int, place)), {}),
            (glm.vec3(place), {}),
            (live, {}),
            (place, {}),
            (place.tolist(), {"mask": 1}),
            (tuple(place.tolist()), {"mask": 2}),
        ]
        for given, options in forms:
            found, known = ask(given, **options), by_method(given, **options)
            assert type(found) is type(known)
            assert repr(found) == repr(known)
            assert found == known or question == "closest_point"  # NaNs where there is none


@pytest.mark.parametrize("question", OF_POINTS)
@pytest.mark.parametrize(
    "value", [*HOSTILE, 1e38, (), [(1.0, 2.0, 3.0)], np.ones((2, 3))], ids=repr
)
def test_hostile_points_have_the_same_effect(value, question):
    land = rough()
    ask, by_method = getattr(land, question), by_python(land, question)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((value,), {}),
        (((30.0, value, 30.0),), {}),
        (((30.0, 9.0, 30.0), value), {}),
        (((30.0, 9.0, 30.0),), {"mask": value}),
        (((30.0, 9.0, 30.0),), {"threads": value}),
        ((), {"point": value}),
        ((), {}),
    ]
    for given, options in calls:
        assert outcome(ask, *given, **options) == outcome(by_method, *given, **options)


@pytest.mark.parametrize("question", OF_POINTS)
def test_points_see_edits(question):
    land = rough()
    ask, by_method = getattr(land, question), by_python(land, question)
    for edit in range(20):
        land[20:24, 20:24] = float(edit)
        if edit == 10:
            land.thickness = 1.0
        if edit == 15:
            land.holes[21, 21] = True
        for place in ((21.5, 9.0, 21.5), (21.5, -3.0, 21.5), (20.1, 5.0, 20.1)):
            assert ask(place) == by_method(place)


@pytest.mark.parametrize("question", OF_PLACES)
@pytest.mark.parametrize("name", LANDS)
def test_places_have_the_same_bits(name, question):
    land, draws = LANDS[name](), np.random.default_rng(7)
    ask, by_method = getattr(land, question), by_python(land, question)
    for number in range(150):
        x, z = draws.uniform(-2, 12, 2).tolist()
        if number % 3 == 0:
            x, z = round(x), -0.0
        forms: list[tuple[Any, dict[str, Any]]] = [
            ((x, z), {}),
            ((x, z), {"mask": 1}),
            ((x, z), {"mask": 2}),
            ((np.float64(x), int(z)), {}),
            ((np.array([x, z]), 1.0), {}),
        ]
        for given, options in forms:
            found, known = ask(*given, **options), by_method(*given, **options)
            assert type(found) is type(known)
            assert bits_of(found) == bits_of(known)


def bits_of(found):
    """Return what tells NaNs and the signs of zeros."""
    return found.tobytes() if isinstance(found, np.ndarray) else repr(found)


@pytest.mark.parametrize("question", OF_PLACES)
@pytest.mark.parametrize("value", [*HOSTILE, 1e38, 1e40], ids=repr)
def test_hostile_places_have_the_same_effect(value, question):
    land = rough()
    ask, by_method = getattr(land, question), by_python(land, question)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((value, 1.0), {}),
        ((1.0, value), {}),
        ((1.0, 1.0, value), {}),
        ((1.0, 1.0), {"mask": value}),
        ((1.0, 1.0), {"threads": value}),
        ((1.0,), {"z": value}),
        ((value,), {}),
        ((), {}),
    ]
    for given, options in calls:
        assert outcome(ask, *given, **options) == outcome(by_method, *given, **options)


def as_told(found):
    """Return all of an answer about a ball, so that it can be compared."""
    if isinstance(found, bool):
        return found
    rows = [found._ints[:2], found._floats, found.material, found.material_name]
    return type(found), [(own.tobytes(), own.dtype, own.shape, own.flags.writeable) for own in rows]


def shapes_at(center, radius, draws):
    """Return a shape of each kind, of which none is degenerate but where its size is 0."""
    end = center + draws.uniform(-1, 1, 3)
    turn = glm.normalize(glm.quat(*draws.normal(size=4).tolist()))
    half = radius * draws.uniform(0.2, 1, 3)
    return [
        Sphere(center, radius),
        Capsule(center, end, radius),
        Capsule(center, center, radius),
        OBB(center, half, turn),
        AABB(center - half, center + half),
    ]


@pytest.mark.parametrize("question", OF_SHAPES)
@pytest.mark.parametrize("name", LANDS)
def test_shapes_have_the_same_bits(name, question):
    land, draws = LANDS[name](), np.random.default_rng(8)
    ask, by_method = getattr(land, question), by_python(land, question)
    for number in range(120):
        center, radius = draws.uniform(-2, 12, 3), float(draws.uniform(0, 2))
        if number % 3 == 0:
            center, radius = np.round(center), float(round(radius))
        if number % 7 == 0:
            radius = 9.0  # over many cells
        shapes = shapes_at(center, radius, draws)
        forms: list[dict[str, Any]] = [{}, {"mask": 1}, {"mask": 2}, {"threads": 1}]
        if question == "contacts":
            forms += [{"keep": "deepest"}, {"keep": "all"}, {"keep": "deepest", "max_results": 9}]
        for shape, options in itertools.product(shapes, forms[: 9 if number % 4 == 0 else 1]):
            assert as_told(ask(shape, **options)) == as_told(by_method(shape, **options)), shape


class Grown(Sphere):
    """A ball that says another radius than it keeps."""

    @property
    def radius(self):
        return 3.0

    @radius.setter
    def radius(self, value):
        pass


@pytest.mark.parametrize("question", OF_SHAPES)
@pytest.mark.parametrize("value", [*HOSTILE, "deepest", "All", Sphere((1, 1, 1), 1)], ids=repr)
def test_hostile_questions_about_shapes_have_the_same_effect(value, question):
    land = rough()
    ask, by_method = getattr(land, question), by_python(land, question)
    ball = Sphere((30.0, 1.0, 30.0), 1.0)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((value,), {}),
        ((ball, value), {}),
        ((ball,), {"keep": value}),
        ((ball,), {"mask": value}),
        ((ball,), {"threads": value}),
        ((ball,), {"max_results": value}),
        ((Grown((30.0, 4.0, 30.0), 1.0),), {}),
        ((Sphere((1e37, 1e37, 0.0), 1e37),), {}),
        ((Capsule((1.0, 1e37, 0.0), (0.0, 1.0, 0.0), 1.0),), {}),
        ((AABB((-1e37, 0.0, 0.0), (1e37, 1.0, 1.0)),), {}),
        ((), {"shapes": ball}),
        ((), {}),
    ]
    for given, options in calls:
        found, known = (outcome(call, *given, **options) for call in (ask, by_method))
        assert found == known


@pytest.mark.parametrize("question", OF_SHAPES)
def test_shapes_see_edits(question):
    land = rough()
    ask, by_method = getattr(land, question), by_python(land, question)
    for edit in range(20):
        land[20:24, 20:24] = float(edit)
        if edit == 5:
            land.materials[21, 21] = 3
        if edit == 10:
            land.thickness = 1.0
        if edit == 15:
            land.holes[21, 21] = True
        for center in ((21.5, 9.0, 21.5), (21.5, -3.0, 21.5), (20.1, 5.0, 20.1)):
            for shape in shapes_at(np.array(center), 1.5, np.random.default_rng(edit)):
                assert as_told(ask(shape)) == as_told(by_method(shape))


@pytest.mark.parametrize("name", LANDS)
def test_sweeps_have_the_same_bits(name):
    land, draws = LANDS[name](), np.random.default_rng(9)
    sweep, hits = by_python(land, "sweep"), 0
    live = CharacterMovement(rough(), BODIES[0]).position
    for number in range(60):
        center, radius = draws.uniform(-2, 12, 3), float(draws.uniform(0, 2))
        if number % 3 == 0:
            center, radius = np.round(center), float(round(radius))
        way = draws.uniform(-9, 9, 3)
        if number % 4 == 0:
            way[[0, 2]] = 0.0, -0.0
        if number % 29 == 28:
            way[:] = 0.0
        live.x, live.y, live.z = way
        forms: list[tuple[Any, dict[str, Any]]] = [
            (tuple(way.tolist()), {}),
            (tuple(map(int, way)), {}),
            (glm.vec3(way), {}),
            (live, {}),
            (way, {}),
            (tuple(way.tolist()), {"max_distance": float(draws.uniform(0, 9))}),
            (glm.vec3(way), {"max_distance": 3}),
            (tuple(way.tolist()), {"max_distance": -0.0}),
            (tuple(way.tolist()), {"mask": 1}),
            (tuple(way.tolist()), {"mask": 2, "max_distance": 5.0}),
        ]
        for shape, (motion, options) in itertools.product(shapes_at(center, radius, draws), forms):
            found = outcome(land.sweep, shape, motion, **options)
            assert found == outcome(sweep, shape, motion, **options), (shape, motion, options)
            hits += found != "None" and not isinstance(found, tuple)
    assert hits > 100


@pytest.mark.parametrize(
    "value", [*HOSTILE, 1e38, (0.0, 0.0, 0.0), (1e200, 1e200, 0.0), Sphere((1, 1, 1), 1)], ids=repr
)
def test_hostile_sweeps_have_the_same_effect(value):
    land = rough()
    sweep = by_python(land, "sweep")
    ball, way = Sphere((30.0, 4.0, 30.0), 1.0), (0.5, -9.0, 0.1)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((value, way), {}),
        ((ball, value), {}),
        ((ball, (0.1, value, 0.0)), {}),
        ((ball, way), {"max_distance": value}),
        ((ball, value), {"max_distance": 5.0}),
        ((ball,), {"motion": value}),
        ((ball,), {"direction": value, "max_distance": 5.0}),
        ((ball, way), {"direction": value}),
        ((ball, way), {"mask": value}),
        ((ball, way, value), {}),
        ((Grown((30.0, 4.0, 30.0), 1.0), way), {}),
        ((Sphere((1e37, 1e37, 0.0), 1e37), way), {}),
        ((ball, (1e37, 1e37, 0.0)), {}),
        ((ball, (1e37, 0.0, 1e31)), {"max_distance": 1e37}),
        ((), {"shape": ball, "motion": way}),
        ((ball,), {}),
        ((), {}),
    ]
    for given, options in calls:
        assert outcome(land.sweep, *given, **options) == outcome(sweep, *given, **options)


def test_sweeps_see_edits():
    land = rough()
    sweep, hits = by_python(land, "sweep"), set()
    for edit in range(20):
        land[20:24, 20:24] = float(edit)
        if edit == 5:
            land.materials[21, 21] = 3
        if edit == 10:
            land.thickness = 1.0
        if edit == 15:
            land.holes[21, 21] = True
        for center, way in (((21.5, 40.0, 21.5), (0, -50, 0)), ((21.4, -30.0, 21.5), (0, 50, 0.5))):
            for shape in shapes_at(np.array(center), 0.3, np.random.default_rng(edit)):
                hit = repr(land.sweep(shape, way))
                assert hit == repr(sweep(shape, way))
                hits.add(hit)
    assert len(hits) > 40


def is_connected(mesh):
    _, row, *_ = mesh._storage.table._owned[1]
    return bool(row[WELDED + 1])


def test_the_first_sweep_of_a_mesh_finds_how_it_is_connected():
    for number in range(40):
        draws = np.random.default_rng(number)
        quick, plain = (
            painted(()) for _ in range(2)
        )  # each is new: it does not know its neighbors
        x, z = draws.choice([-3.0, 3.0, 3.2]), draws.uniform(-2.2, 2.2)
        ball, way = Sphere((x, 9.0, z), 0.5), (draws.uniform(-0.5, 0.5), -9.0, 0.0)
        hit = quick.sweep(ball, way)
        assert is_connected(quick)
        assert repr(hit) == repr(by_python(plain, "sweep")(ball, way))


def test_questions_to_a_map_call_no_python():
    land, nothing = rough(), calls_of(lambda: None)
    shapes = shapes_at(np.array((30.0, 1.0, 30.0)), 1.0, np.random.default_rng(1))
    holed, way = with_holes(), (0.0, -4.0, 0.5)
    inside = shapes_at(np.array((3.0, 1.0, 3.5)), 1.0, np.random.default_rng(1))
    assert all(holed.touches(shape) and holed.contacts(shape) for shape in inside)
    colored = rough()
    colored.materials[30, 30] = 2
    questions = [
        *(partial(land.sweep, shape, way) for shape in shapes),
        *(partial(holed.sweep, shape, (0.0, -0.5, 0.5)) for shape in inside),
        *(partial(holed.touches, shape) for shape in inside),
        *(partial(colored.touches, shape) for shape in shapes),
        partial(holed.raycast, (3.0, 9.0, 3.5), (0.0, -1.0, 0.1)),
        *(partial(getattr(holed, name), (3.0, 1.0, 3.5)) for name in OF_POINTS),
        partial(land.raycast, (30.0, 9.0, 30.0), (0.0, -1.0, 0.1)),
        *(partial(getattr(land, name), (30.0, 1.0, 30.0)) for name in OF_POINTS),
        *(partial(getattr(land, name), 30.0, 30.5) for name in OF_PLACES),
        *(partial(getattr(land, name), shape) for name in OF_SHAPES for shape in shapes),
        *(partial(land.contacts, shape, keep="deepest") for shape in shapes),
    ]
    for question in questions:
        question()
        assert calls_of(question) <= nothing, question
    for own, shape in [*((holed, one) for one in inside), *((colored, one) for one in shapes)]:
        contacts = partial(own.contacts, shape)  # materials are looked up by Python
        contacts()
        assert calls_of(contacts) <= nothing + 4, own


@pytest.mark.parametrize("name", [*OF_POINTS, *OF_SHAPES, "raycast", "sweep"])
def test_meshes_and_parts_are_asked_as_they_are_now(name):
    ball = Sphere((0.5, 0.25, 0.5), 0.5)
    mesh = TriangleMesh.box((2, 2, 2), solid=True)
    ground = Ground([rough(), TriangleMesh.box((4, 1, 4), position=(30, 3, 30))])
    given: tuple[Any, ...] = ((0.5, 0.25, 0.5),)
    if name == "raycast":
        given = (0.5, 0.25, 0.5), (0.0, 1.0, 0.1)
    elif name in {*OF_SHAPES, "sweep"}:
        given = (ball, (0.0, 3.0, 0.1)) if name == "sweep" else (ball,)
    changes: list[tuple[Any, Any]] = [
        (mesh, lambda: mesh.refit(mesh.vertices * 1.5)),
        (mesh, lambda: mesh.refit(mesh.vertices + 9.0)),
        (ground, lambda: ground.move(1, (0, 1, 0))),
        (ground, lambda: ground.add(TriangleMesh.box((1, 1, 1)))),
        (ground, lambda: ground.set_layers(2, 2)),
        (ground, lambda: ground.remove(1)),
        (ground, lambda: ground.remove(0)),
    ]
    for thing, change in changes:
        for _ in range(2):
            assert_same_answer(thing, name, given)
        change()
        assert_same_answer(thing, name, given)


def assert_same_answer(thing, name, given):
    found, known = (ask(*given) for ask in (getattr(thing, name), by_python(thing, name)))
    if name in OF_SHAPES:
        found, known = as_told(found), as_told(known)
    assert repr(found) == repr(known)


def test_what_answers_a_ground_is_of_no_use_after_the_call(monkeypatch):
    asked, kept = Queries.asked, []

    def keep(queries, ask, *about):
        kept.append(ask)
        return asked(queries, ask, *about)

    monkeypatch.setattr(Queries, "asked", keep)
    ground = with_parts()
    assert not ground.contains((30.0, 9.0, 30.0))
    with pytest.raises(ValueError, match="PyCapsule"):
        kept[0](queries_of(ground).ground_arrays)


def test_rays_see_edits():
    land = rough()
    cast = by_python(land, "raycast")
    for edit in range(20):
        land[20:24, 20:24] = float(edit)
        if edit == 10:
            land.thickness = 1.0
        if edit == 15:
            land.holes[21, 21] = True
        for ray in (Ray((21.5, 30, 21.5), (0, -1, 0)), Ray((21.5, -30, 21.5), (0, 1, 0.01))):
            assert land.raycast(ray) == cast(ray)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_entries_show_themselves_as_the_methods(kind, name):
    entry = vars(kind)[name]
    method = entry.__get__(None, kind)
    assert type(method) is FunctionType
    assert type(entry) is not FunctionType
    assert inspect.signature(entry) == inspect.signature(method)
    assert pydoc.render_doc(entry) == pydoc.render_doc(method)
    assert inspect.getsource(entry) == inspect.getsource(method)
    assert f" {name}(" in pydoc.plain(pydoc.render_doc(kind))
    thing = HOLDERS[kind]()
    bound = getattr(thing, name)
    assert type(bound) is MethodType
    assert inspect.signature(bound) == inspect.signature(MethodType(method, thing))
    with pytest.raises(AttributeError):
        setattr(thing, name, None)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_entries_are_kept_and_copied_as_the_methods(kind: Any, name: str) -> None:
    entry: Any = getattr(kind, name)
    unbound: Any = entry.__get__(None, kind)
    assert weakref.ref(entry)() is entry
    assert copy.copy(entry) is copy.deepcopy(entry) is entry
    assert pickle.loads(pickle.dumps((kind, name))) == (kind, name)
    assert outcome(pickle.dumps, entry)[0] is outcome(pickle.dumps, unbound)[0]
    maker: Any = type(entry)
    with pytest.raises(TypeError, match="cannot create"):
        maker()
    thing = HOLDERS[kind]()
    method = weakref.WeakMethod(getattr(thing, name))  # as events of pyglet keep it
    assert method() == getattr(thing, name)
    del thing
    gc.collect()
    assert method() is None


class OwnLock:
    """Not that of C, as where a game has put another class in its place since."""

    def __init__(self):
        self.lock: Any = threading.RLock()
        self.taken = 0

    def acquire(self, *given, **options):
        self.taken += 1
        return self.lock.acquire(*given, **options)

    def release(self):
        self.lock.release()


def test_locks_of_other_classes_are_taken_by_their_methods():
    hero, _ = pair()
    land = hero.ground
    land.raycast((30.0, 9.0, 30.0), (0.0, -1.0, 0.1))  # it is known to be all surface
    lock = land._storage.lock = OwnLock()
    hero.update(FRAME)
    assert lock.taken == 1
    assert land.raycast((30.0, 9.0, 30.0), (0.0, -1.0, 0.1)) is not None
    assert lock.taken == 2
    assert not lock.lock._is_owned()


def test_memory_stays_level():
    hero, _ = pair()
    asleep = CharacterMovement(rough(), BODIES[1], position=(30, 5, 30))
    land, holed = rough(), HeightMap(rough().heights, holes=np.eye(64, dtype=bool))

    ball = Sphere((30.0, 1.0, 30.0), 1.0)
    others = shapes_at(np.array((30.0, 1.0, 30.0)), 1.0, np.random.default_rng(1))

    def play(times):
        for frame in range(times):
            hero.walk(3.0 if frame % 100 < 50 else -3.0, 1)
            hero.update(FRAME)
            hero.velocity.y = 1.0
            hero.update(FRAME)
            land.raycast((30.0, 9.0, 30.0), (0.0, -1.0, 0.1), max_distance=frame % 20)
            land.closest_point(hero.position)
            land.contains((30.0, 1.0, 30.0))
            land.contacts(ball, keep="deepest")
            land.touches(ball)
            holed.touches(ball)
            holed.contacts(ball)
            holed.sweep(others[frame % 5], (0.0, -4.0, 0.5))
            land.sweep(ball, (0.0, 0.0, 1.0), max_distance=frame % 20)
            land.contacts(others[frame % 5])
            land.height_at(30.0, frame % 60)
            land.normal_at(30.0, 30.5)
            land.signed_distance(glm.vec3(30, frame % 9, 30))
            asleep.update(FRAME)

    play(500)
    gc.collect()
    tracemalloc.start()
    try:
        play(500)
        before = tracemalloc.get_traced_memory()[0]
        play(33_000)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
