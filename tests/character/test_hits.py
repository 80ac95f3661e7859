"""Obstacles that stop a character: reasons, hits for sounds and damage, landed and left."""

import copy
import itertools
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
    CharacterMovement,
    Ground,
    HeightMap,
    MoveHit,
    MoveHits,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)
from tests.helpers.pairwise import each_once, few_or_many

RATES = (20, 24, 30, 50, 60, 90, 120, 144, 240, 360)
SLOPE_LIMIT = math.radians(45)
FRAME = 1 / 60

# Each body, and how high its center is over its foot.
BODIES: dict[str, tuple[Any, float]] = {
    "sphere": (SphereCollider(0.5), 0.5),
    "capsule": (CapsuleCollider(0.3, 1.8), 0.9),
    "box": (BoxCollider((0.3, 0.9, 0.3)), 0.9),
}
each_body = pytest.mark.parametrize("body", BODIES)
each_rate = pytest.mark.parametrize("rate", RATES)
some_rates = pytest.mark.parametrize(
    "rate", [RATES[0], *(pytest.param(rate, marks=pytest.mark.full) for rate in RATES[1:])]
)


def mesh_of(*quads):
    vertices = np.array(quads, dtype=float).reshape(-1, 3)
    first = 4 * np.arange(len(quads))[:, np.newaxis]
    faces = np.concatenate([first + np.array(corners) for corners in ((0, 1, 2), (0, 2, 3))])
    return TriangleMesh(vertices, faces)


def level(y=0.0, lower=-20.0, upper=20.0):
    return [(lower, y, lower), (lower, y, upper), (upper, y, upper), (upper, y, lower)]


def block(lower, upper):
    """Return the top, the bottom and the sides of a box, facing outwards."""
    (a, b, c), (x, y, z) = lower, upper
    return [
        [(a, y, c), (a, y, z), (x, y, z), (x, y, c)],
        [(a, b, c), (x, b, c), (x, b, z), (a, b, z)],
        [(a, b, c), (a, b, z), (a, y, z), (a, y, c)],
        [(x, b, c), (x, y, c), (x, y, z), (x, b, z)],
        [(a, b, c), (a, y, c), (x, y, c), (x, b, c)],
        [(a, b, z), (x, b, z), (x, y, z), (a, y, z)],
    ]


def ledge_map(height, cell=1.0):
    """Return a map that rises at x = 2 within one cell."""
    count = round(30 / cell)
    heights = np.zeros((count, count))
    heights[:, round(15 / cell) + 1 :] = height
    materials = np.full((count - 1, count - 1), 5, np.uint8)
    return HeightMap(heights, cell_size=cell, origin=(2 - 15, 0, -15), materials=materials)


def slope_map(degrees):
    """Return a map that rises from x = 2 on."""
    heights = np.maximum(np.arange(30) - 15.0, 0) * math.tan(math.radians(degrees))
    return HeightMap(np.tile(heights, (30, 1)), origin=(2 - 15, 0, -15))


def far_mesh():
    return mesh_of(level(-50.0, -1.0, 1.0))


FLOOR = mesh_of(level())
WALL = mesh_of(level(), *block((2, 0, -19), (3, 4, 19)))
SLAB = mesh_of(level(), *block((2, 1.2, -19), (9, 3, 19)))
WALLS = {
    "map": ledge_map(30.0),
    "mesh": WALL,
    "ground": Ground([far_mesh(), ledge_map(30.0)]),
    "ground of meshes": Ground([far_mesh(), WALL]),
}


def mover_on(ground, body, x=0.0, z=0.0, above=0.0, **rules):
    collider, up = BODIES[body]
    rules = {"slope_limit": SLOPE_LIMIT} | rules
    mover = CharacterMovement(ground, collider, position=(x, up + above, z), **rules)
    for _ in range(2):
        mover.update(1 / 60)
    return mover


