"""Rules for materials: how far and how fast characters go on ice, in mud and on roads."""

import copy
import dataclasses
import enum
import json
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
    CharacterState,
    Ground,
    GroupState,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics.surface.surface import queries_of
from tests.helpers.characters import FRAME, at_rest, run

WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
LOW, BALL = CapsuleCollider(0.4, 1.2, offset=(0, 0.6, 0)), SphereCollider(0.4)
NAMES = ("grass", "ice", "mud", "road")
RULES: dict[str, dict[str, float]] = {
    "ice": {"friction": 0.1},
    "mud": {"friction": 3.0, "speed": 0.3},
    "road": {"speed": 1.7},
}
RATES = [20, 30, 60, 144, 360]


def plain(material="ice", size=60):
    """Return a level map of one material."""
    return HeightMap(
        np.zeros((3, size)),
        cell_size=(2.0, 40.0),
        origin=(0, 0, -40),
        materials=material,
        material_names=NAMES,
    )


def patches(seed=0, cells=39, *, named=True):
    """Return rough land of all materials, in patches of one cell."""
    rng = np.random.default_rng(seed)
    return HeightMap(
        rng.uniform(0, 0.4, (cells + 1, cells + 1)),
        materials=rng.integers(0, len(NAMES), (cells, cells)),
        material_names=NAMES if named else None,
    )


def box(size, material, names):
    """Return a box around the origin, of one material."""
    shape = TriangleMesh.box(size)
    return TriangleMesh(shape.vertices, shape.faces, materials=material, material_names=names)


def walker(ground, position=(10, 0, 0), **rules):
    """Return a character that stands."""
    mover = CharacterMovement(ground, WALKER, position=position, **rules)
    run(mover, 30)
    assert at_rest(mover)
    return mover


def way_to_a_stop(mover, speed, rate):
    """Return how far a character goes that is let go at a speed."""
    mover.velocity.x = speed
    mover.update(1 / rate)  # driven: no friction yet
    start = mover.position64[0]
    for _ in range(60 * rate):
        if mover.velocity.x == 0:
            break
        mover.update(1 / rate)
    assert mover.velocity.x == 0
    return mover.position64[0] - start


def factors(mover):
    """Return what the last update took friction and speed times."""
    values = mover.state().rules
    return values[layout.FRICTION_FACTOR], values[layout.SPEED_FACTOR]


@pytest.mark.kernels
class TestFriction:
    @pytest.mark.parametrize("rate", RATES)
    @pytest.mark.parametrize("factor", [0.1, 0.5, 1.0, 3.0])
    def test_the_way_to_a_stop(self, rate, factor):
        mover = walker(plain(), ground_friction=16.0, material_rules={"ice": {"friction": factor}})
        expected = 4**2 / (2 * 16.0 * factor)
        assert way_to_a_stop(mover, 4.0, rate) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("rate", RATES)
    def test_both_factors_together(self, rate):
        mover = walker(plain("mud"), material_rules={"mud": {"friction": 0.5, "speed": 0.3}})
        # It stops as soon as by its friction alone, and comes so much less far.
        assert way_to_a_stop(mover, 4.0, rate) == pytest.approx(0.3 * 4**2 / 20, abs=1e-9)

    def test_ice_without_end(self):
        mover = walker(plain(), material_rules={"ice": {"friction": 0}})
        mover.velocity.x = 3
        run(mover, 300)
        assert mover.velocity.x == 3
        assert mover.position64[0] == pytest.approx(10 + 3 * 300 / 60, abs=1e-9)

    def test_no_other_material_has_it(self):
        rules = {"mud": {"friction": 0.1}, "lava": {"friction": 0.2}, 1: {"friction": 0.3}}
        mover = walker(plain(), material_rules=rules)
        assert way_to_a_stop(mover, 4.0, 60) == pytest.approx(4**2 / 40, abs=1e-9)

    @pytest.mark.parametrize("body", [SphereCollider(0.5), BoxCollider((0.4, 0.5, 0.4)), WALKER])
    def test_by_the_sum_rule(self, body):
        ways = []
        for material_rules in ({}, {"ice": {"friction": 0.5}}, {"ice": {"speed": 0.5}}):
            mover = CharacterMovement(
                plain(),
                body,
                position=(10, 0.5, 0),
                ground_rule="sum",
                ground_friction=12.0,
                material_rules=material_rules,
            )
            run(mover, 60)
            ways.append(way_to_a_stop(mover, 4.0, 240))
        assert ways[1] == pytest.approx(4**2 / 12, rel=0.02)
        assert ways[2] == ways[0] == pytest.approx(4**2 / 24, rel=0.02)

    @pytest.mark.parametrize("degrees", [0, 10, 25])
    def test_on_slopes_it_is_that_of_level_ground(self, degrees):
        rise = 2.0 * math.tan(math.radians(degrees))
        land = HeightMap(
            np.tile(np.arange(40) * rise, (3, 1)),
            cell_size=(2.0, 40.0),
            origin=(0, 0, -40),
            materials=1,
            material_names=NAMES,
        )
        height = 10 * math.tan(math.radians(degrees)) + 0.1
        mover = walker(land, (10, height, 0), material_rules={"ice": {"friction": 0.25}})
        assert way_to_a_stop(mover, 4.0, 60) == pytest.approx(4**2 / 10, abs=1e-6)
        assert at_rest(mover)


