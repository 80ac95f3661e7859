"""An update of a group in C: the same bits, results and errors as the method."""

import gc
import math
import tracemalloc
from functools import partial

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels import _jit
from tests.helpers.calls import calls_of
from tests.helpers.patchy import patchy
from tests.native.test_quick import FRAME, GROUNDS, HOSTILE, by_python, outcome, rough

pytestmark = pytest.mark.skipif(_jit.native is None, reason="entries are in machine code of wheels")

BODIES = (SphereCollider(0.5), CapsuleCollider(0.3, 1.8), BoxCollider((1, 1, 1)))


def grouped(ground, count, **options):
    """Return a group of so many characters on a ground."""
    group = CharacterGroup(ground, **options)
    for key in range(count):
        group.add(key, (20.0 + 1.5 * key, 5.0, 30.0), collider=BODIES[key % 3])
    return group


def told(group):
    """Return all that an update writes to."""
    time = group._data.time
    rows = [part.tobytes() for part in group._data.rows()]
    return rows, group._data.cell_sizes, time.last, time.in_update


def fields(result):
    """Return all of a result, so that it can be compared."""
    rows = {name: getattr(result, name) for name in result.__match_args__}
    hits = vars_of(rows.pop("blocked_by"))
    arrays = {k: v if isinstance(v, float) else (v.tobytes(), v.dtype) for k, v in rows.items()}
    return type(result), arrays, hits, result._before is None, result._logs is None


def vars_of(hits):
    return [np.asarray(value).tobytes() for value in hits]


def same(quick, plain, *given, **options):
    """Update by both roads, and compare all that comes of it."""
    calls = quick.update, by_python(plain, "update")
    found, known = (outcome(lambda call=call: fields(call(*given, **options))) for call in calls)
    assert found == known, (given, options)
    assert told(quick) == told(plain), (given, options)
    return found


def steer(group, draws):
    group.walk(*draws.uniform(-4, 4, (2, len(group))))


@pytest.mark.parametrize("options", [{}, {"collide": True}, {"material_rules": {0: {"speed": 2}}}])
@pytest.mark.parametrize("count", [1, 4, 7])
@pytest.mark.parametrize("ground", GROUNDS)
def test_groups_have_the_same_bits(ground, count, options):
    both = [grouped(GROUNDS[ground](), count, **options) for _ in range(2)]
    ways = [np.random.default_rng(3) for _ in both]
    for frame in range(180):
        for group, draws in zip(both, ways, strict=True):
            if frame % 60 < 40:
                steer(group, draws)
            if frame % 50 == 20:
                group[next(iter(group))].velocity = 9, 3, 0  # runs into others and walls
            if frame == 100:
                group.remove(next(iter(group)))
                group.add("new", (25.0, 6.0, 25.0), collider=BODIES[0])
        same(*both, FRAME if frame % 7 else 0.05)


def test_a_group_sees_how_its_ground_changes():
    def edit(ground, frame):
        if frame == 20:
            ground.move(1, (25.0, 4.0, 30.0), FRAME)
        if frame == 40:
            ground.parts[0].raise_((24, 30), 3.0, 0.5)
        if frame == 60:
            ground.add(HeightMap(np.zeros((9, 9)), origin=(90, 0, 90)))
        if frame == 80:
            ground.remove(1)

    grounds = [GROUNDS["parts"]() for _ in range(2)]
    both = [grouped(ground, 5) for ground in grounds]
    for frame in range(120):
        for ground in grounds:
            edit(ground, frame)
        same(*both, FRAME)
    for group in both:
        group.ground = rough()
    same(*both, FRAME)


def test_a_map_with_small_cells_is_refused():
    both = [grouped(Ground([rough()]), 3) for _ in range(2)]
    same(*both, FRAME)
    for group in both:
        group.ground.add(HeightMap(np.zeros((9, 9)), cell_size=1e-3))
    found = same(*both, FRAME)
    assert found[0] is ValueError
    assert same(*both, FRAME) == found


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_hostile_times_have_the_same_effect(value):
    both = [grouped(rough(), 3) for _ in range(2)]
    for given in [(value,), (FRAME,), (value, FRAME), ()]:
        same(*both, *given)
    same(*both, delta_time=value)
    same(*both, dt=value)


@pytest.mark.parametrize("value", [None, 3, rough(), grouped(rough(), 1)], ids=type)
def test_what_is_no_group_gets_the_error_of_the_method(value):
    entry = CharacterGroup.update
    method = entry.__get__(None, CharacterGroup)
    assert outcome(entry, value, 0.0)[0] is outcome(method, value, 0.0)[0]


def test_a_group_without_characters_and_one_with_a_gap():
    both = [grouped(rough(), 0) for _ in range(2)]
    same(*both, FRAME)
    for group in both:
        for key in range(6):
            group.add(key, (20.0 + 2.0 * key, 5.0, 30.0), collider=BODIES[1])
    same(*both, FRAME)
    for group in both:
        group.remove(2)
    same(*both, FRAME)


def test_adopted_members_are_shown_what_came_of_it():
    both = [grouped(rough(), 2) for _ in range(2)]
    heroes = [CharacterMovement(rough(), BODIES[1], position=(30, 5, 30)) for _ in both]
    for group, hero in zip(both, heroes, strict=True):
        group.add("hero", movement=hero)
    for _ in range(30):
        for hero in heroes:
            hero.walk(2.0, 1.0)
        same(*both, FRAME)
        assert heroes[0].position == heroes[1].position
    for hero in heroes:
        hero.velocity.x = math.nan
    assert same(*both, FRAME)[0] is ValueError


def test_land_in_tiles_is_the_methods():
    both = [grouped(Ground([rough()]), 3) for _ in range(2)]
    for group in both:
        patchy(group.ground, (20.0, 0.0, 21.0, 99.0))
    for _ in range(5):
        same(*both, FRAME)
    assert both[0].update(FRAME).waiting.any()


def test_an_error_leaves_the_group_between_updates(monkeypatch):
    def fail(*given):
        raise KeyboardInterrupt

    group = grouped(rough(), 2)
    group.update(FRAME)
    kept = told(group)
    for name in ("_see_changes", "_advance"):
        with monkeypatch.context() as patched:
            patched.setattr(CharacterGroup, name, fail)
            if name == "_see_changes":
                group.ground[9, 9] = 7.0
            with pytest.raises(KeyboardInterrupt):
                group.update(FRAME)
        assert told(group)[1:] == kept[1:]
    group.update(FRAME)


def test_memory_stays_level():
    group = grouped(Ground([rough(), TriangleMesh.box((1, 1, 1))]), 3)

    def play(times):
        for frame in range(times):
            group.walk(9.0 if frame % 100 < 50 else -9.0, 1)
            group.update(FRAME)
            if frame % 9 == 0:
                group.ground.parts[0][60, 60] = frame % 3

    gc.collect()
    tracemalloc.start()
    try:
        play(7_000)  # the log of changes grows up to here
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        play(6_000)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000


def test_a_group_of_one_takes_few_calls():
    group = grouped(Ground([rough()]), 1)
    for _ in range(3):
        group.walk(1.0, 0.0)
        group.update(FRAME)
    group.walk(1.0, 0.0)
    assert calls_of(partial(group.update, FRAME)) <= 45