def drive(mover, velocity, seconds, rate=60):
    """Return (result, hits) of each update of a walk."""
    frames = []
    for _ in range(round(seconds * rate)):
        mover.velocity.x, mover.velocity.z = velocity
        frames.append((mover.update(1 / rate), list(mover.hits())))
    return frames


def reasons(frames):
    return {result.blocked_by.reason for result, _ in frames if result.blocked}


def all_hits(frames):
    return [hit for _, hits in frames for hit in hits]


@each_body
class TestReasons:
    @pytest.mark.parametrize(("ground", "rate"), each_once(WALLS, RATES))
    def test_wall(self, ground, body, rate):
        frames = drive(mover_on(WALLS[ground], body), (3, 0), 1.5, rate)
        assert reasons(frames) == {"wall"}
        # From the frame in which it comes there, to the last.
        first = next(i for i, (result, _) in enumerate(frames) if result.blocked)
        assert all(result.blocked for result, _ in frames[first:])
        assert [i for i, (_, hits) in enumerate(frames) if hits] == [first]
        (hit,) = frames[first][1]
        assert hit.speed == pytest.approx(3, rel=2e-3)
        assert glm.dot(hit.normal, glm.vec3(-1, 0, 0)) > 0.99
        assert hit.point.x == pytest.approx(2, abs=0.05)
        assert (hit.other, hit.reason) == (-1, "wall")
        assert hit.material == (5 if ground in ("map", "ground") else 0)
        by = frames[-1][0].blocked_by
        assert by.speed == pytest.approx(3, abs=1e-6)
        assert hit.triangle >= 0
        assert by.triangle >= 0

    @pytest.mark.parametrize("rate", [20, 60, 360])
    @pytest.mark.parametrize("degrees", [50, 60, 75])
    def test_steep(self, body, rate, degrees):
        frames = drive(mover_on(slope_map(degrees), body), (3, 0), 1.5, rate)
        assert reasons(frames) == {"steep"}
        (hit,) = all_hits(frames)
        assert hit.normal.y == pytest.approx(math.cos(math.radians(degrees)), abs=1e-6)
        assert hit.speed == pytest.approx(3 * math.sin(math.radians(degrees)), rel=1e-5)
        assert frames[-1][0].blocked_by.speed == pytest.approx(3, abs=1e-6)

    @pytest.mark.parametrize(
        ("ground", "rate"),
        each_once(
            (
                mesh_of(level(), *block((2, 0, -19), (9, 0.35, 19))),
                mesh_of(level(), *block((2, 0, -19), (9, 0.6, 19))),
                mesh_of(level(), *block((2, 0, -19), (2.2, 0.6, 19))),  # a parapet
                ledge_map(0.6, 0.1),
            ),
            (20, 60, 360),
        ),
    )
    def test_step(self, ground, body, rate):
        assert reasons(drive(mover_on(ground, body), (3, 0), 1.5, rate)) == {"step"}

    def test_a_step_that_is_not_too_high_is_in_nobodys_way(self, body):
        ground = mesh_of(level(), *block((2, 0, -19), (9, 0.25, 19)))
        frames = drive(mover_on(ground, body), (3, 0), 1.5)
        assert reasons(frames) == set()
        assert all_hits(frames) == []
        assert reasons(drive(mover_on(ground, body, step_offset=0.2), (3, 0), 1.5)) == {"step"}
        assert reasons(drive(mover_on(ground, body, step_offset=0), (3, 0), 1.5)) == {"step"}

    def test_walls_that_end_without_a_top_are_no_steps(self, body):
        railing = mesh_of(level(), [(2, 0, -19), (2, 0, 19), (2, 0.7, 19), (2, 0.7, -19)])
        assert reasons(drive(mover_on(railing, body), (3, 0), 1.5)) == {"wall"}

    @each_rate
    def test_ceiling_of_a_jump(self, body, rate):
        mover = mover_on(mesh_of(level(), level(2.2)), body)
        top = 2.2 - 2 * BODIES[body][1]
        mover.velocity.y = 6
        frames = drive(mover, (0, 0), 0.4, rate)
        assert reasons(frames) == {"ceiling"}
        (hit,) = [hit for hit in all_hits(frames) if hit.reason]
        assert hit.normal == glm.vec3(0, -1, 0)
        assert hit.point.y == pytest.approx(2.2, abs=1e-4)
        # Speeds go by whole updates.
        assert hit.speed == pytest.approx(math.sqrt(36 - 2 * 9.81 * top), abs=1.5 * 9.81 / rate)

    def test_ceiling_of_a_walk(self, body):
        mover = mover_on(SLAB, body)
        expected = set() if body == "sphere" else {"ceiling"}
        assert reasons(drive(mover, (3, 0), 1.5)) == expected

    def test_edge_of_a_map(self, body):
        low = HeightMap(np.zeros((10, 10)), border="open", origin=(2, 0.5, -5))
        frames = drive(mover_on(Ground([low, FLOOR]), body), (3, 0), 1.5)
        assert reasons(frames) == {"edge"}
        assert len(all_hits(frames)) == 1
        high = HeightMap(np.zeros((10, 10)), border="open", origin=(2, 9, -5))
        mover = mover_on(Ground([high, FLOOR]), body, above=4.0)
        mover.velocity.y = 1
        frames = drive(mover, (6, 0), 0.6)
        assert reasons(frames) == {"edge"}
        (hit,) = all_hits(frames)
        assert (hit.normal, hit.speed) == (glm.vec3(-1, 0, 0), 6)
        assert hit.triangle >= 0

    def test_pushing_in_the_air(self, body):
        mover = mover_on(ledge_map(30.0), body, x=1.0, above=9.0)
        frames = drive(mover, (3, 0), 0.7)
        assert reasons(frames) == {"wall"}
        assert len(all_hits(frames)) == 1
        assert frames[-1][0].blocked

    @pytest.mark.parametrize("ground_rule", ["contact", "sum"])
    def test_nothing_is_in_the_way(self, body, ground_rule):
        mover = mover_on(FLOOR, body, ground_rule=ground_rule)
        for velocity in ((0, 0), (3, 1), (-2, 0)):
            frames = drive(mover, velocity, 0.5)
            assert reasons(frames) == set()
            assert all_hits(frames) == []
        mover = mover_on(WALL, body, x=2.0 - (0.5 if body == "sphere" else 0.3))
        frames = drive(mover, (0, 0), 0.5)  # it touches the wall, and stands
        assert reasons(frames) == set()
        assert all_hits(frames) == []


