"""Comparing two worlds: who differs first, in what, and since when."""

import json
import pickle
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    Ground,
    HeightMap,
    Mismatch,
    Rewind,
    TriangleMesh,
    World,
)
from terrain_physics._kernels.character.state.layout import LINEAR_SIZE, RULES, SAVED, STATE
from tests.world.scenes import LIFT, scene
from tests.world.test_rewind import played

PLACES = list(range(SAVED.size))


def column_at(place: int) -> Any:
    for column in SAVED.columns:
        if SAVED.place(column.name) <= place < SAVED.place(column.name) + column.width:
            return column
    raise AssertionError(place)


def differs(rewind: Rewind, frame: int, theirs: Any) -> Mismatch:
    found = rewind.compare(frame, theirs)
    assert found is not None
    return found


def flip(group: CharacterGroup, place: int) -> None:
    """Flip the last bit of one number of the second member of a group."""
    rows = group._data.rows()
    sizes = np.cumsum([0, STATE.size, RULES.size, LINEAR_SIZE])
    part = int(np.searchsorted(sizes, place, side="right")) - 1
    rows.saved()[part].view(np.uint64)[1, place - sizes[part]] ^= np.uint64(1)


def test_each_number_that_is_flipped_is_named():
    one, mine, _ = played(4)
    theirs = Rewind(one.world)
    for place in PLACES:
        mine.restore(3)
        flip(one.crowd, place)
        theirs.save(3)
        column, found = column_at(place), mine.compare(3, theirs)
        if not column.is_hashed:  # the next update finds it anew
            assert found is None
            continue
        assert found is not None
        assert (found.frame, found.key, found.column) == (3, (5, "bob"), column.name)
        assert found.mine != found.theirs
        assert found == mine.compare(3, theirs.state(3))
        assert differs(mine, 3, theirs.hashes(3))[1:3] == ((5, "bob"), None)
        assert mine.compare(3, theirs.rows(3, [(5, "bob")])) == found
        assert mine.compare(3, theirs.rows(3, [(5, "ada")])) is None
        assert mine.compare(3, theirs.state_hash(3)) is not None


def test_equal_worlds_are_equal_by_each_way():
    (_, mine, _), (_, theirs, _) = played(8), played(8)
    for frame in range(8):
        assert mine.compare(frame, theirs.state_hash(frame)) is None
        assert mine.compare(frame, theirs.hashes(frame)) is None
        assert mine.compare(frame, dict(theirs.hashes(frame))) is None
        assert mine.compare(frame, theirs.rows(frame)) is None
        assert mine.compare(frame, theirs.state(frame)) is None
        assert mine.compare(frame, theirs) is None


def test_hashes_are_those_of_the_world_then():
    one, rewind, _ = played(5)
    there = one.world.state()
    for frame in rewind.frames:
        rewind.restore(frame)
        assert rewind.state_hash(frame) == one.world.state_hash()
        assert rewind.hashes(frame) == one.world.hashes()
    one.world.restore(there)
    names = [name for name, _ in one.world.hashes()]
    assert names == [
        *(("loners", n) for n in range(4)),
        "rider",
        (5, "ada"),
        (5, "bob"),
        (5, 7),
        "walker",
    ]


def test_it_knows_the_last_frame_that_agreed():
    (one, mine, _), (_, theirs, _) = played(12), played(12)
    mine.restore(6)
    one.rider.gravity = 9
    for frame in range(6, 12):
        if frame > 6:
            mine.save(frame)
        one.play(frame)
    assert differs(mine, 9, theirs.hashes(9)).agreed is None
    for frame in (1, 4, 2):
        assert mine.compare(frame, theirs.state_hash(frame)) is None
    found = differs(mine, 9, theirs.state_hash(9))
    assert found == Mismatch(9, None, None, mine.state_hash(9), theirs.state_hash(9), 4)
    assert differs(mine, 9, theirs).agreed == 6
    assert differs(mine, 9, theirs)[1:5] == ("rider", "gravity", 9.0, 9.81)
    assert differs(mine, 7, theirs).key == "rider"
    mine.restore(3)
    mine.save(3)  # what comes then is to be compared anew
    one.rider.gravity = 8
    mine.save(5)
    assert differs(mine, 5, theirs.hashes(5)).agreed == 2


def test_a_frame_that_is_saved_anew_is_equal_no_longer():
    (one, mine, _), (_, theirs, _) = played(6), played(6)
    for frame in (2, 4):
        assert mine.compare(frame, theirs.state_hash(frame)) is None
    mine.restore(4)
    one.rider.gravity = 9
    mine.save(4)
    one.play(4)
    mine.save(5)
    assert differs(mine, 5, theirs.hashes(5)).agreed == 2


def test_who_is_in_one_world_only():
    one, mine, _ = played(2)
    other, theirs, _ = played(2)
    theirs.restore(1)
    other.crowd.remove("ada")
    other.world.remove("rider")
    theirs.save(1)
    found = differs(mine, 1, theirs)
    assert (found.key, found.column, found.theirs) == ("rider", None, None)
    assert found.mine == dict(mine.hashes(1))["rider"]
    assert differs(theirs, 1, mine)[1:4] == ("rider", None, None)
    found = differs(theirs, 1, mine.rows(1, ["rider"]))  # asked for by its key
    assert (found.key, found.column, found.mine) == ("rider", None, None)
    with pytest.raises(KeyError):
        theirs.rows(1, ["rider"])
    assert one.world.hashes() != other.world.hashes()


