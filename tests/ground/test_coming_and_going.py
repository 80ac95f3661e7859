"""Parts that come and go: answers are those of a ground newly made of the parts that are there."""

import copy
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Sphere,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import bits, everything, questions


def house(rng):
    """Return a box somewhere near the middle, turned."""
    turned = glm.rotate(rng.uniform(0, 6), glm.vec3(*rng.normal(size=3)))
    placed = glm.translate(glm.vec3(*rng.uniform((0, -1, 0), (40, 3, 24))))
    mesh = TriangleMesh.box(rng.uniform(1, 6, 3))
    if rng.random() < 0.3:
        names = rng.permutation(["grass", "wood", "tin", "slate"])[: rng.integers(1, 5)]
        numbers = rng.integers(0, len(names), len(mesh))
        mesh = TriangleMesh(
            mesh.vertices, mesh.faces, materials=numbers, material_names=names.tolist()
        )
    return mesh.transformed(placed * turned)


def land(rng):
    """Return a rough map, which may share a border with others."""
    where = 8 * rng.integers(0, 4), rng.integers(-1, 2), 8 * rng.integers(0, 3)
    return HeightMap(np.zeros((9, 9)), origin=where, materials=int(rng.integers(0, 9)))


def by_place(ground, answer):
    """Return the bits of an answer with places among the parts instead of keys."""
    places = {key: k for k, key in enumerate(ground.parts)} | {-1: -1}

    def named(ids):
        part, own = ground.part_of(ids)
        return np.array([places[key] for key in part.tolist()], np.int64), own

    if hasattr(answer, "vertices"):
        return bits((answer.vertices, answer.normals, *named(answer.ids)))
    if hasattr(answer, "triangle"):
        fields = ("query", "distance", "penetration", "normal", "point", "material", "fraction")
        found = [getattr(answer, name) for name in fields if hasattr(answer, name)]
        return bits((*named(answer.triangle), *found))
    if isinstance(answer, tuple):
        return bits((answer[0], *named(answer[1])))
    return bits(answer)


def assert_as_new(ground, asked):
    fresh = Ground(list(ground.parts.values()))
    assert ground.material_names == fresh.material_names
    found = everything(ground, asked)
    for name, answer in everything(fresh, asked).items():
        assert by_place(ground, found[name]) == by_place(fresh, answer), name


@pytest.mark.parametrize("seed", rest_is_full(range(6), 2))
def test_answers_are_those_of_a_new_ground_of_the_same_parts(seed):
    rng = np.random.default_rng(seed)
    asked = questions((-4, -3, -4), (44, 6, 28), 120, seed)
    ground = Ground([land(rng), house(rng)])
    for _ in range(12):
        keys = list(ground.parts)
        chance = rng.random()
        if chance < 0.5 or len(keys) < 3:
            assert ground.add(land(rng) if rng.random() < 0.25 else house(rng)) > keys[-1]
        elif chance < 0.8:
            ground.remove(int(rng.choice(keys)))
        else:
            part = ground.parts[int(rng.choice(keys))]
            if isinstance(part, HeightMap):
                part.carve(rng.uniform(0, 24, 2), 5, rng.normal())
            else:
                part.refit(part.vertices + rng.normal(0, 0.5, 3))
        if rng.random() < 0.2:
            ground = pickle.loads(pickle.dumps(ground)) if rng.random() < 0.5 else copy.copy(ground)
        assert_as_new(ground, asked)


@pytest.mark.parametrize("seed", rest_is_full(range(3)))
def test_characters_go_on_as_on_a_new_ground_of_the_same_parts(seed):
    rng = np.random.default_rng(seed)
    parts = [HeightMap(rng.normal(0, 0.2, (41, 41))), *(house(rng) for _ in range(12))]
    ground = Ground(parts[:6])
    walkers = [CharacterMovement(ground, SphereCollider(0.4), position=(20, 5, 12), seed=1)]
    for frame in range(240):
        if frame % 20 == 10:
            ground.add(parts[6 + frame // 40]) if frame % 40 == 10 else ground.remove(
                int(rng.choice(list(ground.parts)[1:]))
            )
            other = Ground(list(ground.parts.values()))
            again = CharacterMovement(other, SphereCollider(0.4))
            again.restore(walkers[0].state())
            walkers = [walkers[0], again]
        for mover in walkers:
            mover.velocity.x, mover.velocity.z = np.sin(frame / 30), np.cos(frame / 30)
            mover.update(1 / 60)
        assert len({mover.state_hash() for mover in walkers}) == 1


def test_ids_are_keys_and_own_ids():
    ground = Ground([TriangleMesh.box((1, 1, 1)) for _ in range(3)])
    ground.remove(1)
    crate = TriangleMesh.box((1, 1, 1)).transformed(glm.translate(glm.vec3(9, 0, 0)))
    key = ground.add(crate)
    assert (key, list(ground.parts)) == (3, [0, 2, 3])
    hit, own = (on.closest_point((9.1, 5, 0.2)).triangle for on in (ground, crate))
    assert hit == (3 << 40) + own
    assert ground.part_of(hit) == (3, own)
    ground.remove(3)
    with pytest.raises(ValueError, match="triangle must be of a part that is there"):
        ground.part_of(hit)
    assert ground.add(crate) == 4


def test_who_stood_on_a_part_that_is_gone_falls_at_once():
    plank = TriangleMesh.box((4, 0.2, 4)).transformed(glm.translate(glm.vec3(4, 3, 4)))
    ground = Ground([HeightMap(np.zeros((9, 9)))])
    key = ground.add(plank)
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(4, 3.6, 4))
    group = CharacterGroup(ground, SphereCollider(0.5))
    group.add("ada", (4, 3.6, 4))
    for _ in range(60):
        mover.update(1 / 60), group.update(1 / 60)
    assert [mover.grounded, *group.grounded] == [True, True]
    assert ground.part_of(mover.ground_report().triangle)[0] == key
    ground.remove(key)
    results = mover.update(1 / 60), group.update(1 / 60)
    assert [np.all(result.grounded) for result in results] == [False, False]
    for _ in range(60):
        mover.update(1 / 60), group.update(1 / 60)
    assert mover.position.y == group["ada"].position.y == 0.5


