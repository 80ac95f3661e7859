"""A path leads one character: at any frame rate and speed, pushed, saved and refused."""

import pickle
import threading
import warnings

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Path,
    Rewind,
    SphereCollider,
    TriangleMesh,
    Walkability,
    World,
)
from terrain_physics._kernels.walkability import layout
from tests.helpers.hand_made_maps import HandMadeMap, flat, open_land
from tests.helpers.pairwise import pairwise

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
FRAME = 1 / 60
Flat = tuple[float, float]


def blocked(x: float, z: float) -> bool:
    """Tell whether the wall of `walled` leaves no room for the body."""
    return 9.5 < x < 11.5 and z < 13


def walled() -> HandMadeMap:
    """Return a map of a floor with a wall along z, which has a free end at z = 12."""
    floor = HeightMap(np.zeros((20, 20)))
    wall = TriangleMesh.box((0.4, 3, 12), position=(10.5, 1.5, 6))

    def kind(a: Flat, b: Flat) -> int:
        across = min(a[0], b[0]) == 10 and max(a[0], b[0]) == 11 and min(a[1], b[1]) < 13
        return layout.NO_EDGE if across or blocked(*a) or blocked(*b) else layout.WALK

    return HandMadeMap(Ground([floor, wall]), BODY, flat, kind, size=(20, 20))


@pytest.fixture(scope="module")
def around() -> HandMadeMap:
    return walled()


def a_path(around: HandMadeMap) -> Path:
    return around.path((6, 8), (15, 9))


def hero_of(around: HandMadeMap, x: float = 6, z: float = 8, **rules: float) -> CharacterMovement:
    ground = around.terms.ground
    return CharacterMovement(ground, BODY, position=(x, 0, z), **rules)  # type: ignore[arg-type]


