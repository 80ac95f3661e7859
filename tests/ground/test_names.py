"""Names in answers: those of the materials and of the parts, as the parts themselves tell them."""

import copy
import pickle
import threading
import time
import typing

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    MoveHits,
    Ray,
    Recording,
    Sphere,
    SphereCollider,
    TriangleMesh,
    replay,
)
from tests.ground.test_materials import random_ground as ground_of_materials
from tests.helpers.characters import FRAME
from tests.helpers.examples import rest_is_full

PARTS = ["west", None, "east", "hill", "slabs"]


def random_ground(seed):
    """Return maps and meshes with and without names of materials, and most with their own name."""
    ground = ground_of_materials(seed)
    return Ground([*ground.parts.values()], names=PARTS)


def expected(ground, triangle):
    """Return the names by a triangle's own part."""
    part, own = ground.part_of(int(triangle))
    found = ground.parts[part]
    if isinstance(found, HeightMap):
        number = int(found.materials[divmod(own // 2, found.cell_count[1])])
    else:
        number = int(found.materials[own])
    names = found.material_names
    return names and names[number], PARTS[part]


def names_in(answer):
    """Return the names in an answer about one, or about many."""
    if isinstance(answer.triangle, np.ndarray):
        return [*zip(answer.material_name, answer.part_name, strict=True)]
    return answer.material_name, answer.part_name


def assert_named(ground, answer):
    triangles = answer.triangle
    if not isinstance(triangles, np.ndarray):
        assert names_in(answer) == expected(ground, triangles)
        assert answer.part == ground.part_of(int(triangles))[0]
        return
    assert names_in(answer) == [
        expected(ground, own) if own >= 0 else (None, None) for own in triangles.tolist()
    ]
    assert answer.part.tolist() == [own >> 40 for own in triangles.tolist()]


@pytest.mark.parametrize("seed", rest_is_full(range(8), 3))
def test_answers_of_a_ground(seed):
    ground, rng = random_ground(seed), np.random.default_rng(seed)
    places = rng.uniform((-1, 0.1, -1), (7, 0.1, 7.5), (12, 3))
    above, down = np.add(places, (0, 2, 0)), (0.0, -4.0, 0.0)
    balls = [Sphere(place, 0.4) for place in places]
    seen = set()
    many = (
        ground.raycast_many(above, [down]),
        ground.closest_points(above),
        ground.sweep_many([Sphere(place, 0.4) for place in above], [down]),
        ground.contacts(balls),
        ground.contacts(balls, keep="deepest"),
        ground.contacts(balls[5]),
    )
    for answer in many:
        assert_named(ground, answer)
        again = pickle.loads(pickle.dumps(answer)), copy.copy(answer), copy.deepcopy(answer)
        assert all(names_in(one) == names_in(answer) for one in again)
        seen |= set(names_in(answer))
    assert len(seen) > 4
    for contact, names in zip(many[3], names_in(many[3]), strict=True):
        assert names_in(contact) == names
    for place in above:
        one = (
            ground.raycast(Ray(place, down)),
            ground.closest_point(place),
            ground.sweep(Sphere(place, 0.4), down),
        )
        for hit in one:
            if hit is not None:
                assert_named(ground, hit)
                assert pickle.loads(pickle.dumps(hit)) == hit


@pytest.mark.parametrize("seed", rest_is_full(range(8), 2))
def test_reports_and_hits_of_characters(seed):
    ground, rng = random_ground(seed), np.random.default_rng(seed)
    group = CharacterGroup(ground, CapsuleCollider(0.3, 1.8))
    for key in range(12):
        group.add(key, rng.uniform((0.5, 1, 0.5), (7, 1.2, 7)))
    group.add("in the air", (3, 99, 3))
    landed = 0
    for _ in range(40):
        group.walk(*rng.uniform(-3, 3, (2, 13)))
        result = group.update(FRAME)
        hits = group.hits()
        assert_named(ground, hits)
        assert [names_in(hit) for hit in hits] == names_in(hits)
        assert_named(ground, result.blocked_by)
        assert pickle.loads(pickle.dumps(result)) == result
        landed += len(hits)
        reports = [group[key].ground_report() for key in group.keys()]  # noqa: SIM118
        told = [names_in(report) for report in reports]
        assert told == [*zip(group.material_names, group.part_names, strict=True)]
        assert told[-1] == (None, None)
        for report in reports[:-1]:
            if report.triangle >= 0:
                assert_named(ground, report)
        told_of = {names for report in reports for names in names_in(report)}
    assert landed
    assert told_of - {None}
    assert pickle.loads(pickle.dumps(reports)) == reports
    assert not group.material_names.flags.writeable


def test_one_map_and_one_mesh_have_names_of_materials():
    land = HeightMap([[0, 0], [0, 0]], border="open", materials=1, material_names=["grass", "ice"])
    slab = TriangleMesh.box((2, 1, 2), materials="ice", material_names=["grass", "ice"])
    down = Ray((0.3, 5, 0.2), (0, -1, 0))
    for ground in (land, slab):
        hit = ground.raycast(down)
        assert hit is not None
        assert (hit.material_name, hit.part_name, hit.part) == ("ice", None, 0)
        assert "material_name='ice')" in repr(hit)
        rows = ground.raycast_many([down.origin64, (50, 5, 50)], [(0, -1, 0)])
        assert rows.material_name.tolist() == ["ice", None]  # a miss is on no material
        assert rows.columns()["material_name"].tolist() == ["ice", None]
        mover = CharacterMovement(ground, SphereCollider(0.3), position=(0.4, 0.9, 0.4))
        mover.velocity.y = -9
        mover.update(0.1)
        assert mover.ground_report().material_name == "ice"
        assert [hit.material_name for hit in mover.hits()] == ["ice"]


def test_without_names_there_are_none():
    land = HeightMap([[0, 0], [0, 0]], materials=3)
    hit = land.raycast(Ray((0.3, 5, 0.2), (0, -1, 0)))
    assert hit is not None
    assert (hit.material, hit.material_name, hit.part_name) == (3, None, None)
    assert repr(hit).endswith("material=3)")
    assert land.closest_points([(0, 1, 0)]).material_name.tolist() == [None]
    assert set(land.contacts([(0, 0, 0, 1)]).part_name.tolist()) == {None}


def test_no_ground_and_misses_have_no_names():
    land = HeightMap([[0, 0], [0, 0]], material_names=["grass"])
    ground = Ground([land], names=["land"])
    nothing = ground.closest_point((0, 1, 0), mask=2)
    assert (nothing.distance, nothing.material_name, nothing.part_name) == (np.inf, None, None)
    many = ground.closest_points([(0, 1, 0)], mask=2)
    assert names_in(many) == [(None, None)]
    assert ground.raycast(Ray((0, 1, 0), (0, 1, 0))) is None


def test_outside_a_map_the_material_has_its_name_and_no_part():
    land = HeightMap([[0, 0], [0, 0]], material_names=["grass"])
    mover = CharacterMovement(Ground([land], names=["land"]), SphereCollider(0.3))
    mover.teleport((40, 0.3, 40))
    mover.update(FRAME)
    report = mover.ground_report()
    assert (report.triangle, report.part) == (-1, -1)
    assert (report.material_name, report.part_name) == ("grass", None)


@pytest.mark.parametrize("names", [["cliff", "low"], ["low", "cliff"]])
def test_the_side_of_a_map_has_the_names_of_its_cell(names):
    maps = {
        "cliff": HeightMap(
            [[3.0, 3]] * 2, cell_size=4, materials=1, material_names=["grass", "rock"]
        ),
        "low": HeightMap(
            [[0, 0]] * 2, cell_size=4, origin=(4, 0, 0), material_names=["sand", "rock"]
        ),
    }
    ground = Ground([maps[name] for name in names], names=names)
    ball, way = Sphere((7, 1, 1.5), 0.4), (-5, 0, 0)
    for hit in (
        ground.raycast(Ray((7, 1, 1.5), way)),
        ground.sweep(ball, way),
        ground.closest_point((4.5, 1, 1.5)),
        *ground.contacts(Sphere((4.2, 1, 1.5), 0.4)),
    ):
        assert hit is not None
        assert names_in(hit) == ("rock", "cliff")
    assert names_in(ground.raycast_many([(7, 1, 1.5)], [way])) == [("rock", "cliff")]
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(6, 0.4, 1.5))
    for _ in range(60):
        mover.walk(-3, 0)
        hit = mover.update(FRAME).blocked_by or hit
    assert names_in(hit) == ("rock", "cliff")
    assert names_in(mover.ground_report()) == ("sand", "low")


def test_a_part_that_has_gone_has_no_names():
    land = HeightMap([[0, 0], [0, 0]], cell_size=9, material_names=["grass"])
    crate = TriangleMesh.box((2, 1, 2), materials="wood", material_names=["wood"])
    ground = Ground([land], names=["land"])
    ground.move(ground.add(crate, name="crate"), ((4, 0.5, 4), np.eye(3)))
    mover = CharacterMovement(ground, SphereCollider(0.3), position=(4.2, 1.31, 4))
    group = CharacterGroup(ground, SphereCollider(0.3))
    group.add("ada", (4.2, 1.31, 4), velocity=(0, -5, 0))
    mover.velocity.y = -5
    mover.update(0.1)
    group.update(0.1)
    assert names_in(mover.ground_report()) == ("wood", "crate")
    assert names_in(mover.hits()) == [("wood", "crate")]
    ground.remove("crate")
    for known in (mover, group["ada"]):
        report = known.ground_report()
        assert (report.part, report.material) == (-1, 0)
        assert names_in(report) == (None, None)
        assert names_in(known.hits()) == [(None, None)]
    assert [group.material_names.tolist(), group.part_names.tolist()] == [[None], [None]]


def test_other_characters_have_no_names():
    land = HeightMap([[0, 0], [0, 0]], cell_size=9, material_names=["grass"])
    group = CharacterGroup(Ground([land], names=["land"]), SphereCollider(0.5), collide=True)
    for k in (0, 1):
        group.add(k, (3 + 1.2 * k, 0.5, 3), velocity=(3 - 6 * k, 0, 0))
    seen = []
    for _ in range(9):
        group.update(FRAME)
        seen += [hit for hit in group.hits() if hit.other >= 0]
    assert seen
    assert {names_in(hit) for hit in seen} == {(None, None)}


def test_hits_of_none_are_of_none():
    group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5))
    hits = group.hits()
    assert isinstance(hits, MoveHits)
    assert names_in(hits) == []


