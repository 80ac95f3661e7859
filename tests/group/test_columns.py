"""Ground and events of many characters, as arrays: equal to each one's own report."""

import copy
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    Ground,
    GroupResult,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers.characters import FRAME, ROUGH
from tests.helpers.meshes import grid

WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
NAMES = ("grass", "ice", "mud")
COLUMNS = {
    "states": "state",
    "materials": "material",
    "parts": "part",
    "air_time": "air_time",
    "landing_speed": "landing_speed",
}


def rough_heights(width=40):
    return np.random.default_rng(2).uniform(0, 0.9, (40, width))


def patched(heights, **options):
    cells = np.array(heights.shape) - 1
    made_of = np.random.default_rng(3).integers(0, 3, cells)
    return HeightMap(heights, materials=made_of, **options)


def a_map():
    return patched(rough_heights(), material_names=NAMES, border="extend")


def a_mesh():
    vertices, faces = grid(rough_heights())
    return TriangleMesh(vertices, faces, materials=np.arange(len(faces)) % 7)


def many_parts():
    """Return tiles with and without names, united ones too, and meshes, of which one moves."""
    heights = rough_heights(60)
    tiles = [
        patched(heights[:, at : at + 21], origin=(at, 0, 0), border="open", material_names=names)
        for at, names in ((0, NAMES), (20, None))
    ]
    shape = TriangleMesh.box((4, 0.5, 4))
    boxes = [
        TriangleMesh(shape.vertices, shape.faces, materials=number, material_names=names)
        for number, names in ((1, ("sand", "ice")), (3, None))
    ]
    ground = Ground([*tiles, *boxes])
    ground.move(2, ((8, 0.4, 8), glm.quat()))
    ground.move(3, ((24, 0.5, 12), glm.quat()))
    ground.remove(0)
    ground.add(patched(heights[:, :21], border="open", material_names=NAMES))
    return ground


GROUNDS = {"map": a_map, "mesh": a_mesh, "parts": many_parts}


