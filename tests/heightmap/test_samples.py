"""The samples of a height map: every kind of array, holes, copies, and what is refused."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from terrain_physics import AABB, HeightMap

RAMP = np.arange(12.0).reshape(3, 4)
EVERYWHERE = AABB((-9, -99, -9), (9, 99, 9))

DTYPES = [*"bBhHiIlLqQefdg", "?", ">i2", ">f4", ">f8", "<u2"]


def refused(message: str) -> str:
    """Return the pattern of a whole message."""
    return f"^{re.escape(message)}$"


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_real_dtype_is_kept_as_float32(dtype):
    heights = (RAMP % 2 if dtype == "?" else RAMP).astype(dtype)
    land = HeightMap(heights)
    assert land.heights.dtype == np.float32
    assert land.heights.dtype.isnative
    np.testing.assert_array_equal(land.heights, heights.astype(float))
    assert land.height_at(1, 1) == float(heights[1, 1])


def test_all_16_bit_samples_are_exact():
    for dtype in (np.uint16, np.int16):
        heights = np.arange(65536).astype(dtype).reshape(256, 256)
        land = HeightMap(heights)
        np.testing.assert_array_equal(land.heights.astype(dtype), heights)


@pytest.mark.parametrize(
    "heights",
    [
        RAMP.tolist(),
        tuple(map(tuple, RAMP.astype(int).tolist())),
        [np.float32(row) for row in RAMP],
        np.asfortranarray(RAMP),
        np.asfortranarray(RAMP, dtype=np.float32),
        np.repeat(RAMP, 2, axis=1)[:, ::2],
        RAMP[::-1, ::-1][::-1, ::-1],
        np.broadcast_to(RAMP, (2, 3, 4))[1],
        memoryview(RAMP),  # type: ignore[arg-type]
    ],
)
def test_every_layout_of_the_same_numbers_is_the_same_map(heights):
    land = HeightMap(heights)
    np.testing.assert_array_equal(land.heights, RAMP)
    assert land.heights.flags.c_contiguous
    xs, zs = np.meshgrid(np.linspace(-1, 4, 11), np.linspace(-1, 3, 9))
    expected = HeightMap(RAMP).height_at(xs, zs)
    np.testing.assert_array_equal(land.height_at(xs, zs), expected)


def test_masked_samples_are_holes():
    heights = np.ma.masked_array(RAMP.astype(int), mask=RAMP == 5)
    land = HeightMap(heights)
    np.testing.assert_array_equal(land.heights, np.where(RAMP == 5, np.nan, RAMP))
    assert math.isnan(land.height_at(1, 1))
    assert land.height_at(3, 2) == 11.0


@pytest.mark.parametrize(
    ("heights", "error", "message"),
    [
        ([], ValueError, "(rows, columns), at least (2, 2), got (0,)"),
        ([[]], ValueError, "(rows, columns), at least (2, 2), got (1, 0)"),
        (1.0, ValueError, "(rows, columns), at least (2, 2), got ()"),
        ([1, 2, 3], ValueError, "(rows, columns), at least (2, 2), got (3,)"),
        ([[1, 2, 3]], ValueError, "(rows, columns), at least (2, 2), got (1, 3)"),
        ([[1], [2]], ValueError, "(rows, columns), at least (2, 2), got (2, 1)"),
        (np.zeros((0, 5)), ValueError, "(rows, columns), at least (2, 2), got (0, 5)"),
        (np.zeros((2, 2, 3)), ValueError, "(rows, columns), at least (2, 2), got (2, 2, 3)"),
        ([[1, 2], [3]], ValueError, "heights must be an array of numbers with rows of one length"),
        ([[1, 2], 3], ValueError, "heights must be an array of numbers with rows of one length"),
        ("a.png", TypeError, "heights must not be a path, got 'a.png': HeightMap.load reads files"),
        ([["1", "2"], ["3", "4"]], TypeError, "heights must hold real numbers, got dtype <U1"),
        ([[1, 2], [3, None]], TypeError, "heights must hold real numbers, got dtype object"),
        ([[1, 2], [3, 10**400]], TypeError, "heights must hold real numbers, got dtype object"),
        ([[1, 2], [3, Fraction(1)]], TypeError, "heights must hold real numbers, got dtype obj"),
        (None, TypeError, "heights must hold real numbers, got dtype object"),
        ({1: 2}, TypeError, "heights must hold real numbers, got dtype object"),
        (np.ones((2, 2), complex), TypeError, "heights must hold real numbers, got dtype complex"),
        (np.zeros((2, 2), "m8[s]"), TypeError, "heights must hold real numbers, got dtype timede"),
        (np.zeros((2, 2), "f4,f4"), TypeError, "heights must hold real numbers, got dtype [("),
        ([[1, 2], [3, math.inf]], ValueError, "NaN for a hole, got inf at [1, 1]"),
        ([[1, -math.inf], [3, 4]], ValueError, "NaN for a hole, got -inf at [0, 1]"),
        ([[1, 2], [3.5e38, math.nan]], ValueError, "NaN for a hole, got 3.5e+38 at [1, 0]"),
        ([[1, 2], [3, 1e38]], ValueError, "must be below 1e+38 m (from there on a number means"),
        ([[1, np.nan], [np.nextafter(-1e38, -1e39), 2]], ValueError, "must be below 1e+38 m"),
        (
            np.array([[1, 2], [np.finfo(np.float32).min, 3]], np.float32),
            ValueError,
            'means "no data") or NaN for a hole, got -3.4028234663852886e+38 at [1, 0]',
        ),
        ([[-1e300, 2], [3, 4]], ValueError, "NaN for a hole, got -1e+300 at [0, 0]"),
        (np.full((2, 2), np.longdouble(2) ** 5000), ValueError, "NaN for a hole, got inf at [0, 0"),
    ],
)
def test_heights_that_are_no_map_are_refused(heights, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        HeightMap(heights)
    assert str(caught.value).startswith("heights must ")


def test_ground_with_holes_is_two_meters_thick_by_default_other_ground_any_depth():
    holes = np.where(RAMP == 0, np.nan, RAMP)
    assert HeightMap(holes).thickness == 2.0
    assert HeightMap(RAMP).thickness == np.inf
    assert HeightMap(RAMP, thickness=5.0).thickness == HeightMap(holes, thickness=5.0).thickness
    assert HeightMap(RAMP, thickness=5.0).thickness == 5.0


@pytest.mark.parametrize("top", [9.9e37, np.nextafter(1e38, 0), np.float32(1e38)])
def test_the_largest_height_is_below_1e38(top):
    land = HeightMap(np.array([[top, -top], [0, top]]))
    assert land.height_at(0, 0) == np.float32(top)
    assert np.isfinite(land.height_at(np.linspace(0, 1, 9), 0.3)).all()
    assert np.isfinite(land.normal_at(np.linspace(0, 1, 9), 0.3)).all()


NO_DATA = float(np.finfo(np.float32).min)


def test_a_borrowed_array_with_no_data_is_refused():
    with pytest.raises(ValueError, match=r"below 1e\+38 m .* got -3\.40.*e\+38 at \[0, 1\]"):
        HeightMap(np.array([[0, NO_DATA], [0, 0]], np.float32), copy=False)


@pytest.mark.parametrize(
    ("index", "heights"),
    [
        ((1, 2), NO_DATA),
        (np.s_[1:, :2], [[0, 1e38], [2, 3]]),
        (RAMP > 5, -1e38),
        (np.s_[:], np.where(RAMP == 7, NO_DATA, RAMP).astype(np.float32)),
        (0, np.inf),
    ],
)
def test_an_edit_to_no_data_is_refused_and_changes_nothing(index, heights):
    land = HeightMap(RAMP, height_scale=1e-3)
    with pytest.raises(ValueError, match=r"heights must be .* or NaN for a hole, got"):
        land[index] = heights
    np.testing.assert_array_equal(land.heights, RAMP)
    assert land.version == 0
    assert land.thickness == np.inf


def test_an_edit_that_the_scale_takes_too_far_is_refused():
    land = HeightMap(RAMP, height_scale=1e3)
    with pytest.raises(ValueError, match=r"height_scale and origin\.y must keep heights below"):
        land[0, 0] = 1e35
    np.testing.assert_array_equal(land.heights, RAMP)


def test_a_saved_map_with_no_data_is_refused(tmp_path, monkeypatch):
    land = HeightMap(RAMP)
    monkeypatch.setattr(land._storage, "heights", np.full((3, 4), NO_DATA, np.float32))
    land.save(tmp_path / "a.ground")
    with pytest.raises(ValueError, match=r"a\.ground: file must be a saved ground, undamaged"):
        HeightMap.load(tmp_path / "a.ground")


def test_copy_is_the_default_and_shares_nothing():
    heights = RAMP.astype(np.float32)
    land = HeightMap(heights)
    heights[1, 1] = 99.0
    assert land.height_at(1, 1) == 5.0
    assert heights.flags.writeable


def test_a_borrowed_array_is_not_copied_and_stays_the_callers():
    heights = RAMP.astype(np.float32)
    before = heights.copy()
    land = HeightMap(heights, copy=False)
    assert np.shares_memory(land.heights, heights)
    assert not land.heights.flags.writeable
    assert heights.flags.writeable
    land.height_at(np.linspace(-1, 5, 20), 1.0)
    land.triangles_in(EVERYWHERE)
    np.testing.assert_array_equal(heights, before)
    heights.setflags(write=False)
    assert HeightMap(heights, copy=False).height_at(1, 1) == 5.0


def test_a_mapped_file_can_be_borrowed(tmp_path):
    np.save(tmp_path / "heights.npy", RAMP.astype(np.float32))
    for mode in ("r", "c"):
        heights = np.load(tmp_path / "heights.npy", mmap_mode=mode)
        land = HeightMap(heights, copy=False)
        assert np.shares_memory(land.heights, heights)
        assert land.height_at(1, 1) == 5.0


@pytest.mark.parametrize(
    "heights",
    [
        RAMP,
        RAMP.astype(np.int32),
        RAMP.astype(">f4"),
        RAMP.astype("f2"),
        np.asfortranarray(RAMP, dtype=np.float32),
        RAMP.astype(np.float32)[:, ::2],
        RAMP.tolist(),
        np.ma.masked_array(RAMP.astype(np.float32)),
        np.ndarray(RAMP.shape, np.float32, bytearray(4 * RAMP.size + 2), offset=2),
    ],
)
def test_what_cannot_be_borrowed_is_refused_not_copied(heights):
    message = "heights must be an aligned C-contiguous float32 array to be borrowed (copy=False)"
    with pytest.raises(TypeError, match=refused(message)):
        HeightMap(heights, copy=False)


def test_a_borrowed_array_is_checked_like_any_other():
    with pytest.raises(ValueError, match=re.escape("got (1, 4)")):
        HeightMap(np.zeros((1, 4), np.float32), copy=False)
    with pytest.raises(ValueError, match=re.escape("got inf at [0, 1]")):
        HeightMap(np.array([[0, np.inf], [0, 0]], np.float32), copy=False)