def test_a_bridge_comes_under_the_feet_of_who_falls():
    ground = Ground([HeightMap(np.full((9, 9), -20.0))])
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(4, 3, 4))
    for _ in range(20):
        mover.update(1 / 60)
    ground.add(TriangleMesh.box((4, 0.2, 4)).transformed(glm.translate(glm.vec3(4, 0, 4))))
    for _ in range(60):
        mover.update(1 / 60)
    assert mover.grounded
    assert mover.position.y == pytest.approx(0.6)


def test_a_tile_that_comes_is_united():
    rng = np.random.default_rng(4)
    heights = rng.normal(0, 1, (9, 25)).astype(np.float32)
    tiles = [HeightMap(heights[:, x : x + 9], origin=(x, 0, 0)) for x in (0, 8, 16)]
    ground = Ground([tiles[0], tiles[2]])
    assert np.isnan(ground.height_at(12.0, 4.0))
    key = ground.add(tiles[1])
    ground.carve((8, 4), 3, 1)
    assert ground.height_at(8, 4) == tiles[0].height_at(8, 4) == tiles[1].height_at(8, 4)
    ground.remove(key)
    ground.carve((8, 4), 3, 1)
    assert tiles[0].height_at(8, 4) < tiles[1].height_at(8, 4)


@pytest.mark.parametrize(
    "part", [None, 3, Ground([TriangleMesh.box((1, 1, 1))]), Sphere((0, 0, 0), 1)]
)
def test_what_is_no_part_is_refused(part):
    ground = Ground([TriangleMesh.box((1, 1, 1))])
    with pytest.raises(TypeError, match="part must be a HeightMap or a TriangleMesh, got"):
        ground.add(part)
    assert list(ground.parts) == [0]


def test_a_part_is_there_once():
    crate, land = TriangleMesh.box((1, 1, 1)), HeightMap([[0, 0], [0, 0]])
    ground = Ground([crate, land])
    with pytest.raises(
        ValueError, match="part must not be in the ground already, got that of key 1"
    ):
        ground.add(land)
    with pytest.raises(ValueError, match=r"parts\[2\] must be another part, got parts\[0\] again"):
        Ground([crate, land, crate])
    assert len(ground.parts) == 2


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (2, KeyError, "key must be that of a part, got 2"),
        (-1, KeyError, "key must be that of a part, got -1"),
        (True, KeyError, "key must be that of a part, got True"),
        ("0", KeyError, "name must be that of a part, got '0'"),
        (0.0, TypeError, "key must be a whole number"),
    ],
)
def test_an_unknown_key_is_refused(key, error, message):
    ground = Ground([TriangleMesh.box((1, 1, 1)) for _ in range(2)])
    with pytest.raises(error, match=message):
        ground.remove(key)
    assert list(ground.parts) == [0, 1]


def test_the_last_part_stays():
    ground = Ground([TriangleMesh.box((1, 1, 1))])
    with pytest.raises(ValueError, match="key must leave at least one part, got 0 of the only one"):
        ground.remove(0)
    assert ground.height_at(0.0, 0.0) == 0.5


def test_too_many_names_change_nothing():
    names = [f"name {k}" for k in range(200)]
    first = TriangleMesh.box((1, 1, 1))
    ground = Ground([TriangleMesh(first.vertices, first.faces, material_names=names)])
    more = TriangleMesh(first.vertices, first.faces, material_names=[*map(str, range(100))])
    with pytest.raises(ValueError, match="at most 256 material_names together, got 300"):
        ground.add(more)
    assert list(ground.parts) == [0]
    assert ground.material_names == tuple(names)
    assert ground.add(first) == 1


def test_rows_that_meshes_have_left_are_used_again():
    rng = np.random.default_rng(1)
    ground = Ground([HeightMap(np.zeros((41, 41)))])
    for _ in range(400):
        ground.add(house(rng))
        keys = list(ground.parts)
        if len(keys) > 6:
            ground.remove(keys[1])
    assert len(ground._held.meshes._table._rows) < 64
    assert_as_new(ground, questions((-4, -3, -4), (44, 6, 28), 100, 5))


def test_a_long_query_keeps_the_parts_that_it_has():
    ground = Ground([TriangleMesh.box((1, 1, 1)), TriangleMesh.box((2, 2, 2))])
    with queries_of(ground).reading() as arrays:
        before = arrays.meshes.copy()
        ground.remove(1)
        ground.add(TriangleMesh.box((9, 9, 9)))
        assert np.array_equal(arrays.meshes, before)
    assert ground.height_at(0.0, 0.0) == 4.5
