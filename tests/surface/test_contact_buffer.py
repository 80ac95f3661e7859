"""Contacts in a caller's memory: the same bits, the same memory, and no two calls at once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    Boxes,
    Capsules,
    ContactBuffer,
    Ground,
    HeightMap,
    Sphere,
    TriangleMesh,
)
from terrain_physics.surface.answers.contacts import ContactQuery
from tests.helpers.grounds import bits, cut, questions, rough

CASE = cut(rough(), (0, 11, 24), (0, 17, 40), reverse=True)
BOX = TriangleMesh.box((4, 6, 4), transform=glm.translate(glm.vec3(9, 0, 7)))
WALL = TriangleMesh.box((9, 5, 1), transform=glm.translate(glm.vec3(20, 0, 11)))

LANDS: dict[str, Any] = {
    "map": CASE.whole,
    "painted": HeightMap(rough(), materials=np.arange(24 * 40).reshape(24, 40) % 7),
    "mesh": BOX,
    "ground of one map": Ground([CASE.whole]),
    "meshes": Ground([WALL, BOX]),
    "all": Ground([*CASE.tiles, WALL, BOX]),
}


def calls(land: Any, count: int, **options: Any) -> list[Any]:
    """Return how to ask about as many shapes as that in several ways."""
    _, _, balls, capsules, centers, halves, turns, *_ = questions((0, -4, 0), (40, 6, 24), count)
    kinds: list[Any] = [
        lambda **more: land.contacts(balls, **options, **more),
        lambda **more: land.contacts([Sphere(row[:3], row[3]) for row in balls], **options, **more),
        lambda **more: land.contacts(balls, **options, **more),
        lambda **more: land.contacts(Capsules(capsules), **options, **more),
        lambda **more: land.contacts(Boxes(centers, halves, turns), **options, **more),
    ]
    return kinds


@pytest.mark.parametrize("land", LANDS.values(), ids=LANDS)
def test_memory_is_kept(land: Any) -> None:
    buffer = ContactBuffer()
    ask = calls(land, 400)[0]
    first = ask(out=buffer)
    room = buffer.capacity
    depths = first.depth
    for name in ("point", "normal", "penetration", "query"):
        assert not getattr(first, name).flags.writeable
    again, other = ask(out=buffer), ask()
    assert buffer.capacity == room
    assert np.shares_memory(again.point, first.point)
    assert not np.shares_memory(other.point, first.point)
    assert (depths == again.depth).all()


def test_a_buffer_grows_once_for_a_few_more() -> None:
    buffer = ContactBuffer(10)
    balls = [(5.5, 0.0, 5.5, 3.0)] * 40
    few = len(CASE.whole.contacts(balls, out=buffer))
    room = buffer.capacity
    assert room > few
    more = len(CASE.whole.contacts([*balls, *balls[:2]], out=buffer))
    assert few < more <= room == buffer.capacity
    assert repr(buffer) == f"<ContactBuffer: room for {room}>"


def test_two_calls_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer, balls = ContactBuffer(), [(8.5, 0.0, 8.5, 2.0)] * 9
    find = ContactQuery.contacts
    refused = []

    def find_while_another_asks(query: ContactQuery, *how: Any) -> Any:
        monkeypatch.setattr(ContactQuery, "contacts", find)
        with ThreadPoolExecutor(1) as other:
            error = other.submit(LANDS["map"].contacts, balls, out=buffer).exception(10)
        refused.append(str(error))
        return find(query, *how)

    monkeypatch.setattr(ContactQuery, "contacts", find_while_another_asks)
    found = LANDS["map"].contacts(balls, out=buffer)
    assert refused == ["out must be used by one call at a time: take a buffer for each thread"]
    assert bits(found) == bits(LANDS["map"].contacts(balls))


@pytest.mark.parametrize("land", LANDS.values(), ids=LANDS)
def test_a_refused_call_gives_the_buffer_back(land: Any) -> None:
    buffer = ContactBuffer()
    ask = calls(land, 300)[0]
    for _ in range(2):
        with pytest.raises(ValueError, match="contacts must be at most max_results = 3, got more"):
            ask(out=buffer, max_results=3)
    assert bits(ask(out=buffer)) == bits(ask())


def test_what_is_no_buffer_is_refused() -> None:
    land = LANDS["map"]
    balls = [(5.5, 0.0, 5.5, 3.0)] * 2
    for shapes in (balls, Sphere((5, 0, 5), 1), [Sphere((5, 0, 5), 1)]):
        for other in (land.contacts(balls), np.empty((9, 3)), True):
            with pytest.raises(TypeError, match="out must be a ContactBuffer, got "):
                land.contacts(shapes, out=other)
    for capacity in (-1, 2.5, "many", 2**41):
        with pytest.raises((TypeError, ValueError), match="capacity must be "):
            ContactBuffer(capacity)  # type: ignore[arg-type]
