"""An update does a bounded amount of work. It leaves out the rest, and says so.

Work is counted, not timed: `_kernels/character/state/work.py` says in what.
"""

import itertools

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
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.character.reports.hits import WORK
from terrain_physics._kernels.character.state.work import MOST_WORK
from terrain_physics.character.colliders import Collider
from tests.behaviour import lands
from tests.helpers.characters import FRAME, ball, run
from tests.helpers.pairwise import each_once, pairwise

BODIES: dict[str, Collider] = {
    "sphere": SphereCollider(0.5),
    "capsule": CapsuleCollider(0.4, 1.8),
    "box": BoxCollider((0.4, 0.9, 0.4)),
}
# What is done after the bound was met: the body against one more triangle, and all that shares its
# corners.
BEYOND = 1.01 * MOST_WORK


def work_of(mover):
    """Return how much work the last update was."""
    return mover._row().hits[WORK]


def soup(count, size, seed=0, half=2.0):
    """Return triangles that share nothing, all within two meters."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-half, half, (count, 1, 3))
    corners = middles + rng.normal(0, size, (count, 3, 3))
    return TriangleMesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def parted(mesh):
    """Return a ground of the mesh, a map below it and another mesh."""
    return Ground([HeightMap(np.zeros((9, 9)), origin=(-4, -9, -4)), mesh, soup(50, 0.3, seed=9)])


def hills(samples):
    z, x = np.mgrid[:samples, :samples]
    middle = -0.5 * (samples - 1)
    heights = 8 * np.sin(0.11 * x) * np.cos(0.07 * z) + 3 * np.sin(0.5 * x + 0.3 * z)
    return HeightMap(heights, origin=(middle, 0, middle))


@pytest.fixture(scope="module")
def land():
    return hills(1025)


@pytest.fixture(scope="module")
def slivers():
    """Triangles of which all reach through each other: one step of a capsule is too much."""
    return soup(60_000, 2.0)


@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("made", [lambda mesh: mesh, parted])
def test_the_work_of_a_soup_grows_no_faster_than_the_soup(shape, made):
    work = []
    for count in (1_000, 4_000, 16_000):
        grounds = [made(soup(count, 0.25, seed)) for seed in range(3)]
        movers = [CharacterMovement(ground, BODIES[shape]) for ground in grounds]
        for mover in movers:
            assert mover.update(FRAME).limited_by is None
        work.append(sum(work_of(mover) for mover in movers))
    assert work[1] < 4 * 1.3 * work[0]
    assert work[2] < 4 * 1.3 * work[1]


def test_a_wide_body_looks_at_what_it_is_near(land):
    """In steps of meters much more lies in what a look finds than near the body."""
    mover = CharacterMovement(land, SphereCollider(9.8), position=(0, 20, 0))
    found = 0
    for _ in range(60):
        mover.velocity = (1000, 0, 300)
        assert mover.update(FRAME).limited_by is None
        found = max(found, work_of(mover))
    assert found < 0.5 * MOST_WORK


@pytest.mark.parametrize(
    ("radius", "way", "speed"),
    pairwise((0.05, 0.5, 9.8), ((1, 0, 0.3), (0.3, -1, 0), (0.1, 1, 0)), (1e6, 1e12, 1e37)),
)
def test_no_speed_is_too_much_work(land, radius, way, speed):
    mover = CharacterMovement(land, SphereCollider(radius), position=(0, 30, 0))
    limited = 0
    for _ in range(3):
        mover.velocity = np.multiply(way, speed)
        result = mover.update(FRAME)
        assert work_of(mover) < BEYOND
        assert result.converged == (result.limited_by is None)
        limited += result.limited_by == "work"
        x, y, z = mover.position64
        if max(abs(x), abs(z)) < 500:
            assert y > land.height_at(x, z)
    assert limited or speed < 1e7


def test_a_limited_flight_is_that_of_less_time():
    mover = ball(position=(20, 100, 20), gravity=8.0)
    mover.velocity = (0, 1e6, 0)
    result = mover.update(0.25)
    assert (result.limited_by, result.converged, result.penetration) == ("work", False, 0.0)
    seconds = mover.ground_report().air_time
    assert 0.0 < seconds < 0.25
    assert 1e6 - mover.state().values[4] == pytest.approx(8.0 * seconds, rel=1e-4)
    y = 100 + 1e6 * seconds - 4.0 * seconds * seconds
    assert mover.position64[1] == pytest.approx(y, rel=1e-9)
    assert (mover.position64[0], mover.position64[2]) == (20, 20)


@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("size", [0.02, 1.0])
def test_nothing_is_so_fast_that_it_is_through_a_sheet(shape, size):
    """A thin sheet that is met after the bound is: in the next update, or some later one."""
    corners = np.array([(-9, 0, -9), (-9, 0, 9), (9, 0, 9), (9, 0, -9)])
    sheet = TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)])
    bodies: dict[str, Collider] = {
        "sphere": SphereCollider(size),
        "capsule": CapsuleCollider(size, 3 * size),
        "box": BoxCollider((size, size, size)),
    }
    mover, updates = CharacterMovement(sheet, bodies[shape], position=(0, 3000 * size, 0)), 0
    while not mover.grounded:
        mover.velocity = (0, -1e7, 0)
        mover.update(0.25)
        updates += 1
        assert mover.position64[1] > 0.5 * size
        assert updates < 50
    assert updates < 4


@pytest.mark.parametrize(
    ("resolver", "velocity"), each_once(("shuffled", "simultaneous"), ((0, 0, 0), (3, -1, 1)))
)
def test_a_body_whose_step_is_too_much_stays_where_it_is(slivers, resolver, velocity):
    mover = CharacterMovement(
        slivers, BODIES["capsule"], position=(0.1, 1.2, 0.3), resolver=resolver
    )
    for _ in range(3):
        mover.velocity = velocity
        before = mover.position64, tuple(mover.state().values[3:6])
        result = mover.update(FRAME)
        assert (result.limited_by, result.converged) == ("work", False)
        assert (mover.position64, tuple(mover.state().values[3:6])) == before
        assert work_of(mover) < BEYOND


def test_it_goes_on_where_there_is_less(slivers):
    mover = CharacterMovement(slivers, BODIES["capsule"], position=(0.1, 1.2, 0.3))
    assert mover.update(FRAME).limited_by == "work"
    mover.ground = hills(33)
    mover.teleport((0, 20, 0))
    result = mover.update(FRAME)
    assert (result.limited_by, result.converged) == (None, True)


def fast_ones(ground, **options):
    group = CharacterGroup(ground, seed=5, **options)
    for i, (collider, speed) in enumerate(
        [(SphereCollider(9.8), 1e6), (SphereCollider(0.5), 3e7), (BODIES["box"], 3e7)] * 2
    ):
        group.add(i, (3 * i, 30, 2 * i), collider=collider, velocity=(speed, -0.2 * speed, 9 * i))
    group.add("walker", (5, 14, 5), collider=BODIES["capsule"], velocity=(2, 0, 0))
    return group


def test_all_in_a_group_have_the_same_bound_as_alone(land):
    groups = [fast_ones(land, threads=threads) for threads in (1, 2, 4)]
    first = groups[0]
    alone = {}
    for key in first:
        member = first[key]
        alone[key] = CharacterMovement(land, member.collider, seed=first.seed_of(key))
        alone[key].restore(member.state())
    limited = np.zeros(len(first), dtype=bool)
    for _ in range(3):
        results = [group.update(FRAME) for group in groups]
        assert results[0] == results[1] == results[2]
        assert len({tuple(group.hashes()) for group in groups}) == 1
        for number, (key, mover) in enumerate(alone.items()):
            result = mover.update(FRAME)
            assert (result.limited_by or "") == results[0].limited_by[number]
            assert result.limited_by == first[key].move_result().limited_by
            assert result.converged == results[0].converged[number]
            assert mover.state() == first[key].state()
        limited |= results[0].limited_by == "work"
    assert limited.tolist() == [True] * 6 + [False]


def test_a_saved_one_goes_on_the_same_way(land):
    mover = CharacterMovement(land, SphereCollider(9.8), position=(0, 30, 0))
    mover.velocity = (1e6, -2e5, 0)
    mover.update(FRAME)
    other = CharacterMovement(land, SphereCollider(9.8))
    other.restore(mover.state())
    for _ in range(3):
        one, two = mover.update(FRAME), other.update(FRAME)
        assert one.limited_by == two.limited_by == "work"
        assert mover.state_hash() == other.state_hash()


def test_a_body_deep_below_is_limited_by_depth():
    mover = ball(position=(10, -30, 10))
    result = mover.update(FRAME)
    assert (result.converged, result.limited_by) == (False, "depth")
    assert mover.move_result().limited_by == "depth"
    while not mover.update(FRAME).converged:
        pass
    assert mover.move_result().limited_by is None


def test_a_body_in_a_box_that_is_too_small_is_limited_by_room():
    shell = lands.boxes(((9.6, 3.6, 9.6), (10.4, 4.4, 10.4)))
    group = CharacterGroup(shell, SphereCollider(0.5), gravity=0.0)
    group.add("in", (10, 4, 10))
    group.add("out", (15, 4, 10))
    result = group.update(FRAME)
    assert result.limited_by.tolist() == ["room", ""]
    assert result.converged.tolist() == [False, True]
    with pytest.raises(ValueError, match="read-only"):
        result.limited_by[0] = "work"


@pytest.mark.parametrize("shape", BODIES)
def test_each_result_that_did_not_converge_says_why(shape):
    for seed, size in itertools.product(range(3), (0.1, 0.4, 1.0)):
        mover = CharacterMovement(soup(800, size, seed, half=1.0), BODIES[shape])
        for _ in range(20):
            result = mover.update(FRAME)
            assert result.converged == (result.limited_by is None)


def test_a_body_at_rest_keeps_the_reason():
    mover = ball()
    run(mover, 60)
    assert mover.move_result().limited_by is None
    mover.update(0.0)
    assert mover.move_result().limited_by is None


def test_who_ran_out_of_work_does_not_rest():
    rough = HeightMap(np.random.default_rng(0).uniform(0, 0.3, (20, 20)), cell_size=0.1)
    plate = CharacterMovement(
        rough,
        BoxCollider((0.005, 0.35, 0.45)),
        position=(1, 0.6, 1),
        rotation=glm.normalize(glm.quat(1, 2, 3, 4)),
        slope_limit=1.4,
        max_delta=1.0,
    )
    plate.velocity = (2, -10, 4)
    results = [plate.update(0.5) for _ in range(2)]  # lands, and is braked on the way
    assert results[-1].limited_by == "work"
    assert results[-1].grounded
    assert plate.velocity == glm.vec3()
    assert plate.update(FRAME).limited_by is None
