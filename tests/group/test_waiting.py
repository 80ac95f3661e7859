"""Groups on ground of which a part is not there yet: who waits, and how others meet them."""

import pickle

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
)
from terrain_physics._kernels.character import needs as kernels
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED, NEED_MARK
from terrain_physics.character import needs
from tests.helpers.lattices import ground_of, lattice, one_map
from tests.helpers.patchy import patchy, supplied

FRAME = 1 / 60
RADIUS = 0.4
BODY = CapsuleCollider(RADIUS, 1.8, offset=(0, 0.9, 0))
BODIES = (CapsuleCollider(0.4, 1.8), SphereCollider(0.5), BoxCollider((0.4, 0.9, 0.3)))


def _flat():
    return Ground([HeightMap(np.zeros((101, 101)))])


def _hills(size=193):
    x, z = np.meshgrid(np.arange(size), np.arange(size))
    bumps = np.random.default_rng(5).normal(0.0, 0.15, (size, size))
    return (8 * np.sin(x / 23) + 6 * np.cos(z / 17) + bumps).astype(np.float32)


def _numbers(group):
    return group._data.rows().packed()


def _scattered(land, heights, count, spread, *, threads=1, collide=False, **options):
    """Return a group at random places, some of them in the air and fast."""
    draw = np.random.default_rng(8)
    group = CharacterGroup(land, threads=threads, collide=collide, step_offset=0.4, **options)
    for key in range(count):
        x, z = 96 + draw.uniform(-spread, spread, 2)
        place = x, float(heights.height_at(x, z)) + draw.uniform(0, 4), z
        velocity = draw.normal(0, 15, 3) * (key % 4 == 0)
        group.add(key, place, collider=BODIES[key % 3], velocity=velocity)
    return group


def _drive(group, frame):
    draw = np.random.default_rng(frame)
    speeds = draw.choice([0, 3, 6, 20], (len(group), 1))
    group.walk(*(draw.normal(0, 1, (len(group), 2)) * speeds).T)
    return group.update(FRAME)


@pytest.mark.parametrize(("collide", "spread"), [(False, 80.0), (True, 8.0)])
def test_with_load_all_go_as_on_one_map_wherever_tiles_are_taken_away(collide, spread):
    terrain, source = lattice(_hills(), 64)
    ground, whole = ground_of(terrain), one_map(source)
    supply = supplied(ground, terrain, loads=True)
    groups = [
        _scattered(land, whole, 24, spread, threads=threads, collide=collide)
        for land, threads in ((ground, 2), (whole, 1))
    ]
    for frame in range(90):
        draw = np.random.default_rng(frame)
        terrain.take([number for number in terrain.loaded if draw.random() < 0.3])
        results = [_drive(group, frame) for group in groups]
        assert groups[0].state_hash() == groups[1].state_hash()
        assert not results[0].waiting.any()
    assert supply.waits == 0
    assert supply.asked <= 90  # no box was too small


def test_who_waits_stays_as_it_is_to_the_last_bit_and_others_do_not_know():
    streaming, land = [], HeightMap(np.zeros((193, 193)))
    groups = []
    for threads in (3, 1, 1):
        ground = _flat()
        streaming.append(patchy(ground, (60, 0, 62, 100), (20, 0, 21, 100)))
        groups.append(_scattered(ground, land, 60, 45, threads=threads))
        groups[-1].set_positions(groups[-1].positions - (46, 0, 46))
    streaming[2].missing.clear()
    free, waits = np.ones(60, np.bool_), 0
    for frame in range(60):
        for group in groups:
            group.walk(*np.random.default_rng(frame).normal(0, 4, (2, 60)))
        before = _numbers(groups[0])
        results = [group.update(FRAME) for group in groups]
        waiting = results[0].waiting
        assert (_numbers(groups[0]) == before)[waiting].all()
        assert waiting.tolist() == results[1].waiting.tolist()
        assert not (results[0].just_landed | results[0].just_hit)[waiting].any()
        assert groups[0].state_hash() == groups[1].state_hash()
        free &= ~waiting
        hashes = [dict(group.hashes()) for group in groups]
        assert all(hashes[0][key] == hashes[2][key] for key in np.flatnonzero(free))
        waits += int(waiting.sum())
    assert 5 < free.sum() < 55
    assert [own.waits for own in streaming] == [waits, waits, 0]
    assert pickle.loads(pickle.dumps(results[0])) == results[0]
    assert results[0].columns()["waiting"].tolist() == waiting.tolist()


