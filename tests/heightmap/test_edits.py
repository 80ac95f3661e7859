"""Edits of a map: the same as a new map; a query that runs keeps what it began with."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap
from terrain_physics._kernels.heightmap import blocks
from terrain_physics._locks import lasting
from terrain_physics.heightmap import storage as map_data
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.answers.contacts import ContactQuery
from terrain_physics.surface.ground_arrays import addresses
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import examples

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
    storage = land._storage
    with lasting(storage.begin_reading):
        seen = storage.materials
        if heights:
            land[3, 3] = 9.0
        land.materials[:, 4] = 8
        assert seen is not None
        assert (seen == 3).all()
    assert (np.asarray(land.materials)[:, 4] == 8).all()
    kept = storage.materials
    land.materials[:] = 1
    assert storage.materials is kept


def test_contacts_are_of_what_the_ground_was_made_of_when_they_were_asked(monkeypatch):
    land = land_with_materials()
    find = ContactQuery.contacts

    def find_and_paint(query: ContactQuery, *how: Any) -> Any:
        found = find(query, *how)
        land.materials[:] = 7
        return found

    monkeypatch.setattr(ContactQuery, "contacts", find_and_paint)
    balls = [(8.5, 1.0, 8.5, 1.0)] * 2  # one by itself holds the lock
    assert set(land.contacts(balls).material.tolist()) == {3}
    assert set(land.contacts(balls).material.tolist()) == {7}


def answers(land: HeightMap) -> list[Any]:
    """Return what a map says of itself and of some questions."""
    rows, columns = land.cell_count
    rng = np.random.default_rng(1)
    places = rng.uniform(-1, 1 + max(rows, columns), (40, 3))
    balls = np.column_stack([places, rng.uniform(0.2, 2.0, 40)])
    found = land.contacts(balls, threads=1)
    hits = land.raycast_many(np.add(places, (0, 9, 0)), [(0.3, -1.0, 0.2)], threads=1)
    return [
        land.heights, land.holes[:], land.materials[:], land.thickness,
        found.query, found.triangle, found.penetration, found.material,
        hits.distance, hits.triangle, hits.material, *land.blocks(0),
        land.normal_at(places[:, 0], places[:, 2]),
    ]  # fmt: skip


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, int]) -> Any:
    """Return a place, a slice, or a mask of an array."""
    kind = draw(st.sampled_from(["place", "slices", "steps", "row", "mask"]))
    ends = [sorted(draw(st.tuples(*[st.integers(0, n)] * 2))) for n in shape]
    if kind == "place":
        return tuple(draw(st.integers(-n, n - 1)) for n in shape)
    if kind == "slices":
        return tuple(slice(first, last) for first, last in ends)
    if kind == "steps":
        return tuple(slice(first, last, draw(st.integers(1, 3))) for first, last in ends)
    if kind == "row":
        return draw(st.integers(0, shape[0] - 1))
    bits = draw(st.integers(0, 2 ** (shape[0] * shape[1]) - 1))
    flat = [bits >> k & 1 == 1 for k in range(shape[0] * shape[1])]
    return np.array(flat).reshape(shape)


@examples(60)
@given(st.data(), st.sampled_from(["a-c", "alternating", "shortest"]))
def test_an_edited_map_is_a_new_map_of_the_same_numbers(data, diagonal):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    heights = rng.normal(size=(6, 11)).astype(np.float32)
    holes, materials = np.zeros((5, 10), dtype=bool), np.zeros((5, 10), dtype=np.uint8)
    options: dict[str, Any] = {"diagonal": diagonal, "thickness": 2.0}
    land = HeightMap(heights, **options)
    first, seen = heights.copy(), land.version
    for _ in range(data.draw(st.integers(1, 5))):
        kind = data.draw(st.sampled_from(["heights", "more", "holes", "materials"]))
        if kind in {"heights", "more"}:
            index = data.draw(indices((6, 11)))
            if kind == "heights":
                values = rng.normal(size=np.shape(heights[index])).astype(np.float32)
                heights[index] = land[index] = values
            else:
                heights[index] += np.float32(0.5)
                land[index] += 0.5
        elif kind == "holes":
            index = data.draw(indices((5, 10)))
            holes[index] = land.holes[index] = bool(data.draw(st.booleans()))
        else:
            index = data.draw(indices((5, 10)))
            materials[index] = land.materials[index] = data.draw(st.integers(0, 255))
    new = HeightMap(heights, holes=holes, materials=materials, **options)
    for ours, theirs in zip(answers(land), answers(new), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Every cell that differs from before lies in a region that was told of.
    told = np.zeros((5, 10), dtype=bool)
    for region in land.changes_since(seen):
        told[region.row_start : region.row_stop, region.column_start : region.column_stop] = True
    moved = heights != first
    beside = moved[:-1, :-1] | moved[:-1, 1:] | moved[1:, :-1] | moved[1:, 1:]
    assert told[beside | holes | (materials != 0)].all()


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (lambda land: land.__setitem__(np.s_[0:2, 0:2], np.inf), ValueError, "finite"),
        (lambda land: land.__setitem__(np.s_[0:2, 0:2], [1.0, 2.0, 3.0]), ValueError, "shape"),
        (lambda land: land.__setitem__(np.s_[::-1, 0], 1.0), IndexError, "backward"),
        (lambda land: land.__setitem__(np.s_[9, 0], 1.0), IndexError, "whole numbers in"),
        (lambda land: land.__setitem__(np.ones((3, 3), bool), 1.0), IndexError, r"\(4, 5\)"),
        (lambda land: land.__setitem__(np.ones((4, 5), bool), [1.0, 2.0]), ValueError, "shape"),
        (lambda land: land.holes.__setitem__(np.s_[0, 0], 1), TypeError, "bool"),
        (lambda land: land.holes.__setitem__(np.ones((4, 5), bool), True), IndexError, "shape"),
        (lambda land: land.materials.__setitem__(np.s_[0, 0], 256), ValueError, "from 0 to 255"),
        (lambda land: land.materials.__setitem__(np.s_[0, 0], 0.5), TypeError, "whole numbers"),
        (lambda land: land.materials.__setitem__(np.s_[0, 0], "rock"), TypeError, "be numbers"),
        (lambda land: setattr(land, "materials", np.full((3, 4), 256)), ValueError, r"at \[0, 0\]"),
        (lambda land: setattr(land, "holes", np.ones((4, 5), bool)), ValueError, r"\(3, 4\)"),
        (lambda land: setattr(land, "holes", np.zeros((3, 4))), TypeError, "bool"),
        (lambda land: land.holes.__ior__(np.ones((2, 4), bool)), ValueError, r"\(2,4\)"),
        (lambda land: land.holes.__ior__(3), TypeError, "bool"),
        (lambda land: land.carve((1, 1), -1.0, 1.0), ValueError, "radius"),
        (lambda land: land.raise_((1, 1), 1.0, np.nan), ValueError, "height"),
    ],
)
def test_a_refused_edit_changes_nothing(edit, error, message):
    land = HeightMap(np.arange(20.0).reshape(4, 5), materials=np.ones((3, 4), np.uint8))
    before, version = answers(land), land.version
    with pytest.raises(error, match=message):
        edit(land)
    assert land.version == version
    for ours, theirs in zip(answers(land), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_cells_compare_as_arrays():
    values = np.arange(12).reshape(3, 4) % 5
    land = HeightMap(np.zeros((4, 5)), materials=values)
    assert np.array_equal(land.materials == 3, values == 3)
    assert np.array_equal(land.materials != values, np.zeros((3, 4), dtype=bool))
    assert (land.materials == land.materials).all()
    assert not (land.holes == True).any()  # noqa: E712 an array
    with pytest.raises(TypeError, match="unhashable"):
        hash(land.materials)
    land.materials[land.materials == 3] = 4
    assert np.array_equal(land.materials[:], np.where(values == 3, 4, values))


def test_materials_by_name():
    land = HeightMap(
        np.zeros((3, 3)), materials=[["ice", "rock"], ["rock", "mud"]],
        material_names=["mud", "rock", "ice"],
    )  # fmt: skip
    assert land.materials[:].tolist() == [[2, 1], [1, 0]]
    assert (land.materials == "rock").tolist() == [[False, True], [True, False]]
    land.materials[0, 0] = "mud"
    land.materials[1] = ["ice", "mud"]
    assert land.materials[:].tolist() == [[0, 1], [2, 0]]
    known = "materials must be one of 'mud', 'rock', 'ice', got 'sand'"
    with pytest.raises(ValueError, match=known):
        land.materials[0, 0] = "sand"
    with pytest.raises(ValueError, match=known):
        land.materials == "sand"  # noqa: B015 it raises
    assert land.version == 2


def test_holes_and_materials_are_set_as_a_whole_where_they_differ():
    land, mask = HeightMap(np.zeros((4, 5))), np.zeros((3, 4), dtype=bool)
    mask[1:, 2] = True
    land.holes |= mask
    assert np.array_equal(land.holes[:], mask)
    assert land.changes_since(0) == [(1, 3, 2, 3)]
    land.holes |= mask
    assert land.version == 1
    cells = land.holes
    cells &= ~mask
    assert not land.holes[:].any()
    land.holes = mask
    land.materials = 7
    land.materials |= 8
    assert np.array_equal(land.holes[:], mask)
    assert (land.materials == 15).all()
    assert land.version == 5


def test_an_empty_edit_is_none():
    land = HeightMap(np.zeros((4, 5)))
    land[0:0] = 3.0
    land[np.zeros((4, 5), dtype=bool)] = 3.0
    land.holes[np.zeros((3, 4), dtype=bool)] = True
    assert land.version == 0
    assert land.changes_since(0) == []
    assert not land.heights.any()


def test_pits_and_hills_are_round_and_smooth():
    land = HeightMap(np.zeros((41, 41)), cell_size=0.5, origin=(-10, 3, -10))
    land.carve((1, 2), 4.0, 1.5)
    x, z = np.meshgrid(np.arange(41) * 0.5 - 10, np.arange(41) * 0.5 - 10)
    share = 1.0 - ((x - 1) ** 2 + (z - 2) ** 2) / 16.0
    wanted = -1.5 * np.where(share > 0.0, share, 0.0) ** 2
    np.testing.assert_allclose(land.heights, wanted, atol=1e-6)
    land.raise_((1, 0, 2), 4.0, 1.5)
    np.testing.assert_allclose(land.heights, 0.0, atol=1e-6)


@pytest.mark.alone
def test_what_a_group_reads_is_copied_by_an_edit_that_comes_as_it_begins(monkeypatch):
    """The arrays that a long query is shown are those that edits leave alone while it lasts."""
    land = HeightMap(np.zeros((9, 9)))
    queries: Any = queries_of(land)
    begin_reading, edits = MapStorage.begin_reading, []

    def begin_and_edit(storage, mark):
        shown = begin_reading(storage, mark)
        edits.append(threading.Thread(target=land.carve, args=((4, 4), 2.0, 1.0)))
        edits[0].start()
        edits[0].join(0.2)  # it goes on only where the lock is not held
        return shown

    monkeypatch.setattr(MapStorage, "begin_reading", begin_and_edit)
    with queries.reading() as arrays:
        monkeypatch.undo()
        edits[0].join()
        land.carve((4, 4), 2.0, 1.0)
        address, _ = addresses(queries.storage.heights)
        assert arrays.maps[0, 0] != address
    assert land.height_at(4, 4) < 0.0
