"""Maps that lie where their files or coordinates say, or a warning of what they say."""

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from tests.helpers.height_files import RAMP, gray_png, npy_bytes, tiff_bytes

ROWS, COLUMNS = RAMP.shape
HEIGHTS = RAMP.astype(np.float32)
PROJECTED, GEOGRAPHIC = 1, 2


def doubles(*values):
    return struct.pack(f"<{len(values)}d", *values)


def keys(*pairs):
    """Return the field of a GeoTIFF's keys."""
    words = [1, 1, 0, len(pairs), *(word for key, value in pairs for word in (key, 0, 1, value))]
    return 34735, 3, len(words), struct.pack(f"<{len(words)}H", *words)


def geotiff(*, scale=(30, 20, 0), tie=(0, 0, 0, 500, 460, 0), model=PROJECTED, more=()):
    """Return a GeoTIFF: its upper left corner lies at 500 east, 460 north."""
    changes = [(33550, 12, 3, doubles(*scale)), (33922, 12, 6, doubles(*tie))]
    changes.append(keys((1024, model), *more))
    return tiff_bytes(HEIGHTS, changes=changes)


@pytest.fixture
def load(tmp_path):
    """Load a file of this content."""

    def loaded(content: bytes | str, name: str = "a.tif", **options: Any) -> HeightMap:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return HeightMap.load(path, **options)

    return loaded


def frame(land):
    return land.cell_size, land.origin64


def test_pixels_of_a_geotiff_lie_where_it_says(load):
    land = load(geotiff())
    assert frame(land) == ((30, 20), (515, 0, -450))  # the middle of the first pixel
    for row in range(ROWS):
        for column in range(COLUMNS):
            east, north = 515 + 30 * column, 450 - 20 * row
            assert land.height_at(east, -north) == HEIGHTS[row, column]


def test_a_geotiff_of_points(load):
    assert frame(load(geotiff(more=[(1025, 2)]))) == ((30, 20), (500, 0, -460))
    assert frame(load(geotiff(more=[(1025, 1)]))) == ((30, 20), (515, 0, -450))


def test_a_point_other_than_the_first(load):
    tie = (2, 1, 0, 560, 440, 0)
    assert frame(load(geotiff(tie=tie))) == ((30, 20), (515, 0, -450))


def test_a_matrix(load):
    matrix = (30, 0, 0, 500, 0, -20, 0, 460, 0, 0, 0, 0, 0, 0, 0, 1)
    content = tiff_bytes(HEIGHTS, changes=[(34264, 12, 16, doubles(*matrix)), keys((1024, 1))])
    assert frame(load(content)) == ((30, 20), (515, 0, -450))
    turned = (30, 1, *matrix[2:])
    content = tiff_bytes(HEIGHTS, changes=[(34264, 12, 16, doubles(*turned)), keys((1024, 1))])
    with pytest.warns(UserWarning, match=r"says 30 x 20, .* its rows do not run along an axis"):
        assert frame(load(content)) == ((1, 1), (0, 0, 0))


def test_what_is_flipped_is_counted_the_other_way(load):
    land = load(geotiff(), flip="rows")  # z = northing
    assert frame(land) == ((30, 20), (515, 0, 450 - 20 * (ROWS - 1)))
    assert land.height_at(515, 450) == HEIGHTS[0, 0]
    land = load(geotiff(), flip="columns")
    assert land.height_at(-515, -450) == HEIGHTS[0, 0]
    land = load(geotiff(), flip="both")
    assert land.height_at(-(515 + 30), 450 - 20) == HEIGHTS[1, 1]


