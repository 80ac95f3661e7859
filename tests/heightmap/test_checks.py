"""The parameters and questions of a height map: taken, refused, copied, handed out."""

import copy
import math
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import AABB, HeightMap
from tests.helpers.heightmaps import both

RAMP = np.arange(12.0).reshape(3, 4)
EVERYWHERE = AABB((-9, -99, -9), (9, 99, 9))

PARAMETERS: list[tuple[str, Any, type[Exception], str]] = [
    ("cell_size", 0, ValueError, "cell_size must be finite and > 0, got 0.0"),
    ("cell_size", -1.5, ValueError, "cell_size must be finite and > 0, got -1.5"),
    ("cell_size", math.nan, ValueError, "cell_size must be finite and > 0, got nan"),
    ("cell_size", math.inf, ValueError, "cell_size must be finite and > 0, got inf"),
    ("cell_size", "1", TypeError, "cell_size must be a number, finite and > 0, got '1'"),
    ("cell_size", None, TypeError, "cell_size must be a number, finite and > 0, got None"),
    ("cell_size", 1j, TypeError, "cell_size must be a number, finite and > 0, got 1j"),
    ("cell_size", (1,), ValueError, "cell_size must be a number or (x, z), got (1,)"),
    ("cell_size", [], ValueError, "cell_size must be a number or (x, z), got []"),
    ("cell_size", (1, 2, 3), ValueError, "cell_size must be a number or (x, z), got (1, 2, 3)"),
    ("cell_size", (1, 0), ValueError, "cell_size[1] must be finite and > 0, got 0.0"),
    ("cell_size", (-1, 1), ValueError, "cell_size[0] must be finite and > 0, got -1.0"),
    ("cell_size", ("1", 1), TypeError, "cell_size[0] must be a number, finite and > 0, got '1'"),
    ("cell_size", 1e-300, ValueError, "cell_size and origin must keep samples apart"),
    (
        "cell_size",
        1e200,
        ValueError,
        "cell_size and origin must keep samples apart and below 1e+38 m",
    ),
    ("height_scale", 0, ValueError, "height_scale must not be 0, got 0.0"),
    ("height_scale", -0.0, ValueError, "height_scale must not be 0"),
    ("height_scale", math.nan, ValueError, "height_scale must be finite, got nan"),
    ("height_scale", -math.inf, ValueError, "height_scale must be finite, got -inf"),
    ("height_scale", "2", TypeError, "height_scale must be a finite number, got '2'"),
    ("height_scale", None, TypeError, "height_scale must be a finite number, got None"),
    ("height_scale", [2], TypeError, "height_scale must be a finite number, got [2]"),
    ("height_scale", 10**400, ValueError, "height_scale must be a finite number, got 1000"),
    ("height_scale", 1e38, ValueError, "height_scale and origin.y must keep heights below 1e+38"),
    ("height_scale", 1e37, ValueError, "height_scale and origin.y must keep heights below 1e+38"),
    ("origin", (0, 0), ValueError, "origin must be three numbers, got 2: (0, 0)"),
    ("origin", None, TypeError, "origin must be three numbers, got None"),
    ("origin", "abc", TypeError, "origin must be three numbers, got 'abc'"),
    ("origin", (0, math.nan, 0), ValueError, "origin.y must be finite, got nan"),
    ("origin", (0, 1e200, 0), ValueError, "height_scale and origin.y must keep heights below"),
    ("origin", (0, -1e38, 0), ValueError, "height_scale and origin.y must keep heights below"),
    ("origin", (1e17, 0, 0), ValueError, "cell_size and origin must keep samples apart"),
    ("origin", (0, 0, -1e17), ValueError, "cell_size and origin must keep samples apart"),
    ("border", "clamp", ValueError, "border must be one of 'extend', 'open', got 'clamp'"),
    ("border", None, ValueError, "border must be one of 'extend', 'open', got None"),
    ("border", ["open"], ValueError, "border must be one of 'extend', 'open', got ['open']"),
    ("diagonal", "ac", ValueError, "diagonal must be one of 'a-c', 'b-d', 'alternating', 'short"),
    ("diagonal", None, ValueError, "diagonal must be one of 'a-c', 'b-d', 'alternating', 'short"),
    ("diagonal", True, ValueError, "of bool of shape (2, 3), got dtype bool of shape ()"),
    ("diagonal", np.zeros((2, 3)), ValueError, "got dtype float64 of shape (2, 3)"),
    ("diagonal", np.zeros((3, 4), bool), ValueError, "got dtype bool of shape (3, 4)"),
    ("diagonal", [[True], [True, False]], ValueError, "or an array of bool of shape (2, 3)"),
    ("thickness", 0, ValueError, "thickness must be from 1e-09 to inf, got 0.0"),
    ("thickness", -1, ValueError, "thickness must be from 1e-09 to inf, got -1.0"),
    ("thickness", math.nan, ValueError, "thickness must be from 1e-09 to inf, got nan"),
    ("thickness", "2", TypeError, "thickness must be a number from 1e-09 to inf, got '2'"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), PARAMETERS)
