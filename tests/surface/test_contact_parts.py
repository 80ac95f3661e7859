"""Contacts of many shapes are found in parts, by several threads: none loses one, none waits."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics.surface.answers import contacts
from terrain_physics.surface.contact_buffer import ContactRoom

LAND = HeightMap(np.random.default_rng(8).uniform(0, 2, (12, 14)))


def balls_of(count: int) -> Any:
    """Return balls on the ground, all but the first small."""
    draw = np.random.default_rng(5)
    x, z = draw.uniform(-3, 16, count), draw.uniform(-3, 14, count)
    radii = draw.uniform(0, 2.5, count)
    radii[0] = 18.0
    return np.column_stack([x, LAND.height_at(x, z) + draw.uniform(-1, 1, count), z, radii])


def test_threads_and_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contacts, "_PART", 50)
    balls = np.tile(balls_of(30)[3:], (11, 1))
    one, two = LAND.contacts(balls, threads=1), LAND.contacts(balls, threads=3)
    for name in ("query", "triangle", "penetration", "normal", "point"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    monkeypatch.setattr(contacts, "_PART", 10**6)
    once = LAND.contacts(balls)
    assert one.penetration.tobytes() == once.penetration.tobytes()
    assert len(one) == 11 * len(LAND.contacts(balls[:27]))
    a, b = (LAND.contacts(balls, threads=n, keep="deepest") for n in (1, 3))
    assert a.triangle.tolist() == b.triangle.tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_parts_may_have_many_more_contacts_than_those_before(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    balls = balls_of(40)
    balls = balls[np.argsort(order * balls[:, 3])]
    once = LAND.contacts(balls)
    monkeypatch.setattr(contacts, "_PART", 3)
    for threads in (1, 3):
        parts = LAND.contacts(balls, threads=threads)
        for name in ("query", "triangle", "penetration", "normal", "point"):
            assert getattr(parts, name).tobytes() == getattr(once, name).tobytes()


def test_a_part_that_is_refused_keeps_none_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contacts, "_PART", 2)
    balls = np.tile([[3.0, 1.0, 3.0, 0.5]], (40, 1))
    balls[[11, 30], 3] = 1e5
    with pytest.raises(ValueError, match="at most 100 million cells, got shape 11"):
        LAND.contacts(balls, threads=3)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_behind_too_many_contacts_wait_for_none(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(contacts, "_PART", 2)
    monkeypatch.setattr("terrain_physics._support.threads._SHORTEST_TASK", 1)
    balls = np.tile([[3.0, 1.0, 3.0, 1.5]], (60, 1))
    count = len(LAND.contacts(balls))
    for most in (0, 1, count // 3, count - 1):
        with pytest.raises(ValueError, match=f"max_results = {most}, got more"):
            LAND.contacts(balls, threads=threads, max_results=most)
    assert len(LAND.contacts(balls, threads=threads, max_results=count)) == count


def test_none_waits_for_a_part_that_is_never_begun() -> None:
    rows = contacts._ShapeRows(4, 9, ContactRoom())
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(rows.take, 2, 4, 4, 0)
        rows.give_up()
        with pytest.raises(contacts._GivenUpError):
            second.result(10)