class TestSpeed:
    @pytest.mark.parametrize("rate", RATES)
    @pytest.mark.parametrize("factor", [0.001, 0.3, 0.5, 1.0, 2.5])
    def test_the_way_of_one_that_is_driven(self, rate, factor):
        mover = walker(plain("mud"), material_rules={"mud": {"speed": factor}})
        for _ in range(2 * rate):
            mover.velocity.x = 4.0
            mover.update(1 / rate)
            assert mover.velocity.x == 4.0
        assert mover.position64[0] == pytest.approx(10 + 2 * 4 * factor, abs=1e-9)

    def test_the_other_bits_of_the_velocity_are_rounded_at_most(self):
        group = CharacterGroup(plain("mud"), WALKER, material_rules={"mud": {"speed": 0.3}})
        group.add(0, (10, 0, 0))
        run(group, 10)
        for _ in range(100):
            group.set_velocities([(1.7, 0, 0.9)])
            group.update(FRAME)
            assert np.abs(group.velocities - (1.7, 0, 0.9)).max() <= 4e-16

    def test_it_counts_from_the_update_after_the_border(self):
        land = plain("grass")
        land.materials[:, 10:] = "mud"
        mover = walker(land, (19.0, 0, 0), material_rules={"mud": {"speed": 0.5}})
        places = [19.0]
        for _ in range(60):
            mover.velocity.x = 4.0
            mover.update(FRAME)
            places.append(mover.position64[0])
        ways = np.diff(places)
        stood_in_mud = np.array(places[:-1]) > 20.0
        np.testing.assert_allclose(ways[stood_in_mud], 2 / 60, atol=1e-12)
        np.testing.assert_allclose(ways[~stood_in_mud], 4 / 60, atol=1e-12)
        assert 10 < stood_in_mud.sum() < 50

    def test_on_roads_nothing_is_passed_unseen(self):
        wall = TriangleMesh.box((0.2, 8, 60)).transformed(glm.translate(glm.vec3(40, 0, 0)))
        ground = Ground([plain("road"), wall])
        mover = walker(ground, material_rules={"road": {"speed": 900}})
        for _ in range(20):
            mover.velocity.x = 50.0
            mover.update(FRAME)
        assert mover.position64[0] == pytest.approx(39.9 - 0.4, abs=1e-3)

    def test_what_it_runs_into_takes_the_speed_that_it_really_has(self):
        wall = TriangleMesh.box((0.2, 8, 60)).transformed(glm.translate(glm.vec3(11, 0, 0)))
        mover = walker(Ground([plain("mud"), wall]), material_rules={"mud": {"speed": 0.5}})
        hits = []
        for _ in range(60):
            mover.velocity.x = 4.0
            hits += [hit.speed for hit in mover.update(FRAME).grounded and mover.hits()]
        assert hits == [pytest.approx(2.0)]

    def test_a_jump_takes_the_velocity_with_it(self):
        mover = walker(plain("mud"), material_rules={"mud": {"speed": 0.5}})
        mover.velocity = (4, 5, 0)
        start = mover.position64[0]
        while not mover.update(FRAME).grounded:
            pass
        assert mover.position64[0] - start == pytest.approx(4 * 10 / 9.81, abs=4 / 60)

    def test_who_walks_off_the_ground_flies_as_fast_as_it_went(self):
        swamp = box((20, 1, 20), "mud", ["mud"])
        mover = walker(swamp, (9, 0.5, 0), material_rules={"mud": {"speed": 0.5}})
        while mover.grounded:
            mover.velocity.x = 4.0
            mover.update(FRAME)
        assert mover.velocity.x == 2.0
        mover.update(FRAME)
        assert mover.velocity.x == 2.0

    def test_up_stairs_of_mud(self):
        stairs = TriangleMesh.stairs(2.0, 0.2, 0.4, 8)
        stairs = TriangleMesh(
            stairs.vertices, stairs.faces, materials="mud", material_names=["mud"]
        )
        frames = []
        for material_rules in ({}, {"mud": {"speed": 0.5}}):
            floor = HeightMap(np.zeros((2, 2)), cell_size=60.0, origin=(-30, 0, -30))
            ground = Ground([floor, stairs])
            mover, count = walker(ground, (-0.6, 0, 0), material_rules=material_rules), 0
            while mover.position64[1] < 1.59:
                mover.velocity.x = 2.0
                mover.update(FRAME)
                count += 1
                assert count < 1000
            frames.append(count)
        assert 1.5 < frames[1] / frames[0] < 2.1


