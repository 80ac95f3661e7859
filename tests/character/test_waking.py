"""Wake on a change of ground: characters near it look again, and nothing else differs."""

from functools import partial

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
from terrain_physics._kernels.character.sleep.wake import wake_near
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.surface.changes import CHANGE_SPAN
from terrain_physics._kernels.types import read_only
from terrain_physics.surface.changes import EVERYWHERE, ChangeLog
from tests.helpers.calls import calls_of
from tests.helpers.pairwise import each_once

BODIES = SphereCollider(0.5), CapsuleCollider(0.4, 1.8), BoxCollider((0.3, 0.9, 0.5))


class Watched:
    """A group whose characters are seen as they wake, before they sleep again."""

    def __init__(self, ground, places, body=BODIES[0]):
        self.group = CharacterGroup(ground, body, threads=1)
        for k, place in enumerate(places):
            self.group.add(k, place)
        for _ in range(240):
            self.group.update(1 / 60)
        assert self.group.grounded.all()

    def woken(self, monkeypatch):
        """Return the characters that look again in the next update."""
        seen, states = [], self.group._data.rows().state

        def noting(*arguments):
            seen.append(np.flatnonzero(states[:, columns.UNDISTURBED] == 0.0))
            return update_characters(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr("terrain_physics.group.group.update_characters", noting)
            self.group.update(1 / 60)
        return seen[0].tolist()


@pytest.fixture
def line():
    """Ten balls at rest, four meters apart, on a map and a plank."""
    land = HeightMap(np.zeros((9, 49)), border="open")
    plank = TriangleMesh.box((2, 0.2, 2)).transformed(glm.translate(glm.vec3(20, 0.1, 4)))
    ground = Ground([land, plank])
    return ground, Watched(ground, [(4.0 * k + 4, 1.0, 4.0) for k in range(10)])


def test_nobody_is_woken_if_nothing_changes(line, monkeypatch):
    assert line[1].woken(monkeypatch) == []


def test_an_edit_wakes_those_over_it(line, monkeypatch):
    ground, crowd = line
    ground.parts[0].carve((12, 4), 1.5, 0.5)
    assert crowd.woken(monkeypatch) == [2]
    assert not crowd.group.grounded[2]


def test_a_hole_wakes_those_over_it_and_the_first_one_everybody(line, monkeypatch):
    ground, crowd = line
    ground.parts[0].holes[0, 8] = True
    assert crowd.woken(monkeypatch) == list(range(10))  # the ground is a crust from now on
    ground.parts[0].holes[0, 0] = True
    assert crowd.woken(monkeypatch) == []
    ground.parts[0].holes[3:5, 7:9] = True
    assert crowd.woken(monkeypatch) == [1]


def test_a_part_that_comes_wakes_those_beside_it(line, monkeypatch):
    ground, crowd = line
    key = ground.add(TriangleMesh.box((1, 1, 1)).transformed(glm.translate(glm.vec3(9.02, 0.5, 4))))
    assert crowd.woken(monkeypatch) == [1]
    far = ground.add(TriangleMesh.box((1, 1, 1)).transformed(glm.translate(glm.vec3(9, 0.5, 40))))
    assert crowd.woken(monkeypatch) == []
    ground.remove(far)
    assert crowd.woken(monkeypatch) == []
    ground.remove(key)
    assert crowd.woken(monkeypatch) == [1]


def test_a_mesh_that_moves_wakes_those_where_it_was_and_where_it_is(line, monkeypatch):
    ground, crowd = line
    plank = ground.parts[1]
    plank.refit(np.add(plank.vertices, (12, 0, 0)))
    assert crowd.woken(monkeypatch) == [4, 7]


def test_a_map_that_comes_beside_the_only_one_wakes_everybody(line, monkeypatch):
    ground, crowd = line
    ground.add(HeightMap(np.zeros((3, 3)), origin=(100, 0, 0)))
    assert crowd.woken(monkeypatch) == list(range(10))
    ground.add(HeightMap(np.zeros((3, 3)), origin=(16, -0.25, 3)))
    assert crowd.woken(monkeypatch) == [3, 4] or crowd.woken(monkeypatch) == []


@pytest.mark.parametrize("where", ["map", "mesh"])
def test_a_ground_of_one_part(where, monkeypatch):
    part = HeightMap(np.zeros((9, 49))) if where == "map" else TriangleMesh.box((96, 2, 16))
    crowd = Watched(part, [(4.0 * k + 4, 2.0, 4.0) for k in range(10)])
    if isinstance(part, HeightMap):
        part.raise_((20, 4), 1.5, 0.01)
        assert crowd.woken(monkeypatch) == [4]
    else:
        part.refit(part.vertices)
        assert crowd.woken(monkeypatch) == list(range(10))


def test_beyond_the_border_an_edit_of_the_border_goes_on(monkeypatch):
    land = HeightMap(np.zeros((9, 9)))
    crowd = Watched(land, [(-50, 1, 4), (-50, 1, -30), (20, 1, 4), (4, 1, 4)])
    land[4, 0] = 0.25
    assert crowd.woken(monkeypatch) == [0]


def test_of_more_changes_than_are_remembered_boxes_around_several_wake(line, monkeypatch):
    ground, crowd = line
    for _ in range(1200):
        ground.parts[0].carve((46, 1), 1, 0.001)
    assert crowd.woken(monkeypatch) == []
    for k in range(1200):
        ground.parts[0].carve((1 if k % 2 else 46, 4), 0.5, 0.001)
    assert crowd.woken(monkeypatch) == list(range(10))


def test_changes_while_nobody_looked_add_up(line, monkeypatch):
    ground, crowd = line
    ground.parts[0].carve((8, 4), 1, 0.01)
    assert ground.version
    plank = ground.parts[1]
    assert isinstance(plank, TriangleMesh)
    for _ in range(3):
        plank.refit(np.add(plank.vertices, (0, 0.01, 0)))
    ground.parts[0].carve((36, 4), 1, 0.01)
    assert crowd.woken(monkeypatch) == [1, 4, 8]


@pytest.mark.parametrize(("seed", "body"), each_once(range(4), BODIES))
def test_to_wake_only_those_near_changes_no_bit(seed, body, monkeypatch):
    """Against a wake of all, as if nothing were remembered of the changes."""

    def lived(*, all_wake):
        if all_wake:
            monkeypatch.setattr(
                ChangeLog, "note", lambda log, version, *_: forgetting(log, version)
            )
        rng = np.random.default_rng(seed)
        land = HeightMap(rng.normal(0, 0.3, (25, 25)))
        plank = TriangleMesh.box((3, 0.3, 3)).transformed(glm.translate(glm.vec3(9, 1, 9)))
        ground = Ground([land, plank])
        group = CharacterGroup(ground, body, seed=seed, threads=1)
        for k, place in enumerate(rng.uniform((1, 3, 1), (23, 5, 23), (40, 3))):
            group.add(k, place)
        hashes: list[str] = []
        crates: list[int] = []
        for frame in range(150):
            if frame % 10 == 5:
                chance = rng.random()
                if chance < 0.4:
                    land.raise_(rng.uniform(0, 24, 2), rng.uniform(1, 4), rng.normal(0, 0.3))
                elif chance < 0.6:
                    plank.refit(plank.vertices + rng.normal(0, 0.1, 3))
                elif crates and chance < 0.8:
                    ground.remove(crates.pop())
                else:
                    where = glm.translate(glm.vec3(*rng.uniform((1, 0, 1), (23, 1, 23))))
                    crates.append(ground.add(TriangleMesh.box((1, 1, 1)).transformed(where)))
            group.update(1 / 60)
            hashes.append(group.state_hash())
        monkeypatch.undo()
        return hashes

    assert lived(all_wake=True) == lived(all_wake=False)


def forgetting(log, version):
    ChangeLog.__init__(log, version)


def test_a_character_alone_is_woken_like_one_in_a_group():
    land = HeightMap(np.zeros((25, 25)))
    movers = [CharacterMovement(land, BODIES[0], position=(x, 0.5, 12)) for x in (4.0, 20.0)]
    for _ in range(30):
        for mover in movers:
            mover.update(1 / 60)
    land.carve((4, 12), 2, 0.1)
    for mover in movers:
        mover.update(1 / 60)
    assert [mover.grounded and mover.position.y == 0.5 for mover in movers] == [False, True]


def test_an_update_after_moves_of_many_far_parts_calls_no_more_than_after_one():
    calls = {}
    for count in (1, 300):
        ground = Ground([HeightMap(np.zeros((9, 9)))])
        keys = [ground.add(TriangleMesh.box((1, 1, 1))) for _ in range(count)]
        hero = CharacterMovement(ground, BODIES[0], position=(4, 0.5, 4))
        places = np.column_stack([np.arange(500.0, 500 + count), np.zeros((count, 2))])
        frames = []
        for frame in range(5):
            places[:, 1] += 0.01
            ground.move_many(keys, places, 1 / 60)
            hero.walk(0.1 if frame % 2 else -0.1, 0)
            frames.append(calls_of(partial(hero.update, 1 / 60)))
        calls[count] = frames[1:]
    assert calls[300] == calls[1]


def test_an_update_asleep_after_a_far_edit_calls_no_more_beside_many_maps():
    calls = {}
    for count in (2, 20):
        maps = [HeightMap(np.zeros((9, 9)), origin=(20.0 * k, 0, 0)) for k in range(count)]
        hero = CharacterMovement(Ground(maps), BODIES[0], position=(2, 0.5, 2))
        for _ in range(60):
            hero.update(1 / 60)
        frames = []
        for frame in range(5):
            maps[0].raise_((7, 7), 0.5, 0.01)
            if frame == 4:  # the last one woke it
                maps[0].raise_((2, 2), 1, 0.01)
            frames.append(calls_of(partial(hero.update, 1 / 60)))
        calls[count] = frames[1:4]
        assert frames[4] > frames[3]
    assert calls[20] == calls[2]


def woken_by(changes, seen, places):
    """Tell which bodies at places wake by rows of changes."""
    ground = Ground([HeightMap(np.zeros((9, 9)))])
    rows = [CharacterMovement(ground, BODIES[0], position=place)._numbers for place in places]
    states, rules = (np.concatenate([own[k] for own in rows]) for k in (0, 1))
    states = states.reshape(len(places), -1)
    states[:, columns.GROUND_VERSION], states[:, columns.UNDISTURBED] = seen, 1.0
    changes, left = read_only(changes, np.empty((0, 2)))
    wake_near(states.reshape(-1), rules, changes, 0.0, left, 1e9, 0, len(places))
    return states[:, columns.UNDISTURBED] == 0.0


@pytest.mark.parametrize("count", [3, 40])
def test_moves_at_once_wake_whom_the_box_of_each_wakes(count):
    rng = np.random.default_rng(count)
    ground = Ground([HeightMap(np.zeros((9, 9)))])
    keys = [ground.add(TriangleMesh.box((1, 1, 1))) for _ in range(count)]
    changes = ground._held.changes
    for _ in range(3):
        assert ground.version >= 0  # the next changes are those of another version
        ground.move_many(keys, rng.uniform(-60, 60, (count, 3)), 1 / 60)
    spans = changes.rows[:, CHANGE_SPAN]
    assert (spans > 0).sum() == (3 if count > 3 else 0)
    places = rng.uniform(-70, 70, (60, 3))
    for seen in {0.0, *changes.rows[:, 0]}:
        alone = np.ascontiguousarray(changes.rows[spans == 0])
        woken = woken_by(changes.rows, seen, places)
        assert woken.tolist() == woken_by(alone, seen, places).tolist()
        assert not woken.all()


def test_who_is_far_from_the_box_around_all_moves_looks_at_none():
    ground = Ground([HeightMap(np.zeros((9, 9)))])
    keys = [ground.add(TriangleMesh.box((1, 1, 1))) for _ in range(300)]
    for count in (300, 600):
        assert ground.version == count
        places = np.column_stack([np.arange(500.0, 800), np.zeros((300, 2))])
        ground.move_many(keys, places, 1 / 60)
    changes = ground._held.changes.rows[-301:].copy()
    assert changes[-1].tolist()[1:] == [499.5, -0.5, -0.5, 799.5, 0.5, 0.5, 300]
    assert woken_by(changes, 600, [(4, 0.5, 4), (510, 0.5, 0)]).tolist() == [False, True]
    changes[:-1, 1:4], changes[:-1, 4:7] = EVERYWHERE  # none of them is read
    assert woken_by(changes, 600, [(4, 0.5, 4)]).tolist() == [False]


def test_a_log_merges_changes_of_one_version_first():
    log = ChangeLog(0)
    for version, count in ((1, 301), (2, 723), (3, 1)):
        log.add(np.column_stack([*7 * [np.full(count, version)], np.zeros(count)]))
    assert len(log.rows) < 1024
    assert (log.rows[:, 1] == log.rows[:, 0]).all()


def test_a_log_remembers_the_latest_changes_and_boxes_around_older_ones():
    log = ChangeLog(3)
    for version in range(4, 4000):
        log.note(version, (version, 0, 0), (version, 1, 1))
        kept = log.rows[:, 0].tolist()
        latest = range(max(4, version - 511), version + 1)
        assert kept[-len(latest) :] == [*latest]
        assert len(kept) <= 1024
        assert log.forgotten == 3
    for seen in (3, 500, 1000, 2800, 3990, 3999):
        unseen = log.rows[log.rows[:, 0] > seen]
        for version in range(seen + 1, 4000):
            assert ((unseen[:, 1] <= version) & (unseen[:, 4] >= version)).any()
    assert (np.diff(log.rows[:, 0]) > 0).all()
    other = ChangeLog(0)
    other.follow(7, log, 3997)
    assert other.rows[:, :2].tolist() == [[7, 3998], [7, 3999]]
    other.follow(8, log, 2)
    assert other.rows[-1].tolist() == [8, *EVERYWHERE[0], *EVERYWHERE[1], 0]


def test_a_log_that_was_put_back_has_room_of_its_own():
    log = ChangeLog(0)
    for version in (1, 2, 3):
        log.note(version, (version, 0, 0), (version, 1, 1))
    kept = log.kept()
    for count in (0, 2):
        log.put_back(kept)
        log.add(np.full((count, 8), -1.0))
        assert log.rows[:, 0].tolist() == [1, 2, 3] + count * [-1]
    assert kept[0][:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("count", [1, 5, 127, 300, 600, 3000])
def test_a_log_remembers_many_changes_at_once(count):
    log, rng = ChangeLog(0), np.random.default_rng(count)
    noted = []
    for version in range(1, 9):
        lower = rng.uniform(-50, 50, (count, 3))
        rows = np.column_stack([np.full(count, version), lower, lower + 1.0, np.zeros(count)])
        log.add(rows)
        noted.append(rows)
    assert len(log.rows) <= 1024 + count
    for seen in range(9):
        unseen = log.rows[log.rows[:, 0] > seen]
        for box in np.concatenate([*noted[seen:], np.empty((0, 8))])[:: 1 + count // 50, 1:7]:
            around = (unseen[:, 1:4] <= box[:3]) & (unseen[:, 4:7] >= box[3:])
            assert around.all(axis=1).any()
