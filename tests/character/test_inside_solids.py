"""Characters inside solid meshes: taken out by the nearest way that is free."""

import copy
import itertools
import pickle
from typing import Any

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
from tests.helpers.examples import rest_is_full

pytestmark = pytest.mark.kernels

BODIES: list[Any] = [CapsuleCollider(0.3, 1.8), SphereCollider(0.4), BoxCollider((0.3, 0.9, 0.3))]
FRAME = 1 / 60


def shift(x: float, y: float, z: float, turn: float = 0.0) -> Any:
    matrix = np.eye(4)
    matrix[[0, 2], [0, 2]] = np.cos(turn)
    matrix[0, 2], matrix[2, 0] = np.sin(turn), -np.sin(turn)
    matrix[:3, 3] = x, y, z
    return matrix


def box(x, y, z, at, *, solid=True, turn=0.0):
    a, b, c = at
    return TriangleMesh.box((x, y, z), transform=shift(a, b, c, turn), solid=solid)


def plain(*parts):
    return Ground([HeightMap(np.zeros((33, 33))), *parts])


def standing(land, at, body=BODIES[0], **rules):
    hero = CharacterMovement(land, body, position=at, **rules)
    for _ in range(30):
        hero.update(FRAME)
    assert hero.grounded
    return hero


def until_out(hero, land, delta=FRAME, most=60):
    """Update until the hero is out; return the results."""
    results = []
    while land.contains(hero.position64):
        results.append(hero.update(delta))
        assert len(results) <= most
    return results


def assert_steps(results, most):
    """All are as long as they may be, but the last, and the one that leaves one piece for it."""
    assert all(result.lifted == pytest.approx(most) for result in results[:-2])
    assert all(0.0 < result.lifted < most + 1e-6 for result in results[-2:-1])


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_house_lets_nobody_stay_inside(body, turn):
    land = plain()
    hero = standing(land, (16, 1, 16), body)
    land.add(box(8, 10, 8, (14, 0, 16), turn=turn))
    depth = -land.signed_distance(hero.position64)
    start = np.array(hero.position64)
    results = until_out(hero, land)
    for result in results[:-1]:
        assert (result.converged, result.limited_by) == (False, "depth")
        assert result.penetration > 0
    assert_steps(results, 0.5)
    assert len(results) <= 2 + depth / 0.4
    way = np.array(hero.position64) - start
    assert np.linalg.norm(way) < depth + 1.2
    assert abs(way[1]) < 0.1
    for _ in range(60):
        result = hero.update(FRAME)
        assert result.converged
        assert land.signed_distance(hero.position64) > 0.2
    assert hero.grounded


@pytest.mark.parametrize("rate", [20, 30, 144, 360])
def test_the_speed_is_bounded_at_any_rate(rate):
    land = plain()
    hero = standing(land, (16, 1, 16))
    land.add(box(20, 9, 20, (12, 4, 16)))
    results = until_out(hero, land, 1 / rate, 10 * rate)
    most = max(30 / rate, 0.3)
    assert_steps(results, most)
    assert results[-1].lifted < max(most, 0.5) + 2e-3


def change_by_moving(land, key):
    land.move(key, shift(16, 2, 16))


def change_by_refitting(land, key):
    mesh = land.parts[key]
    mesh.refit(mesh.vertices + np.array([16, 2, 16]))


@pytest.mark.parametrize("change", [change_by_moving, change_by_refitting, "layers"])
def test_sleepers_wake_inside(change):
    """The house is so large that they touch none of its faces."""
    land, far = plain(), (16, 2, 16) if change == "layers" else (0, 0, 0)
    hero = standing(land, (16, 1, 16), mask=1)
    key = land.add(box(9, 9, 9, far), layers=2 if change == "layers" else 1)
    for _ in range(40):
        hero.update(FRAME)
    if change == "layers":
        land.set_layers(key, 1)
    else:
        change(land, key)
    assert land.contains(hero.position64)
    until_out(hero, land)
    for _ in range(60):
        assert hero.update(FRAME).converged