def test_parameters_are_refused_by_name_rule_and_value(name, value, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        HeightMap(RAMP, **{name: value})
    assert name in str(caught.value).split(" must ")[0]


@pytest.mark.parametrize(
    "size", [(2, 3), [2, 3], np.array([2, 3]), glm.vec2(2, 3), (np.float32(2), Decimal(3))]
)
def test_cell_size_along_x_and_z(size):
    land = HeightMap(RAMP, cell_size=size)
    assert land.cell_size == (2.0, 3.0)
    assert land.height_at(2, 0) == 1.0
    assert land.height_at(0, 3) == 4.0


@pytest.mark.parametrize("size", [2, 2.0, np.float32(2), np.int8(2), np.array(2.0), Fraction(2)])
def test_cell_size_of_squares(size):
    assert HeightMap(RAMP, cell_size=size).cell_size == (2.0, 2.0)


def test_what_it_says_of_itself():
    land = HeightMap(RAMP, cell_size=(2, 3), height_scale=-0.5, origin=glm.vec3(1, 2, 3))
    assert land.sample_count == (3, 4)
    assert land.cell_count == (2, 3)
    assert land.height_scale == -0.5
    assert land.origin == glm.vec3(1, 2, 3)
    assert repr(land) == "<HeightMap: 3 x 4 samples, cells of (2.0, 3.0) m>"
    np.testing.assert_array_equal(land.heights, RAMP)


def test_nothing_handed_out_or_in_changes_the_map():
    origin, table = glm.vec3(1, 2, 3), np.zeros((2, 3), bool)
    land = HeightMap(RAMP, origin=origin, diagonal=table)
    before = land.triangles_in(EVERYWHERE).vertices.copy()
    origin.x = 50.0
    table[:] = True
    land.origin.y = 50.0
    with pytest.raises(ValueError, match="read-only"):
        land.heights[0, 0] = 1.0
    for values in land._storage.views:
        assert not values.flags.writeable
    with pytest.raises(AttributeError):
        land.height_scale = 2.0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        land.scale = 2.0  # type: ignore[attr-defined]
    found = land.triangles_in(EVERYWHERE)
    np.testing.assert_array_equal(found.vertices, before)
    for part in (found.vertices, found.normals, found.ids):
        assert not part.flags.writeable
    with pytest.raises(AttributeError, match="immutable"):
        found.ids = np.zeros(2, dtype=np.int64)
    normal = land.normal_at(1.0, 1.0)
    normal.y = 50.0
    assert land.normal_at(1.0, 1.0).y < 1.0


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_maps_and_triangles_can_be_copied_and_pickled(duplicate):
    heights = np.where(RAMP == 7, np.nan, RAMP).astype(np.float32)
    options: Any = {"cell_size": (2, 0.5), "height_scale": 3, "origin": (1, 2, 3), "border": "open"}
    for borrowed in (False, True):
        land = HeightMap(heights, diagonal="shortest", copy=not borrowed, **options)
        again = duplicate(land)
        found, same = land.triangles_in(EVERYWHERE), again.triangles_in(EVERYWHERE)
        twice = duplicate(found)
        for name in ("vertices", "normals", "ids"):
            np.testing.assert_array_equal(getattr(same, name), getattr(found, name))
            np.testing.assert_array_equal(getattr(twice, name), getattr(found, name))
            assert not getattr(twice, name).flags.writeable
        assert (again.cell_size, again.origin) == (land.cell_size, land.origin)
        assert not any(values.flags.writeable for values in again._storage.views)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_edits_of_a_copy_leave_the_map_alone(duplicate):
    land = HeightMap(RAMP)
    land.holes[0, 0], land.materials[0, 0] = True, 1
    before = land.heights.copy(), land.holes[:], land.materials[:]
    again = duplicate(land)
    again[0, 0], again.holes[1, 1], again.materials[1, 1] = 5.0, True, 2
    for values, kept in zip((land.heights, land.holes[:], land.materials[:]), before, strict=True):
        np.testing.assert_array_equal(values, kept)


@pytest.mark.parametrize(
    "center", [(2, 1), [2, 1], np.array([2.0, 1.0]), glm.vec2(2, 1), (2, 9, 1), glm.vec3(2, 9, 1)]
)
def test_a_pit_is_dug_at_x_and_z(center):
    land = HeightMap(np.zeros((4, 5)))
    land.carve(center, 0.5, 2)
    assert np.argwhere(land.heights).tolist() == [[1, 2]]
    assert land.height_at(2, 1) == -2


@pytest.mark.parametrize("kind", [float, int, np.float32, np.int64, np.array, np.float64])
def test_a_single_place_of_any_kind_of_number_gives_a_single_answer(kind):
    land = HeightMap(RAMP)
    height = land.height_at(kind(1), kind(2))
    assert isinstance(height, float)
    assert height == 9.0
    normal = land.normal_at(kind(1), kind(2))
    assert isinstance(normal, glm.vec3)
    assert normal == land.normal_at(1.0, 2.0)


def test_arrays_of_places_keep_their_shape():
    land = HeightMap(RAMP)
    xs: Any = np.linspace(0, 3, 6)
    places: list[tuple[Any, Any]] = [
        (xs, 1.0),
        (1, xs),
        (xs[:, None], xs / 2),
        (xs.reshape(2, 3), xs.reshape(2, 3)),
        (xs.tolist(), 1),
        (xs[::-2], np.asfortranarray(xs[:3])),
        (np.asfortranarray(xs.reshape(2, 3)), 0),
        (xs[:0], 1.0),
        (np.zeros((3, 0)), 1.0),
    ]
    for x, z in places:
        wide_x, wide_z = np.broadcast_arrays(x, z)
        heights, normals = np.asarray(land.height_at(x, z)), np.asarray(land.normal_at(x, z))
        assert heights.shape == wide_x.shape
        assert normals.shape == (*wide_x.shape, 3)
        expected = [
            land.height_at(*place)
            for place in zip(wide_x.ravel().tolist(), wide_z.ravel().tolist(), strict=True)
        ]
        np.testing.assert_array_equal(heights.ravel(), expected)
        assert heights.flags.writeable
        assert not np.shares_memory(heights, xs)


def test_read_only_places_need_no_second_compilation():
    places = np.linspace(0, 3, 5)
    land = HeightMap(RAMP)
    expected = land.height_at(places, places)
    places.setflags(write=False)
    np.testing.assert_array_equal(land.height_at(places, places), expected)
    from terrain_physics._kernels.ground import heights as kernels

    signatures = getattr(kernels.put_surface, "signatures", [None])
    assert len(signatures) == 1


def test_materials_of_cells_are_told_from_those_of_samples():
    with pytest.raises(ValueError, match=r"materials must have shape \(2, 3\), one for each cell"):
        HeightMap(RAMP, materials=np.zeros((3, 4), int))


def test_huge_but_finite_places_are_answered():
    land = HeightMap(RAMP)
    assert land.height_at([1e37, 9.7e37], -9.7e37).tolist() == [3.0, 3.0]
    assert land.height_at(-9.7e37, 9.7e37) == 8.0


def test_negative_scale_turns_the_land_over_and_keeps_its_front_up():
    case = both(RAMP, height_scale=-1.0, border="open")
    found = case.land.triangles_in(EVERYWHERE)
    assert (found.normals[:, 1] > 0).all()
    assert case.land.height_at(1, 1) == -5.0
    assert [t.normal.y > 0 for t in found] == [True] * len(found)


def test_as_an_array_it_is_a_copy_of_its_heights():
    land = HeightMap(RAMP, height_scale=3.0, origin=(0, 5, 0))
    heights = np.asarray(land)
    assert heights.dtype == np.float32
    np.testing.assert_array_equal(heights, land.heights)
    heights[:] = 9.0
    np.testing.assert_array_equal(land.heights, RAMP)
    assert np.array(land, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(HeightMap(land).heights, land.heights)
    with pytest.raises(ValueError, match="must be copied"):
        np.array(land, copy=False)


def test_load_passes_every_option_on(tmp_path):
    np.save(tmp_path / "heights.npy", RAMP)
    options: Any = {
        "cell_size": (2, 3), "height_scale": -0.5, "origin": (1, 2, 3), "border": "open",
        "diagonal": np.eye(2, 3, dtype=bool), "thickness": 7.0,
        "holes": np.eye(2, 3, 1, dtype=bool), "materials": np.arange(6).reshape(2, 3) % 2,
        "material_names": ["rock", "sand"],
    }  # fmt: skip
    loaded = HeightMap.load(tmp_path / "heights.npy", **options)
    made = HeightMap(RAMP, **options)
    for ours, theirs in zip(made._storage.views, loaded._storage.views, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(loaded.materials[:], options["materials"])
    assert loaded.material_names == ("rock", "sand")
    flipped = HeightMap.load(str(tmp_path / "heights.npy"), flip="rows")
    assert flipped.sample_count == (3, 4)
    with pytest.raises(ValueError, match="border must be one of"):
        HeightMap.load(tmp_path / "heights.npy", border="clamp")


def test_too_many_triangles_are_refused_at_once():
    land = HeightMap(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="aabb must hold at most 20000000 triangles, got AABB"):
        land.triangles_in(AABB((0.5, 0, 0.5), (3162.5, 0, 3162.5)), margin=0.0)
    for far in (1e9, 1e20, 1e300, 1.7e308):
        with pytest.raises(ValueError, match="aabb must hold at most 20000000 triangles"):
            land.triangles_in(AABB((-far, -1, -far), (far, 1, far)), margin=1e307)
    open_land = HeightMap(np.zeros((2, 2)), border="open")
    assert len(open_land.triangles_in(AABB((-1e308,) * 3, (1e308,) * 3))) == 2


@pytest.mark.parametrize("place", [(0.5, 1), (3, 1), (1, 9)])
def test_an_index_that_may_be_a_place_names_what_takes_places(place):
    land = HeightMap([[0] * 5] * 3)
    with pytest.raises(IndexError, match=r"\[row, column\], .* in \(3, 5\) .*: height_at\(x, z\)"):
        land[place]
    for cells, name in ((land.materials, "materials"), (land.holes, "holes")):
        rule = rf"{name}\[row, column\] of 2 x 4 cells: .* \(places in meters: {name}\.at\(x, z\)"
        with pytest.raises(IndexError, match=rule):
            cells[place]
        with pytest.raises(IndexError, match=r"index must be \[row, column\]"):
            cells[place] = cells[0, 0]