# Names of parts


def test_a_name_stands_for_a_key():
    ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)], names=["land"])
    key = ground.add(TriangleMesh.box((2, 1, 2)), layers=2, name="lift")
    assert (ground.key_of("land"), ground.key_of("lift")) == (0, key)
    assert ground.part_names == {0: "land", key: "lift"}
    ground.move("lift", ((4, 1, 4), np.eye(3)), FRAME)
    ground.set_surface_velocity("lift", (1, 0, 0))
    ground.set_one_way("lift", (0, 1, 0))
    ground.set_layers("lift", 4)
    assert ground.layers_of("lift") == ground.layers_of(key) == 4
    assert np.array_equal(ground.transform("lift"), ground.transform(key))
    ground.remove("lift")
    assert ground.part_names == {0: "land"}
    assert ground.add(TriangleMesh.box((2, 1, 2)), name="lift") == key + 1  # free again


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda g: g.key_of("lit"), KeyError, "name must be that of a part, got 'lit'; names"),
        (lambda g: g.move("lit", np.eye(4)), KeyError, "got 'lit'; names: 'lift', 'land'"),
        (lambda g: g.key_of(1), TypeError, "name must be a string, got 1"),
        (lambda g: g.move("land", np.eye(4)), TypeError, "got 'land' of a HeightMap"),
        (lambda g: g.add(new(), name="lift"), ValueError, "no other part, got 'lift' of key 0"),
        (lambda g: g.add(new(), name=""), ValueError, "name must not be empty"),
        (lambda g: g.add(new(), name=7), TypeError, "name must be a string, got 7"),
        (lambda _: Ground([new()], names="a"), TypeError, "names must be a sequence of strings"),
        (lambda _: Ground([new()], names=[]), ValueError, "one for each of 1 parts, got 0"),
        (
            lambda _: Ground([new()], names=typing.cast("list[str]", [1])),
            TypeError,
            "names.0. must be a string, got 1",
        ),
        (
            lambda _: Ground([new(), new()], names=["a", "a"]),
            ValueError,
            r"names.1. must be another name, got names.0. again",
        ),
    ],
)
def test_bad_names_are_refused(ask, error, message):
    land = HeightMap([[0, 0], [0, 0]])
    ground = Ground([new(), land], names=["lift", "land"])
    version = ground.version
    with pytest.raises(error, match=message):
        ask(ground)
    assert (ground.version, len(ground.parts)) == (version, 2)
    assert ground.part_names == {0: "lift", 1: "land"}