def test_inside_out_and_wound_twice():
    mesh = box(8, 4, 8, (16, 1.7, 16))
    for faces in (mesh.faces[:, ::-1], np.vstack([mesh.faces, mesh.faces])):
        land = plain()
        hero = standing(land, (17, 1, 16))
        land.add(TriangleMesh(mesh.vertices, faces, solid=True))
        until_out(hero, land)


def test_nobody_is_taken_out_of_a_hollow():
    outer, inner = box(10, 8, 10, (16, 3.5, 16)), box(6, 6, 6, (16, 3.2, 16))
    faces = np.vstack([outer.faces, inner.faces[:, ::-1] + 8])
    house = TriangleMesh(np.vstack([outer.vertices, inner.vertices]), faces, solid=True)
    land = plain()
    hero = standing(land, (16, 1.2, 16))
    before = hero.position64
    land.add(house)
    for _ in range(20):
        assert hero.update(FRAME).converged
    assert np.allclose(hero.position64, before, atol=0.35)
    assert not land.contains(hero.position64)


def test_out_of_two_houses_that_overlap():
    land = plain()
    hero = standing(land, (16, 1, 16))
    land.add(box(8, 9, 8, (13.5, 4, 16)))
    land.add(box(8, 9, 8, (18.5, 4, 16)))
    until_out(hero, land)
    assert hero.position64[1] < 1.2
    assert abs(hero.position64[2] - 16) > 4


def test_not_through_a_wall():
    """The nearest way leads through a wall that stands there; the next one does not."""
    for solid in (False, True):
        land = plain(box(0.2, 4, 12, (17, 2, 16), solid=solid))
        hero = standing(land, (16, 1, 16))
        land.add(box(8, 9, 8, (12.4, 4, 16)))  # up to x = 16.4, close to the wall
        until_out(hero, land)
        for _ in range(30):
            hero.update(FRAME)
        assert not land.contains(hero.position64)
        assert hero.position64[0] < 16.9 or abs(hero.position64[2] - 16) > 6


def test_without_a_free_way_it_stays_and_says_so():
    room = box(4, 3, 4, (16, 1.5, 16), solid=False)
    land = plain(room)
    hero = standing(land, (16, 1, 16))
    block = land.add(box(5, 5, 5, (16, 1, 16)))
    place = hero.position64
    for _ in range(20):
        result = hero.update(FRAME)
        assert (result.converged, result.limited_by) == (False, "room")
        assert result.penetration > 1
    assert np.allclose(hero.position64, place)
    land.remove(1)
    until_out(hero, land)
    land.remove(block)


def test_never_down_into_the_land():
    land = plain()
    hero = standing(land, (16, 1, 16))
    land.add(box(30, 9, 30, (16, 4.4, 16)))  # its floor is 0.1 m below the land
    until_out(hero, land, most=200)
    for _ in range(60):
        hero.update(FRAME)
    assert hero.position64[1] > 0.85


def test_other_layers_and_one_way_parts_take_nobody_out():
    land = plain()
    hero = standing(land, (16, 1, 16), mask=1)
    land.add(box(8, 4, 8, (16, 1.7, 16)), layers=2)
    key = land.add(box(8, 4, 8, (16, 1.7, 16)))
    land.set_one_way(key, (0, 1, 0))
    before = hero.position64
    for _ in range(10):
        assert hero.update(FRAME).converged
    assert np.allclose(hero.position64, before, atol=1e-3)


def test_a_character_made_or_put_inside_comes_out():
    land = plain(box(8, 4, 8, (16, 1.7, 16)))
    new = CharacterMovement(land, BODIES[0], position=(14, 1, 15))
    until_out(new, land)
    new.teleport((17, 2, 16))
    until_out(new, land)


# A middle on a face: solid meshes are closed, and so is what several of them make together


def row_of_blocks():
    return [box(6, 6, 6, (x, 3, 16)) for x in (10, 16, 22)]


def merged_row():
    row = TriangleMesh.merged(row_of_blocks())
    return [TriangleMesh(row.vertices, row.faces, solid=True)]


