"""Results of updates: values that cannot be changed, compared, shown, copied and pickled."""

import copy
import pickle

import numpy as np
import pytest
from pyglm import glm

import terrain_physics
from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    CharacterView,
    GroundReport,
    GroupResult,
    HeightMap,
    MoveResult,
    Recording,
    SphereCollider,
)
from terrain_physics._kernels.character.state import layout

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((20, 20)), materials=np.full((19, 19), 3, np.uint8))
BALL = SphereCollider(0.5)


def landed():
    mover = CharacterMovement(FLOOR, BALL, position=(5, 0.5, 5))
    mover.update(FRAME)
    return mover


def group_of_two():
    group = CharacterGroup(FLOOR, BALL)
    group.add("ada", (5, 0.5, 5))
    group.add("bob", (5, 9, 5))
    return group


def all_results():
    mover = landed()
    return [mover.update(FRAME), mover.ground_report(), group_of_two().update(FRAME)]


def fields(result):
    return {name: getattr(result, name) for name in type(result).__match_args__}


def test_fields_are_those_of_the_state():
    mover = landed()
    result = mover.update(FRAME)
    assert fields(result) == {
        "grounded": True,
        "ground_normal": glm.vec3(0, 1, 0),
        "contacts": result.contacts,
        "penetration": 0.0,
        "converged": True,
        "limited_by": None,
        "rounds": 0,
        "lifted": 0.0,
        "seconds": FRAME,
        "blocked": False,
        "blocked_by": None,
        "just_landed": False,
        "just_left": False,
        "turn": 0.0,
        "squeezed": (),
        "waiting": False,
    }
    assert [type(part) for part in fields(result).values()] == [
        bool, glm.vec3, int, float, bool, type(None), int, float, float, bool, type(None), bool,
        bool, float, tuple, bool,
    ]  # fmt: skip
    assert result == mover.move_result()
    mover.position = (5, 9, 5)
    assert not mover.update(FRAME).grounded
    assert mover.move_result().ground_normal is None
    assert result.grounded


def test_the_report():
    report = landed().ground_report()
    assert (report.state, report.normal, report.point) == (
        "grounded", glm.vec3(0, 1, 0), glm.vec3(5, 0, 5),
    )  # fmt: skip
    assert (report.material, report.slope, report.air_time) == (3, 0.0, 0.0)
    assert report.triangle >= 0


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))]
)
def test_copies_are_equal(number, way):
    result = all_results()[number]
    other = way(result)
    assert type(other) is type(result)
    assert other == result
    assert repr(other) == repr(result)


def test_results_differ_where_a_field_does():
    standing, group = landed(), group_of_two()
    falling = CharacterMovement(FLOOR, BALL, position=(5, 9, 5))
    falling.update(FRAME)
    assert standing.move_result() != falling.move_result()
    assert standing.ground_report() != falling.ground_report()
    assert group.update(FRAME) == group_of_two().update(FRAME)
    group.positions = np.add(group.positions, (0, 1, 0))
    assert group.update(FRAME) != group_of_two().update(FRAME)
    one, report, many = all_results()
    assert one != report
    assert many != one
    assert one != tuple(fields(one).values())


def test_hashes_are_those_of_values():
    assert hash(landed().move_result()) == hash(landed().move_result())
    assert hash(landed().ground_report()) == hash(landed().ground_report())
    with pytest.raises(TypeError, match="unhashable"):
        hash(group_of_two().update(FRAME))


def test_results_cannot_be_changed():
    for result in all_results():
        for name in (*fields(result), "anything"):
            with pytest.raises(AttributeError):
                setattr(result, name, 1)
    many = group_of_two().update(FRAME)
    for name, values in fields(many).items():
        if name == "seconds":
            continue
        array = values.speed if name == "blocked_by" else values
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_vector_that_is_changed_is_the_readers():
    result = landed().move_result()
    normal = result.ground_normal
    assert normal is not None
    normal.x = 9
    assert result.ground_normal == glm.vec3(0, 1, 0)


def test_the_text_has_all_fields():
    for result in all_results():
        text = repr(result)
        assert text.startswith(f"{type(result).__name__}(")
        assert all(f"{name}=" in text for name in fields(result))


def test_results_are_matched_by_position_and_name():
    match landed().move_result():
        case MoveResult(True, glm.vec3(), contacts=count):
            assert count >= 1
        case other:
            pytest.fail(repr(other))
    match landed().ground_report():
        case GroundReport("grounded", material=material):
            assert material == 3
        case other:
            pytest.fail(repr(other))


def test_results_are_not_unpacked():
    for result in all_results():
        with pytest.raises(TypeError, match=r"not iterable|cannot unpack"):
            _, _ = result


def test_a_group_result_stays_as_it_was():
    group = group_of_two()
    result = group.update(FRAME)
    before = pickle.loads(pickle.dumps(result))
    group.remove("ada")
    group.update(FRAME)
    assert isinstance(result, GroupResult)
    assert result == before
    assert result.grounded.tolist() == [True, False]
    assert result.contacts is result.contacts
    assert np.isnan(result.ground_normals).tolist() == [[False] * 3, [True] * 3]
    assert result.contacts.dtype.name == result.rounds.dtype.name == "int64"


def test_a_pickle_of_another_format_is_refused(monkeypatch):
    contents = []
    with monkeypatch.context() as later:
        later.setattr(layout, "FORMAT", layout.FORMAT + 1)
        contents = [pickle.dumps(result) for result in all_results()]
    for content in contents:
        with pytest.raises(
            ValueError, match=rf"(Result|Report) must be of format {layout.FORMAT}, got 2"
        ):
            pickle.loads(content)


def test_members_are_read_and_restored_like_characters():
    group = group_of_two()
    result = group.update(FRAME)
    for row, key in enumerate(group):
        member = group[key]
        assert isinstance(member, CharacterView)
        one = member.move_result()
        assert isinstance(one, MoveResult)
        assert one.contacts == result.contacts[row]
        assert one.grounded == member.grounded == result.grounded[row]
        assert member.relative_position((5, 0, 5)).x == 0
    saved = group["ada"].state()
    alone = landed()
    group["bob"].restore(alone.state())
    assert group["bob"].state_hash() == alone.state_hash()
    alone.restore(saved)
    assert alone.state_hash() == group["ada"].state_hash()
    with pytest.raises(ValueError, match="same kind of collider"):
        group["ada"].restore(CharacterMovement(FLOOR, CapsuleCollider(0.4, 1.8)).state())


def test_all_that_is_handed_out_is_public():
    group, mover = group_of_two(), landed()
    handed_out = [*all_results(), group["ada"], group.state()]
    handed_out += [mover.state(), mover.collider, Recording(mover)]
    for value in handed_out:
        assert getattr(terrain_physics, type(value).__name__) is type(value)
        assert type(value).__doc__