def test_rows_from_south_to_north(load):
    content = geotiff(scale=(30, -20, 0), tie=(0, 0, 0, 500, 360, 0))
    with pytest.warns(UserWarning, match='rows run from south to north, which flip="rows" turns'):
        assert frame(load(content)) == ((1, 1), (0, 0, 0))
    land = load(content, flip="rows")
    assert land.height_at(515, -370) == HEIGHTS[0, 0]
    assert land.height_at(515, -390) == HEIGHTS[1, 0]
    content = geotiff(scale=(-30, 20, 0))
    with pytest.warns(UserWarning, match='columns run from east to west, which flip="columns"'):
        load(content, flip="rows")
    assert load(content, flip="columns").height_at(485, -450) == HEIGHTS[0, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (geotiff(model=GEOGRAPHIC), "says 30 x 20, the first at x = 515, z = -450, but these are "),
        (geotiff(model=GEOGRAPHIC), "but these are degrees, not meters. Pass cell_size"),
        (geotiff(more=[(3076, 9003)]), "these are US survey feet"),
        (geotiff(more=[(3076, 9036)]), "these are of another unit"),
        (geotiff(scale=(0, 0, 0)), "says 0 x 0, .* these are no sizes"),
        (geotiff(tie=(0, 0, 0, np.nan, 0, 0)), "these are no sizes"),
    ],
)
def test_what_cannot_be_used_is_named_in_a_warning(load, content, message):
    with pytest.warns(UserWarning, match=message) as caught:
        assert frame(load(content)) == ((1, 1), (0, 0, 0))
    assert "a.tif: cell_size is 1 m. The file" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert frame(load(content, cell_size=25)) == ((25, 25), (0, 0, 0))


def test_what_is_given_wins(load):
    assert frame(load(geotiff(), cell_size=2)) == ((2, 2), (0, 0, 0))
    assert frame(load(geotiff(), cell_size=2, origin=(1, 2, 3))) == ((2, 2), (1, 2, 3))
    assert frame(load(geotiff(), origin=(1, 2, 3))) == ((30, 20), (1, 2, 3))


def test_far_from_the_origin_float32_is_coarse(load):
    content = geotiff(tie=(0, 0, 0, 500_000, 4_600_000, 0))
    with pytest.warns(
        UserWarning, match=r"a.tif: lies at .* 0\.5 m apart. Pass origin=\(0, 0, 0\)"
    ):
        assert frame(load(content)) == ((30, 20), (500_015, 0, -4_599_990))
    assert frame(load(content, origin=(0, 0, 0))) == ((30, 20), (0, 0, 0))


def test_files_that_say_nothing_lie_at_the_origin(load):
    assert frame(load(tiff_bytes(HEIGHTS))) == ((1, 1), (0, 0, 0))
    assert frame(load(npy_bytes(HEIGHTS), "a.npy")) == ((1, 1), (0, 0, 0))


@pytest.mark.parametrize(
    "change",
    [
        (33550, 12, 2, doubles(1, 2)[:16]),  # no third
        (33550, 3, 3, struct.pack("<3H", 1, 2, 3)),  # of another type
    ],
)
def test_strange_fields_do_no_harm(load, change):
    land = load(tiff_bytes(HEIGHTS, changes=[change]))
    assert np.array_equal(land.heights, HEIGHTS)


def test_fields_beyond_the_file_are_refused(load):
    content = tiff_bytes(HEIGHTS, changes=[(33550, 12, 4096, doubles(1, 2, 3))])
    with pytest.raises(ValueError, match="truncated: TIFF directory leads beyond"):
        load(content)


# ESRI's grids


GRID = "ncols 3\nnrows 2\nxllcorner 500\nyllcorner 400\ncellsize 20\nNODATA_value -9999\n"


def test_grid_of_text(load):
    land = load(GRID + "1 2.5 -3e1\n4 -9999 6\n", "a.asc")
    assert frame(land) == ((20, 20), (510, 0, -430))
    np.testing.assert_array_equal(land.heights, [[1, 2.5, -30], [4, np.nan, 6]])
    assert land.height_at(510, -410) == 4  # the last row lies south


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("NCOLS 3\r\nNROWS 2\r\nXLLCENTER 510\r\nYLLCENTER 410\r\nCELLSIZE 20\r\n", (20, 20)),
        ("nrows 2\nncols 3\nxllcorner 500\nyllcorner 405\ndx 20\ndy 10\n", (20, 10)),
        ("ncols 3\nnrows 2\nxllcorner 500.0\nyllcorner 4e2\ncellsize 20.0\n", (20, 20)),
    ],
)
def test_headers_as_programs_write_them(load, header, expected):
    land = load(header + " 1 2\n\n3\t4   -9999.0 6", "A.ASC")  # rows need not be lines
    assert land.cell_size == expected
    assert land.origin64[0] == 510
    assert land.origin64[2] == -410 - expected[1]
    np.testing.assert_array_equal(land.heights, [[1, 2, 3], [4, np.nan, 6]])