TOUCHING = {
    "house": lambda: [box(6, 4, 6, (16, 2, 16))],
    "house in the ground": lambda: [box(6, 4, 6, (16, 1, 16))],
    "row": row_of_blocks,
    "one mesh": merged_row,
    "tower": lambda: [box(4, 2, 4, (16, y, 16)) for y in (-1, 1, 3)],
    "eight": lambda: [
        box(3, 3, 3, (16 + x, 1.5 + y, 16 + z))
        for x, y, z in itertools.product((-1.5, 1.5), (0, 3), (-1.5, 1.5))
    ],
}
UPRIGHT = [(BODIES[0], 0.9), (BODIES[1], 0.4), (BODIES[2], 0.9), (BoxCollider((0.3, 0.3, 1)), 0.3)]


def places_on_faces(meshes):
    """Return places on faces, edges and corners, and on the land (at 0) below."""
    found = {(x, 0.0, z) for x in (15.5, 16.0) for z in (16.0, 16.7)}
    for mesh in meshes:
        corners = mesh.vertices.reshape(-1, 8, 3)  # of each block
        for low, high in zip(corners.min(axis=1), corners.max(axis=1), strict=True):
            for share in itertools.product((0, 0.25, 0.5, 1), repeat=3):
                if 0 in share or 1 in share:
                    found.add(tuple((low + (high - low) * share).tolist()))
    return sorted(place for place in found if place[1] >= 0)


def left_on_faces(name, shape, seed, count):
    """Put characters on faces; return those that are in something two seconds later."""
    body, half = shape
    land = plain(*TOUCHING[name]())
    rng = np.random.default_rng(seed)
    places = places_on_faces(TOUCHING[name]())
    rate, wrong = (10, 20, 30, 60, 144)[seed % 5], []
    for place in rng.permutation(places)[:count].tolist():
        hero = CharacterMovement(land, body, position=(3, half, 3))
        hero.update(1 / rate)
        hero.teleport(place)
        for _ in range(2 * rate):
            hero.update(1 / rate)
        at = hero.position64
        if land.contains(at) or at[1] < half - 0.01 or not hero.grounded:
            wrong.append((place, at))
    return wrong


@pytest.mark.parametrize("seed", rest_is_full(range(5)))
@pytest.mark.parametrize("name", TOUCHING)
def test_out_with_the_middle_on_a_face(name, seed):
    for k, shape in enumerate(UPRIGHT):
        assert left_on_faces(name, shape, seed + k, 8) == [], shape


@pytest.mark.long
def test_out_with_the_middle_on_any_face():
    for name, (k, shape) in itertools.product(TOUCHING, enumerate(UPRIGHT)):
        for seed in range(5):
            assert left_on_faces(name, shape, seed, 200) == [], (name, k, seed)


@pytest.mark.parametrize("body", BODIES)
def test_a_face_leads_out_as_close_beside_it(body):
    """At the face that two blocks share the way is as short, and it is told the same way."""
    ends = []
    for x in (13.0, 13.001):
        land = plain(*row_of_blocks())
        hero = CharacterMovement(land, body, position=(x, 1.0, 17.7))
        results = until_out(hero, land)
        assert {result.limited_by for result in results[:-1]} <= {"depth"}
        assert all(result.lifted < 0.51 for result in results[:-1])
        ends.append(hero.position64)
    assert np.allclose(ends[0], ends[1], atol=2e-3)
    assert ends[0][2] > 19.2


@pytest.mark.parametrize("height", [0.0, 0.001])
def test_the_way_is_not_down_through_thin_land(height):
    """The middle is on the land, and the nearest face of the solid mesh is below the underside."""
    land = Ground([HeightMap(np.zeros((33, 33)), thickness=0.5), box(20, 9, 20, (16, 2.5, 16))])
    hero = CharacterMovement(land, SphereCollider(0.1), position=(16, height, 16))
    for _ in range(60):
        hero.update(FRAME)
        assert hero.position64[1] >= 0.0
    assert not land.contains(hero.position64)