class TestRest:
    def test_who_has_no_velocity_rests(self):
        rules = {"ice": {"friction": 0}, "mud": {"speed": 0.5}}
        for material in ("ice", "mud"):
            mover = walker(plain(material), material_rules=rules)
            before = mover.state_hash()
            run(mover, 100)
            assert mover.state_hash() == before

    def test_paint_under_a_sleeper_is_seen_when_it_moves(self):
        land = plain("grass")
        mover = walker(land, material_rules=RULES)
        place, before = mover.position64, mover.state_hash()
        land.materials[:] = "mud"
        run(mover, 3)
        assert (mover.position64, mover.state_hash()) == (place, before)
        mover.velocity.x = 1
        mover.update(FRAME)
        assert mover.position64[0] == pytest.approx(10 + 0.3 / 60, abs=1e-12)

    @pytest.mark.parametrize("through_ground", [False, True])
    def test_paint_under_a_walker_is_seen_in_the_next_update(self, through_ground):
        land = plain("grass")
        ground = Ground([land]) if through_ground else land
        mover = walker(ground, material_rules=RULES)
        ways = []
        for material in ("grass", "mud", "road", "grass"):
            ground.paint((10, 0), 60, material)
            mover.velocity.x, before = 1, mover.position64[0]
            mover.update(FRAME)
            ways.append((mover.position64[0] - before) * 60)
        assert ways == pytest.approx([1, 0.3, 1.7, 1])

    def test_rules_that_are_set_count_from_the_next_update(self):
        mover = walker(plain("mud"))
        ways = []
        for rules in ({}, {"mud": {"speed": 0.5}}, {"mud": {"speed": 2}}, {}):
            mover.material_rules = rules
            mover.velocity.x, before = 1, mover.position64[0]
            mover.update(FRAME)
            ways.append((mover.position64[0] - before) * 60)
        assert ways == pytest.approx([1, 0.5, 2, 1])


def mixed_ground():
    """Return maps with and without names side by side, and meshes with others, all rough."""
    rng = np.random.default_rng(5)
    heights = rng.uniform(0, 0.4, (21, 41))
    tiles = [
        HeightMap(
            heights[:, first : first + 21],
            origin=(first, 0, 0),
            border="open",
            materials=rng.integers(0, 3, (20, 20)),
            material_names=names,
        )
        for first, names in ((0, ("mud", "grass", "ice")), (20, None))
    ]
    boxes = [
        box((3, 0.5, 3), number, names).transformed(glm.translate(glm.vec3(x, 0.2, z)))
        for x, z, number, names in (
            (8, 8, 1, ("sand", "ice")),
            (28, 12, 2, None),
            (12, 14, 0, None),
        )
    ]
    return Ground([*tiles, *boxes])


MIXED: dict[Any, dict[str, float]] = {
    "ice": {"friction": 0.2},
    "mud": {"speed": 0.4},
    0: {"speed": 0.8},
    1: {"friction": 4},
    2: {"friction": 0, "speed": 1.3},
    "sand": {"speed": 0.6},
}