def test_grid_that_begins_with_nan(load):
    land = load("ncols 2\nnrows 2\ncellsize 1\nnodata_value nan\nnan 2\n3 4", "a.asc")
    np.testing.assert_array_equal(land.heights, [[np.nan, 2], [3, 4]])


def test_grid_in_degrees(load):
    text = "ncols 2\nnrows 2\nxllcorner 7\nyllcorner 46\ncellsize 0.000833\n1 2 3 4"
    with pytest.warns(UserWarning, match="says 0.000833 x 0.000833, .* these are degrees"):
        assert load(text, "a.asc").cell_size == (1, 1)


def test_grid_in_many_pieces(load, monkeypatch):
    from terrain_physics.heightmap.formats import text_grids as formats

    monkeypatch.setattr(formats, "_TEXT_AT_ONCE", 7)
    values = np.random.default_rng(1).normal(size=(20, 30))
    text = "\n".join(" ".join(map(repr, row)) for row in values.tolist())
    land = load(f"ncols 30\nnrows 20\ncellsize 2\n{text}\n", "a.asc")
    np.testing.assert_array_equal(land.heights, values.astype(np.float32))


# Numbers without a range


def test_numbers_of_a_picture_are_meters_after_a_warning(load):
    message = r"a.png: 16-bit numbers .* 0 to 65535 m, here 3 to 63617 m\. Pass height_range="
    with pytest.warns(UserWarning, match=message) as caught:
        assert load(gray_png(RAMP), "a.png").heights.max() == RAMP.max()
    assert len(caught) == 1
    load(gray_png(RAMP), "a.png", height_range=(0, 65535))
    load(gray_png(RAMP), "a.png", height_scale=0.01)
    with pytest.warns(UserWarning, match=r"8-bit numbers .* 0 to 255 m, here 3 to 246 m\. Pass"):
        load(gray_png(RAMP.astype(np.uint8)), "a.png")
    with pytest.warns(UserWarning, match=r"8-bit numbers .* here 6 to 240 m\. Pass"):
        load(gray_png(RAMP[:2].astype(np.uint8)), "a.png", no_data=3)
    load(gray_png(RAMP.astype(np.uint8)), "a.png", height_range=(0, 255))
    load(tiff_bytes(RAMP), "a.tif")


# Labeled arrays


def array(values=RAMP, dims=("y", "x"), attrs=None, units=None, **coords):
    """Return what stands for an xarray.DataArray."""
    made = {name: _Coordinate(places, units or {}) for name, places in coords.items()}
    return SimpleNamespace(values=np.asarray(values), dims=dims, coords=made, attrs=attrs or {})


class _Coordinate:
    def __init__(self, places: Any, attrs: dict[str, str]) -> None:
        self.places, self.attrs = np.asarray(places), attrs

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.places, dtype)


EAST = 515.0 + 30 * np.arange(COLUMNS)
NORTH = 450.0 - 20 * np.arange(ROWS)


@pytest.mark.parametrize("rows", [1, -1])
@pytest.mark.parametrize("columns", [1, -1])
@pytest.mark.parametrize("turned", [False, True])
def test_coordinates_say_where_samples_lie(rows, columns, turned):
    values, dims = RAMP[::rows, ::columns], ("y", "x")
    if turned:
        values, dims = values.T, ("x", "y")
    land = HeightMap.from_dataarray(array(values, dims, x=EAST[::columns], y=NORTH[::rows]))
    assert frame(land) == ((30, 20), (515, 0, -450))
    np.testing.assert_array_equal(land.heights, RAMP)


def test_other_names():
    land = HeightMap.from_dataarray(
        array(dims=("northing", "easting"), northing=NORTH, easting=EAST)
    )
    assert frame(land) == ((30, 20), (515, 0, -450))
    land = HeightMap.from_dataarray(array(dims=("z", "x"), z=-NORTH, x=EAST))
    assert frame(land) == ((30, 20), (515, 0, -450))
    land = HeightMap.from_dataarray(array(dims=("row", "column")))
    assert frame(land) == ((1, 1), (0, 0, 0))
    np.testing.assert_array_equal(land.heights, RAMP)


