"""CharacterGroup: the same bits as one by one, among any others; arrays, keys, bad input."""

import copy
import os
import pickle
from functools import partial

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.group.group import CharacterGroup
from tests.helpers import forks
from tests.helpers.calls import calls_of
from tests.helpers.meshes import grid

FRAME = 1 / 60
HEIGHTS = np.random.default_rng(0).uniform(0, 1.2, (40, 40))
ROUGH = HeightMap(HEIGHTS)
FLOOR = HeightMap(np.zeros((40, 40)))
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BODIES = (WALKER, SphereCollider(0.5), BoxCollider((0.3, 0.8, 0.4)))


def place(i):
    return 8.3 + i % 8 * 2.9, 3.0 + 0.1 * i, 8.7 + i // 8 * 2.9


def rules(i):
    return {
        "resolver": ("shuffled", "simultaneous")[i % 2],
        "gravity": 9.81 + 0.1 * (i % 3),
        "slope_limit": 0.5 + 0.01 * i,
    }


def turn(i):
    return glm.quat(glm.vec3(0.1 * i, 0.2 * i, 0))


def fill(group, numbers):
    for i in numbers:
        group.add(i, place(i), collider=BODIES[i % 3], rotation=turn(i), **rules(i))


def speed(i, frame):
    angle = 0.7 * i + (frame // 20)
    return 3 * np.cos(angle), 0.0, 3 * np.sin(angle)


def walk(group, frames):
    for frame in frames:
        driven = [key for key in group if isinstance(key, int) and key % 4]
        group.set_velocities(np.array([speed(i, frame) for i in driven]).reshape(-1, 3), driven)
        result = group.update(FRAME)
    return result


def hashes(group):
    return dict(group.hashes())


@pytest.fixture(scope="module")
def walked():
    group = CharacterGroup(ROUGH, seed=7, threads=1)
    fill(group, range(30))
    walk(group, range(150))
    return group


@pytest.mark.parametrize("ground", [ROUGH, TriangleMesh(*grid(HEIGHTS))])
def test_a_group_gives_the_bits_of_each_one_alone(ground):
    group = CharacterGroup(ground, seed=3)
    fill(group, range(24))
    alone = {
        i: CharacterMovement(
            ground,
            BODIES[i % 3],
            position=place(i),
            rotation=turn(i),
            seed=group.seed_of(i),
            **rules(i),
        )
        for i in range(24)
    }
    for frame in range(120):
        result = walk(group, [frame])
        for i, mover in alone.items():
            if i % 4:
                mover.velocity = speed(i, frame)
            single = mover.update(FRAME)
            assert single.contacts == result.contacts[i]
            assert single.grounded == result.grounded[i]
            assert single.penetration == result.penetrations[i]
            assert single.lifted == result.lifted[i]
            assert (single.rounds, single.converged) == (result.rounds[i], result.converged[i])
    assert hashes(group) == {i: mover.state_hash() for i, mover in alone.items()}
    for i, mover in alone.items():
        assert group[i].state() == mover.state()
        assert group[i].ground_report() == mover.ground_report()
        assert group[i].ground_normal == mover.ground_normal
        assert tuple(group.positions[i]) == mover.position64


@pytest.mark.parametrize("threads", [2, 4, None])
def test_any_number_of_threads_gives_the_same_bits(threads):
    groups = []
    for count in (1, threads):
        group = CharacterGroup(ROUGH, WALKER, threads=count)
        for i in range(300):
            group.add(i, (5 + i % 20 * 1.4, 2.5, 5 + i // 20 * 1.4))
        walk(group, range(25))
        groups.append(group)
    assert groups[0].state() == groups[1].state()


def test_order_and_company_do_not_matter(walked):
    backwards = CharacterGroup(ROUGH, seed=7)
    fill(backwards, reversed(range(30)))
    walk(backwards, range(150))
    assert tuple(backwards) == tuple(reversed(range(30)))
    assert hashes(backwards) == hashes(walked)
    assert backwards.state_hash() == walked.state_hash()
    assert backwards.state() != walked.state()
    few = CharacterGroup(ROUGH, seed=7)
    fill(few, range(0, 60, 2))
    walk(few, range(70))
    for i in range(30, 60):
        if i in few:
            few.remove(i)
    walk(few, range(70, 150))
    assert hashes(few) == {i: value for i, value in hashes(walked).items() if i % 2 == 0}


def test_save_at_frame_300_and_go_on():
    group = CharacterGroup(ROUGH, seed=1)
    fill(group, range(20))
    walk(group, range(300))
    saved = pickle.loads(pickle.dumps(group.state()))
    assert saved == group.state()
    assert hash(saved) == hash(group.state())
    walk(group, range(300, 400))
    other = CharacterGroup(ROUGH, WALKER, seed=99)
    other.add("somebody", (3, 3, 3))
    other.restore(saved)
    assert tuple(other) == tuple(range(20))
    assert other[4].collider == BODIES[1]
    walk(other, range(300, 400))
    assert other.state() == group.state()
    assert other.seed_of("new") == group.seed_of("new")


@pytest.mark.parametrize("way", [copy.deepcopy, lambda group: pickle.loads(pickle.dumps(group))])
def test_a_copy_goes_its_own_way_with_the_same_bits(way, walked):
    before = walked.state_hash()
    first, second = way(walked), way(walked)
    walk(first, range(20))
    assert walked.state_hash() == before
    walk(second, range(20))
    assert first.state_hash() == second.state_hash() != before


def test_a_result_is_of_the_rows_that_were_moved_though_members_went_meanwhile():
    """An owner whose position the update reads removes others of its group."""

    class Owner:
        def __init__(self):
            self.place, self.acts = glm.vec3(10, 0, 10), []

        @property
        def position(self):
            while self.acts:
                self.acts.pop()()
            return self.place

        @position.setter
        def position(self, place):
            self.place = place

    group = CharacterGroup(HeightMap(np.zeros((2, 2)), cell_size=99), CapsuleCollider(0.4, 1.8))
    owner = Owner()
    for key in range(8):
        group.add(key, (key + 20, 0.9, 20))
    led = CharacterMovement(group.ground, CapsuleCollider(0.4, 1.8), owner=owner)
    group.add("led", movement=led)
    group.update(1 / 60)
    for key in range(8):
        group[key].velocity = (0, 0, 3)
    owner.acts = [partial(group.remove, key) for key in (0, 1, 2)]
    moved = group.update(1 / 60)
    assert len(group) == 6
    assert np.allclose(moved._states[:8, columns.POSITION + 2], 20 + 3 / 60)
    assert np.allclose(group.positions[:5, 2], 20 + 3 / 60)


def test_edits_of_the_ground_wake_all():
    ground = HeightMap(np.zeros((40, 40)))
    group = CharacterGroup(ground, SphereCollider(0.5))
    mover = CharacterMovement(
        ground, SphereCollider(0.5), position=(10, 0.5, 10), seed=group.seed_of(0)
    )
    group.add(0, (10, 0.5, 10))
    group.add(1, (30, 0.5, 30))
    for edit in (False, True):
        if edit:
            ground.carve((10, 10), 4.0, 2.0)
        for _ in range(90):
            group.update(FRAME)
            mover.update(FRAME)
    assert group.positions[0, 1] < -1.0
    assert group.positions[1, 1] == 0.5
    assert group[0].state_hash() == mover.state_hash()


def test_rest_is_bit_identical():
    group = CharacterGroup(ROUGH, SphereCollider(0.5), slope_limit=1.0)
    for i in range(20):
        group.add(i, place(i))
    for _ in range(300):
        group.update(FRAME)
    state = group.state()
    result = group.update(FRAME)
    assert group.grounded.all()
    assert not result.rounds.any()
    assert not result.lifted.any()
    assert group.state() == state
    assert np.isfinite(group.ground_normals).all()


class TestMembers:
    def test_add_and_remove_keep_the_order(self):
        group = CharacterGroup(FLOOR, WALKER)
        for key in ("a", 1, "1", "b"):
            group.add(key, (1, 0, len(group)))
        group.remove("a")
        group.remove(np.int64(1))  # type: ignore[arg-type]
        group.add("a", (1, 0, 9))
        assert tuple(group) == ("1", "b", "a")
        assert len(group) == 3
        assert ("1" in group, 1 in group, None in group, True in group) == (
            True,
            False,
            False,
            False,
        )
        assert group.positions[:, 2].tolist() == [2, 3, 9]
        assert repr(group) == "<CharacterGroup: 3 characters>"
        assert repr(group["b"]) == "<GroupMember 'b' at (1.000, 0.000, 3.000), in the air>"

    def test_many_come_and_go(self):
        group, rng = CharacterGroup(FLOOR, WALKER), np.random.default_rng(1)
        expected: dict[int, float] = {}
        for step in range(400):
            if expected and rng.random() < 0.4:
                key = int(rng.choice(list(expected)))
                group.remove(key)
                del expected[key]
            else:
                group.add(step, (step, 0, 0))
                expected[step] = float(step)
            if step % 50 == 0:
                assert group.positions[:, 0].tolist() == list(expected.values())
        assert tuple(group) == tuple(expected)
        assert [group[key].position64[0] for key in expected] == list(expected.values())

    def test_the_view_writes_to_the_group(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add("hero", (10 + 1e-12, 0, 10))
        hero = group["hero"]
        hero.velocity.x = 3
        hero.velocity[2] = 1
        hero.velocity += glm.vec3(0, 5, 0)
        assert group.velocities.tolist() == [[3, 5, 1]]
        hero.position.z = 12
        assert list(hero.position64) == [10 + 1e-12, 0, 12]
        hero.position = glm.vec3(4, 0, 4)
        hero.slope_limit = 0.7
        assert (group["hero"].slope_limit, group["hero"].gravity) == (0.7, 9.81)
        hero.rotation = glm.angleAxis(0.3, glm.vec3(0, 1, 0))
        assert hero.rotation[0].x == pytest.approx(np.cos(0.3))
        assert (hero.key, hero.collider) == ("hero", WALKER)
        assert (hero.grounded, hero.ground_normal) == (False, None)
        assert str(hero.position) == str(glm.vec3(4, 0, 4))
        assert repr(hero.position) == repr(glm.vec3(4, 0, 4))
        with pytest.raises(ValueError, match=r"velocity\.y must be finite"):
            hero.velocity.y = np.nan
        assert group.velocities.tolist() == [[3, 5, 1]]
        group.remove("hero")
        with pytest.raises(KeyError, match="no character has the key 'hero'"):
            _ = hero.position

    def test_the_view_gives_the_bits_of_one_alone(self):
        group = CharacterGroup(ROUGH, WALKER)
        group.add("hero", (10.3, 3, 10.1))
        hero = group["hero"]
        alone = CharacterMovement(
            ROUGH, WALKER, position=(10.3, 3, 10.1), seed=group.seed_of("hero")
        )
        for frame in range(150):
            for one in (hero, alone):
                one.velocity.x = 2 if frame < 100 else -1
                if frame == 60:
                    one.position.y += 1
                    one.step_offset = 0.1
                    one.rotation = turn(1)
                if frame == 80:
                    assert one.resize(CapsuleCollider(0.4, 1.0, offset=(0, 0.5, 0)))
            group.update(FRAME)
            alone.update(FRAME)
            assert hero.state_hash() == alone.state_hash()

    def test_a_removed_member_says_so(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add("ada", (1, 0, 1))
        ada = group["ada"]
        group.remove("ada")
        assert repr(ada) == "<GroupMember 'ada', removed>"
        assert ada.key == "ada"
        with pytest.raises(KeyError, match="ada"):
            ada.grounded  # noqa: B018 it raises

    @pytest.mark.parametrize("name", ["positions", "velocities", "grounded", "ground_normals"])
    def test_arrays_that_change_nothing_are_read_only(self, name):
        group = CharacterGroup(FLOOR, WALKER)
        group.add("ada", (1, 0, 1))
        with pytest.raises(ValueError, match="read-only"):
            getattr(group, name)[0] = 9

    def test_arrays_are_copies_and_settable(self):
        group = CharacterGroup(FLOOR, WALKER)
        for i in range(3):
            group.add(i, (i, 0, 0))
        before = group.positions
        group.positions = [(5, 1, 5), (6, 1, 6), (7, 1, 7)]
        group.velocities = np.ones((3, 3), dtype=np.float32)
        group.set_positions([(8, 1, 8)], keys=[1])
        assert group.positions[:, 0].tolist() == [5, 8, 7]
        assert before[:, 0].tolist() == [0, 1, 2]
        assert group.velocities.tolist() == [[1, 1, 1]] * 3
        group.set_velocities(np.empty((0, 3)), keys=[])

    def test_empty_and_zero_time(self):
        group = CharacterGroup(FLOOR, WALKER)
        assert group.update(FRAME).ground_normals.shape == (0, 3)
        assert group.positions.shape == (0, 3)
        group.add(0, (1, 5, 1), velocity=(1, 0, 0))
        before = group.state()
        assert np.isnan(group.update(0.0).ground_normals).all()
        assert group.state() == before

    def test_a_copy_goes_its_own_way(self):
        group = CharacterGroup(FLOOR, WALKER)
        group.add("ada", (1, 5, 1))
        group.add("bob", (2, 5, 1))
        before = group.state()
        again = copy.copy(group)
        again.remove("ada")
        again.add("eve", (3, 5, 1))
        again.update(FRAME)
        assert group.state() == before
        assert tuple(again) == ("bob", "eve")

    def test_iterating_gives_the_keys(self):
        group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), WALKER)
        for key in (0, "eve", 1):
            group.add(key, (1, 5, 1))
        group.remove(0)
        assert list(group) == ["eve", 1]


STORY = """
import numpy as np
from terrain_physics import HeightMap, SphereCollider
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.group.group import CharacterGroup
land = HeightMap(np.random.default_rng(0).uniform(0, 1.2, (30, 30)))
group = CharacterGroup(land, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), seed=2)
for i in range(6):
    resolver = ("shuffled", "simultaneous")[i % 2]
    group.add(i, (8 + 2 * i, 2, 9), velocity=(2, 0, 1), resolver=resolver)
group.add("ball", (20, 2, 20), collider=SphereCollider(0.6))
for frame in range(30):
    group.set_velocities([(2, 0, 1)] * 3, keys=range(3))
    group.update(1 / 30)
print(group[0].resize(CapsuleCollider(0.5, 1.2, offset=(0, 0.6, 0))), group.state_hash())
print(group.height_scan([(0.3, 1), (2, -1)], yaw=0.7).tobytes().hex())
"""


def test_compiled_and_plain_give_the_same_bits():
    told = []
    for switch in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": switch}
        told.append(forks.printed("-W", "error", "-c", STORY, env=environment))
    assert told[0] == told[1]
    assert told[0].startswith("True ")


def test_a_group_takes_few_calls_and_no_more_for_many():
    calls = []
    for count in (1, 8, 20):
        ground = Ground([HeightMap(np.zeros((65, 65))), TriangleMesh.box((1, 1, 1))])
        group = CharacterGroup(ground, SphereCollider(0.3), threads=1)
        for number in range(count):
            group.add(number, (3.0 * number + 3.0, 0.3, 9.0))
        for _ in range(3):
            group.walk(1.0, 0.0)
            group.update(1 / 60)
        state = group.state()
        calls.append(
            [
                calls_of(partial(group.walk, 1.0, 0.0)),
                calls_of(partial(group.update, 1 / 60)),
                calls_of(group.state),
                calls_of(partial(group.restore, state)),
            ]
        )
    assert calls[1] == calls[2]
    assert all(count <= most for count, most in zip(calls[0], (30, 90, 35, 30), strict=True))
    assert all(count <= most for count, most in zip(calls[1], (30, 125, 35, 30), strict=True))