def expected_factors(ground, rules, report):
    """Return the factors of what a report tells, by names."""
    names = ground.material_names or ()
    key = report.material
    key = names[key] if key < len(names) else key - len(names)
    own = rules.get(key, {})
    return own.get("friction", 1.0), own.get("speed", 1.0)


class TestMaterials:
    @pytest.mark.parametrize(
        ("ground", "rules"),
        [
            (patches(), RULES),
            (patches(named=False), {1: {"friction": 0.1}, 2: {"speed": 0.3}}),
            (mixed_ground(), MIXED),
        ],
        ids=["names", "numbers", "mixed"],
    )
    def test_they_are_those_that_the_report_tells(self, ground, rules):
        mover = CharacterMovement(ground, WALKER, position=(10, 1, 10), material_rules=rules)
        seen, others = set(), 0
        for frame in range(900):
            report, before = mover.ground_report(), mover.move_result()
            mover.velocity.x = 3 * math.sin(frame / 90)
            mover.velocity.z = 2 * math.cos(frame / 70)
            mover.update(FRAME)
            if not before.grounded:
                assert factors(mover) == (1, 1)
            elif before.contacts == 1:
                assert factors(mover) == expected_factors(ground, rules, report)
                seen.add(report.material)
            else:  # it may lie against an edge of two, which hold it alike
                others += factors(mover) != expected_factors(ground, rules, report)
        assert len(seen) >= 3
        assert others <= 9

    def test_one_and_many(self):
        ground = mixed_ground()
        for known in (ground, *ground.parts.values()):
            queries, rng = queries_of(known), np.random.default_rng(1)
            parts = rng.integers(-1, 7, 400)
            triangles = rng.integers(-1, 20, 400)
            points = rng.uniform(-5, 45, (400, 3))
            found_of_each = queries.triangles_at(parts, triangles, points)
            for part, triangle, point, *found in zip(
                parts.tolist(), triangles.tolist(), points.tolist(),
                *(values.tolist() for values in found_of_each), strict=True,
            ):  # fmt: skip
                alone = queries.triangle_at(part, triangle, tuple(point))
                assert tuple(found) == (alone if part >= 0 else (-1, 0, False))
            none = queries.triangles_at(parts[:0], triangles[:0], points[:0])
            assert [len(values) for values in none] == [0, 0, 0]

    def test_a_part_that_comes_changes_numbers_but_no_names(self):
        ground = Ground([plain("mud")])
        mover = walker(ground, material_rules={"mud": {"speed": 0.5}, "snow": {"speed": 0.25}})
        ways = []
        keys = []
        for names in ((), ("snow", "mud"), ("sand",)):
            if names:
                slab = box((200, 0.1, 60), 0, names)
                height = mover.position64[1] + 0.05
                keys.append(ground.add(slab.transformed(glm.translate(glm.vec3(0, height, 0)))))
                run(mover, 30)
            mover.velocity.x, before = 1, mover.position64[0]
            mover.update(FRAME)
            ways.append((mover.position64[0] - before) * 60)
            run(mover, 30)
        for key in keys:
            ground.remove(key)
        run(mover, 60)
        mover.velocity.x, before = 1, mover.position64[0]
        mover.update(FRAME)
        ways.append((mover.position64[0] - before) * 60)
        assert ways == pytest.approx([0.5, 0.25, 1, 0.5])

    def test_numbers_are_those_of_parts_without_names(self):
        bare = HeightMap(np.zeros((2, 2)), cell_size=40.0, origin=(0, 0, -20), materials=2)
        for ground in (bare, Ground([bare]), Ground([bare, plain_far()])):
            mover = walker(ground, material_rules={2: {"speed": 0.5}, "mud": {"speed": 0.1}})
            mover.velocity.x = 1
            mover.update(FRAME)
            assert mover.position64[0] == pytest.approx(10 + 0.5 / 60, abs=1e-12)

    def test_beyond_the_border_it_is_that_of_the_nearest_cell(self):
        land = HeightMap(
            np.zeros((3, 3)), materials=[[0, 1], [0, 1]], material_names=NAMES, border="extend"
        )
        mover = walker(land, (9, 0, 1), material_rules={"ice": {"friction": 0}})
        mover.velocity.x = 2
        run(mover, 60)
        assert mover.velocity.x == 2

    def test_what_the_mask_does_not_meet_is_not_stood_on(self):
        ground = Ground([plain("grass")])
        ice = box((80, 0.02, 60), "ice", ["ice"])
        ground.add(ice, layers=2)
        speeds = []
        for mask in (1, 3):
            mover = walker(ground, mask=mask, material_rules={"ice": {"friction": 0}})
            mover.velocity.x = 1
            run(mover, 20)
            speeds.append(mover.velocity.x)
        assert speeds == [0, 1]

    def test_another_ground(self):
        mover = walker(plain("mud"), material_rules=RULES)
        for material, speed in (("road", 1.7), ("grass", 1), ("mud", 0.3)):
            mover.ground = plain(material)
            mover.velocity.x, before = 1, mover.position64[0]
            mover.update(FRAME)
            assert (mover.position64[0] - before) * 60 == pytest.approx(speed)


