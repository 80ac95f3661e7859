"""Saves of other versions: loaded bit for bit, or refused by name.

The files in `tests/golden/saves` were made by the scene below, the first ones before formats had
numbers.
"""

import copy
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    CharacterState,
    GroupState,
    HeightMap,
    Recording,
    SphereCollider,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.character.state.columns import Column, Layout
from terrain_physics.character import state as state_module

SAVES = Path(__file__).parents[1] / "golden" / "saves"
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


@pytest.fixture(scope="module")
def played():
    group = make_group()
    play(group, group.update)
    return group


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_pickles_of_states_load_bit_for_bit(number):
    state = pickle.loads((SAVES / f"character_state_{number}.pickle").read_bytes())
    assert state.format == number
    mover = CharacterMovement(land(), CapsuleCollider(1, 3))
    mover.restore(state)
    loaded = mover.state()
    assert loaded.rules[: len(state.rules)] == state.rules
    assert mover.mask == 0xFFFF_FFFF
    assert mover.material_rules == {}
    for name in ("position", "velocity", "ground_normal", "ground_point", "air_time"):
        place = layout.STATE.place(name)
        assert loaded.values[place : place + 3] == state.values[place : place + 3]
    group_state = pickle.loads((SAVES / f"group_state_{number}.pickle").read_bytes())
    group = CharacterGroup(land())
    group.restore(group_state)
    assert group["eve"].state() == loaded
    assert group["eve"].state_hash() == mover.state_hash()
    for _ in range(60):
        mover.update(1 / 60)
        group.update(1 / 60)
    assert group["eve"].state() == mover.state()


def test_recordings_of_an_earlier_format_are_refused_by_name():
    with pytest.raises(ValueError, match="got version 1 with states of format 1, 66 numbers each"):
        Recording.load(SAVES / "recording_1.npz")


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickles_hold_the_format_by_name(protocol, played):
    for state in (played.state(), played["eve"].state()):
        assert state.__getstate__()["format"] == layout.FORMAT
        assert pickle.loads(pickle.dumps(state, protocol)) == state
        assert copy.deepcopy(state) == copy.copy(state) == state


NEXT = layout.FORMAT + 1
LATER = (
    f"must be of format {layout.FORMAT} or earlier, got format {NEXT}: "
    "a later version of terrain_physics saved it"
)


def test_states_of_a_later_format_are_refused(played, monkeypatch):
    mover = CharacterMovement(FLOOR, WALKER)
    group = CharacterGroup(FLOOR)
    for character, state in ((mover, played["eve"].state()), (group, played.state())):
        before = character.state_hash()
        later = dataclasses.replace(state, format=NEXT)
        with pytest.raises(ValueError, match=f"state {LATER}"):
            character.restore(later)
        with pytest.raises(ValueError, match=f"{type(state).__name__} {LATER}"):
            pickle.loads(pickle.dumps(later))
        with pytest.raises(ValueError, match="format of state must be from 1"):
            character.restore(dataclasses.replace(state, format=0))
        with pytest.raises(TypeError, match="format of state must be a whole number"):
            character.restore(dataclasses.replace(state, format="1"))
        assert character.state_hash() == before


def test_a_later_pickle_may_hold_more_fields(played):
    content = played["eve"].state().__getstate__() | {"format": NEXT, "mood": "merry"}
    loaded: Any = CharacterState.__new__(CharacterState)
    with pytest.raises(ValueError, match=f"CharacterState {LATER}"):
        loaded.__setstate__(content)


@pytest.mark.parametrize("kind", [CharacterMovement, CharacterGroup])
def test_whole_characters_are_pickled_for_the_same_version_only(kind):
    whole = kind(FLOOR, SphereCollider(0.5))
    holder = whole if kind is CharacterMovement else whole._data
    content = holder.__getstate__()
    assert pickle.loads(pickle.dumps(whole)).state_hash() == whole.state_hash()
    for other in ({"format": NEXT}, {}):
        broken = {name: value for name, value in content.items() if name != "format"} | other
        message = (
            f"{kind.__name__} must be pickled in format {layout.FORMAT}, got .* keep what its state"
        )
        with pytest.raises(ValueError, match=message):
            holder.__new__(type(holder)).__setstate__(broken)


