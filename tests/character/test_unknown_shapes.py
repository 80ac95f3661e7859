"""A kind of shape that nobody knows is refused wherever it comes in: it never counts as another."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    CharacterState,
    GroupState,
    HeightMap,
    Recording,
    Sphere,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.surface.shapes import SHAPE_KINDS
from terrain_physics.viewer.packing import packed
from tests.helpers.clips import clip

BODY = CapsuleCollider(0.4, 1.8)
UNKNOWN = float(len(SHAPE_KINDS))
MOST = len(SHAPE_KINDS) - 1


def land() -> HeightMap:
    return HeightMap(np.zeros((9, 9)))


def with_kind(rules: tuple[float, ...], kind: float) -> tuple[float, ...]:
    return (*rules[: layout.KIND], kind, *rules[layout.KIND + 1 :])


@pytest.mark.parametrize("kind", [UNKNOWN, -1.0, 1.5])
def test_a_state_of_an_unknown_kind_is_refused(kind: float) -> None:
    mover = CharacterMovement(land(), BODY, position=(4, 1, 4))
    state = mover.state()
    with pytest.raises(ValueError, match=rf"kind must be whole and from 0 to {MOST}, got {kind}"):
        mover.restore(replace(state, rules=with_kind(state.rules, kind)))


def test_a_description_of_an_unknown_kind_is_refused() -> None:
    text = CharacterMovement(land(), BODY, position=(4, 1, 4)).state().to_dict()
    text["collider"]["kind"] = "cone"
    with pytest.raises(ValueError, match=r"collider must be one from to_dict, got .*'cone'"):
        CharacterState.from_dict(text)


def test_a_group_of_an_unknown_kind_is_refused() -> None:
    group = CharacterGroup(land(), BODY)
    group.add("a", (4, 1, 4))
    text = group.state().to_dict()
    text["characters"][0]["rules"]["kind"] = UNKNOWN
    with pytest.raises(ValueError, match=rf"'a': kind must be whole and from 0 to {MOST}, got"):
        group.restore(GroupState.from_dict(text))


def test_the_table_of_a_group_takes_no_kind() -> None:
    group = CharacterGroup(land(), BODY)
    group.add("a", (4, 1, 4))
    with pytest.raises(TypeError, match=r"rules must be of .*, got 'kind'"):
        group.set_rules(kind=[UNKNOWN])


@pytest.mark.parametrize("place", ["row", "body"])
def test_a_recording_of_an_unknown_kind_is_refused(tmp_path, place: str) -> None:
    group = CharacterGroup(land(), BODY)
    group.add("a", (4, 1, 4))
    recording, path = Recording(group), tmp_path / "damaged"
    recording.update(1 / 60)
    recording.save(path)
    arrays = dict(np.load(path))
    header = json.loads(bytes(arrays["header"]))
    if place == "row":
        arrays["scene_rows"].view(np.float64)[layout.STATE.size + layout.KIND] = UNKNOWN
    else:
        header["scene"]["colliders"][0]["kind"] = "cone"
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match="undamaged"):
        Recording.load(path).make_scene()


def test_a_page_of_an_unknown_kind_is_refused() -> None:
    given = clip(5, 3, 4)
    given.bodies.shapes[1] = ("cone", (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match=r"shape of a body must be one of ball, .*, got 'cone'"):
        packed(given)


@pytest.mark.parametrize("shapes", [[BODY], [Sphere((4, 0, 4), 1), BODY]])
def test_a_question_about_an_unknown_shape_is_refused(shapes: Any) -> None:
    with pytest.raises(TypeError, match=r"shapes must "):
        land().contacts(shapes)
