"""Layers and masks: a mask's answers are those of a ground of the parts that it meets alone."""

import copy
import functools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Contacts,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Triangles,
)
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import bits, everything, one_by_one, questions, rough

OWN = (1 << 40) - 1
HIGHEST = 1 << 31
MASKS = [1, 2, 4, HIGHEST, 3, HIGHEST | 4, 0xFFFF_FFFF]
WALKER = CapsuleCollider(0.3, 1.6, offset=(0, 0.8, 0))


def tiles():
    """Return six maps of one rough land, which share border lines."""
    heights = rough(17, 25)
    return [
        HeightMap(heights[z : z + 9, x : x + 9], origin=(x, 0, z), border="open")
        for z in (0, 8)
        for x in (0, 8, 16)
    ]


def houses(rng, count):
    """Return boxes on the land, turned."""
    return [
        TriangleMesh.box(rng.uniform(1, 5, 3)).transformed(
            glm.translate(glm.vec3(*rng.uniform((0, -1, 0), (24, 3, 16))))
            * glm.rotate(rng.uniform(0, 6), glm.vec3(*rng.normal(size=3)))
        )
        for _ in range(count)
    ]


def drawn(seed):
    """Return a ground of maps and meshes on random layers, mixed."""
    rng = np.random.default_rng(seed)
    parts = [*tiles(), *houses(rng, 12)]
    layers = rng.choice([0, 1, 2, 3, 4, HIGHEST], len(parts)).tolist()
    order = rng.permutation(len(parts)).tolist()
    return Ground([parts[k] for k in order], layers=layers)


def met_alone(ground, mask):
    """Return a ground of the parts that a mask meets, and their keys in the other one."""
    keys = [key for key in ground.parts if ground.layers_of(key) & mask]
    layers = [ground.layers_of(key) for key in keys]
    return Ground([ground.parts[key] for key in keys], layers=layers), np.array(keys)


def renamed(answer, keys):
    """Return an answer of the parts alone with the keys that they have in the whole ground."""

    def ids(own):
        return np.where(own < 0, -1, keys[own >> 40] << 40 | own & OWN)

    if isinstance(answer, Contacts):
        ints = np.stack([answer.query, ids(answer.triangle)])
        floats = np.stack([answer.penetration, answer.normal, answer.point])
        return Contacts(ints, floats, answer.material)
    if isinstance(answer, Triangles):
        return Triangles(answer.vertices, answer.normals, ids(answer.ids))
    if hasattr(answer, "triangle"):
        return answer._replace(triangle=ids(np.array(answer.triangle)))
    if isinstance(answer, tuple):
        return answer[0], ids(answer[1])
    return answer


@pytest.mark.parametrize("seed", rest_is_full(range(3)))
def test_a_mask_answers_like_a_ground_of_the_parts_that_it_meets(seed):
    ground = drawn(seed)
    asked = questions((-3, -3, -3), (27, 6, 19), 60, seed)
    for mask in MASKS:
        alone, keys = met_alone(ground, mask)
        expected = everything(alone, asked)
        for name, answer in everything(ground, asked, mask=mask).items():
            assert bits(answer) == bits(renamed(expected[name], keys)), (mask, name)
        single = one_by_one(alone, asked, 15)
        for found, answer in zip(one_by_one(ground, asked, 15, mask), single, strict=True):
            assert bits(found) == bits(renamed(answer, keys)), mask


@pytest.mark.parametrize("seed", rest_is_full(range(3)))
def test_layers_that_change_are_those_of_a_new_ground(seed):
    rng = np.random.default_rng(seed)
    ground = drawn(seed)
    asked = questions((-3, -3, -3), (27, 6, 19), 40, seed)
    for _ in range(12):
        key = int(rng.choice(list(ground.parts)))
        part = ground.parts[key]
        if isinstance(part, HeightMap):
            part.carve(rng.uniform((0, 0), (24, 16)), 6, 0.4)
        ground.set_layers(key, int(rng.integers(0, 4)))
        if rng.random() < 0.3:
            ground.add(houses(rng, 1)[0], layers=int(rng.integers(0, 4)))
        mask = int(rng.integers(1, 4))
        alone, keys = met_alone(ground, mask)
        expected = everything(alone, asked)
        for name, answer in everything(ground, asked, mask=mask).items():
            assert bits(answer) == bits(renamed(expected[name], keys)), name


def test_a_map_or_a_mesh_by_itself_has_the_layers_1():
    for ground in (HeightMap(rough(9, 9)), TriangleMesh.box((4, 2, 4))):
        asked = questions((-3, -3, -3), (9, 4, 9), 20)
        found = everything(ground, asked)
        for name, answer in everything(ground, asked, mask=3).items():
            assert bits(answer) == bits(found[name]), name