@pytest.mark.parametrize("beside", [0.0, 3e-5, 9e-5])
def test_a_part_of_the_way_ends_inside(beside):
    """Less than a contact margin outside, contacts would push it any way out of its overlap."""
    land = plain(box(4, 6, 6, (16, 3, 16)), box(4, 6, 6, (12, 3, 16)), box(4, 6, 6, (20, 3, 16)))
    body = BoxCollider((0.25, 0.25, 1))
    hero = CharacterMovement(land, body, position=(16, 2, 17 + beside))
    assert land.contains(hero.position64)
    while (result := hero.update(1 / 30)).limited_by == "depth":
        assert land.contains(hero.position64)
    assert result.converged
    assert hero.position64[2] > 20


def test_no_way_out_with_the_middle_on_a_face():
    """It is shut in: it stays, and is told so."""
    cage = box(4, 2, 4, (16, 1, 16), solid=False)
    land = plain(cage, box(2, 6, 6, (15, 3, 16)), box(2, 6, 6, (17, 3, 16)))
    hero = CharacterMovement(land, BODIES[0], position=(16, 1, 16))
    for _ in range(20):
        result = hero.update(FRAME)
        assert (result.converged, result.limited_by) == (False, "room")
        assert hero.position64 == (16, 1, 16)


# Solid meshes put on bodies: the land has its way


def piles(seed, shape, frames, rate=60):
    """Put piles of solid blocks on four characters; return (how deep in the land, longest way)."""
    body, half = shape
    land, rng = plain(), np.random.default_rng(seed)
    group = CharacterGroup(land, body)
    spots = [(8.0, half, 8.0), (8.0, half, 24.0), (24.0, half, 8.0), (24.0, half, 24.0)]
    group.add_many(range(4), spots)
    group.update(1 / rate)
    for spot in spots:
        for _ in range(rng.integers(3, 8)):
            at = np.add(spot, rng.uniform(-1.5, 1.5, 3))
            x, y, z = rng.uniform(0.5, 3, 3)
            land.add(box(x, y, z, at.tolist()))
    deepest, longest = 0.0, 0.0
    for frame in range(frames):
        before = group.positions
        if frame < 10:
            group.walk(*rng.uniform(-3, 3, (2, 4)))
        result = group.update(1 / rate)
        deepest = max(deepest, half - group.positions[:, 1].min())
        longest = max(longest, np.linalg.norm(group.positions - before, axis=1).max())
    assert not (land.contains(group.positions) & (result.limited_by != "room")).any()
    return deepest, longest


@pytest.mark.parametrize(("kind", "seed"), [(0, 5), (1, 47), (2, 3), (3, 5), (3, 26)])
def test_solid_blocks_press_nobody_into_the_land(kind, seed):
    deepest, longest = piles(seed, UPRIGHT[kind], 20)
    assert deepest < 1e-4
    assert longest < 4


@pytest.mark.long
def test_many_piles_press_nobody_into_the_land():
    for seed in range(400):
        rate = (20, 60, 144)[seed % 3]
        deepest, longest = piles(seed, UPRIGHT[seed % 4], rate, rate)
        assert deepest < 1e-4, seed
        assert longest < 6, seed


def test_four_blocks_leave_a_capsule_on_the_land():
    """The blocks face each other, and between them and the land there is no room."""
    land = plain()
    hero = CharacterMovement(land, CapsuleCollider(0.4, 1.8), position=(17.51, 0.9, 13.73))
    for (x, y, z), at in (
        ((1.44, 1.64, 1.87), (18.92, 2.23, 14.12)),
        ((1.27, 0.74, 1.69), (19.08, 0.58, 13.60)),
        ((2.05, 1.64, 2.72), (18.57, 2.36, 13.84)),
        ((1.15, 1.60, 3.00), (17.24, 0.10, 14.76)),
    ):
        land.add(box(x, y, z, at))
    for _ in range(20):
        before = np.array(hero.position64)
        hero.update(FRAME)
        assert hero.position64[1] > 0.9 - 1e-4
        assert np.linalg.norm(hero.position64 - before) < 1