def new():
    return TriangleMesh.box((1, 1, 1))


def test_no_names_are_listed_where_there_are_none():
    with pytest.raises(KeyError, match="got 'lift'; names: no part has one"):
        Ground([new()]).remove("lift")


@pytest.mark.parametrize("seed", rest_is_full(range(6), 2))
def test_names_follow_parts_that_come_and_go(seed, tmp_path):
    rng = np.random.default_rng(seed)
    ground, known, count = Ground([new()], names=["first"]), {0: "first"}, 1
    for step in range(60):
        if rng.random() < 0.55 or len(ground.parts) == 1:
            name = [None, "a", "b", "c", "d"][rng.integers(5)]
            if name in known.values() and name is not None:
                with pytest.raises(ValueError, match="name must be that of no other part"):
                    ground.add(new(), name=name)
            else:
                assert ground.add(new(), name=name) == count
                known |= {count: name} if name else {}
                count += 1
        else:
            key = [*ground.parts][rng.integers(len(ground.parts))]
            ground.remove(known.pop(key, key) if rng.random() < 0.5 else key)
            known.pop(key, None)
        assert ground.part_names == known
        if step % 20 == 19:
            ground.save(tmp_path / "level.ground")
            loaded = Ground.load(tmp_path / "level.ground")
            copies = loaded, pickle.loads(pickle.dumps(ground)), copy.deepcopy(ground)
            assert all(one.part_names == known for one in copies)
            ground = copies[rng.integers(3)]


