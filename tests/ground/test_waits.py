"""Which questions wait while a thread holds a ground, as the update of a character does."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from terrain_physics import OBB, Capsule, Ground, HeightMap, Ray, Sphere, TriangleMesh
from terrain_physics.surface.surface import queries_of

FLAT = np.zeros((17, 17), np.float32)
BOX = TriangleMesh.box((2, 2, 2), position=(4, 0, 4))

# Each makes its ground, asks it by a mask, and waits or does not.
GROUNDS: dict[str, tuple[Callable[[], Ground], int, bool]] = {
    "one map": (lambda: Ground([HeightMap(FLAT)]), 1, False),
    "one thick map": (lambda: Ground([HeightMap(FLAT, thickness=9.0)]), 1, False),
    "the only map asked": (lambda: Ground([BOX, HeightMap(FLAT)], layers=[2, 1]), 1, False),
    "united maps": (
        lambda: Ground([HeightMap(FLAT), HeightMap(FLAT, origin=(16, 0, 0))]),
        1,
        True,
    ),
    "a mesh": (lambda: Ground([BOX]), 1, True),
    "map and mesh": (lambda: Ground([HeightMap(FLAT), BOX]), 1, True),
}
_LONG = 300.0  # seconds: no question takes so long, however busy the machine is
PLACE, BALL = (4.0, 0.5, 4.0), Sphere((4.0, 0.5, 4.0), 1.0)
QUESTIONS: dict[str, Callable[[Any, int], Any]] = {
    "height": lambda ground, mask: ground.height_at(4.0, 4.0, mask=mask),
    "ray": lambda ground, mask: ground.raycast(Ray((4, 9, 4), (0, -1, 0)), mask=mask),
    "ball": lambda ground, mask: ground.contacts(BALL, mask=mask),
    "capsule": lambda ground, mask: ground.contacts(
        Capsule(PLACE, (4, 2, 4), 1), keep="deepest", mask=mask
    ),
    "box": lambda ground, mask: ground.contacts(OBB(PLACE, (1, 1, 1)), mask=mask),
    "sweep": lambda ground, mask: ground.sweep(Sphere((4, 9, 4), 1), (0, -20, 0), mask=mask),
    "closest point": lambda ground, mask: ground.closest_point(PLACE, mask=mask),
    "inside": lambda ground, mask: ground.contains(PLACE, mask=mask),
}


@pytest.mark.parametrize("name", GROUNDS)
def test_short_questions_wait_for_whom_rely_says(name: str) -> None:
    make, mask, waits = GROUNDS[name]
    ground = make()
    done = {question: threading.Event() for question in QUESTIONS}

    def ask(question: str) -> None:
        QUESTIONS[question](ground, mask)
        done[question].set()

    for call in QUESTIONS.values():  # what is found on first use is there
        call(ground, mask)
    threads = [
        threading.Thread(target=ask, args=(question,), daemon=True) for question in QUESTIONS
    ]
    with queries_of(ground).lock:
        for thread in threads:
            thread.start()
        if waits:
            threads[-1].join(0.05)
            assert not any(event.is_set() for event in done.values())
        else:
            for thread in threads:
                thread.join(_LONG)
            assert all(event.is_set() for event in done.values())
    for thread in threads:
        thread.join()
    assert all(event.is_set() for event in done.values())


def test_a_map_that_was_edited_is_asked_at_once_after_the_ground_was_free() -> None:
    land = HeightMap(FLAT)
    ground = Ground([land])
    for depth in (0.1, 0.2):
        land.raise_((4, 4), 3.0, depth)
        found = ground.contacts(BALL, keep="deepest")
        assert found.depth.tobytes() == land.contacts(BALL, keep="deepest").depth.tobytes()


@pytest.mark.parametrize("name", GROUNDS)
def test_a_version_is_told_without_waiting_unless_something_has_changed(name: str) -> None:
    ground, told = GROUNDS[name][0](), list[int]()
    before = ground.version
    for changed in (False, True):
        if changed:
            ground.add(TriangleMesh.box((1, 1, 1)))
        thread = threading.Thread(target=lambda: told.append(ground.version), daemon=True)
        with queries_of(ground).lock:
            thread.start()
            thread.join(0.05 if changed else _LONG)
            assert thread.is_alive() == changed
        thread.join()
        assert (told.pop() > before) == changed