def test_maps_on_different_layers_are_not_united():
    west = HeightMap(np.zeros((5, 5)))
    east = HeightMap(np.zeros((5, 5)), origin=(4, 0, 0))
    ground = Ground([west, east], layers=[1, 2])
    east.carve((4, 2), 2, 1)
    assert west.height_at(4, 2) == 0
    assert ground.height_at(4, 2) == 0
    assert (ground.height_at(4, 2, mask=1), ground.height_at(4, 2, mask=2)) == (0, -1)
    assert math.isnan(ground.height_at(5, 2, mask=1))
    east.carve((4, 2), 2, -1)
    ground.set_layers(1, 1)
    east.carve((4, 2), 2, 1)
    assert ground.height_at(4, 2) == west.height_at(4, 2) == -1


def test_neighbors_stay_united_where_parts_come_right_after_an_edit():
    west = HeightMap(np.zeros((5, 5)))
    east = HeightMap(np.zeros((5, 5)), origin=(4, 0, 0))
    ground = Ground([west, east])
    east.carve((4, 2), 2, 1)
    key = ground.add(HeightMap(np.zeros((5, 5)), origin=(20, 0, 0)))
    assert west.height_at(4, 2) == -1
    west.carve((4, 2), 2, 1)
    ground.remove(key)
    assert east.height_at(4, 2) == ground.height_at(4, 2) == -2


# Characters


def walk(movers, frames=90):
    for frame in range(frames):
        for mover in movers:
            mover.velocity.x = 2 * math.sin(frame / 20)
            mover.velocity.z = 2 * math.cos(frame / 20)
        yield frame


@pytest.mark.parametrize("seed", rest_is_full(range(3)))
def test_characters_walk_as_on_the_parts_that_they_meet(seed):
    ground = drawn(seed)
    rng = np.random.default_rng(seed)
    group = CharacterGroup(ground, WALKER, seed=seed, mask=1)
    movers: list[CharacterMovement] = []
    others: list[CharacterMovement] = []
    for k, mask in enumerate(MASKS[:6]):
        place = rng.uniform((2, 2, 2), (22, 5, 14))
        given: dict[str, Any] = {"mask": mask} if mask != 1 else {}
        group.add(k, place, **given)
        for land, made in ((ground, movers), (met_alone(ground, mask)[0], others)):
            mover = CharacterMovement(
                land, WALKER, position=place, seed=group.seed_of(k), mask=mask
            )
            made.append(mover)
    assert [group[k].mask for k in range(6)] == MASKS[:6]
    for _ in walk([*movers, *others, *(group[k] for k in range(6))]):
        group.update(1 / 60)
        for mover in (*movers, *others):
            mover.update(1 / 60)
    for k, (mover, other) in enumerate(zip(movers, others, strict=True)):
        assert mover.position64 == other.position64 == group[k].position64
        assert mover.state_hash() == group[k].state_hash()
        assert mover.constraint_planes().tolist() == other.constraint_planes().tolist()


def on_a_plank():
    plank = TriangleMesh.box((4, 0.2, 4)).transformed(glm.translate(glm.vec3(4, 3, 4)))
    ground = Ground([HeightMap(np.zeros((9, 9))), plank], layers=[1, 2])
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(4, 3.6, 4))
    group = CharacterGroup(ground, SphereCollider(0.5))
    group.add("ada", (4, 3.6, 4), seed=0)
    for _ in range(60):
        mover.update(1 / 60)
        group.update(1 / 60)
    assert mover.grounded
    assert ground.part_of(mover.ground_report().triangle)[0] == 1
    return ground, mover, group


def fall(mover, group):
    mover.update(1 / 60)
    group.update(1 / 60)
    assert not mover.grounded
    assert not group.grounded.any()
    for _ in range(60):
        mover.update(1 / 60)
        group.update(1 / 60)
    assert mover.position.y == group["ada"].position.y == 0.5


def test_who_stands_on_a_part_that_leaves_the_mask_falls_at_once():
    ground, mover, group = on_a_plank()
    version = ground.version
    ground.set_layers(1, 2)  # as they are
    assert ground.version == version
    ground.set_layers(1, 0)
    assert ground.version == version + 1
    fall(mover, group)


def test_who_does_not_meet_the_part_any_more_falls_at_once():
    _, mover, group = on_a_plank()
    mover.mask = group["ada"].mask = 0xFFFF_FFFF  # as it is
    assert mover.update(1 / 60).grounded
    mover.mask = group["ada"].mask = 1
    fall(mover, group)
    assert mover.state_hash() == group["ada"].state_hash()
    again = CharacterMovement(mover.ground, SphereCollider(0.5))
    again.restore(mover.state())
    assert again.mask == 1