@each_body
class TestSeveral:
    @pytest.mark.parametrize(("velocity", "normal"), [((3, 1), (-1, 0)), ((1, 2), (0, -1))])
    def test_of_a_corner_the_wall_that_takes_most(self, body, velocity, normal):
        room = mesh_of(level(), *block((2, 0, -19), (3, 4, 19)), *block((-19, 0, 2), (19, 4, 3)))
        frames = drive(mover_on(room, body), velocity, 3)
        by = frames[-1][0].blocked_by
        assert by.normal == glm.vec3(normal[0], 0, normal[1])
        assert by.speed == max(velocity)
        assert sorted(hit.speed for hit in all_hits(frames)) == sorted(velocity)

    def test_a_narrow_corner_has_two_walls(self, body):
        wedge = mesh_of(
            level(),
            [(3, 0, 0), (3, 4, 0), (-3, 4, 1.6), (-3, 0, 1.6)],
            [(3, 0, 0), (3, 4, 0), (-3, 4, -1.6), (-3, 0, -1.6)],
        )
        frames = drive(mover_on(wedge, body), (3, 0), 1.5)
        assert reasons(frames) == {"wall"}
        one, two = all_hits(frames)
        assert one.normal.z == pytest.approx(-two.normal.z)
        assert {one.triangle % 3, two.triangle % 3} == {1, 2}  # 0 and 3 are the floor

    @some_rates
    def test_sliding_along_a_wall_hits_it_once(self, body, rate):
        frames = drive(mover_on(WALL, body, z=-15.0), (2, 4), 5, rate)
        assert frames[-1][0].blocked_by.speed == pytest.approx(2)
        (hit,) = all_hits(frames)
        assert hit.speed == pytest.approx(2)

    @pytest.mark.parametrize("rate", [30, 60, 144])
    def test_sliding_around_a_column_hits_it_gently(self, body, rate):
        angles = np.linspace(0, 2 * math.pi, 25)
        ring = [(math.cos(a), math.sin(a)) for a in -angles]
        faces = [
            [(x, 0, z), (x, 4, z), (u, 4, w), (u, 0, w)]
            for (x, z), (u, w) in itertools.pairwise(ring)
        ]
        mover = mover_on(mesh_of(level(), *faces), body, x=-3.0, z=0.3)
        hits = all_hits(drive(mover, (3, 0), 3, rate))
        assert max(hit.speed for hit in hits) > 2
        assert sum(hit.speed > 1.2 for hit in hits) == 1
        assert mover.position.x > 1


