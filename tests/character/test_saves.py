"""Saved states: each format has one file, which loads bit for bit; others are refused by name.

``python -m tests.character.test_saves`` writes the files anew where a format has changed.
"""

import copy
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    CharacterState,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.character.state.columns import Column, Layout
from terrain_physics.recording import file as recording_file
from terrain_physics.surface import ground_files

SAVES = Path(__file__).parents[1] / "golden" / "saves"
RECORDING = SAVES / f"recording_{recording_file.VERSION}.npz"
GROUND = SAVES / f"ground_{ground_files.VERSION}.ground"
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
FLOOR = HeightMap(np.zeros((9, 9)))


def land():
    rows, columns = np.mgrid[:40, :40]
    return HeightMap((rows * 7 + columns * 3) % 5 * 0.1)


def make_group():
    group = CharacterGroup(land(), WALKER, seed=4)
    group.add("eve", (10, 2, 10), velocity=(2, 0, 1))
    group.add(7, (20, 2, 20), collider=BoxCollider((0.3, 0.8, 0.4)), slope_limit=0.9)
    return group


def play(group, update):
    for frame in range(30):
        group["eve"].velocity.x = 2
        if frame == 20:
            group[7].position.y += 1
        update(1 / 60)


def make_ground():
    holes = np.zeros((8, 8), bool)
    holes[5, 2] = True
    ground = Ground([HeightMap(np.arange(81.0).reshape(9, 9) % 7, holes=holes, border="open")])
    roof = TriangleMesh([(1, 9, 1), (1, 9, 5), (5, 9, 1)], [(0, 1, 2)])
    ground.add(roof, layers=2, name="roof")
    ground.move(1, ((1, 0, 0), glm.quat()))
    ground.carve((4, 4), radius=2, depth=0.5)
    return ground


@pytest.fixture(scope="module")
def played():
    group = make_group()
    play(group, group.update)
    return group


def saved_states(group):
    """Return the states of which there are files, by their names."""
    return {
        f"character_state_{layout.FORMAT}.pickle": group["eve"].state(),
        f"group_state_{layout.FORMAT}.pickle": group.state(),
    }


def test_pickles_of_states_load_bit_for_bit(played):
    expected = saved_states(played)
    assert {path.name for path in SAVES.iterdir()} - {RECORDING.name, GROUND.name} == set(expected)
    state, group_state = (pickle.loads((SAVES / name).read_bytes()) for name in expected)
    assert [state, group_state] == list(expected.values())
    mover, group = CharacterMovement(land(), CapsuleCollider(1, 3)), CharacterGroup(land())
    mover.restore(state)
    group.restore(group_state)
    assert mover.state() == group["eve"].state() == state
    for _ in range(60):
        mover.update(1 / 60)
        group.update(1 / 60)
    assert group["eve"].state() == mover.state()


def test_a_recording_loads_and_replays_bit_for_bit(played):
    recording = Recording.load(RECORDING)
    assert replay(recording, make_group) is None
    assert replay(recording, recording.make_scene) is None
    assert recording._frames[-1].hashes == {key: played[key].state_hash() for key in played}


def test_a_ground_loads_with_all_it_holds():
    expected, loaded = make_ground(), Ground.load(GROUND)
    assert loaded.parts.keys() == expected.parts.keys()
    assert (loaded.version, loaded.layers_of(1)) == (expected.version, expected.layers_of(1))
    assert loaded.part_names == {1: "roof"}
    x, z = np.mgrid[-1:9:0.5, -1:9:0.5]
    np.testing.assert_array_equal(loaded.height_at(x, z), expected.height_at(x, z))


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickles_hold_the_format_by_name(protocol, played):
    for state in (played.state(), played["eve"].state()):
        assert state.__getstate__()["format"] == layout.FORMAT
        assert pickle.loads(pickle.dumps(state, protocol)) == state
        assert copy.deepcopy(state) == copy.copy(state) == state


NEXT = layout.FORMAT + 1
OTHER = f"must be of format {layout.FORMAT}, got {NEXT}: another version of terrain_physics saved"


def test_states_of_another_format_are_refused(played):
    mover = CharacterMovement(FLOOR, WALKER)
    group = CharacterGroup(FLOOR)
    for character, state in ((mover, played["eve"].state()), (group, played.state())):
        before = character.state_hash()
        later = dataclasses.replace(state, format=NEXT)
        with pytest.raises(ValueError, match=f"state {OTHER}"):
            character.restore(later)
        with pytest.raises(ValueError, match=f"{type(state).__name__} {OTHER}"):
            pickle.loads(pickle.dumps(later))
        for form in (0, "1", None):
            with pytest.raises(
                ValueError, match=f"state must be of format 1, got {form!r}: another"
            ):
                character.restore(dataclasses.replace(state, format=form))
        assert character.state_hash() == before


