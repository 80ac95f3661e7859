"""States that no character on a ground has are refused by name, and change nothing."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
    replay,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.character.state.columns import Layout
from tests.helpers.characters import FLOOR, FRAME, ball, run

FINE = HeightMap(np.zeros((40, 40)), cell_size=0.001)
PLATE = TriangleMesh([(0, 0, 0), (0, 0, 40), (40, 0, 0)], [(0, 1, 2)])


def with_number(state: Any, table: Layout, name: str, number: float) -> Any:
    """Return a state with one number changed."""
    part = "values" if table is layout.STATE else "rules"
    numbers = list(getattr(state, part))
    numbers[table.place(name)] = number
    return dataclasses.replace(state, **{part: tuple(numbers)})


def group_of(state: Any) -> Any:
    """Return the state of a group with a good character and this one."""
    group = CharacterGroup(FLOOR, SphereCollider(0.5))
    group.add("good", (5, 0.5, 5))
    group.add("bad", (5, 0.5, 5))
    content = group.state().to_dict()
    content["characters"][1] = {"key": "bad"} | state.to_dict()
    return type(group.state()).from_dict(content)


BAD = [
    (layout.STATE, "grounded", 2.0, "whole and from 0 to 1, got 2.0"),
    (layout.STATE, "grounded", 0.5, "whole and from 0 to 1, got 0.5"),
    (layout.STATE, "ground_normal", 3.0, "finite and from -1 to 1, got 3.0"),
    (layout.STATE, "contacts", -1.0, "whole and >= 0, got -1.0"),
    (layout.STATE, "penetration", -0.1, "finite and >= 0, got -0.1"),
    (layout.STATE, "ground_kind", 5.0, "whole and from 0 to 4, got 5.0"),
    (layout.STATE, "ground_kind", 1.5, "whole and from 0 to 4, got 1.5"),
    (layout.STATE, "ground_part", -2.0, "whole and from -1 to"),
    (layout.STATE, "ground_triangle", 0.5, "whole and from -1 to"),
    (layout.STATE, "air_time", -1.0, "finite and >= 0, got -1.0"),
    (layout.STATE, "stepping", 7.0, "whole and from 0 to 1, got 7.0"),
    (layout.RULES, "kind", 3.0, "whole and from 0 to 2, got 3.0"),
    (layout.RULES, "kind", 2.0, "that of SphereCollider"),
    (layout.RULES, "extents", -1.0, "finite and >= 0, got -1.0"),
    (layout.RULES, "rotation", 500.0, "finite and from -1 to 1, got 500.0"),
    (layout.RULES, "slope_limit", 2.0, "finite and from 0 to 1.5708, got 2.0"),
    (layout.RULES, "slope_cosine", -0.5, "finite and from 0 to 1, got -0.5"),
    (layout.RULES, "ground_rule", 2.0, "whole and from 0 to 1, got 2.0"),
    (layout.RULES, "ground_friction", -2.0, "finite and >= 0, got -2.0"),
    (layout.RULES, "max_rounds", 1e9, "whole and from 1 to 1000, got 1000000000.0"),
    (layout.RULES, "max_rounds", 1.5, "whole and from 1 to 1000, got 1.5"),
    (layout.RULES, "resolver", -1.0, "whole and from 0 to 1, got -1.0"),
    (layout.RULES, "snap_distance", -0.3, "finite and >= 0, got -0.3"),
    (layout.RULES, "step_offset", -0.3, "finite and >= 0, got -0.3"),
    (layout.RULES, "slope_speed", 5.0, "whole and from 0 to 1, got 5.0"),
    (layout.RULES, "mask", -1.0, "whole and from 0 to 4294967295, got -1.0"),
    (layout.RULES, "mask", 2.0**32, "whole and from 0 to 4294967295, got 4294967296.0"),
    (layout.RULES, "mask", 0.5, "whole and from 0 to 4294967295, got 0.5"),
    (layout.RULES, "material_rules", -1.0, "whole and from 0 to 9007199254740991, got -1.0"),
    (layout.RULES, "material_rules", 0.5, "whole and from 0 to 9007199254740991, got 0.5"),
    (layout.RULES, "material_rules", 2.0**53, "whole and from 0 to 9007199254740991, got"),
    (layout.RULES, "material_rules", 5.0, "those that it was saved with"),
    (layout.RULES, "friction_factor", -0.5, "finite and >= 0, got -0.5"),
    (layout.RULES, "speed_factor", 0.0, "finite and from 0.001 to 1000, got 0.0"),
    (layout.RULES, "speed_factor", 1001.0, "finite and from 0.001 to 1000, got 1001.0"),
]


@pytest.mark.parametrize(("table", "name", "number", "why"), BAD)
def test_columns_out_of_range(table, name, number, why):
    mover, group = ball(), CharacterGroup(FLOOR, SphereCollider(0.5))
    run(mover, 3)
    group.add(0, (5, 0.5, 5))
    before, group_before = mover.state(), group.state()
    bad = with_number(before, table, name, number)
    with pytest.raises(ValueError, match=f"^state: {name} must be {why}"):
        mover.restore(bad)
    with pytest.raises(ValueError, match=f"^state: {name} must be {why}"):
        group[0].restore(bad)
    with pytest.raises(ValueError, match=f"^state of 'bad': {name} must be {why}"):
        group.restore(group_of(bad))
    assert mover.state() == before
    assert group.state() == group_before


@pytest.mark.parametrize(
    ("extents", "turn", "why"),
    [
        ((0.5, 0.5, 9000.0), np.eye(3), "extents and rotation must be a body's"),
        ((9000.0, 0.5, 0.5), np.eye(3), "extents and rotation must be a body's"),
        ((0.0, 0.0, 0.0), np.eye(3), "extents and rotation must be a body's"),
        ((9000.0, 9000.0, 9000.0), np.zeros((3, 3)), "extents and rotation must be a body's"),
        ((9000.0, 9000.0, 9000.0), np.eye(3), "collider and scale must cover at most 40000"),
    ],
)
def test_bodies_that_are_none_or_too_large(extents, turn, why):
    mover = ball()
    before = mover.state()
    rules = list(before.rules)
    place, turned = layout.EXTENTS, layout.ROTATION
    rules[place : place + 3], rules[turned : turned + 9] = extents, turn.ravel().tolist()
    bad = dataclasses.replace(before, rules=tuple(rules))
    with pytest.raises(ValueError, match=f"^state: {why}"):
        mover.restore(bad)
    with pytest.raises(ValueError, match=f"^state of 'bad': {why}"):
        CharacterGroup(FLOOR).restore(group_of(bad))
    assert mover.state() == before


@pytest.mark.parametrize("column", [*layout.STATE.columns, *layout.RULES.columns])
def test_no_column_holds_what_is_not_finite(column):
    mover = ball()
    table = layout.STATE if column in layout.STATE.columns else layout.RULES
    for junk in (math.nan, math.inf, -math.inf):
        bad = with_number(mover.state(), table, column.name, junk)
        with pytest.raises(ValueError, match=r"(values|rules) must be finite"):
            mover.restore(bad)
        with pytest.raises(ValueError, match=f"state of 'bad': {column.name} must be"):
            CharacterGroup(FLOOR).restore(group_of(bad))


@pytest.mark.parametrize("ground", [FINE, Ground([PLATE, FINE])])
def test_a_body_too_large_for_another_ground(ground):
    big = ball()
    ant = CharacterMovement(ground, SphereCollider(0.001))
    group = CharacterGroup(ground)
    for taker, state in ((ant, big.state()), (group, group_of(big.state()))):
        before = taker.state_hash()
        with pytest.raises(ValueError, match=r"^state.*: collider and scale must cover at most"):
            taker.restore(state)
        assert taker.state_hash() == before
    on_mesh = CharacterMovement(PLATE, SphereCollider(0.001))
    on_mesh.restore(big.state())


def test_a_capsule_may_be_a_ball():
    mover = CharacterMovement(FLOOR, CapsuleCollider(0.5, 1.0), position=(9, 2, 9))
    mover.restore(mover.state())
    mover.update(FRAME)


@pytest.mark.parametrize("name", ["extents", "ground_kind", "resolver"])
def test_recordings_with_such_numbers_are_not_replayed(name):
    """As in a file that somebody made: the replay refuses the frame, and no kernel sees it."""

    def make() -> Any:
        group = CharacterGroup(HeightMap(np.zeros((40, 40))), SphereCollider(0.5))
        group.add("ada", (5, 0.5, 5))
        return group

    def make_alone() -> Any:
        return {"ada": ball()}

    for scene in (make, make_alone):
        recording = Recording(scene())
        recording.update(FRAME)
        frame: Any = recording._frames[0]
        recording._frames[0] = dataclasses.replace(
            frame,
            rows=np.zeros(1, np.int32),
            places=np.full(1, layout.SAVED.place(name), np.int32),
            bits=np.array([9e6]).view(np.uint64),
        )
        with pytest.raises(ValueError, match=r"^state.*(must be|must cover)"):
            replay(recording, scene)