def beside(path: Path, x: float, z: float) -> float:
    """Return how far a point is beside a path, on the level."""
    a, b = path.points[:-1, ::2], path.points[1:, ::2]
    along = ((np.array([x, z]) - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1)
    nearest = a + np.clip(along, 0, 1)[:, np.newaxis] * (b - a)
    return float(np.linalg.norm(nearest - [x, z], axis=1).min())


def follow(path: Path, hero: CharacterMovement, frame: float, speed: float) -> tuple[str, float]:
    """Lead a character to the end; return the last word and the time."""
    most = 2 * path.length / speed + 4
    for number in range(int(most / frame)):
        word = path.lead(hero, speed)
        if word != "on the way":
            return word, number * frame
        hero.update(frame)
    return word, most


@pytest.mark.parametrize(("rate", "speed"), pairwise((20, 60, 144, 360), (1.5, 3.0, 4.5)))
def test_it_arrives_stays_on_the_path_and_stops(around: HandMadeMap, rate: int, speed: float):
    path, hero = a_path(around), hero_of(around)
    aside = 0.0
    frames = 0
    while (word := path.lead(hero, speed)) == "on the way":
        hero.update(1 / rate)
        frames += 1
        aside = max(aside, beside(path, hero.position.x, hero.position.z))
    assert word == "arrived"
    assert aside <= 0.05 + 1e-6
    assert frames / rate <= 1.15 * path.length / speed
    assert path.progress == path.length
    assert hero.velocity == (0, 0, 0)
    there = hero.position64
    assert np.hypot(there[0] - 15, there[2] - 9) <= 0.025
    for _ in range(10):
        hero.update(1 / rate)
        assert path.lead(hero, speed) == "arrived"
    assert hero.position64 == there


@pytest.mark.filterwarnings("ignore:speed is 16 m/s, the map is made for 3")
@pytest.mark.parametrize(("rate", "speed"), [(20, 3.0), (60, 3.0), (360, 3.0), (60, 16.0)])
def test_a_corner_without_a_turn_is_come_near_first(rate: int, speed: float):
    """The points before and behind a door are in one line, many spacings apart."""
    walls = [TriangleMesh.box((24, 3, 0.4), position=(s * 12.45, 1.5, 0)) for s in (-1, 1)]
    ground = Ground([HeightMap(np.zeros((33, 33)), origin=(-16, 0, -16)), *walls])
    paths = Walkability(ground, BODY, area=((-2, -15), (2, 10)))
    paths.update()
    path = paths.path((0, -14), (0, 8))
    assert path is not None
    turns = np.diff(np.diff(path.points[:, ::2], axis=0), axis=0)
    pieces = np.linalg.norm(np.diff(path.points[:, ::2], axis=0), axis=1)
    assert len(pieces) > 1
    assert max(pieces) > 6 * paths.spacing
    assert np.abs(turns[:, 0]).max() == 0
    hero = CharacterMovement(ground, BODY, position=(0, 0, -14), rules=paths.rules)
    hero.update(FRAME)
    for _ in range(12 * rate):
        if path.lead(hero, speed) != "on the way":
            break
        ahead = path.progress - (hero.position.z + 14)
        assert ahead < (0.41 if speed == 3.0 else 3.01)
        # A long frame in which the fast one comes from 7.5 m to 3.5 m before the corner.
        is_long = speed == 16.0 and -8.7 < hero.position.z < -8.4
        hero.update(0.25 if is_long else 1 / rate)
        assert beside(path, hero.position.x, hero.position.z) < 0.05
    assert path.lead(hero, speed) == "arrived"


def test_the_last_frame_never_leads_beyond_the_end(around: HandMadeMap):
    for rate in (5, 20, 360):
        path, hero = around.path((2, 2), (7, 2)), hero_of(around, 2, 2)
        farthest = 0.0
        while path.lead(hero) == "on the way":
            hero.update(1 / rate)
            farthest = max(farthest, hero.position64[0])
        assert 6.97 < farthest < (7.001 if rate >= 20 else 7.61)


def test_progress_grows_to_the_length_and_can_be_set(around: HandMadeMap):
    path, hero, last = a_path(around), hero_of(around), 0.0
    while path.lead(hero) == "on the way":
        assert path.progress >= last
        last = path.progress
        hero.update(FRAME)
    assert last > path.length - 0.1
    path.progress = 1
    assert path.progress == 1.0
    with pytest.raises(ValueError, match="progress must be"):
        path.progress = path.length + 1
    with pytest.raises(ValueError, match="progress must be"):
        path.progress = float("nan")
    with pytest.raises(ValueError, match="stalled must be"):
        path.stalled = -1


def test_what_it_has(around: HandMadeMap):
    path = around.path((2, 2), (5, 2))
    assert path.kinds == ("walk",) * 3
    assert path.length == 3.0
    assert repr(path) == "<Path of 3 m, 4 points>"
    with pytest.raises(ValueError, match="read-only"):
        path.points[0, 0] = 1.0


def test_a_path_to_where_it_stands_has_arrived(around: HandMadeMap):
    path, hero = around.path((6, 8), (6, 8)), hero_of(around)
    assert (len(path.points), path.kinds, path.length) == (1, (), 0.0)
    assert path.lead(hero) == "arrived"
    hero.position = (6.6, 0, 8.2)
    hero.update(FRAME)
    assert follow(path, hero, FRAME, 3.0)[0] == "arrived"


# Pushed


@pytest.mark.parametrize("push", [(2.5, 0, 0), (0, 0, -1.5), (-2, 0, 1), (0.3, 0, 0.2), (0, 2, 0)])
def test_pushed_off_it_goes_back_and_arrives(around: HandMadeMap, push: tuple[float, ...]):
    path, hero = a_path(around), hero_of(around)
    for frame in range(300):
        if path.lead(hero) != "on the way":
            break
        if frame == 20:
            hero.teleport([a + b for a, b in zip(hero.position64, push, strict=True)])
        hero.update(FRAME)
    assert follow(path, hero, FRAME, 3.0)[0] == "arrived"


def test_pushed_by_a_velocity_it_goes_on(around: HandMadeMap):
    path, hero = a_path(around), hero_of(around)
    for frame in range(60):
        path.lead(hero)
        if frame in {20, 40}:
            hero.velocity = (-6, 4, 3)
        hero.update(FRAME)
    assert follow(path, hero, FRAME, 3.0)[0] == "arrived"


def test_pushed_ahead_over_open_ground_it_does_not_turn_back(around: HandMadeMap):
    path, hero = around.path((1, 15), (15, 15)), hero_of(around, 1, 15)
    path.lead(hero)
    hero.teleport((8, 0, 17))
    hero.update(FRAME)
    path.lead(hero)
    assert path.progress > 6.5
    assert hero.velocity.x >= -1e-6


def test_pushed_through_a_wall_it_does_not_rejoin_behind_it(around: HandMadeMap):
    path, hero = a_path(around), hero_of(around)
    path.progress = path.length - 1
    hero.update(FRAME)
    path.lead(hero)
    assert path.progress >= path.length - 1
    assert path.lead(hero) == "stuck"  # too far off
    assert hero.velocity == (0, 0, 0)


# Stuck


@pytest.mark.parametrize("rate", [20, 60, 360])
def test_a_wall_that_was_not_there_makes_it_stuck(rate: int):
    around = walled()
    path, hero = around.path((2, 16), (17, 16)), hero_of(around, 2, 16)
    around.terms.ground.add(TriangleMesh.box((1, 3, 5), position=(8, 1.5, 16)))  # type: ignore[union-attr]
    word, seconds = follow(path, hero, 1 / rate, 3.0)
    assert word == "stuck"
    assert abs(seconds - (5.1 / 3 + 2)) < 0.3
    assert hero.velocity == (0, 0, 0)
    there = hero.position64
    for _ in range(rate // 2):
        hero.update(1 / rate)
        assert path.lead(hero) == "stuck"
    assert hero.position64 == there
    path.progress = 0  # it may try again
    assert path.lead(hero) == "on the way"


def test_on_a_lift_that_takes_it_away_it_is_stuck():
    floor = HeightMap(np.zeros((20, 20)))
    ground = Ground([floor, TriangleMesh.box((3, 1, 3), position=(9, -0.4, 9))])
    lifted = HandMadeMap(ground, BODY, flat, open_land, size=(20, 20))
    path, hero = lifted.path((4, 9), (15, 9)), hero_of(lifted, 4, 9)
    while path.progress < 5.1:
        path.lead(hero)
        hero.update(FRAME)
    for frame in range(240):
        ground.move(1, (9, -0.4 + frame / 60, 9), FRAME)
        hero.walk(0, 0)
        hero.update(FRAME)
    assert hero.position.y > 3.5
    assert follow(path, hero, FRAME, 3.0)[0] == "stuck"
    assert hero.position.y > 3.5


def test_a_trench_on_the_way_stops_it():
    floor = HeightMap(np.zeros((20, 20)))
    level = HandMadeMap(floor, BODY, flat, open_land, size=(20, 20))
    path, hero = level.path((2, 9), (16, 9)), hero_of(level, 2, 9)
    floor[:, 8:11] = -4
    word, _ = follow(path, hero, FRAME, 3.0)
    assert word == "stuck"
    assert hero.position.y < -3
    assert hero.velocity.x == 0


# Saved


def test_restored_it_goes_on_with_the_same_bits(around: HandMadeMap):
    world, rewind = World(around.terms.ground), None
    hero, path = hero_of(around), a_path(around)
    world.add("hero", hero)
    rewind = Rewind(world, 8)

    def play(frames: int) -> list[str]:
        hashes = []
        for _ in range(frames):
            path.lead(hero, 4.0)
            world.update(0.1)  # long frames: the last one's length counts too
            hashes.append(world.state_hash())
        return hashes

    play(7)
    kept, numbers = world.state(), (path.progress, path.stalled)
    rewind.save(0)
    first = play(30)
    for restore in (lambda: world.restore(kept), lambda: rewind.restore(0)):
        restore()
        path.progress, path.stalled = numbers
        assert play(30) == first
    world.restore(kept)
    path.progress, path.stalled = numbers
    path, hero, world = pickle.loads(pickle.dumps((path, hero, world)))
    hero = world["hero"]
    assert play(30) == first


def test_another_thread_leads_with_the_same_bits(around: HandMadeMap):
    found = []

    def play() -> None:
        path, hero = a_path(around), hero_of(around)
        for _ in range(100):
            path.lead(hero)
            hero.update(FRAME)
        found.append(hero.state_hash())

    play()
    threads = [threading.Thread(target=play) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_a_member_goes_as_a_hero_alone(around: HandMadeMap):
    group, hero = CharacterGroup(around.terms.ground, BODY), hero_of(around)
    group.add("hero", (6, 0, 8), seed=0)
    paths = a_path(around), a_path(around)
    for _ in range(200):
        assert paths[0].lead(hero) == paths[1].lead(group["hero"])
        hero.update(FRAME)
        group.update(FRAME)
    assert group["hero"].state_hash() == hero.state_hash()


# Refused


def test_a_crouching_hero_is_refused_until_it_stands_up(around: HandMadeMap):
    path, hero = a_path(around), hero_of(around)
    hero.update(FRAME)
    hero.resize(CapsuleCollider(0.4, 1.2, offset=(0, 0.6, 0)))
    with pytest.raises(ValueError, match=r"collider must be as large as the map's, Capsule.* got"):
        path.lead(hero)
    hero.resize(BODY)
    assert path.lead(hero) == "on the way"


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ({"slope_limit": 1.0}, "slope_limit"),
        ({"step_offset": 0.1}, "step_offset"),
        ({"snap_distance": 0.1}, "snap_distance"),
        ({"mask": 2}, "mask"),
        ({"keep_off_ledges": True}, "keep_off_ledges"),
        ({"ground_rule": "sum"}, "ground_rule"),
        ({"slope_speed": "surface"}, "slope_speed"),
    ],
)
def test_other_rules_are_refused(around: HandMadeMap, rules: dict[str, float], name: str):
    path, hero = a_path(around), hero_of(around, **rules)
    with pytest.raises(ValueError, match=f"^{name} must be the map's, .*, got "):
        path.lead(hero)
    assert path.progress == 0.0
    assert hero.velocity == (0, 0, 0)


def test_rules_that_do_not_matter_may_differ(around: HandMadeMap):
    others = {"mass": 10.0, "layers": 4, "ground_friction": 1.0, "gravity_scale": 0.5}
    hero = hero_of(around, **others)
    assert a_path(around).lead(hero) == "on the way"


def test_bad_arguments_are_refused(around: HandMadeMap):
    path, hero = a_path(around), hero_of(around)
    other = CharacterMovement(HeightMap(np.zeros((20, 20))), BODY, position=(6, 0, 8))
    with pytest.raises(ValueError, match="ground must be the map's own"):
        path.lead(other)
    small = CharacterMovement(around.terms.ground, SphereCollider(0.4), position=(6, 0, 8))
    with pytest.raises(ValueError, match="collider must be as large as the map's"):
        path.lead(small)
    with pytest.raises(TypeError, match="hero must be a CharacterMovement or a GroupMember"):
        path.lead(CharacterGroup(around.terms.ground, BODY))  # type: ignore[arg-type]
    for speed in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="speed must be"):
            path.lead(hero, speed)
    with pytest.raises(TypeError, match="speed must be"):
        path.lead(hero, "fast")  # type: ignore[arg-type]


def test_a_speed_far_from_the_maps_is_told_once(around: HandMadeMap):
    path, hero = a_path(around), hero_of(around)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        path.lead(hero, 1.5)
        path.lead(hero, 4.5)
        assert not told
        path.lead(hero, 6.0)
        path.lead(hero, 1.0)
    assert [str(one.message)[:18] for one in told] == ["speed is 6 m/s, th"]
    assert told[0].filename == __file__