@each_body
class TestLanding:
    @each_rate
    def test_the_hit_has_the_speed_of_the_fall(self, body, rate):
        mover = mover_on(ledge_map(0.0), body, above=3.0)
        frames = drive(mover, (1, 0), 1.5, rate)
        landed = [i for i, (result, _) in enumerate(frames) if result.just_landed]
        assert len(landed) == 1
        (hit,) = all_hits(frames)
        assert frames[landed[0]][1] == [hit]
        assert hit.speed == pytest.approx(mover.ground_report().landing_speed)
        assert hit.speed == pytest.approx(math.sqrt(2 * 9.81 * 3), abs=2 * 9.81 / rate)
        assert (hit.normal, hit.reason, hit.material) == (glm.vec3(0, 1, 0), None, 5)
        assert not any(result.blocked or result.just_left for result, _ in frames)

    def test_a_fall_on_a_slope_is_a_hit_and_blocks_nothing(self, body):
        mover = mover_on(slope_map(60), body, x=8.0, above=14.0)
        frames = drive(mover, (0, 0), 1.2)
        (hit,) = all_hits(frames)
        assert (hit.reason, hit.normal.y) == (None, pytest.approx(0.5))
        assert hit.speed > 1
        assert not any(result.blocked or result.just_landed for result, _ in frames)

    def test_landed_and_left_alternate(self, body):
        mover = mover_on(FLOOR, body)
        turns = []
        for frame in range(150):
            if frame % 50 == 10:
                mover.velocity.y = 3
            result = mover.update(FRAME)
            assert not (result.just_landed and result.just_left)
            assert result == mover.move_result()
            turns += ["left"] * result.just_left + ["landed"] * result.just_landed
        assert turns == ["left", "landed"] * 3

    def test_hits_of_one_fast_update(self, body):
        mover = mover_on(WALL, body, above=2.0)
        mover.velocity = (200, -100, 0)
        result = mover.update(0.1)
        hits = list(mover.hits())
        assert [hit.reason for hit in hits] == ["wall", None]
        assert hits[0].speed == pytest.approx(200)
        assert hits[1].speed == pytest.approx(100, abs=1)
        assert result.just_landed
        assert result.blocked_by is not None
        assert result.blocked_by.speed == pytest.approx(200)