@pytest.mark.parametrize("shape", UPRIGHT)
def test_the_way_out_of_a_tilted_block_is_above_the_land(shape):
    """Its nearest face leads down, and the body fits only higher, on the land."""
    body, half = shape
    land = plain()
    hero = standing(land, (16, half, 16), body)
    tilt = shift(16, 1, 16)
    tilt[[1, 2], [1, 2]], tilt[1, 2], tilt[2, 1] = np.cos(0.6), -np.sin(0.6), np.sin(0.6)
    land.add(TriangleMesh.box((8, 8, 4), transform=tilt, solid=True))
    lowest = half
    while land.contains(hero.position64):
        hero.update(FRAME)
        lowest = min(lowest, hero.position64[1])
    assert hero.update(FRAME).converged
    assert lowest > half - 1e-3


@pytest.mark.parametrize("body", BODIES)
def test_the_same_bits_after_a_save_and_in_a_group(body):
    land = plain()
    hero = standing(land, (16, 1, 16), body)
    group = CharacterGroup(land, body)
    group.add("ada", (16, 1, 16))
    for _ in range(30):
        group.update(FRAME)
    land.add(box(8, 4, 9, (15, 1.7, 16.5), turn=0.3))
    for frame in range(40):
        hero.update(FRAME)
        group.update(FRAME)
        assert hero.position64 == tuple(group.positions[0].tolist())
        if frame % 3 == 1:
            again = pickle.loads(pickle.dumps(hero.state()))
            other = CharacterMovement(copy.deepcopy(land), body, position=(0, 1, 0))
            other.restore(again)
            assert other.state_hash() == hero.state_hash()
            assert other.update(FRAME).lifted == copy.deepcopy(hero).update(FRAME).lifted
    assert not land.contains(hero.position64)


