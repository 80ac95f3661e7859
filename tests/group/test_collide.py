"""Characters of a group that collide: order, masses, layers, walls, and what nobody may do."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.character.state import layout as columns
from tests.behaviour import throngs
from tests.helpers.pairwise import each_once, few_or_many

FRAME = 1 / 60
RADIUS, HEIGHT = 0.4, 1.8
BODY = CapsuleCollider(RADIUS, HEIGHT, offset=(0, 0.9, 0))
FLOOR = HeightMap(np.zeros((101, 101)), origin=(-50, 0, -50))


RATES = [20, *(pytest.param(rate, marks=pytest.mark.full) for rate in (60, 200))]


def _hills():
    x, z = np.meshgrid(np.arange(101), np.arange(101))
    bumps = np.random.default_rng(5).normal(0.0, 0.05, (101, 101))
    return HeightMap(np.sin(x / 3) + 0.7 * np.cos(z / 4) + bumps, origin=(-50, 0, -50))


def _group(land=FLOOR, **options):
    return CharacterGroup(land, BODY, collide=True, **options)


def _overlap(group):
    places = group.positions[:, [0, 2]]
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float((2.0 * RADIUS - distances)[np.triu_indices(len(places), 1)].max())


def _chase(group, x=0.0, z=0.0, speed=4.0):
    """Let everyone walk to a place, and stop there."""
    way = np.array([x, z]) - group.positions[:, [0, 2]]
    far = np.linalg.norm(way, axis=1)
    share = np.minimum(speed, far / FRAME) / np.maximum(far, 1e-9)
    group.walk(way[:, 0] * share, way[:, 1] * share)


def _mixed(keys, threads, land):
    """Return a dense crowd of several bodies and masses: what a key is follows from it alone."""
    group = CharacterGroup(land, seed=3, threads=threads, collide=True)
    bodies = (BODY, SphereCollider(0.5), BoxCollider((0.3, 0.8, 0.5)))
    for key in keys:
        rng = np.random.default_rng(key)
        x, z = rng.uniform(-4, 4, 2).round(1).tolist()  # some at one place
        group.add(
            key,
            (x, float(land.height_at(x, z)) + 1.0, z),
            collider=bodies[key % 3],
            mass=(80.0, 8.0, 800.0, math.inf)[key % 4],
            resolver=("shuffled", "simultaneous")[key % 2],
        )
    return group


def _run(group, frames=90):
    for frame in range(frames):
        _chase(group, *((2.0, 1.0) if frame < 45 else (-3.0, 0.0)))
        if frame % 20 == 7:
            keys = [key for key in group if key % 5 == 0]
            group.set_velocities(np.tile([1.0, 4.0, 0.0], (len(keys), 1)), keys=keys)
        group.update(FRAME)
    return dict(group.hashes())


@pytest.mark.parametrize("count", [3, pytest.param(6, marks=pytest.mark.full)])
def test_order_and_threads_change_no_bit(count, monkeypatch):
    monkeypatch.setattr("terrain_physics._support.threads._SHORTEST_TASK", 1)
    land, keys = _hills(), list(range(60))
    wanted = _run(_mixed(keys, 1, land))
    for seed in range(count):
        shuffled = np.random.default_rng(seed).permutation(keys).tolist()
        assert _run(_mixed(shuffled, 1 + seed % 3, land)) == wanted


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.full)])
def test_many_orders_change_no_bit(count, monkeypatch):
    monkeypatch.setattr("terrain_physics._support.threads._SHORTEST_TASK", 1)
    land, keys = _hills(), list(range(11))
    wanted = _run(_mixed(keys, 1, land), 6)
    assert len(set(wanted.values())) == len(keys)
    for seed in range(count):
        shuffled = np.random.default_rng(seed).permutation(keys).tolist()
        assert _run(_mixed(shuffled, 1 + seed % 3, land), 6) == wanted


def test_order_changes_no_bit_of_a_long_chain_that_is_pushed():
    keys = [*range(16), *range(100, 106)]  # wide ones aside: several of the chain share a cell

    def run(order):
        group = CharacterGroup(FLOOR, BODY, collide=True)
        for key in order:
            if key >= 100:
                wide = CapsuleCollider(2.0, 5.0, offset=(0, 2.5, 0))
                group.add(key, (6 * key - 580, 0, 20), collider=wide)
            else:
                slim = CapsuleCollider(0.2, 1.8, offset=(0, 0.9, 0))
                place = (0.401 * key + 0.01 * (key % 3), 0, 2e-3 * (key % 2))
                group.add(key, place, collider=slim, mass=20.0 if key else 5000.0)
        for _ in range(12):
            group[0].velocity = (6, 0, 0)
            group.update(1 / 30)
        return dict(group.hashes())

    wanted = run(keys)
    for seed in range(3):
        assert run(np.random.default_rng(seed).permutation(keys).tolist()) == wanted
    assert run(keys[::-1]) == wanted


@pytest.mark.parametrize(("heads", "count"), few_or_many(("slide", "stand"), 3, 12))
def test_order_and_threads_change_no_bit_of_riders_and_on_heads(heads, count, monkeypatch):
    monkeypatch.setattr("terrain_physics._support.threads._SHORTEST_TASK", 1)
    keys = list(range(30))

    def run(order, threads):
        land = Ground([FLOOR])
        belt = throngs.put_wall(land, (-6, -2, 2, 2), top=0.2)
        train = land.add(TriangleMesh.box((6, 0.2, 2)))
        land.set_surface_velocity(belt, (3, 0, 0))
        group = CharacterGroup(land, BODY, seed=3, threads=threads, collide=True, heads=heads)
        for key in order:
            x, y, z = np.random.default_rng(key).uniform([-5, 0.2, -1.5], [4, 4, 4])
            group.add(key, (x, y, z))
        for frame in range(40):
            land.move(train, glm.translate(glm.mat4(1), glm.vec3(0.1 * frame, 0.1, 3)), FRAME)
            group.update(FRAME)
        return dict(group.hashes())

    wanted = run(keys, 1)
    assert len(set(wanted.values())) == len(keys)
    for seed in range(count):
        shuffled = np.random.default_rng(seed).permutation(keys).tolist()
        assert run(shuffled, 1 + seed % 3) == wanted


def test_crowds_far_apart_are_as_groups_of_their_own():
    near, far = _group(seed=1), _group(seed=1)
    both = _group(seed=1)
    for key in range(24):
        rng = np.random.default_rng(key)
        x, z = rng.uniform(-2, 2, 2)
        own, shift = (near, -20.0) if key % 2 else (far, 20.0)
        for group in (own, both):
            group.add(key, (x + shift, 0.0, z))
    for _ in range(120):
        for group in (near, far, both):
            x = np.where(group.positions[:, 0] < 0.0, -20.0, 20.0)
            group.walk(x - group.positions[:, 0], -group.positions[:, 2])
            group.update(FRAME)
    assert dict(both.hashes()) == dict(near.hashes()) | dict(far.hashes())


def test_a_crowd_goes_on_from_a_state_a_pickle_and_a_copy():
    land, keys = _hills(), list(range(40))
    group = _mixed(keys, 1, land)
    _run(group, 30)
    restored = CharacterGroup(land, seed=9, collide=True)
    restored.restore(pickle.loads(pickle.dumps(group.state())))
    others = [restored, pickle.loads(pickle.dumps(group)), copy.copy(group)]
    wanted = _run(group)
    assert [_run(other) == wanted for other in others] == [True] * 3


def test_a_group_that_does_not_collide_is_as_before():
    group = CharacterGroup(FLOOR, BODY)
    group.add_many(["ada", "bob"], [(0, 0, 0), (0.1, 0, 0)])
    group.update(FRAME)
    assert group.positions.tolist() == [[0, 0, 0], [0.1, 0, 0]]


def test_one_alone_in_a_crowd_moves_as_without_one():
    land = _hills()
    groups = [CharacterGroup(land, BODY, collide=collide) for collide in (False, True)]
    for group in groups:
        group.add("ada", (3, 4, 3))
        for frame in range(200):
            group.walk(3 * math.sin(frame / 30), 2)
            group.update(FRAME)
    assert list(groups[0].hashes()) == list(groups[1].hashes())


@pytest.mark.parametrize(
    ("mass", "speed"), [(80.0, 2.0), (8.0, 4 / 1.1), (800.0, 0.4 / 1.1), (math.inf, 0.0)]
)
def test_who_walks_pushes_by_mass(mass, speed):
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (1.5, 0, 0), mass=mass)
    for _ in range(120):
        group.walk(4, 0, keys=["ada"])
        before = group.positions
        group.update(FRAME)
    assert (group.positions - before)[:, 0] / FRAME == pytest.approx([speed, speed], abs=0.02)
    assert _overlap(group) <= 1e-9


def test_whom_one_runs_into_is_a_hit():
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (1.5, 0, 0))
    hits: list[Any] = []
    frames = 0
    while not hits:
        group.walk(4, 0, keys=["ada"])
        result = group.update(FRAME)
        hits, frames = list(group.hits()), frames + 1
        assert frames < 30
    (hit,) = hits
    assert (hit.other, hit.triangle, hit.reason) == (1, -1, "character")
    assert hit.speed == pytest.approx(4.0)  # though it goes on with 2
    assert hit.normal.to_tuple() == (-1, 0, 0)
    assert hit.point.x == pytest.approx(group["ada"].position.x + RADIUS)
    assert result.just_hit.tolist() == result.blocked.tolist() == [True, False]
    group.walk(4, 0, keys=["ada"])
    result = group.update(FRAME)
    assert len(group.hits()) == 0  # it pushes on: that is no new hit, but in its way
    assert result.blocked_by.other.tolist() == [1, -1]
    blocker = group["ada"].move_result().blocked_by
    assert blocker is not None
    assert (blocker.other, blocker.reason) == (1, "character")
    assert blocker.speed == pytest.approx(2.0)


def test_the_rows_of_others_follow_who_is_removed():
    group = _group()
    for key, x in (("zoe", -9), ("ada", 0), ("bob", 0.9)):
        group.add(key, (x, 0, 0))
    for _ in range(4):
        group.walk(4, 0, keys=["ada"])
        result = group.update(FRAME)
    assert result.blocked_by.other.tolist() == [-1, 2, -1]
    hits = [hit.other for hit in group.hits()]
    group.remove("zoe")
    assert [hit.other for hit in group.hits()] == [other - 1 for other in hits]
    blocker = group["ada"].move_result().blocked_by
    assert blocker is not None
    assert blocker.other == 1
    group.remove("bob")
    assert all(hit.other == -1 for hit in group.hits())


@pytest.mark.parametrize("top", [1.0, 3.0])  # lower walls are looked at as steps, too
def test_a_wall_is_remembered_while_others_are_near(top):
    ground = throngs.walls()
    throngs.put_wall(ground, (1, -5, 2, 5), top)
    group = _group(ground)
    group.add("ada", (0.599, 0, 0))
    group.add("bob", (-0.211, 0, 0))  # 10 mm behind
    for _ in range(5):
        group.walk(2, 0, keys=["ada"])
        group.update(FRAME)
    walls = group["ada"].state().values[columns.WALLS : columns.WALLS + 4]
    assert walls == pytest.approx((-1, 0, 0, 0))
    group.remove("bob")
    group.walk(2, 0)
    group.update(FRAME)
    assert group["ada"].state().values[columns.WALLS : columns.WALLS + 4] == (0, 0, 0, 0)


@pytest.mark.parametrize("slope_speed", ["horizontal", "surface"])
def test_who_is_alone_again_climbs_the_stairs(slope_speed):
    ground = throngs.walls()
    for step in range(8):
        throngs.put_wall(ground, (-30, 0.35 * step, 30, 20), 0.2 * (step + 1))
    group = _group(ground, slope_speed=slope_speed, step_offset=0.35)
    group.add("ada", (0, 0, -1.5))
    group.add("bob", (0.84, 0, -1.4))
    for frame in range(180):
        if frame == 60:
            group.remove("bob")
        group.walk(0, 4.65)
        group.update(FRAME)
    assert group["ada"].position.y == pytest.approx(1.6)


@pytest.mark.parametrize("mass", [80.0, 8000.0, math.inf])
def test_who_is_fast_far_away_changes_nothing(mass):
    ground = throngs.walls((-3, 1, 3, 2))
    rows = []
    for speed in (0.0, 100.0):
        group = _group(ground)
        group.add("ada", (-2, 0, 0.5))
        group.add("bob", (0.3, 0, -0.3), mass=mass)
        group.add("eve", (-40, 0, -40))
        for _ in range(60):
            group.walk(3, 1, keys=["ada"])
            group.walk(0, speed, keys=["eve"])
            group.update(FRAME)
        rows.append([group[key].state() for key in ("ada", "bob")])
    assert rows[0] == rows[1]


def test_who_goes_the_same_way_stays_back_and_pushes_nobody():
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (2, 0, 0), mass=8.0)
    for _ in range(240):
        group.walk([4, 1], 0)
        before = group.positions
        group.update(FRAME)
        assert group.positions[1, 0] - before[1, 0] == pytest.approx(FRAME, abs=1e-6)
    gap = group.positions[1, 0] - group.positions[0, 0] - 2.0 * RADIUS
    assert gap == pytest.approx(0.2 * 2.0 * RADIUS + FRAME, abs=0.02)


@pytest.mark.parametrize("rate", RATES)
def test_a_wall_that_moves_pushes_a_crowd_together(rate):
    ground = throngs.walls((3, -6, 4, 6), (-6, -4.5, 4, -4), (-6, 4, 4, 4.5))
    pusher = throngs.put_wall(ground, (-6, -5, -5, 5))
    group = _group(ground)
    places = [(x, 0, z) for x in range(-4, 3) for z in range(-3, 4)]
    group.add_many(range(len(places)), places)
    for frame in range(8 * rate):
        way = min(0.5 * frame / rate, 1.6)
        ground.move(pusher, glm.translate(glm.mat4(1), glm.vec3(way, 0, 0)), 1 / rate)
        group.update(1 / rate)
        x, _, z = group.positions.T
        assert x.min() >= -5 + way + RADIUS - 1e-3
        assert x.max() <= 3 - RADIUS + 1e-3
        assert abs(z).max() <= 4 - RADIUS + 1e-3
    assert _overlap(group) <= 1e-3


@pytest.mark.parametrize("rate", RATES)
def test_a_crowd_climbs_stairs(rate):
    ground = throngs.walls((-3, -1, -1.5, 20), (1.5, -1, 3, 20))
    for step in range(10):
        end = 20 if step == 9 else 0.3 * step + 0.31
        throngs.put_wall(ground, (-1.5, 0.3 * step, 1.5, end), 0.2 * (step + 1))
    group = _group(ground)
    places = [(x, 0, z) for x in (-1, 0, 1) for z in (-1, -2, -3, -4, -5)]
    group.add_many(range(len(places)), places)
    for _ in range(8 * rate):
        group.walk(0, np.where(group.positions[:, 2] < 9, 3.0, 0.0))
        group.update(1 / rate)
        assert _overlap(group) <= 1e-9
    assert group.positions[:, 1].min() >= 2.0 - 1e-3


def test_an_immovable_one_pushes_at_its_own_speed():
    group = _group()
    group.add("ada", (0, 0, 0), mass=math.inf)
    group.add("bob", (1.5, 0, 0))
    for _ in range(120):
        group.walk(4, 0, keys=["ada"])
        before = group.positions
        group.update(FRAME)
    assert (group.positions - before)[:, 0] / FRAME == pytest.approx([4, 4], abs=0.02)
    assert _overlap(group) <= 1e-9


@pytest.mark.parametrize("rate", [20, 60, 200])
@pytest.mark.parametrize("height", [0.0, 0.5])
def test_nobody_gets_past_another_at_30_meters_a_second(rate, height):
    group = _group()
    group.add("ada", (-8, height, 0), velocity=(30, 0, 0), gravity_scale=0.0)
    group.add("bob", (8, height, 0), velocity=(-30, 0, 0), gravity_scale=0.0)
    for _ in range(rate):
        group.walk([30, -30], 0)
        group.update(1 / rate)
        assert group.positions[0, 0] < group.positions[1, 0]
        assert _overlap(group) <= 1e-9


def test_layers_and_masks_say_who_meets():
    group = _group()
    group.add("ada", (0, 0, 0), layers=2, mask=0xFFFF_FFFF)
    group.add("bob", (1, 0, 0), mask=0xFFFF_FFFD)  # does not meet those on layer 2
    for _ in range(60):
        group.walk(4, 0, keys=["ada"])
        group.update(FRAME)
    assert group["ada"].position.x > 3.9
    assert group["bob"].position64 == (1.0, 0.0, 0.0)


def test_who_stands_at_one_place_is_pushed_apart_whatever_the_order():
    found = []
    for keys in (range(9), reversed(range(9))):
        group = _group()
        for key in keys:
            group.add(key, (1, 0, 2))
        frames = 0
        while _overlap(group) > 1e-3 and frames < 120:
            before = group.positions
            group.update(FRAME)
            assert np.linalg.norm(group.positions - before, axis=1).max() <= 3.0 * FRAME * 3
            frames += 1
        assert frames < 120
        for _ in range(60):
            group.update(FRAME)
        resting = group.state_hash()
        group.update(FRAME)
        assert group.state_hash() == resting
        found.append(resting)
    assert found[0] == found[1]


def test_who_sleeps_keeps_all_bits_beside_those_who_pass():
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (-5, 0, 0.85))
    for _ in range(30):
        group.update(FRAME)
    before = dict(group.hashes())["ada"]
    for _ in range(150):
        group.walk(4, 0, keys=["bob"])
        group.update(FRAME)
    assert group["bob"].position.x > 4
    assert dict(group.hashes())["ada"] == before


def test_nobody_is_pushed_through_walls_or_below_the_ground():
    heights = np.zeros((61, 61))
    heights[:, 40:] = 3.0  # a wall across x
    land = HeightMap(heights, cell_size=0.25, origin=(-7.5, 0, -7.5))
    group = _group(land)
    rng = np.random.default_rng(1)
    places = rng.uniform([-7, -6], [1.0, 6], (40, 2))
    group.add_many(range(40), [(x, 0, z) for x, z in places])
    for _ in range(240):
        _chase(group, 6.0, 0.0)
        before = _overlap(group)
        group.update(FRAME)
        assert _overlap(group) <= max(before, 0.0) + 1e-6
        assert group.positions[:, 1].max() <= 0.01
        assert group.positions[:, 1].min() >= -1e-3
        assert group.positions[:, 0].max() <= 2.5 - RADIUS + 1e-2


@pytest.mark.parametrize("keeps", [False, True])
def test_who_keeps_off_ledges_is_not_pushed_over_one(keeps):
    heights = np.zeros((41, 41))
    heights[:, 20:] = -5.0
    group = _group(HeightMap(heights, cell_size=0.5, origin=(-10, 0, -10)))
    group.add("ada", (-3, 0, 0))
    group.add("bob", (-1.5, 0, 0), keep_off_ledges=keeps)
    for _ in range(240):
        if group["ada"].position.x < -0.9:
            group.walk(2, 0, keys=["ada"])
        group.update(FRAME)
    assert (group["bob"].position.y > -0.1) == keeps


@pytest.mark.parametrize("rate", [20, 60, 200])
def test_who_lands_on_a_head_slides_off(rate):
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (0.1, 4, 0))
    hits: list[tuple[str, int, float]] = []
    for _ in range(3 * rate):
        group.update(1 / rate)
        found = group.hits()
        hits += zip(found.reason, found.other.tolist(), found.speed.tolist(), strict=True)
        x, y, z = group["bob"].position64
        assert y >= HEIGHT - 1e-9 or math.hypot(x, z) >= 2 * RADIUS - 1e-3  # never inside
    assert group["ada"].position64 == (0, 0, 0)
    assert group["bob"].grounded
    assert group["bob"].ground_report().landing_speed == pytest.approx(5.94, abs=0.01)
    (first, who, speed), (second, _, _) = hits
    assert (first, who, second) == ("character", 0, "")
    assert speed == pytest.approx(6.57, abs=0.2)


@pytest.mark.parametrize(
    ("rate", "options"),
    each_once((20, 60, 360), ({}, {"mass": math.inf}, {"collider": SphereCollider(0.3)})),
)
def test_nobody_stays_on_a_head_wherever_it_fell(rate, options):
    rng = np.random.default_rng(rate)
    group = _group()
    places = [(4.0 * i, 0, 0) for i in range(12)]
    group.add_many(range(12), places)
    falls = np.array(places) + np.insert(rng.uniform(-0.3, 0.3, (12, 2)), 1, 2.5, axis=1)
    group.add_many(range(12, 24), falls, **options)
    for _ in range(3 * rate):
        group.update(1 / rate)
    assert group.states.tolist() == ["grounded"] * 24
    assert group.positions[:12].tolist() == np.array(places).tolist()


def test_who_touches_a_wall_on_a_head_does_not_sleep_there():
    group = _group(throngs.walls((0.4, -2, 1, 2)), heads="stand")
    group.add("ada", (0, 0, 0))
    group.add("bob", (0, HEIGHT, 0))
    for _ in range(60):
        group.update(FRAME)
    assert group["bob"].position.y == pytest.approx(HEIGHT)
    group.remove("ada")
    for _ in range(60):
        group.update(FRAME)
    assert group["bob"].position.y == 0


@pytest.mark.parametrize("speed", [4.0, 10.0])
def test_lifts_do_not_lead_through_who_is_above(speed):
    land = Ground([FLOOR])
    lift = land.add(TriangleMesh.box((4, 0.2, 4)))
    land.move(lift, glm.translate(glm.mat4(1), glm.vec3(0, 0.1, 0)), None)
    group = _group(land, heads="stand")
    group.add("ada", (0, 0.2, 0))
    group.add("bob", (0.1, 0.2 + HEIGHT, 0))
    for frame in range(120):
        if frame >= 30:
            up = glm.vec3(0, 0.1 + speed * (frame - 29) / 60, 0)
            land.move(lift, glm.translate(glm.mat4(1), up), FRAME)
        group.update(FRAME)
        ada, bob = group["ada"].position, group["bob"].position
        assert bob.y - ada.y == pytest.approx(HEIGHT, abs=1e-3)
        assert bob.x == pytest.approx(0.1)


def test_who_jumps_under_somebody_carries_it_up():
    group = _group(heads="stand")
    group.add("ada", (0, 0, 0))
    group.add("bob", (0.1, HEIGHT, 0))
    for frame in range(120):
        if frame == 20:
            group["ada"].velocity = (0, 6, 0)
        group.update(FRAME)
        ada, bob = group["ada"].position, group["bob"].position
        assert bob.y - ada.y >= HEIGHT - 0.05
    assert group["bob"].grounded
    assert ada.y == 0


def test_forces_on_heads_are_those_on_the_ground():
    group = _group(heads="stand")
    for place, rule in enumerate(("contact", "sum")):
        group.add(f"ada{place}", (0, 0, 5.0 * place))
        group.add(f"bob{place}", (-0.3, HEIGHT, 5.0 * place), ground_rule=rule, ground_friction=2)
        group.add(f"eve{place}", (3, 0, 5.0 * place), ground_rule=rule, ground_friction=2)
    for _ in range(5):
        group.update(FRAME)
    for place in range(2):
        for name in ("bob", "eve"):
            group[f"{name}{place}"].walk(0.5, 0)
    for _ in range(10):
        group.update(FRAME)
    for place in range(2):
        bob, eve = group[f"bob{place}"], group[f"eve{place}"]
        assert bob.velocity.x == pytest.approx(eve.velocity.x, abs=1e-6)
    group["bob0"].gravity_scale = -1
    for _ in range(60):
        group.update(FRAME)
    assert group["bob0"].position.y > 6


def test_heads_of_those_who_fall_hold_nobody():
    group = _group(heads="stand")
    group.add("ada", (0, 10, 0))
    group.add("bob", (0.1, 10 + HEIGHT, 0))
    for _ in range(40):
        group.update(FRAME)
        assert not group.grounded.any()
    for _ in range(80):
        group.update(FRAME)
    assert group.grounded.all()


def test_who_slides_off_a_head_is_on_it_meanwhile():
    group = _group()
    group.add("ada", (0, 0, 0))
    group.add("bob", (0.1, HEIGHT, 0))
    group.update(FRAME)
    report = group["bob"].ground_report()
    assert (report.state, report.part, report.triangle, report.material) == ("character", -1, -1, 0)
    assert report.point == group["bob"].position
    assert group.states.tolist() == ["grounded", "character"]
    assert not group["bob"].grounded
    assert group.parts.tolist() == [0, -1]


@pytest.mark.parametrize(
    "place", [(1.62, 1.62), (1.215, 1.215), (2.0, 0.7), (0.1, 3.1), (1.6, 2.0)]
)
def test_who_falls_on_the_heads_of_a_crowd_slides_out_of_it(place):
    group = _group()
    group.add_many(range(25), [(0.81 * (i % 5), 0, 0.81 * (i // 5)) for i in range(25)])
    group.add("bob", (place[0], 3, place[1]))
    on_heads = 0
    for _ in range(240):
        group.update(FRAME)
        bob = group["bob"]
        on_heads += bob.position.y == pytest.approx(HEIGHT)
        if 0.01 < bob.position.y < HEIGHT - 0.15:  # beside them, and nowhere between
            assert _overlap(group) <= 1e-3
    assert on_heads > 0
    assert group["bob"].grounded
    assert group["bob"].position.y == pytest.approx(0, abs=1e-6)
    assert group.positions[:25, 1].max() <= 1e-6
    assert _overlap(group) <= 1e-3


@pytest.mark.parametrize("key", range(4))
def test_one_slides_off_heads_beside_a_wall(key):
    corners = [(0, 0, -10), (0, 0, 10), (0, 6, 10), (0, 6, -10)]
    wall = TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)])
    group = CharacterGroup(Ground([FLOOR, wall]), BODY, collide=True)
    places = [(-0.45 - 0.81 * (i % 5), 0, -1.62 + 0.81 * (i // 5)) for i in range(25)]
    group.add_many(range(100, 125), places)
    group.add(key, (-0.9, 2.5, 0.1))
    for _ in range(300):
        group.update(FRAME)
    assert group[key].grounded
    assert group[key].position.y == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("heads", ["slide", "stand"])
def test_who_is_low_is_beside_who_is_wide(heads):
    group = CharacterGroup(FLOOR, collide=True, heads=heads)
    group.add("giant", (0, 0, 0), collider=CapsuleCollider(3, 8, offset=(0, 4, 0)))
    group.add("rat", (2, 0, 0), collider=CapsuleCollider(0.2, 0.5, offset=(0, 0.25, 0)))
    for _ in range(60):
        group.update(FRAME)
    assert group["rat"].position.x - group["giant"].position.x == pytest.approx(3.2, abs=1e-3)
    assert group.positions[:, 1].tolist() == [0, 0]


def test_between_two_heads_one_slides_off_to_any_side():
    group = _group()
    group.add_many("ab", [(-0.4, 0, 0), (0.4, 0, 0)], mass=math.inf)
    group.add("bob", (0, HEIGHT, 0))
    for _ in range(90):
        group.update(FRAME)
    assert group["bob"].position.y == 0


@pytest.mark.parametrize(("higher", "rate"), each_once((0.0, 0.1, 0.4), (60, 20, 360)))
def test_one_walks_from_a_wall_over_heads_and_back(rate, higher):
    """The heads are as high as the wall, or lower: on the way back they are as high as it."""
    top = HEIGHT + higher
    wall = HeightMap(np.full((9, 9), top), origin=(-8.4, 0, -4))
    group = CharacterGroup(Ground([FLOOR, wall]), BODY, collide=True, heads="stand")
    group.add_many("abc", [(0.0, 0, 0), (0.81, 0, 0), (1.62, 0, 0)], mass=math.inf)
    group.add("bob", (-1.2, top, 0))
    for _ in range(2 * rate):
        group.walk(1.2, 0, keys=["bob"])
        group.update(1 / rate)
        assert group["bob"].position.y > HEIGHT - 0.12
    assert group["bob"].position.y == pytest.approx(HEIGHT)
    assert group.states[-1] == "character"
    assert group["bob"].position.x == pytest.approx(1.2, abs=0.07)
    if higher:
        return
    for _ in range(2 * rate):
        group.walk(-1.2, 0, keys=["bob"])
        group.update(1 / rate)
        assert group["bob"].position.y > HEIGHT - 0.01
    assert group["bob"].position.x == pytest.approx(-1.2, abs=0.07)
    assert group.states[-1] == "grounded"


@pytest.mark.parametrize("rate", [20, 60, 200])
def test_who_may_stands_on_a_head(rate):
    group = _group(heads="stand")
    group.add("ada", (0, 0, 0))
    group.add("bob", (0.1, 3, 0))
    for _ in range(rate):
        result = group.update(1 / rate)
    assert result.grounded.all()
    assert group.states.tolist() == ["grounded", "character"]
    assert group["bob"].position64 == pytest.approx((0.1, HEIGHT, 0))
    group["bob"].velocity = (0, 4, 0)  # it jumps off it as off the ground
    assert group.update(1 / rate).just_left.tolist() == [False, True]
    for _ in range(rate):
        group.update(1 / rate)
    assert group["bob"].grounded
    for _ in range(2 * rate):
        group.walk(1, 0, keys=["bob"])
        group.update(1 / rate)
    assert group["bob"].position.y == 0  # walked off it
    assert group["bob"].position.x > 1
    group.update(1 / rate)


def test_friction_holds_on_heads_and_who_leaves_drops_whom_it_bore():
    group = _group(heads="stand")
    group.add("ada", (0, 0, 0))
    group.add("bob", (-0.4, HEIGHT, 0), velocity=(1, 0, 0))
    for _ in range(30):
        group.update(FRAME)
    assert -0.4 < group["bob"].position.x < -0.3
    assert group["bob"].velocity == glm.vec3(0)
    for _ in range(120):
        group.walk(3, 0, keys=["ada"])
        group.update(FRAME)
    assert group["bob"].position.y == 0


def test_heads_rise_and_sink_with_those_below():
    slope = HeightMap(np.tile(0.3 * np.arange(81.0), (81, 1)), origin=(-40, 0, -40))
    group = _group(slope, heads="stand")
    group.add("ada", (0, 12.2, 0))
    group.add("bob", (0, 15, 0))
    for _ in range(60):
        group.update(FRAME)
    for way in (1, -1):
        for _ in range(120):
            group.walk(2 * way, 0)
            group.update(FRAME)
            ada, bob = group["ada"], group["bob"]
            assert bob.grounded
            assert bob.position.y - ada.position.y == pytest.approx(HEIGHT, abs=0.03)


def test_what_is_on_a_head_is_saved():
    group = _group(heads="stand")
    group.add("ada", (0, 0, 0))
    group.add("bob", (0.1, 3, 0))
    for _ in range(60):
        group.update(FRAME)
    other = _group(heads="stand")
    other.restore(group.state())
    for _ in range(30):
        group.walk(0.5, 0, keys=["bob"])
        other.walk(0.5, 0, keys=["bob"])
        group.update(FRAME)
        other.update(FRAME)
        assert group.state_hash() == other.state_hash()


@pytest.mark.parametrize("speed", [1.0, 3.0, 8.0])
def test_a_belt_carries_nobody_into_others(speed):
    land = Ground([FLOOR])
    belt = throngs.put_wall(land, (-20, -2, 2, 2), top=0.2)
    land.set_surface_velocity(belt, (speed, 0, 0))
    group = _group(land)
    group.add("post", (2.41, 0, 0), mass=math.inf)
    group.add_many(range(4), [(0.9 - i, 0.2, 0) for i in range(4)])
    for _ in range(300):
        group.update(FRAME)
        assert _overlap(group) <= 5e-3
    assert group.positions[1:, 0].min() > -1.7  # a queue
    assert group["post"].position64[0] == 2.41


@pytest.mark.parametrize("speed", [5.0, 20.0, 40.0])
def test_riders_keep_out_of_others_and_stand_among_each_other(speed):
    land = Ground([FLOOR])
    train = land.add(TriangleMesh.box((6, 0.2, 2)))

    def place(x):
        return glm.translate(glm.mat4(1), glm.vec3(x, 0.1, 0))

    land.move(train, place(-20.0), None)
    group = _group(land)
    riders = [(-20, 0.2, 0.9), (-19.1, 0.2, 0.9), (-18.2, 0.2, 0.2), (-20, 0.2, 0)]
    group.add_many(range(4), riders)
    group.add("post", (0.1, 0, 1.45), mass=math.inf)
    for _ in range(10):
        group.update(FRAME)
    for step in range(round(30 / speed * 60)):
        x = -20 + speed * (step + 1) / 60
        land.move(train, place(x), FRAME)
        group.update(FRAME)
        assert _overlap(group) <= 1e-3
        far = group.positions[:4, 0] - x
        assert far[2] == pytest.approx(1.8, abs=1e-3)  # those that pass the post by go along
    assert group["post"].position64[2] == 1.45


@pytest.mark.parametrize("seconds", [None, FRAME])
def test_a_part_that_is_put_elsewhere_takes_nobody_along(seconds):
    land = Ground([FLOOR])
    train = land.add(TriangleMesh.box((6, 0.2, 2)))

    def place(x):
        return glm.translate(glm.mat4(1), glm.vec3(x, 0.1, 0))

    land.move(train, place(0.0), None)
    group = _group(land)
    group.add_many(range(5), [(0.9 * i - 1.8, 0.2, 0.5) for i in range(5)])
    group.add_many(range(5, 8), [(0.9 * i - 5, 0, 1.8) for i in range(5, 8)])
    for frame in range(60):
        land.move(train, place(0.05 * frame), FRAME)
        group.update(FRAME)
    before = group.positions
    land.move(train, place(-20.0) if seconds is None else place(0.05 * 60), seconds)
    group.update(FRAME)
    moved = group.positions - before
    assert abs(moved[5:]).max() == 0
    assert abs(moved[:5, 0] - (0 if seconds is None else 0.05)).max() <= 0.06


def test_riders_that_are_nudged_or_set_off_go_along():
    land = Ground([FLOOR])
    train = land.add(TriangleMesh.box((8, 0.2, 2)))

    def place(x):
        return glm.translate(glm.mat4(1), glm.vec3(x, 0.1, 0))

    land.move(train, place(0.0), None)
    group = _group(land)
    group.add_many(range(5), [(0.85 * i - 1.8, 0.2, 0) for i in range(5)])
    for _ in range(30):
        group.update(FRAME)
    start = group.positions[:, 0].copy()
    for frame in range(1, 30):
        land.move(train, place(frame / 3), FRAME)
        if frame == 15:
            group[2].position.x += 0.001
        group.update(FRAME)
        assert abs(group.positions[:, 0] - start - frame / 3).max() <= 0.002


def test_a_walk_beside_others_is_as_alone_bit_for_bit():
    rng = np.random.default_rng(4)
    land = Ground([FLOOR])
    for x, z in rng.uniform(-10, 10, (60, 2)):
        top = float(rng.choice([0.1, 0.2, 0.3, 2.0]))
        throngs.put_wall(land, (x, z, x + 0.8, z + 0.8), top)
    ways = rng.uniform(-4, 4, (12, 2))
    alone, group = CharacterGroup(land, BODY), _group(land)
    path = []
    for one in (alone, group):
        one.add("ada", (0, 3, 0), layers=2)
    for frame in range(300):
        alone.walk(*ways[frame // 25])
        alone.update(FRAME)
        path.append(alone.positions[0])
    places = np.array(path)[:, [0, 2]]
    posts = places[rng.integers(0, 300, 300)] + rng.uniform(-1.2, 1.2, (300, 2))
    far = np.linalg.norm(posts[:, None] - places, axis=2).min(axis=1)
    posts = posts[far > 2 * RADIUS + 0.04][:40]
    assert len(posts) == 40
    pillar = CapsuleCollider(RADIUS, 60)
    group.add_many(
        range(40), [(x, 0, z) for x, z in posts], collider=pillar, mass=math.inf,
        gravity_scale=0, mask=2,
    )  # fmt: skip
    for frame in range(300):
        group.walk(*ways[frame // 25], keys=["ada"])
        group.update(FRAME)
        assert group.positions[0].tolist() == path[frame].tolist()


@pytest.mark.parametrize(
    ("count", "seconds"), [(20, 1), (60, 2), pytest.param(300, 9, marks=pytest.mark.long)]
)
def test_those_at_one_place_part(count, seconds):
    group = _group()
    group.add_many(range(count), np.zeros((count, 3)))
    for _ in range(60 * seconds):
        group.update(FRAME)
    assert _overlap(group) <= 1e-3
    before = group.positions
    group.update(FRAME)
    assert abs(group.positions - before).max() < 1e-4


def test_a_crowd_at_a_point_comes_to_rest_and_to_sleep():
    group = _group()
    rng = np.random.default_rng(2)
    places: list[Any] = []
    while len(places) < 60:
        place = rng.uniform(-9, 9, 2)
        if all(np.linalg.norm(place - other) > 0.85 for other in places):
            places.append(place)
    group.add_many(range(60), [(x, 0, z) for x, z in places])
    for frame in range(400):
        _chase(group)
        before = group.positions
        group.update(FRAME)
        assert _overlap(group) <= 1e-9
        if frame > 300:
            assert np.linalg.norm(group.positions - before, axis=1).max() < 1e-3
    group.walk(0, 0)
    for _ in range(60):
        group.update(FRAME)
    asleep = group.state_hash()
    group.update(FRAME)
    assert group.state_hash() == asleep


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="heads must be one of 'slide', 'stand', got 'sit'"):
        CharacterGroup(FLOOR, BODY, collide=True, heads="sit")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="heads must come with collide=True"):
        CharacterGroup(FLOOR, BODY, heads="stand")
    for wrong in ("up", 1, ["left"]):
        with pytest.raises(ValueError, match="keep_to must be 'right', 'left' or None, got"):
            CharacterGroup(FLOOR, BODY, collide=True, keep_to=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keep_to must come with collide=True, got 'left' without"):
        CharacterGroup(FLOOR, BODY, keep_to="left")
    with pytest.raises(TypeError, match="collide must be a bool, got 1"):
        CharacterGroup(FLOOR, BODY, collide=1)  # type: ignore[arg-type]
    group = _group()
    for bad in (0, -1.0, math.nan, -math.inf):
        with pytest.raises(ValueError, match="mass must be"):
            group.add("ada", (0, 0, 0), mass=bad)
    group.add_many("ab", [(0, 0, 0), (2, 0, 0)], mass=[math.inf, 3])
    assert group.rules("mass").tolist() == [math.inf, 3.0]
    with pytest.raises(ValueError, match="'b': mass must be"):
        group.set_rules(mass=[1.0, 0.0])
    with pytest.raises(ValueError, match="layers must be"):
        group["a"].layers = -1
    assert group["a"].mass == math.inf