class TestNothingNew:
    def test_at_rest(self):
        mover = CharacterMovement(FLOOR, SphereCollider(0.5), position=(0, 0.6, 0))
        while not mover.update(FRAME).just_landed:
            assert len(mover.hits()) == 0
        assert len(mover.hits()) == 1
        for _ in range(3):
            result = mover.update(FRAME)
            assert (result.just_landed, len(mover.hits())) == (False, 0)

    def test_an_update_of_no_time(self):
        mover = mover_on(WALL, "sphere", x=1.4)
        group = CharacterGroup(WALL, SphereCollider(0.5), slope_limit=SLOPE_LIMIT)
        group.add("a", (1.4, 0.5, 0))
        group.update(FRAME)
        group["a"].velocity = mover.velocity = (9, 0, 0)
        assert mover.update(FRAME).blocked
        assert group.update(FRAME).blocked.tolist() == [True]
        for result in (mover.update(0), mover.move_result(), group["a"].move_result()):
            group.update(0)
            assert not result.just_landed
        assert not mover.move_result().blocked
        assert not group["a"].move_result().blocked
        assert len(mover.hits()) == len(group.hits()) == len(group["a"].hits()) == 0

    def test_after_restoring_and_on_other_ground(self):
        for act in (
            lambda mover: mover.restore(mover.state()),
            lambda mover: setattr(mover, "ground", FLOOR),
        ):
            mover = mover_on(WALL, "box", x=1.6)
            mover.velocity.x = 9
            assert mover.update(FRAME).blocked
            assert len(mover.hits()) == 1
            act(mover)
            assert not mover.move_result().blocked
            assert len(mover.hits()) == 0


def crowd(ground, **rules):
    """Return characters in a group, and the same alone, by key."""
    rng = np.random.default_rng(3)
    group = CharacterGroup(ground, slope_limit=SLOPE_LIMIT, **rules)
    alone = {}
    for key, (collider, up) in enumerate(list(BODIES.values()) * 40):
        place = (rng.uniform(-2, 1.5), up + rng.uniform(0, 1), rng.uniform(-9, 9))
        group.add(key, place, collider=collider)
        alone[key] = CharacterMovement(
            ground, collider, position=place, slope_limit=SLOPE_LIMIT, seed=group.seed_of(key)
        )
    return group, alone


@pytest.mark.parametrize(("ground", "frames"), few_or_many(WALLS, 25, 40))
def test_groups_are_as_those_alone(ground, frames):
    (group, alone), (other, _) = crowd(WALLS[ground], threads=1), crowd(WALLS[ground], threads=2)
    rng = np.random.default_rng(5)
    seen = 0
    for frame in range(frames):
        if frame % 10 == 0:
            velocities = rng.uniform(-5, 5, (len(group), 3)).round(2)
        velocities[:, 1] = group.velocities[:, 1]
        group.velocities = other.velocities = velocities
        result, hits = group.update(FRAME), group.hits()
        assert other.update(FRAME) == result
        assert other.hits() == hits
        ones, singles = [], []
        for key, mover in alone.items():
            mover.velocity = velocities[key]
            ones.append(mover.update(FRAME))
            singles += list(mover.hits())
        for name in ("blocked", "just_landed", "just_left"):
            assert getattr(result, name).tolist() == [getattr(one, name) for one in ones]
        by = result.blocked_by
        assert by.character.tolist() == list(range(len(group)))
        for one, hit in zip(ones, by, strict=True):
            if one.blocked:
                assert one.blocked_by == hit
            else:
                assert (hit.triangle, hit.reason, math.isnan(hit.speed)) == (-1, None, True)
        assert list(hits) == singles
        assert group[7].move_result() == ones[7]
        assert list(group[7].hits()) == list(alone[7].hits())
        assert (np.diff(hits.character) >= 0).all()
        seen += len(hits) + int(result.blocked.sum())
    assert seen > 10 * (frames - 10)