def crowd(ground, count=40):
    """Return walkers of which some leave the ground at its border."""
    group = CharacterGroup(ground, WALKER, slope_limit=0.6)
    group.add_many(
        range(count),
        [(1.3 + i % 8 * 4.6, 1.5 + 0.1 * i, 1.2 + i // 8 * 7.4) for i in range(count)],
        collider=WALKER,
    )
    return group


def wander(group, frame):
    angles = np.arange(len(group)) + frame / 40
    group.walk(3 * np.cos(angles), 3 * np.sin(angles))
    if frame % 25 == 0:
        jumping = list(range(frame % 3, len(group), 4))
        velocities = group.velocities[jumping]
        velocities[:, 1] = 4
        group.set_velocities(velocities, jumping)


@pytest.mark.parametrize("make", GROUNDS.values(), ids=GROUNDS)
def test_columns_are_the_reports_of_each(make):
    ground = make()
    group = crowd(ground)
    seen = {name: set() for name in COLUMNS}  # type: ignore[var-annotated]
    for frame in range(150):
        if isinstance(ground, Ground) and frame > 40:
            ground.move(2, ((8, 0.4, 8 + frame / 100), glm.quat()), FRAME)
        if frame % 6 == 0:
            reports = [member.ground_report() for member in group.values()]
            for name, field in COLUMNS.items():
                values = getattr(group, name)
                assert values.tolist() == [getattr(report, field) for report in reports]
                assert not values.flags.writeable
                seen[name] |= set(values.tolist())
            normals = [m.ground_normal or (np.nan,) * 3 for m in group.values()]
            assert np.array_equal(group.ground_normals.astype(np.float32), normals, equal_nan=True)
        wander(group, frame)
        group.update(FRAME)
    assert {"grounded", "steep", "airborne"} <= seen["states"]
    assert len(seen["materials"]) >= 3
    assert seen["parts"] >= ({-1, 1, 2, 3, 4} if isinstance(ground, Ground) else {-1, 0})
    assert group.materials.dtype == np.uint8


def test_of_nobody():
    group = CharacterGroup(ROUGH, WALKER)
    for name in (*COLUMNS, "grounded"):
        assert getattr(group, name).shape == (0,)
    assert group.ground_normals.shape == (0, 3)
    result = group.update(FRAME)
    assert len(result.just_hit) == len(result.material_changed) == len(result.blocked) == 0


@pytest.mark.parametrize("make", GROUNDS.values(), ids=GROUNDS)
def test_what_happened_in_a_frame(make):
    ground = make()
    group = crowd(ground)
    counts = np.zeros(3, dtype=np.int64)
    for frame in range(150):
        wander(group, frame)
        before, touched, known = group.materials, group.states != "airborne", group.parts
        result = group.update(FRAME)
        hitting = np.isin(np.arange(len(group)), group.hits().character)
        assert np.array_equal(result.just_hit, hitting)
        assert np.array_equal(result.blocked, result.blocked_by.reason != "")
        both = touched & (group.states != "airborne")
        assert np.array_equal(result.material_changed, both & (group.materials != before))
        assert known.shape == both.shape
        again: GroupResult = pickle.loads(pickle.dumps(result))
        assert again == result
        assert np.array_equal(again.blocked, result.blocked)
        for flags in (result.just_hit, again.just_hit, result.material_changed, result.blocked):
            assert not flags.flags.writeable
        counts += [result.just_hit.sum(), result.material_changed.sum(), result.blocked.sum()]
    assert (counts > 20).all()


def test_the_material_counts_where_it_is_known():
    land = patched(np.zeros((40, 40)), material_names=NAMES)
    group = crowd(land)
    for _ in range(120):
        group.update(FRAME)
    assert not group.update(FRAME).material_changed.any()
    state, before = group.state(), (group.materials, group.parts)
    group.restore(state)
    assert np.array_equal((group.materials, group.parts), before)
    group.restore(copy.copy(state))  # what was touched before is not known
    assert not group.materials.any()
    assert (group.parts == -1).all()
    assert not group.update(FRAME).material_changed.any()
    group.teleport(group.positions + np.array([1, 0, 1]))
    result = group.update(FRAME)
    assert result.grounded.all()
    assert not result.material_changed.any()


def test_materials_are_those_of_the_ground_as_it_is_when_they_are_read():
    land = HeightMap(np.zeros((40, 40)), material_names=NAMES)
    group = CharacterGroup(land, SphereCollider(0.5))
    group.add_many("ab", [(10.5, 0.5, 10.5), (20.5, 0.5, 20.5)])
    for _ in range(30):
        group.update(FRAME)
    land.paint((10.5, 10.5), 3, "ice")
    assert group.materials.tolist() == [1, 0]
    result = group.update(FRAME)
    assert not result.material_changed.any()
    assert group.materials.tolist() == [1, 0]


class TestGround:
    """`group.ground = other`: see also `tests/character/test_change_ground.py`."""

    def test_masks_and_layers(self):
        """Each goes on as a group that was on the other ground from the beginning."""
        low, high = HeightMap(np.zeros((40, 40))), TriangleMesh.box((60, 1, 60))
        two = Ground([low, high], layers=[1, 2])
        group = CharacterGroup(ROUGH, WALKER)
        masks = [1, 2, 3, 4]
        group.add_many("abcd", [(5 * i + 5.0, 4.0, 9.0) for i in range(4)], mask=masks)
        for _ in range(90):
            group.update(FRAME)
        group.ground = two
        assert group.rules("mask").tolist() == masks
        assert group["a"].ground is two
        group.teleport([(5 * i + 5.0, 4.0, 9.0) for i in range(4)])
        for _ in range(90):
            group.update(FRAME)
        assert group.positions[:3, 1].tolist() == pytest.approx([0, 0.5, 0.5], abs=1e-4)
        assert group.positions[3, 1] < -3
        assert group.parts.tolist() == [0, 1, 1, -1]
        group.set_rules(mask=1, keys="b")
        for _ in range(60):
            group.update(FRAME)
        assert group.positions[1, 1] == pytest.approx(0, abs=1e-4)

    def test_saves_and_copies_go_on_there(self):
        group = crowd(ROUGH)
        other = many_parts()
        for frame in range(40):
            wander(group, frame)
            group.update(FRAME)
        saved = group.state()
        group.ground = other
        twin = CharacterGroup(other, WALKER)
        twin.restore(group.state())
        again = pickle.loads(pickle.dumps(group))
        for frame in range(40):
            for one in (group, twin, again):
                wander(one, frame)
                one.update(FRAME)
        assert group.state() == twin.state() == again.state()
        group.ground = ROUGH
        group.restore(saved)
        straight = CharacterGroup(ROUGH, WALKER)
        straight.restore(saved)
        for frame in range(40):
            for one in (group, straight):
                wander(one, frame)
                one.update(FRAME)
        assert group.state() == straight.state()

    def test_cells_of_any_size_count_at_once(self):
        fine = HeightMap(np.zeros((9, 9)), cell_size=0.001)
        group = crowd(ROUGH, 3)
        group.update(FRAME)
        before = group.state()
        with pytest.raises(ValueError, match=r"^0: collider and scale must cover at most"):
            group.ground = fine
        assert group.state() == before
        group.remove_many(range(3))
        group.ground = fine
        with pytest.raises(ValueError, match="collider and scale must cover at most"):
            group.add_many("ab", np.zeros((2, 3)))
        group.add_many("ab", np.zeros((2, 3)), collider=SphereCollider(0.05))
        group.update(FRAME)
        with pytest.raises(ValueError, match="collider and scale must cover at most"):
            group.add("c", (0, 0, 0))
        group.ground = ROUGH
        group.add("c", (5, 5, 5))
        group.update(FRAME)
        assert len(group) == 3