def test_a_member_tells_that_it_waits_and_goes_on():
    ground = _flat()
    streaming, group = patchy(ground, (40, 40, 60, 60)), CharacterGroup(ground, BODY)
    player = CharacterMovement(ground, BODY, position=(50, 3, 50))
    group.add("player", movement=player)
    group.add("other", (20, 3, 20))
    assert group.update(FRAME).waiting.tolist() == [True, False]
    assert group["player"].move_result().waiting
    assert player.move_result().waiting
    assert player.move_result().seconds == 0.0
    assert not group["other"].move_result().waiting
    assert player.position.y == 3
    streaming.missing.clear()
    assert not group.update(FRAME).waiting.any()
    assert player.position.y < 3


# Crowds


def _frozen(keys, threads, heads="slide"):
    """Return a crowd that walks along +x against members that wait, and the rows of these."""
    ground = _flat()
    # Fast ones need more ground: they alone must wait.
    streaming = patchy(ground, (55, 0, 56, 100))
    group = CharacterGroup(ground, BODY, collide=True, threads=threads, seed=2, heads=heads)
    for key in keys:
        kind, number = key.split()
        across = 0.9 * (int(number) % 6)
        if kind == "waits":
            group.add(key, (50, 0, 46 + across), velocity=(150, 0, 0))
        else:
            group.add(key, (42 + int(number) // 6, 0, 46 + across))
    return streaming, group, np.array([key.startswith("waits") for key in keys])


_KEYS = [f"waits {k}" for k in range(6)] + [f"walks {k}" for k in range(18)]


def _press(group, waits, frames=240):
    """Let the others walk against those who wait; return the place of the foremost."""
    walkers = [key for key in group if key.startswith("walks")]
    start, foremost = _numbers(group)[waits], -np.inf
    for _ in range(frames):
        group.walk(3, 0, keys=walkers)
        result = group.update(FRAME)
        assert result.waiting.tolist() == waits.tolist()
        assert (_numbers(group)[waits] == start).all()
        places = group.positions[:, [0, 2]]
        gaps = np.linalg.norm(places[waits][:, None] - places[~waits][None], axis=2)
        assert gaps.min() > 2 * RADIUS - 1e-3
        foremost = max(foremost, group.positions[~waits, 0].max())
    return foremost


def test_those_who_wait_stand_like_a_wall_that_others_go_round():
    hashes = set()
    for keys, threads in ((_KEYS, 1), (_KEYS[::-1], 1), (_KEYS[::-1], 4)):
        streaming, group, waits = _frozen(keys, threads)
        _press(group, waits)
        hashes.add(group.state_hash())
        assert streaming.waits == 240 * 6
    assert len(hashes) == 1


def test_those_who_waited_are_pushed_again():
    streaming, group, waits = _frozen(_KEYS, 1)
    _press(group, waits, 60)
    place = group["waits 0"].position64
    streaming.missing.clear()
    group.set_velocities(np.zeros((6, 3)), keys=_KEYS[:6])
    for _ in range(120):
        group.walk(3, 0, keys=_KEYS[6:])
        assert not group.update(FRAME).waiting.any()
    assert group["waits 0"].position64 != place


@pytest.mark.parametrize("heads", ["slide", "stand"])
def test_who_falls_on_one_who_waits_comes_to_rest_on_it_or_beside_it(heads):
    ground = _flat()
    patchy(ground, (55, 0, 56, 100))
    group = CharacterGroup(ground, BODY, collide=True, heads=heads)
    group.add("waits", (50, 2, 50), velocity=(150, 0, 0))  # in the air
    group.add("falls", (50.1, 6, 50))
    before = _numbers(group)[0]
    for _ in range(150):
        assert group.update(FRAME).waiting.tolist() == [True, False]
        assert (_numbers(group)[0] == before).all()
    falls = group["falls"]
    if heads == "stand":
        assert falls.grounded
        assert falls.position.y == pytest.approx(2 + 1.8, abs=1e-3)
    else:
        assert falls.position.y == pytest.approx(0, abs=1e-3)


def test_a_sleeper_needs_no_ground_until_others_push_it():
    ground = _flat()
    streaming = patchy(ground)
    group = CharacterGroup(ground, BODY, collide=True)
    group.add("asleep", (50, 0, 50))
    group.add("walks", (46, 0, 50.1))
    for _ in range(30):
        group.update(FRAME)
    streaming.missing.append((50.9, 49, 52, 52))  # too far for the one who walks
    before, asked = _numbers(group)[0], len(streaming.asked)
    for _ in range(30):
        assert not group.update(FRAME).waiting.any()
    assert len(streaming.asked) == asked
    waited = np.zeros(2, np.bool_)
    for _ in range(120):
        group.walk(3, 0, keys=["walks"])
        waited |= group.update(FRAME).waiting
        assert (_numbers(group)[0] == before).all()
    assert waited[0]


def test_one_of_a_crowd_that_looks_beyond_its_box_undoes_the_update_of_all(monkeypatch):
    put = kernels.put_needs

    class Pinched:
        @staticmethod
        def call(*arguments):
            count, _ = put(*arguments)
            boxes = arguments[2].reshape(-1, HITS_SIZE)[:, NEED:NEED_MARK]
            boxes[::2, :2] = boxes[::2, 2:] = (boxes[::2, :2] + boxes[::2, 2:]) / 2
            arguments[6][:count] = boxes[arguments[5][:count]]
            return count, 0.0

    monkeypatch.setattr(needs, "_PUT", Pinched)
    terrain, source = lattice(_hills(), 64)
    ground, whole = ground_of(terrain), one_map(source)
    supply = supplied(ground, terrain, loads=True)
    groups = [_scattered(land, whole, 12, 4.0, collide=True) for land in (ground, whole)]
    for frame in range(40):
        terrain.take(list(terrain.loaded))
        for group in groups:
            _drive(group, frame)
        assert groups[0].state_hash() == groups[1].state_hash()
    assert supply.asked > 60


def test_an_error_while_ground_is_brought_once_more_leaves_a_crowd_as_before(monkeypatch):
    ground = _flat()
    streaming = patchy(ground)
    group = CharacterGroup(ground, BODY, collide=True)
    group.add_many(range(4), [(50 + x, 0, 50) for x in range(4)])
    group.walk(3, 0)
    before, calls = _numbers(group), []

    def bring(boxes):
        calls.append(boxes)
        if len(calls) > 1:
            raise OSError("no such tile")

    monkeypatch.setattr(streaming, "bring", bring)
    monkeypatch.setattr(needs, "_PUT", _Points)
    with pytest.raises(OSError, match="tile"):
        group.update(FRAME)
    assert len(calls) == 2
    assert (_numbers(group) == before).all()


class _Points:
    """Boxes of no size."""

    @staticmethod
    def call(*arguments):
        found = kernels.put_needs(*arguments)
        boxes = arguments[2].reshape(-1, HITS_SIZE)[:, NEED:NEED_MARK]
        boxes[:, :2] = boxes[:, 2:] = 0.0
        return found[0], 0.0