def test_hits_are_at_most_four_and_the_strongest_first():
    faces = []
    for k in range(12):  # a cage around the origin
        a, b = (2 * math.pi * (k + side) / 12 for side in (0, 1))
        (x, z), (u, w) = (1.2 * glm.vec2(math.cos(t), math.sin(t)) for t in (a, b))
        faces.append([(x, -1, z), (u, -1, w), (u, 3, w), (x, 3, z)])
    cage = mesh_of(level(-0.6), *faces)
    mover = CharacterMovement(cage, SphereCollider(0.5), position=(0, 0, 0), max_delta=1.0)
    most = 0
    for k in range(60):
        mover.velocity = (80 * math.cos(k), 20, 80 * math.sin(k))
        mover.update(0.2)
        speeds = mover.hits().speed.tolist()
        assert speeds == sorted(speeds, reverse=True)
        most = max(most, len(speeds))
    assert 2 <= most <= 4


def test_ids_are_those_of_the_part():
    floor, wall = FLOOR, mesh_of(*block((2, 0, -19), (3, 4, 19)))
    ground = Ground([floor, wall])
    frames = drive(mover_on(ground, "capsule"), (3, 0), 1)
    (hit,) = all_hits(frames)
    assert hit.triangle in ((1 << 40) + 2, (1 << 40) + 8)


def test_a_replay_is_equal_and_hits_alike():
    def make():
        return crowd(WALL)[0]

    group = make()
    recording = Recording(group)
    seen = []
    for frame in range(30):
        group.velocities = np.tile([(4.0, 0.0, math.sin(frame))], (len(group), 1))
        recording.update(FRAME)
        seen.append(group.hits())
    assert replay(recording, make) is None
    again = make()
    for frame, hits in enumerate(seen):
        again.velocities = np.tile([(4.0, 0.0, math.sin(frame))], (len(group), 1))
        again.update(FRAME)
        assert again.hits() == hits


class TestValues:
    @pytest.mark.parametrize(
        "way", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))]
    )
    def test_copies_are_equal(self, way):
        mover = mover_on(WALL, "sphere", x=1.4)
        mover.velocity.x = 9
        result, hits = mover.update(FRAME), mover.hits()
        assert isinstance(result.blocked_by, MoveHit)
        assert way(result) == result
        assert way(result).blocked_by == way(result.blocked_by) == result.blocked_by
        assert b"glm" not in pickle.dumps(result.blocked_by)
        assert way(hits) == hits
        assert hits != MoveHits(*(values[:0] for values in hits.arrays()))
        group, _ = crowd(WALL)
        for _ in range(20):
            group.velocities = np.tile([(5.0, 0.0, 0.0)], (len(group), 1))
            many = group.update(FRAME)
        assert many.blocked.any()
        assert way(many) == many
        assert many != group.update(0)

    def test_what_is_read_is_the_readers(self):
        mover = mover_on(WALL, "sphere", x=1.4)
        mover.velocity.x = 9
        result = mover.update(FRAME)
        assert result.blocked_by is not None
        result.blocked_by.normal.x = 5
        assert result.blocked_by.normal == glm.vec3(-1, 0, 0)
        with pytest.raises(ValueError, match="read-only"):
            mover.hits().speed[0] = 1
        mover.velocity.x = 0
        mover.update(FRAME)
        assert result.blocked
        assert repr(mover.hits()) == "<MoveHits: 0>"


def test_a_point_hit_is_one_of_the_body() -> None:
    """Of a capsule that falls onto the edge of a step, and not one beside it."""
    stairs = TriangleMesh.stairs(width=3, rise=0.25, tread=0.6, steps=6)
    mover = CharacterMovement(stairs, CapsuleCollider(0.4, 1.8), position=(0.378, 3.0, 0.0))
    while not mover.hits():
        mover.update(FRAME)
    hit, *_ = mover.hits()
    assert hit.point.x == pytest.approx(0.6, abs=1e-3)
    assert hit.point.y == pytest.approx(0.5, abs=1e-3)
    assert hit.normal.x == pytest.approx((0.378 - 0.6) / 0.4, abs=5e-3)
