"""Edits of a map while a query runs: it keeps what it began with."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap, map_data
from terrain_physics._kernels import blocks
from terrain_physics.map_contact_parts import Query

RNG = np.random.default_rng(5)


def land_with_materials() -> HeightMap:
    land = HeightMap(RNG.uniform(0, 2, (20, 30)), diagonal="shortest")
    land.materials[:] = 3
    return land


@pytest.mark.parametrize(
    "edit",
    [
        lambda land: land.materials.__setitem__((slice(2, 9), slice(None)), 5),
        lambda land: land.holes.__setitem__((4, 4), True),
        lambda land: setattr(land, "thickness", 1.5),
    ],
    ids=["materials", "holes", "thickness"],
)
def test_edits_that_leave_the_heights_write_to_nothing_that_follows_them(edit, monkeypatch):
    land = land_with_materials()

    def refuse(*_arguments: Any) -> None:
        raise AssertionError("written to while a query may read it")

    monkeypatch.setattr(map_data, "shorter_diagonals", refuse)
    monkeypatch.setattr(blocks, "put_blocks", refuse)
    before = land.version
    edit(land)
    assert land.version == before + 1


@pytest.mark.parametrize("heights", [False, True])
def test_materials_stay_as_they_are_while_a_query_reads(heights):
    land = land_with_materials()
    with land.reading():
        seen = land._materials
        if heights:
            land[3, 3] = 9.0
        land.materials[:, 4] = 8
        assert seen is not None
        assert (seen == 3).all()
    assert (np.asarray(land.materials)[:, 4] == 8).all()
    kept = land._materials
    land.materials[:] = 1
    assert land._materials is kept


def test_contacts_are_of_what_the_ground_was_made_of_when_they_were_asked(monkeypatch):
    land = land_with_materials()
    find = Query.contacts

    def find_and_paint(query: Query, workers: Any) -> Any:
        found = find(query, workers)
        land.materials[:] = 7
        return found

    monkeypatch.setattr(Query, "contacts", find_and_paint)
    assert set(land.contacts([(8.5, 1.0, 8.5, 1.0)]).material.tolist()) == {3}
    assert set(land.contacts([(8.5, 1.0, 8.5, 1.0)]).material.tolist()) == {7}