def plain_far():
    """Return a mesh with names, far off."""
    slab = box((1, 1, 1), "mud", NAMES)
    return slab.transformed(glm.translate(glm.vec3(500, 0, 0)))


def steer(frame, number):
    """Return a velocity, or None where a character is let go."""
    if (frame // 20 + number) % 3 == 0:
        return None
    angle = 0.7 * number + frame / 40
    return glm.vec3(4 * math.sin(angle), 4 if frame % 50 == number else 0, 3 * math.cos(angle))


def group_on(ground, count=12, **options):
    group = CharacterGroup(ground, WALKER, seed=3, material_rules=MIXED, **options)
    bodies = (WALKER, SphereCollider(0.5), BoxCollider((0.3, 0.6, 0.4)))
    for number in range(count):
        own: dict[str, Any] = (
            {} if number % 4 else {"material_rules": {"ice": {"speed": 0.2 + number / 10}}}
        )
        if number == 5:
            own = {"material_rules": {}, "ground_rule": "sum"}
        place = (6 + 2.5 * number, 2, 6 + number % 5)
        group.add(number, place, collider=bodies[number % 3], **own)
    return group


def lone(ground, group, key):
    member = group[key]
    mover = CharacterMovement(ground, member.collider, seed=group.seed_of(key))
    mover.restore(member.state())
    return mover


def play(characters, update, first, last):
    for frame in range(first, last):
        for number, character in enumerate(characters):
            wanted = steer(frame, number)
            if wanted is not None:
                character.velocity = wanted
        update()


class TestBits:
    @pytest.mark.parametrize("threads", [1, 2])
    def test_one_alone_and_in_a_group(self, threads):
        ground = mixed_ground()
        group = group_on(ground, threads=threads)
        movers = [lone(ground, group, key) for key in group]
        for _ in range(4):
            play([group[key] for key in group], lambda: group.update(FRAME), 0, 45)
            play(movers, lambda: [mover.update(FRAME) for mover in movers], 0, 45)
            assert [mover.state() for mover in movers] == [group[key].state() for key in group]
        assert len({factors(mover) for mover in movers}) >= 3

    def test_many_in_threads(self):
        ground, hashes = mixed_ground(), []
        for threads in (1, 2):
            group = CharacterGroup(ground, WALKER, threads=threads, material_rules=MIXED)
            for number in range(600):
                group.add(number, (1 + number % 38, 2, 1 + number // 38))
            for _ in range(40):
                group.set_velocities(np.tile((2.0, 0, 1.0), (600, 1)))
                group.update(FRAME)
            hashes.append(group.state_hash())
        assert hashes[0] == hashes[1]

    @pytest.mark.parametrize("through_json", [False, True])
    def test_saved_and_restored_at_any_moment(self, through_json):
        land = patches(2)
        mover = CharacterMovement(land, WALKER, position=(9, 1, 9), material_rules=RULES)
        for frame in range(0, 240, 12):
            play([mover], lambda: mover.update(FRAME), frame, frame + 12)
            x, _, z = mover.position64
            land.paint((x, z), 2, NAMES[frame // 12 % 4])  # seen by neither yet
            state = mover.state()
            if through_json:
                again = CharacterState.from_dict(json.loads(json.dumps(state.to_dict())))
            else:
                again = pickle.loads(pickle.dumps(state))
            assert again == state
            assert hash(again) == hash(state)
            other = CharacterMovement(land, WALKER)
            other.restore(again)
            assert other.state_hash() == mover.state_hash()
            assert other.material_rules == mover.material_rules
            for both in (mover, other):
                play([both], lambda both=both: both.update(FRAME), frame, frame + 3)
            assert other.state() == mover.state()

    @pytest.mark.parametrize("through_json", [False, True])
    def test_groups_are_saved_with_them(self, through_json):
        ground = mixed_ground()
        group = group_on(ground)
        play([group[key] for key in group], lambda: group.update(FRAME), 0, 60)
        state = group.state()
        if through_json:
            again = GroupState.from_dict(json.loads(json.dumps(state.to_dict())))
        else:
            again = pickle.loads(pickle.dumps(state))
        assert again == state
        other = CharacterGroup(ground)
        other.restore(again)
        whole = pickle.loads(pickle.dumps(group))
        for one in (group, other, whole, copy.copy(group)):
            play([one[key] for key in one], lambda one=one: one.update(FRAME), 0, 60)
            assert one.state_hash() == group.state_hash()
            rules = [one[key].material_rules for key in one]
            assert rules == [group[key].material_rules for key in group]
        other.remove(0)
        other.add(0, (5, 1, 5), collider=WALKER)
        assert other[0].material_rules == {}

    def test_hashes_know_them(self):
        rules = [
            {},
            {"ice": {}},
            {"ice": {"friction": 0.5}},
            {"ice": {"speed": 0.5}},
            {"mud": {"speed": 0.5}},
            {1: {"speed": 0.5}},
            {"1": {"speed": 0.5}},
            {"1": {"speed": 0.5}, 1: {"speed": 0.5}},
            {'1", 0.5, 1.0], ["2': {"speed": 0.5}},
            {"\ud800": {"speed": 0.5}},
        ]
        hashes = [walker(plain(), material_rules=own).state_hash() for own in rules]
        assert len(set(hashes)) == len(rules)
        swapped = [dict(reversed(RULES.items())), RULES]
        assert len({walker(plain(), material_rules=own).state_hash() for own in swapped}) == 1

    @pytest.mark.parametrize("kind", ["group", "mapping", "one"])
    def test_replays(self, kind, tmp_path):
        def make_scene():
            ground = mixed_ground()
            if kind == "group":
                return group_on(ground)
            movers = {
                key: CharacterMovement(
                    ground, WALKER, position=(8 + key, 1, 9), material_rules=MIXED if key else {}
                )
                for key in range(3)
            }
            return movers if kind == "mapping" else movers[1]

        scene = make_scene()
        recording = Recording(scene)
        for frame in range(150):
            characters = [scene] if kind == "one" else [scene[key] for key in list(scene)]
            play(characters, lambda: None, frame, frame + 1)
            if frame == 30:
                characters[0].material_rules = {"mud": {"speed": 2}, 1: {"friction": 0.3}}
            if frame == 60:
                characters[-1].material_rules = {}
            if frame == 70:
                characters[1 % len(characters)].resize(BALL if kind == "group" else LOW)
            if frame == 80 and kind == "group":
                scene.remove(0)
                scene.remove(3)
                scene.add(0, (9, 2, 9), material_rules={"ice": {"friction": 0.7}})
                scene.add("late", (11, 2, 9))
                scene.add("plain", (12, 2, 9), material_rules={})
            recording.update(FRAME)
        assert replay(recording, make_scene) is None
        recording.save(tmp_path / "walk.npz")
        assert replay(Recording.load(tmp_path / "walk.npz"), make_scene) is None

    def test_recordings_without_any_are_as_long_as_before(self, tmp_path):
        mover = CharacterMovement(plain(), WALKER)
        recording = Recording(mover)
        for _ in range(5):
            recording.update(FRAME)
        recording.save(tmp_path / "walk.npz")
        with np.load(tmp_path / "walk.npz") as archive:
            header = json.loads(bytes(archive["header"]))
        assert header["frames"] == [{"left": [], "bodies": []}] * 5


class Kind(enum.StrEnum):
    MUD = "mud"


class TestValues:
    def test_they_are_read_as_set_and_complete(self):
        mover = walker(plain(), material_rules={"mud": {"speed": 2}, np.uint8(3): {}, "ice": {}})
        full = {
            3: {"friction": 1.0, "speed": 1.0},
            "ice": {"friction": 1.0, "speed": 1.0},
            "mud": {"friction": 1.0, "speed": 2.0},
        }
        assert mover.material_rules == full
        assert list(mover.material_rules) == [3, "ice", "mud"]
        mover.material_rules = mover.material_rules
        assert mover.material_rules == full
        with pytest.raises(TypeError, match="does not support item assignment"):
            mover.material_rules["mud"]["speed"] = 3
        with pytest.raises(TypeError, match="does not support item assignment"):
            mover.material_rules["mud"] = {"speed": 3}
        assert CharacterMovement(plain(), WALKER).material_rules == {}

    def test_a_text_of_an_enum_is_kept_as_text(self):
        mover = walker(plain("mud"), material_rules={Kind.MUD: {"speed": 0.5}})
        assert type(next(iter(mover.material_rules))) is str

    def test_what_the_game_does_to_its_own_mapping_changes_nothing(self):
        own = {"ice": {"friction": 0.5}}
        mover = walker(plain(), material_rules=own)
        own["ice"]["friction"] = 0.1
        own["mud"] = {}
        assert mover.material_rules == {"ice": {"friction": 0.5, "speed": 1.0}}

    def test_members(self):
        group = CharacterGroup(plain("mud"), WALKER, material_rules=RULES)
        group.add("as all", (10, 0, 0))
        group.add("none", (10, 0, 5), material_rules={})
        group.add("own", (10, 0, 10), material_rules={"mud": {"speed": 0.5}})
        group.add("set", (10, 0, 15))
        group["set"].material_rules = {"mud": {"speed": 2}}
        group["none"].material_rules = {}
        run(group, 10)
        group.set_velocities([(1, 0, 0)] * 4)
        group.update(FRAME)
        ways = (group.positions[:, 0] - 10) * 60
        assert ways == pytest.approx([0.3, 1, 0.5, 2])
        member = group["own"]
        group.remove("own")
        with pytest.raises(KeyError, match="no character has the key 'own'"):
            member.material_rules.keys()
        with pytest.raises(KeyError, match="no character has the key 'own'"):
            member.material_rules = {}

    def test_a_new_rule_wakes_and_an_equal_one_does_not(self):
        mover = walker(plain(), material_rules=RULES)
        values = mover._row().state
        mover.material_rules = dict(RULES)
        assert values[layout.UNDISTURBED] == 1
        mover.material_rules = {}
        assert values[layout.UNDISTURBED] == 0


BAD: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, "material_rules must be a mapping from materials to their .*, got None"),
    (["ice"], TypeError, "material_rules must be a mapping"),
    ({"ice": 0.5}, TypeError, r"material_rules\['ice'\] must be a mapping of friction and speed"),
    (
        {"ice": {"frictoin": 0.5}},
        ValueError,
        (
            r"material_rules\['ice'\] must be of friction and speed, got 'frictoin'; "
            r"did you mean friction\?"
        ),
    ),
    ({"ice": {"spede": 1}}, ValueError, r"got 'spede'; did you mean speed\?"),
    ({"ice": {"colour": 1}}, ValueError, r"must be of friction and speed, got 'colour'$"),
    ({"ice": {3: 1}}, ValueError, r"must be of friction and speed, got 3$"),
    ({"ice": {"friction": -0.1}}, ValueError, r"\['ice'\]: friction must be .*>= 0, got -0.1"),
    ({"ice": {"friction": math.nan}}, ValueError, "friction must be .*got nan"),
    ({"ice": {"friction": math.inf}}, ValueError, "friction must be .*got inf"),
    ({"ice": {"friction": "much"}}, TypeError, "friction must be .*got 'much'"),
    ({"ice": {"speed": 0}}, ValueError, r"\['ice'\]: speed must be from 0.001 to 1000, got 0"),
    ({"ice": {"speed": -1}}, ValueError, "speed must be from 0.001 to 1000, got -1"),
    ({"ice": {"speed": 1e4}}, ValueError, "speed must be from 0.001 to 1000, got 10000"),
    ({"ice": {"speed": math.nan}}, ValueError, "speed must be from 0.001 to 1000, got nan"),
    ({"ice": {"speed": None}}, TypeError, "speed must be a number from 0.001 to 1000, got None"),
    ({-1: {}}, ValueError, "material_rules: a material must be from 0 to 255, got -1"),
    ({256: {}}, ValueError, "material_rules: a material must be from 0 to 255, got 256"),
    ({1.5: {}}, TypeError, "material_rules: a material must be a whole number, got 1.5"),
    ({str(n): {} for n in range(257)}, ValueError, "for at most 256 materials, got 257"),
]


@pytest.mark.parametrize(("rules", "error", "message"), BAD)
def test_bad_rules_are_refused_and_change_nothing(rules, error, message):
    mover = walker(plain(), material_rules=RULES)
    group = CharacterGroup(plain(), WALKER, material_rules=RULES)
    group.add(0, (10, 0, 0))
    before, group_before = mover.state(), group.state()
    with pytest.raises(error, match=message):
        CharacterMovement(plain(), WALKER, material_rules=rules)
    with pytest.raises(error, match=message):
        mover.material_rules = rules
    with pytest.raises(error, match=message):
        group[0].material_rules = rules
    with pytest.raises(error, match=message):
        CharacterGroup(plain(), WALKER, material_rules=rules)
    if rules is not None:  # which stands for the group's
        with pytest.raises(error, match=f"1: .*{message}"):
            group.add(1, (10, 0, 0), material_rules=rules)
    assert mover.state() == before
    assert group.state() == group_before


def test_misspelled_names():
    group = CharacterGroup(plain(), WALKER)
    with pytest.raises(TypeError, match=r"got 'material_rule'; did you mean material_rules\?"):
        group.add(0, (10, 0, 0), material_rule={})  # type: ignore[call-arg]
    group.add(0, (10, 0, 0))
    characters: list[Any] = [group[0], walker(plain())]
    for character in characters:
        with pytest.raises(AttributeError, match=r"did you mean material_rules\?"):
            character.materials_rules = {}


class TestDamagedStates:
    @pytest.mark.parametrize(
        "rules",
        [
            (),
            (("ice", 0.5, 1.0),),
            (("mud", 3.0, 0.3), ("ice", 0.1, 1.0), ("road", 1.0, 1.7)),
            [["ice", 0.1, 1.0], ["mud", 3.0, 0.3], ["road", 1.0, 1.7]],
            (("ice", 0.1),),
            (("ice", -0.1, 1.0),),
            ((None, 0.1, 1.0),),
            ("ice",),
            7,
            None,
            tuple((n, 1.0, 1.0) for n in range(257)),
        ],
    )
    def test_rules_that_do_not_fit_the_numbers(self, rules):
        mover = walker(plain(), material_rules=RULES)
        group = CharacterGroup(plain(), WALKER)
        group.add("a", (10, 0, 0), material_rules=RULES)
        before, group_before = mover.state(), group.state()
        with pytest.raises(ValueError, match=r"^state: material_rules must be"):
            mover.restore(dataclasses.replace(before, material_rules=rules))
        with pytest.raises(ValueError, match=r"^state of 'a': material_rules must be"):
            group.restore(dataclasses.replace(group_before, material_rules=(("a", rules),)))
        assert mover.state() == before
        assert group.state() == group_before

    @pytest.mark.parametrize("rules", [(("b", ()),), 7, None, (1, 2), "ab", ((["a"], ()),)])
    def test_rules_of_nobody(self, rules):
        group = CharacterGroup(plain(), WALKER)
        group.add("a", (10, 0, 0), material_rules=RULES)
        state = group.state()
        with pytest.raises(ValueError, match="material_rules must be pairs of a key"):
            group.restore(dataclasses.replace(state, material_rules=rules))
        assert group.state() == state

    @pytest.mark.parametrize("rules", [7, None, {"ice": {}}, [["ice", 1]], [["ice", "a", 1]], [3]])
    def test_dicts(self, rules):
        content = walker(plain(), material_rules=RULES).state().to_dict()
        with pytest.raises(ValueError, match=r"^material_rules must be rows of a material, its"):
            CharacterState.from_dict(content | {"material_rules": rules})

    def test_a_dict_without_those_of_its_numbers(self):
        content = walker(plain(), material_rules=RULES).state().to_dict()
        del content["material_rules"]
        with pytest.raises(ValueError, match="must be from to_dict, got none of 'material_rules'"):
            CharacterState.from_dict(content)