def test_a_recording_keeps_names(tmp_path):
    def scene():
        ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)], names=["land"])
        return CharacterMovement(ground, SphereCollider(0.5), position=(4, 0.5, 4))

    mover = scene()
    recording = Recording(mover)
    for frame in range(6):
        if frame == 2:
            mover.ground.add(new(), name="crate")
        if frame == 4:
            mover.ground.remove("crate")
            mover.ground.add(new(), name="barrel")
        recording.update(FRAME)
    recording.save(tmp_path / "play.npz")
    again = Recording.load(tmp_path / "play.npz")
    other = scene()
    assert replay(again, lambda: other) is None
    assert other.ground.part_names == mover.ground.part_names == {0: "land", 2: "barrel"}
    loaded = again.make_scene()
    assert isinstance(loaded, CharacterMovement)
    assert isinstance(loaded.ground, Ground)
    assert loaded.ground.part_names == {0: "land"}


@pytest.mark.alone
def test_names_belong_to_numbers_while_parts_come_and_go():
    def box(x, name):
        made = TriangleMesh.box((2, 1, 2), materials=name, material_names=[name])
        return made.transformed(np.array([[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))

    plain = TriangleMesh.box((2, 1, 2)).transformed(np.diag([1, 1, 1, 1]) + np.eye(4, k=3) * 9)
    ground = Ground([box(0, "wood"), box(3, "ice"), box(6, "tar"), plain])
    expected = ["wood", "ice", "tar", None]
    names, is_over = dict(zip(ground.parts, expected, strict=True)), threading.Event()

    def come_and_go():
        while not is_over.is_set():
            for key in [key for key, name in names.items() if name]:  # numbers of others shift
                part, name = ground.parts[key], names.pop(key)
                ground.remove(key)
                names[ground.add(part)] = name
                time.sleep(1e-4)  # a lock is not fair: it would starve who waits for it

    thread = threading.Thread(target=come_and_go)
    thread.start()
    origins = [(x, 9, 0.3) for x in (0.2, 3.2, 6.2, 9.2)]
    wrong, seen = [], set()
    try:
        for turn in range(500):
            one = ground.raycast(Ray(origins[turn % 4], (0, -1, 0)))
            many = ground.raycast_many(origins, [(0, -1, 0)])
            touched = ground.contacts([(x, 0.5, z, 0.2) for x, _, z in origins])
            told = [] if one is None else [(round(one.point.x / 3), one.material_name)]
            told += [
                (round(point[0] / 3), name)
                for answer in (many, touched)
                for point, name in zip(answer.point, answer.material_name, strict=True)
                if np.isfinite(point[0])
            ]
            wrong += [(place, name) for place, name in told if name != expected[place]]
            seen |= set(told)
    finally:
        is_over.set()
        thread.join()
    assert wrong == []
    assert seen == set(enumerate(expected))