def crowd_under_a_house(seed, rate, *, count=60):
    """Return (how many a house shut in, how many are in it a second later)."""
    rng = np.random.default_rng(seed)
    heights = np.zeros((41, 41)) if seed % 3 == 0 else rng.normal(size=(41, 41)) * 0.3
    land = Ground([HeightMap(heights)])
    places = rng.uniform(14, 26, (count, 2))
    group = CharacterGroup(land, BODIES[seed % 3], collide=seed % 2 == 0)
    tall = land.height_at(*places.T) + 1.2
    group.add_many(range(count), np.column_stack([places[:, 0], tall, places[:, 1]]))
    for _ in range(rate // 4):
        group.update(1 / rate)
    house = TriangleMesh.box((8, 4, 8), transform=shift(20, 1.7, 20, rng.uniform(0, 6)))
    turned = -1 if seed % 5 == 1 else 1
    land.add(TriangleMesh(house.vertices, house.faces[:, ::turned], solid=True))
    shut_in = land.contains(group.positions).sum()
    for _ in range(rate):
        group.update(1 / rate)
    assert np.isfinite(group.positions).all()
    x, y, z = group.positions.T
    assert (y > land.parts[0].height_at(np.clip(x, 0, 40), np.clip(z, 0, 40))).all()
    return shut_in, land.contains(group.positions).sum()


@pytest.mark.parametrize("seed", range(2))
def test_a_house_on_a_crowd_shuts_nobody_in(seed):
    shut_in, left = crowd_under_a_house(seed, 60)
    assert shut_in > 8
    assert left == 0


@pytest.mark.long
def test_houses_on_many_crowds():
    shut_in = 0
    for seed in range(120):
        more, left = crowd_under_a_house(seed, (20, 60, 144)[seed % 3])
        shut_in += more
        assert left == 0, seed
    assert shut_in > 2000


# Solid meshes as what is walked on, run into, and moved


def around(solid, seed):
    """Return a ground with blocks, stairs and thin plates, solid or skins."""
    rng = np.random.default_rng(seed)
    parts = []
    for z in rng.uniform(3, 29, 8):
        (x, y, length), at = rng.uniform((1, 0.3, 1), (4, 2, 4)), (*rng.uniform(3, 29, 1), 0.2, z)
        parts.append(box(x, y, length, at, solid=solid))
    plate = box(5, 0.05, 5, (16, 1.3, 16), solid=solid, turn=0.3)
    fence = box(6, 2, 0.06, (16, 0.9, 22), solid=solid, turn=0.5)
    stairs = TriangleMesh.stairs(3, 0.25, 0.4, 7, transform=shift(8, 0, 8), solid=solid)
    return plain(*parts, plate, fence, stairs)


@pytest.mark.parametrize("seed", range(3))
def test_who_is_outside_walks_as_on_skins(seed):
    """On and beside solid meshes, also thin ones, and never into them."""
    heroes = []
    for solid in (True, False):
        land, rng = around(solid, seed), np.random.default_rng(seed)
        group = CharacterGroup(land, BODIES[seed % 3])
        group.add_many(range(12), rng.uniform((2, 3, 2), (30, 6, 30), (12, 3)))
        for frame in range(120):
            if frame % 40 == 20:
                directions = rng.uniform(0, 2 * np.pi, 12)
            if frame >= 20:
                velocity = np.column_stack([np.cos(directions), 0 * directions, np.sin(directions)])
                group.velocities = group.velocities * (0, 1, 0) + 4 * velocity
            assert group.update(1 / 60).converged.all()
            if solid:
                assert not land.contains(group.positions).any()
        heroes.append(group.positions)
    assert np.allclose(heroes[0], heroes[1], atol=1e-6)


def squeeze(seed, rate, solid):
    """Let a block sweep over a crowd to a wall and back, and one come down; return what is left."""
    rng = np.random.default_rng(seed)
    heights = np.zeros((41, 41)) if seed % 2 else rng.normal(size=(41, 41)) * 0.15
    wall = box(1, 4, 12, (30, 2, 20), solid=bool(seed % 3))
    land = Ground([HeightMap(heights), wall])
    places = rng.uniform(16, 26, (12, 2))
    group = CharacterGroup(land, BODIES[seed % 3], collide=seed % 4 == 0)
    tall = land.parts[0].height_at(*places.T) + 1
    group.add_many(range(12), np.column_stack([places[:, 0], tall, places[:, 1]]))
    for _ in range(rate // 4):
        group.update(1 / rate)
    block = TriangleMesh.box((4, 4, 4), solid=solid)
    sweeper, press = land.add(block), land.add(block.transformed(np.eye(4)))
    for frame in range(4 * rate):
        t = frame / rate
        x = 10 + 9 * t if t < 1.9 else 27.1 - 4 * (t - 1.9)
        land.move(sweeper, shift(x, 2, 20, 0.1 * seed), 1 / rate)
        y = 9 - 4 * t if t < 1.9 else 1.4 + 3 * (t - 1.9)
        land.move(press, shift(18, y, 27, t), 1 / rate)
        result = group.update(1 / rate)
        x, y, z = group.positions.T
        assert (y > land.parts[0].height_at(np.clip(x, 0, 40), np.clip(z, 0, 40))).all()
        assert not ((x > 29.9) & (np.abs(z - 20) < 5) & (y < 3)).any()
    inside = land.contains(group.positions)
    return inside, result.squeezed > 0


@pytest.mark.parametrize("rate", [20, 60])
def test_moving_solids_push_and_squeeze(rate):
    inside, squeezed = squeeze(3, rate, solid=True)
    assert not (inside & ~squeezed).any()


@pytest.mark.long
def test_many_moving_solids():
    for seed in range(40):
        inside, squeezed = squeeze(seed, (20, 30, 60, 144, 360)[seed % 5], solid=True)
        assert not (inside & ~squeezed).any(), seed


def test_who_is_squeezed_is_not_taken_out():
    """It stays where it is until the block yields, on the side that the block came from."""
    land = plain(box(1, 4, 12, (20, 2, 16)))
    hero = standing(land, (19.1, 1, 16))
    block = land.add(box(4, 4, 4, (0, 0, 0)))
    land.move(block, shift(15, 2, 16))
    hero.update(FRAME)
    for frame in range(60):
        land.move(block, shift(15 + frame * 0.05, 2, 16), FRAME)
        result = hero.update(FRAME)
        assert hero.position64[0] < 19.3
        assert abs(hero.position64[2] - 16) < 0.1
    assert result.squeezed
    assert land.contains(hero.position64)
    for frame in range(60):
        land.move(block, shift(18 - frame * 0.1, 2, 16), FRAME)
        hero.update(FRAME)
    assert not hero.update(FRAME).squeezed
    assert not land.contains(hero.position64)