def test_a_pickle_of_another_format_may_hold_other_fields(played):
    content = played["eve"].state().__getstate__() | {"format": NEXT, "mood": "merry"}
    loaded: Any = CharacterState.__new__(CharacterState)
    with pytest.raises(ValueError, match=f"CharacterState {OTHER}"):
        loaded.__setstate__(content)


@pytest.mark.parametrize("kind", [CharacterMovement, CharacterGroup])
def test_whole_characters_are_pickled_for_the_same_version_only(kind):
    whole = kind(FLOOR, SphereCollider(0.5))
    holder = whole if kind is CharacterMovement else whole._data
    content = holder.__getstate__()
    assert pickle.loads(pickle.dumps(whole)).state_hash() == whole.state_hash()
    for other in ({"format": NEXT}, {}):
        broken = {name: value for name, value in content.items() if name != "format"} | other
        message = f"{kind.__name__} must be of format {layout.FORMAT}, got "
        with pytest.raises(ValueError, match=message):
            holder.__new__(type(holder)).__setstate__(broken)


TABLE = Layout(
    Column("position", "where", "m", 3),
    Column("hand", "where the left hand is", "m", 2, default=7.0),
    Column("speed", "how fast", "m/s"),
    Column("breath", "how much is left", default=0.5, is_hashed=False),
)


class TestTable:
    def test_places_follow_from_widths(self):
        assert (TABLE.size, TABLE.place("hand"), TABLE.place("breath")) == (7, 3, 6)
        assert TABLE.defaults().tolist() == [0, 0, 0, 7, 7, 0, 0.5]

    def test_numbers_have_the_names_of_their_columns(self):
        row = [1.0, 2, 3, 4, 5, 6, 7]
        named = {"position": [1, 2, 3], "hand": [4, 5], "speed": 6, "breath": 7}
        assert TABLE.named(row) == named
        assert TABLE.unnamed("row", named) == row

    def test_columns_may_be_left_out_of_the_hash(self):
        assert TABLE.hashed() == [0, 1, 2, 3, 4, 5]

    def test_the_description_names_each_column(self):
        assert TABLE.described().splitlines() == [
            "   0-2  position           where, in m",
            "   3-4  hand               where the left hand is, in m",
            "     5  speed              how fast, in m/s",
            "     6  breath             how much is left",
        ]

    def test_the_tables_of_characters(self):
        assert (layout.STATE_SIZE, layout.RULES_SIZE, layout.SAVED.size) == (87, 36, 133)
        names = [column.name for column in layout.SAVED.columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in layout.SAVED.columns)
        document = CharacterState.__doc__ or ""
        assert all(f" {name} " in document for name in names[:-2])

    def test_every_column_has_a_place_with_a_name(self):
        for table in (layout.STATE, layout.RULES):
            places = {
                value
                for name, value in vars(layout).items()
                if name.isupper() and isinstance(value, int)
            }
            assert {table.place(column.name) for column in table.columns} <= places


@pytest.mark.parametrize("name", ["values", "rules", "linear"])
def test_states_of_another_width_are_refused(name, played):
    state = played["eve"].state()
    size = len(getattr(state, name))
    longer = dataclasses.replace(state, **{name: (*getattr(state, name), 0.0)})
    message = rf"{name} must have shape \({size},\), got \({size + 1},\)"
    with pytest.raises(ValueError, match=message):
        CharacterMovement(FLOOR, WALKER).restore(longer)


def test_group_states_of_another_width_are_refused(played):
    state = played.state()
    message = f"must hold {8 * layout.SAVED.size} bytes for each of 2 keys, got"
    with pytest.raises(ValueError, match=message):
        CharacterGroup(FLOOR).restore(dataclasses.replace(state, rows=state.rows + bytes(16)))


def main():
    """Write the files anew."""
    group = make_group()
    play(group, group.update)
    for old in SAVES.iterdir():
        old.unlink()
    for name, state in saved_states(group).items():
        (SAVES / name).write_bytes(pickle.dumps(state, protocol=4))
    again = make_group()
    recording = Recording(again)
    play(again, recording.update)
    recording.save(RECORDING)
    make_ground().save(GROUND)


if __name__ == "__main__":
    main()
