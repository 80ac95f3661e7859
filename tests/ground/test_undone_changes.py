"""Changes of which parts there are: undone wherever they are interrupted, and quick beside many."""

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, TriangleMesh
from tests.helpers.calls import calls_of
from tests.helpers.examples import rest_is_full

FRAME = 1 / 60
HOUSE, LIFT, DOOR, BELT, GATE, SMALL, PLAIN = range(1, 8)


def village() -> Ground:
    """Return ground with meshes that differ in all that a ground knows of a mesh."""
    box = TriangleMesh.box((1, 1, 1))
    ground = Ground([HeightMap(np.zeros((17, 17)))])
    for number in range(HOUSE, PLAIN):
        ground.add(box, (2.0 * number, 1.0, 3.0), name=f"part {number}", layers=1 + number % 3)
    ground.add(TriangleMesh.box((1, 1, 1), position=(9, 1, 9)))
    for turn in range(3):
        ground.move(LIFT, (4.0, 1.0 + turn, 3.0), FRAME)
        ground.move(DOOR, (6.0, 1.0, 3.0 + turn), FRAME)
    ground.move(DOOR, (6.0, 1.0, 4.0))
    ground.move(HOUSE, (2.0, 2.0, 3.0))
    ground.set_surface_velocity(BELT, (1, 0, 0))
    ground.set_one_way(GATE, (0, 1, 0))
    ground.replace(SMALL, TriangleMesh.box((1, 3, 1)))
    return ground


def content(ground: Ground) -> Any:
    """Return all that is known of the parts."""
    held, parts = ground._held, {**ground.parts}  # an interrupted change is undone now
    layout, motion = held.layout(), held.motion()
    used = motion.movers.reaches[:, : len(motion.movers.numbers)]
    hits = [ground.raycast((2.0 * k + 0.2, 40.0, 3.2), (0.0, -1.0, 0.0)) for k in range(9)]
    tables = layout.sources, layout.layers, layout.names, layout.scales, parts
    return (
        [[*table.items()] for table in tables], layout.next_number, motion.numbers.tolist(),
        motion.poses.tobytes(), motion.put, motion.movers.numbers, motion.movers.rows.tobytes(),
        used.tobytes(), repr(hits), ground.bounds,
    )  # fmt: skip


BAR = TriangleMesh.box((1, 5, 1), materials=2)
CHANGES: dict[str, Any] = {
    "add": lambda ground: ground.add(BAR, (1, 1, 1), name="bar"),
    "remove": lambda ground: ground.remove(HOUSE),
    "remove what moves": lambda ground: ground.remove(LIFT),
    "remove what was put": lambda ground: ground.remove(DOOR),
    "remove the last": lambda ground: ground.remove(PLAIN),
    "remove a belt": lambda ground: ground.remove(BELT),
    "replace": lambda ground: ground.replace(LIFT, BAR),
    "layers": lambda ground: ground.set_layers(GATE, 4),
    "a map": lambda ground: ground.add(HeightMap(np.zeros((9, 9)), origin=(16, 0, 0))),
}


@pytest.mark.parametrize("part", rest_is_full(range(8)))
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_is_interrupted_anywhere_is_undone(name: str, part: int) -> None:
    """A signal handler raises as some function begins."""
    at = 1 + part
    while True:
        ground, left = village(), at
        before = content(ground)

        def interrupt(frame: Any, event: str, _: object) -> None:
            nonlocal left
            left -= event == "call" and "terrain_physics" in frame.f_code.co_filename
            if left == 0:
                left = -1
                raise KeyboardInterrupt

        known = sys.getprofile()
        sys.setprofile(interrupt)
        try:
            CHANGES[name](ground)
            is_made = True
        except KeyboardInterrupt:
            is_made = False
        finally:
            sys.setprofile(known)
        if left > 0:
            assert is_made
            return
        undone = content(ground)
        if undone != before:  # it came as all was done
            other = village()
            CHANGES[name](other)
            assert repr(undone[1:]) == repr(content(other)[1:])
        at += 8


def ask(ground: Ground) -> None:
    """Ask what is kept until something changes."""
    assert ground.bounds.lower.x <= 0.0
    assert ground.version >= 0
    ground.height_at(3.0, 3.0)


@pytest.mark.parametrize("name", [*CHANGES, "refit"])
def test_a_signal_handler_that_asks_leaves_nothing_old(name: str) -> None:
    """It asks as each function begins, and as each one ends."""
    ground, other = village(), village()
    plain: Any = ground.parts[PLAIN]
    change = CHANGES.get(name, lambda _: plain.refit(plain.vertices * 2.0))
    is_asking = False

    def handle(frame: Any, event: str, _: object) -> None:
        nonlocal is_asking
        is_ours = event in {"call", "return"} and "terrain_physics" in frame.f_code.co_filename
        if is_ours and not is_asking:
            is_asking = True
            try:
                ask(ground)
            finally:
                is_asking = False

    known = sys.getprofile()
    sys.setprofile(handle)
    try:
        change(ground)
        ground.height_at(3.0, 3.0)
    finally:
        sys.setprofile(known)
    if name == "refit":
        plain = other.parts[PLAIN]
    change(other)
    assert repr(content(ground)[1:]) == repr(content(other)[1:])


def test_to_add_and_to_remove_is_undone_by_a_restore() -> None:
    ground = village()
    state, before = ground.state(), content(ground)
    for name, change in CHANGES.items():
        change(ground)
        assert content(ground) != before, name
        ground.restore(state)
        assert content(ground) == before, name


def test_parts_come_and_go_beside_many_as_beside_few() -> None:
    box, calls = TriangleMesh.box((1, 1, 1)), []
    for count in (3, 600):
        ground = Ground([HeightMap(np.zeros((9, 9)))])
        for number in range(count):
            ground.add(box, (3.0 * number, 0.0, 0.0))
            ground.add(TriangleMesh.box((1, 1, 1)))
        made = []
        for _ in range(9):  # now and then a table needs more room
            made.append([calls_of(partial(ground.add, box, (9.0, 9.0, 9.0)))])
            key = max(ground.parts)
            made[-1] += [calls_of(partial(ground.set_layers, key, 2))]
            made[-1] += [calls_of(partial(ground.replace, key, TriangleMesh.box((1, 2, 1))))]
            made[-1] += [calls_of(partial(ground.remove, key))]
        calls.append(np.median(made, axis=0).tolist())
    assert calls[0] == calls[1]


def test_what_nothing_has_changed_is_kept_and_measured_once() -> None:
    ground = village()
    kept = ground._held.motion(), ground._held.layout(), ground._held.kept_surfaces()
    assert ground._held.motion() is kept[0]
    assert ground._held.kept_surfaces() is kept[2]
    poses, box = kept[0].poses.copy(), ground.bounds
    ground.move(LIFT, (4.0, 60.0, 3.0), FRAME)
    assert ground.bounds != box
    assert ground._held.motion() is not kept[0]
    assert np.array_equal(kept[0].poses, poses)
    plain: Any = ground.parts[PLAIN]
    plain.refit(plain.vertices * 90.0)
    assert ground.bounds.upper.x > 100.0