def test_masks_that_change_between_updates_are_those_of_other_grounds():
    ground = drawn(5)
    mover = CharacterMovement(ground, WALKER, position=(12, 4, 8))
    other = CharacterMovement(ground, WALKER, position=(12, 4, 8))
    for frame in walk([mover, other], 200):
        if frame % 20 == 0:
            mover.mask = other.mask = MASKS[frame // 20 % 6]
            other.ground = met_alone(ground, mover.mask)[0]
        mover.update(1 / 60)
        other.update(1 / 60)
        assert mover.state_hash() == other.state_hash()


def test_another_body_fits_where_only_what_it_does_not_meet_is_in_the_way():
    roof = TriangleMesh.box((4, 0.2, 4)).transformed(glm.translate(glm.vec3(4, 1.5, 4)))
    ground = Ground([HeightMap(np.zeros((9, 9))), roof], layers=[1, 2])
    low, high = CapsuleCollider(0.3, 1, offset=(0, 0.5, 0)), WALKER
    for mask, fits in ((3, False), (1, True)):
        mover = CharacterMovement(ground, low, position=(4, 0, 4), mask=mask)
        mover.update(1 / 60)
        assert mover.resize(high) is fits


# What is kept, and what is refused


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, "pickle", "file"])
def test_layers_are_kept(again, tmp_path):
    ground = drawn(1)
    ground.remove(2)
    if again == "pickle":
        other = pickle.loads(pickle.dumps(ground))
    elif again == "file":
        ground.save(tmp_path / "a.ground")
        other = Ground.load(tmp_path / "a.ground")
    else:
        other = again(ground)
    assert [other.layers_of(key) for key in other.parts] == [
        ground.layers_of(key) for key in ground.parts
    ]
    asked = questions((-3, -3, -3), (27, 6, 19), 20)
    for mask in (1, 6):
        found = everything(other, asked, mask=mask)
        for name, answer in everything(ground, asked, mask=mask).items():
            assert bits(answer) == bits(found[name]), name
    other.set_layers(0, 32)
    assert ground.layers_of(0) != 32


def test_layers_are_given_for_all_or_one_by_one():
    parts: list[Any] = [HeightMap(rough(5, 5)), TriangleMesh.box((1, 1, 1))]
    given: Any
    for given, expected in (
        (6, [6, 6]), ([6, 0], [6, 0]), ((1, HIGHEST), [1, HIGHEST]), (np.array([6, 1]), [6, 1]),
    ):  # fmt: skip
        ground = Ground(parts, layers=given)
        assert [ground.layers_of(key) for key in ground.parts] == expected
    ground = Ground(parts)
    key = ground.add(TriangleMesh.box((2, 2, 2)), layers=5)
    assert [ground.layers_of(key) for key in ground.parts] == [1, 1, 5]
    assert type(ground.layers_of(key)) is int


BAD = [
    (-1, ValueError, "must be from 0 to 4294967295, got -1"),
    (1 << 32, ValueError, "must be from 0 to 4294967295, got 4294967296"),
    (1.0, TypeError, "must be a whole number, got 1.0"),
    (None, TypeError, "must be a whole number, got None"),
]


@pytest.mark.parametrize(("value", "error", "message"), BAD)
def test_other_layers_are_refused(value, error, message):
    parts: list[Any] = [HeightMap(rough(5, 5)), TriangleMesh.box((1, 1, 1))]
    ground = Ground(parts)
    version = ground.version
    with pytest.raises(error, match=f"layers {message}"):
        Ground(parts, layers=value)
    with pytest.raises(error, match=rf"layers\[1\] {message}"):
        Ground(parts, layers=[1, value])
    with pytest.raises(error, match=f"layers {message}"):
        ground.add(TriangleMesh.box((1, 1, 1)), layers=value)
    with pytest.raises(error, match=f"layers {message}"):
        ground.set_layers(0, value)
    assert (ground.version, len(ground.parts), ground.layers_of(0)) == (version, 2, 1)


def test_layers_are_one_for_each_part_there_is():
    ground = Ground([TriangleMesh.box((1, 1, 1))])
    with pytest.raises(ValueError, match="layers must be one number, or one for each part, got 2"):
        Ground([TriangleMesh.box((1, 1, 1))], layers=[1, 2])
    for ask in (ground.layers_of, functools.partial(ground.set_layers, layers=1)):
        with pytest.raises(KeyError, match="key must be that of a part, got 7"):
            ask(7)


@pytest.mark.parametrize(("value", "error", "message"), BAD)
def test_other_masks_of_characters_are_refused(value, error, message):
    land = HeightMap(rough(5, 5))
    mover = CharacterMovement(land, SphereCollider(0.5))
    before = mover.state_hash()
    with pytest.raises(error, match=f"mask {message}"):
        mover.mask = value
    with pytest.raises(error, match=f"mask {message}"):
        CharacterMovement(land, SphereCollider(0.5), mask=value)
    assert mover.state_hash() == before


@pytest.mark.parametrize("layers", [(1, 2), (0, 0)])
def test_characters_fall_through_what_no_layer_shows_them(layers):
    ground = Ground([HeightMap(rough(9, 9)), TriangleMesh.box((4, 2, 4))], layers=layers)
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(1, 0.5, 1), mask=4)
    for _ in range(30):
        assert not mover.update(1 / 60).grounded
    assert mover.position.y < -0.5