def test_rows_of_some_tell_of_no_others():
    _, mine, _ = played(4)
    one, theirs, _ = played(4)
    theirs.restore(2)
    one.rider.gravity = 8
    theirs.save(2)
    one.play(2)
    theirs.save(3)
    assert mine.compare(1, theirs.hashes(1)) is None
    some: list[list[Any]] = [[], ["walker"], [(5, "ada"), "walker"]]
    for names in some:
        assert mine.compare(2, theirs.rows(2, names)) is None
        assert differs(mine, 3, theirs.hashes(3)).agreed == 1
    assert differs(mine, 2, theirs.rows(2))[1:5] == ("rider", "gravity", 9.81, 8.0)
    assert mine.compare(1, mine.rows(1)) is None


def test_all_rows_where_one_side_has_one_more():
    _, mine, _ = played(2)
    other, theirs, _ = played(2)
    theirs.restore(1)
    other.crowd.remove("ada")
    theirs.save(1)
    for rows in (theirs.rows(1), pickle.loads(pickle.dumps(theirs.rows(1)))):
        found = differs(mine, 1, rows)
        assert (found.key, found.column, found.theirs) == ((5, "ada"), None, None)
        assert mine.compare(1, dict(rows)) is None  # as of those alone
    assert differs(theirs, 1, mine.rows(1))[1:4] == ((5, "ada"), None, None)
    for side in (theirs, theirs.state(1)):
        assert differs(mine, 1, side).key == (5, "ada")


def test_hashes_of_nobody():
    _, mine, _ = played(2)
    empty = Rewind(World(scene().ground))
    empty.save(1)
    assert differs(mine, 1, empty.hashes(1)).key == ("loners", 0)
    assert differs(mine, 1, empty.rows(1)).key == ("loners", 0)
    assert empty.compare(1, empty.hashes(1)) is None


def test_hashes_that_came_as_json():
    (_, mine, _), (one, theirs, _) = played(4), played(4)
    theirs.restore(3)
    one.crowd["bob"].gravity = 8
    theirs.save(3)
    sent = {frame: json.loads(json.dumps(theirs.hashes(frame))) for frame in (2, 3)}
    assert mine.compare(2, sent[2]) is None
    assert differs(mine, 3, sent[3])[:3] == (3, (5, "bob"), None)
    assert differs(mine, 3, sent[3]).agreed == 2


def test_what_is_no_character():
    one, mine, _ = played(2)
    other, theirs, _ = played(2)
    theirs.restore(1)
    other.world.extra = b"theirs"
    theirs.save(1)
    mine.restore(1)
    one.world.extra = b"mine"
    mine.save(1)
    assert mine.compare(1, theirs) == (1, None, "extra", b"mine", b"theirs", 0)
    other.world.extra = b"mine"
    other.ground.move(LIFT, (0, 7, 0))
    theirs.save(1)
    found = differs(mine, 1, theirs)
    assert (found.key, found.column) == (None, "ground")
    assert found.mine[0] == found.theirs[0] == LIFT
    mine.restore(1)
    assert found.mine[10:] == tuple(one.ground.transform(LIFT)[:3, 3])
    assert found.theirs == (LIFT, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 7, 0)
    assert differs(theirs, 1, mine.state(1))[3:5] == (found.theirs, found.mine)
    other.ground.remove(LIFT)
    theirs.save(1)
    assert differs(mine, 1, theirs)[1:5] == (None, "ground", found.mine, None)
    assert mine.compare(1, theirs.state_hash(1)) is not None


def test_layers_of_parts_count():
    """A door that is open on one machine alone is told before anybody comes there."""
    rewinds = []
    for layers in (None, 1, 4):
        ground = Ground([HeightMap(np.zeros((9, 9)))])
        door = ground.add(TriangleMesh.box((1, 2, 1)), transform=(4, 1, 4))
        if layers is not None:
            ground.set_layers(door, layers)
        rewinds.append(Rewind(World(ground), frames=2))
        rewinds[-1].save(0)
    same, also, other = rewinds
    assert same.state_hash(0) == also.state_hash(0) != other.state_hash(0)
    assert same.compare(0, also) is None
    assert same.compare(0, other) == (0, None, "layers", (door, 1), (door, 4), None)
    assert same.compare(0, other.state_hash(0)) is not None


def test_the_order_of_adding_and_the_time_owed_do_not_count():
    one, other = scene(), scene()
    for key in ("rider", "loners"):
        thing = other.world[key]
        other.world.remove(key)
        other.world.add(key, thing)
    other.world.clock.steps(0.1)
    assert list(one.world) != list(other.world)
    assert one.world.state_hash() == other.world.state_hash()
    ada = other.crowd["ada"].state()
    other.crowd.remove("ada")
    other.crowd.add("ada", (-6, 2, -6))
    other.crowd["ada"].restore(ada)
    assert one.world.state_hash() == other.world.state_hash()


@pytest.mark.parametrize("bad", [3, None, [3], {"rider": 1.5}, {"rider": b"12"}, [("rider", "x")]])
def test_what_cannot_be_compared(bad: Any):
    _, mine, _ = played(2)
    with pytest.raises(TypeError, match="theirs must be a Rewind, a WorldState, or what"):
        mine.compare(1, bad)


def test_a_frame_that_the_other_side_lacks():
    (_, mine, _), (_, theirs, _) = played(6), played(6, frames=2)
    with pytest.raises(ValueError, match="frame must be one of those kept, 4 to 5, got 3"):
        mine.compare(3, theirs)