# A table that has grown: the second format brought the breath, and a place for the left hand.
GROWN = Layout(
    Column("position", "where", "m", 3),
    Column("hand", "where the left hand is", "m", 2, default=7.0, since=2),
    Column("speed", "how fast", "m/s"),
    Column("breath", "how much is left", default=0.5, is_hashed=False, since=2),
)


class TestTable:
    def test_places_follow_from_widths(self):
        assert (GROWN.size, GROWN.place("hand"), GROWN.place("breath")) == (7, 3, 6)
        assert GROWN.defaults().tolist() == [0, 0, 0, 7, 7, 0, 0.5]

    def test_rows_of_an_earlier_format_get_the_defaults(self):
        assert GROWN.saved_in(1) == [0, 1, 2, 5]
        old = np.array([[1.0, 2, 3, 4], [5, 6, 7, -0.0]])
        expected = [[1, 2, 3, 7, 7, 4, 0.5], [5, 6, 7, 7, 7, 0, 0.5]]
        assert GROWN.upgraded(old, 1).tolist() == expected
        bits = GROWN.upgraded(old.view(np.uint64), 1)
        assert bits.view(np.float64).tolist() == expected
        assert np.signbit(bits.view(np.float64)[1, 5])
        assert GROWN.upgraded(bits, 2).tolist() == bits.tolist()

    def test_columns_may_be_left_out_of_the_hash(self):
        assert GROWN.hashed() == [0, 1, 2, 3, 4, 5]

    def test_the_description_names_each_column(self):
        assert GROWN.described().splitlines() == [
            "   0-2  position           where, in m",
            "   3-4  hand               where the left hand is, in m",
            "     5  speed              how fast, in m/s",
            "     6  breath             how much is left",
        ]

    def test_the_tables_of_characters(self):
        assert (layout.STATE_SIZE, layout.RULES_SIZE, layout.SAVED.size) == (76, 36, 122)
        names = [column.name for column in layout.SAVED.columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in layout.SAVED.columns)
        assert {column.since for column in layout.SAVED.columns} <= set(range(1, layout.FORMAT + 1))
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


def test_a_state_of_an_earlier_format_gets_the_defaults(monkeypatch):
    """As if two columns had come with the next format: the table grows, old states go on."""
    old = CharacterMovement(FLOOR, SphereCollider(0.5), gravity=3.0).state()
    grown = Layout(
        *layout.STATE.columns[:2],
        Column("breath", "how much is left", default=0.5, since=NEXT),
        *layout.STATE.columns[2:],
    )
    monkeypatch.setattr(layout, "STATE", grown)
    monkeypatch.setattr(layout, "FORMAT", NEXT)
    monkeypatch.setattr(state_module, "refuse_unfit", lambda *_: None)
    row = state_module.row_of(old, FLOOR)
    assert row.state.tolist() == [*old.values[:6], 0.5, *old.values[6:]]
    assert row.rules.tolist() == list(old.rules)
    size = layout.STATE_SIZE
    with pytest.raises(
        ValueError, match=rf"values must have shape \({size + 1},\), got \({size},\)"
    ):
        state_module.row_of(dataclasses.replace(old, format=NEXT), FLOOR)


def test_a_group_state_of_an_earlier_format_gets_the_defaults(monkeypatch, played):
    old, eve = played.state(), played["eve"].state_hash()
    assert isinstance(old, GroupState)
    # After all columns of today, so that the places which kernels know stay.
    grown = Layout(*layout.SAVED.columns, Column("mood", "of today", default=1.0, since=NEXT))
    width = 8 * layout.SAVED.size
    monkeypatch.setattr(layout, "SAVED", grown)
    monkeypatch.setattr(layout, "FORMAT", NEXT)
    group = CharacterGroup(land())
    group.restore(old)
    assert group["eve"].state_hash() == eve
    with pytest.raises(ValueError, match=f"must hold {width + 8} bytes for each of 2 keys"):
        group.restore(dataclasses.replace(old, format=NEXT))