def test_a_band_is_left_out_and_options_are_those_of_a_map():
    given = array(RAMP[np.newaxis], ("band", "y", "x"), attrs={"_FillValue": 3}, x=EAST, y=NORTH)
    land = HeightMap.from_dataarray(given, height_scale=0.5, border="open", origin=(1, 2, 3))
    assert frame(land) == ((30, 20), (1, 2, 3))
    assert (land.height_scale, land.border) == (0.5, "open")
    expected = RAMP.astype(np.float32)
    expected[0, 0] = np.nan
    np.testing.assert_array_equal(land.heights, expected)


def test_coordinates_as_float32_are_even_enough():
    places = (4_500_000.3 + 2.6 * np.arange(COLUMNS)).astype(np.float32)
    with pytest.raises(ValueError, match="coordinate 'x' must go up or down in equal steps"):
        HeightMap.from_dataarray(array(x=places, y=NORTH))
    places = (450_000.3 + 30 * np.arange(COLUMNS)).astype(np.float32)
    land = HeightMap.from_dataarray(array(x=places, y=NORTH), origin=(0, 0, 0))
    assert land.cell_size[0] == pytest.approx(30, abs=0.01)


def test_far_coordinates():
    with pytest.warns(UserWarning, match=r"array: lies at x = 500015, z = 50 .* 0\.03125 m apart"):
        land = HeightMap.from_dataarray(array(x=EAST + 499_500, y=NORTH - 500))
    assert land.origin64 == (500_015, 0, 50)


def test_degrees_need_a_cell_size():
    for given in (
        array(dims=("lat", "lon"), lat=NORTH, lon=EAST),
        array(units={"units": "degrees_north"}, x=EAST, y=NORTH),
        array(x=EAST / 1e5, y=NORTH / 1e5),
    ):
        with pytest.raises(ValueError, match=r"coordinates in meters .* but these are degrees"):
            HeightMap.from_dataarray(given)
        assert frame(HeightMap.from_dataarray(given, cell_size=3)) == ((3, 3), (0, 0, 0))
    with pytest.raises(ValueError, match="these are km, not meters"):
        HeightMap.from_dataarray(array(units={"units": "km"}, x=EAST, y=NORTH))
    HeightMap.from_dataarray(array(units={"units": "metre"}, x=EAST, y=NORTH))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (RAMP, TypeError, r"array must have dims, coords and values, as an xarray.DataArray has"),
        (
            SimpleNamespace(dims={}, coords={}, values=dict.values),
            TypeError,
            r"\(dataset\[name\] is",
        ),
        (
            array(np.zeros((2, 3, 4)), ("a", "b", "c")),
            ValueError,
            "two dimensions .* got {'a': 2, 'b'",
        ),
        (array(np.zeros((1, 4))), ValueError, "two dimensions .* got {'y': 1, 'x': 4}"),
        (array(np.zeros((0, 4))), ValueError, "two dimensions .* got {'y': 0, 'x': 4}"),
        (
            array(x=EAST**2, y=NORTH),
            ValueError,
            "coordinate 'x' must go .* got steps from 31800 to",
        ),
        (array(x=EAST * 0, y=NORTH), ValueError, "coordinate 'x' must go up or down"),
        (array(x=EAST, y=NORTH * np.nan), ValueError, "coordinate 'y' must be finite"),
        (
            array(x=EAST[:3], y=NORTH),
            ValueError,
            r"coordinate 'x' must have shape \(7,\), got \(3,\)",
        ),
        (array(x=["a"] * 7, y=NORTH), TypeError, "coordinate 'x' must hold real numbers"),
        (
            array(np.full((2, 2), "a"), x=[0, 1], y=[0, 1]),
            TypeError,
            "heights must hold real numbers",
        ),
    ],
)
def test_other_arrays_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        HeightMap.from_dataarray(given)


def test_the_array_is_neither_changed_nor_kept():
    values = HEIGHTS.copy()
    land = HeightMap.from_dataarray(array(values, x=EAST, y=NORTH))
    land[0, 0] = 77
    assert np.array_equal(values, HEIGHTS)
