"""Grids and tables of numbers as text: byte order marks, separators, lines that are wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap
from terrain_physics.heightmap.files import load_heights
from terrain_physics.heightmap.formats import number_tables
from tests.helpers.examples import examples

MARK = b"\xef\xbb\xbf"
GRID = b"ncols 3\nnrows 2\nxllcorner 500\nyllcorner 400\ncellsize 20\n1 2 3\n4 -9999 6\n"
EXPECTED = [[1, 2, 3], [4, np.nan, 6]]


@pytest.fixture
def load(tmp_path):
    """Load a file of this content."""

    def loaded(content: bytes, name: str, **options: Any) -> Any:
        path: Path = tmp_path / name
        path.write_bytes(content)
        return load_heights(path, **options)

    return loaded


def test_a_byte_order_mark_is_no_number(load):
    for content in (GRID, MARK + GRID, MARK + b"\r\n" + GRID.replace(b"\n", b"\r\n")):
        np.testing.assert_array_equal(load(content, "a.asc"), EXPECTED)
    for name in ("a.txt", "a.csv"):
        for content in (b"1,2\n3,4\n", MARK + b"1,2\r\n3,4"):
            np.testing.assert_array_equal(load(content, name), [[1, 2], [3, 4]])


@pytest.mark.parametrize("name", ["a.asc", "a.txt", "a.csv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_text_of_16_bits_is_refused(load, name, encoding):
    mark = "" if encoding == "utf-16" else "\ufeff"
    content = (mark + GRID.decode()).encode(encoding)
    with pytest.raises(ValueError, match=f"{name}: must be text in ASCII or UTF-8, got UTF-16"):
        load(content, name)


def test_a_text_file_may_be_a_grid(tmp_path):
    for name, content in (("a.txt", GRID), ("b.txt", MARK + GRID), ("c.txt", b"\n " + GRID)):
        (tmp_path / name).write_bytes(content)
        land = HeightMap.load(tmp_path / name)
        np.testing.assert_array_equal(land.heights, EXPECTED)
        assert (land.cell_size, land.origin64) == ((20, 20), (510, 0, -430))


@given(
    st.integers(2, 5),
    st.lists(
        st.lists(st.floats(-1e37, 1e37) | st.just(float("nan")), min_size=5, max_size=5),
        min_size=2,
        max_size=6,
    ),
    st.sampled_from([",", ";", "\t", " ", ", ", "  ", " ;"]),
    st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n# 1 2\n"]),
    st.booleans(),
)
@examples(100)
def test_tables_keep_every_digit(tmp_path_factory, columns, rows, separator, end, trailing):
    rows = [row[:columns] for row in rows]
    path = tmp_path_factory.getbasetemp() / "table.csv"
    last = separator.strip(" ") if trailing else ""
    path.write_bytes("".join(separator.join(map(repr, row)) + last + end for row in rows).encode())
    heights = load_heights(path)
    assert heights.dtype == np.float64
    np.testing.assert_array_equal(heights, rows)


def test_a_table_that_numpy_writes(tmp_path):
    heights = np.random.default_rng(2).normal(0, 99, (30, 20))
    for name, separator in (("a.txt", " "), ("a.csv", ","), ("b.csv", ";"), ("b.txt", "\t")):
        np.savetxt(tmp_path / name, heights, delimiter=separator, header="meters")
        np.testing.assert_array_equal(
            load_heights(tmp_path / name), np.loadtxt(tmp_path / name, delimiter=separator)
        )
    np.savetxt(tmp_path / "c.csv", heights.round(), fmt="%d", delimiter=",")
    land = HeightMap.load(tmp_path / "c.csv", flip="rows", no_data=heights.round()[0, 0])
    assert np.isnan(land[29, 0])
    assert land[28, 3] == heights[1, 3].round()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must have at least 2 x 2 heights, got 0 rows, 0 columns"),
        (b"\n \n# 1 2\n", "at least 2 x 2 heights, got 0 rows"),
        (b"1,2,3\n", "at least 2 x 2 heights, got 1 rows, 3 columns"),
        (b"1\n2\n3\n", "at least 2 x 2 heights, got 3 rows, 1 columns"),
        (b"\n1,2,3\n\n4,5\n", "line 4 must have 3 numbers, as line 2 has, got 2"),
        (b"1,2\n3,4,5\n", "line 2 must have 2 numbers, as line 1 has, got 3"),
        (b"x,y,z\n1,2,3\n", "line 1 must hold numbers, got b'x'"),
        (b"1,2\n3,four\n", "line 2 must hold numbers, got b'four'"),
        (b"1,2\n3,\n", "line 2 must have 2 numbers, as line 1 has, got 1"),
        (b"1,,2\n3,4,5\n", "line 1 must hold numbers, got b''"),
        (b"1,5;2,5\n3;4\n", "line 1 must hold numbers, with a point, got b'1,5'"),
        (b"1 2\n3 4,5\n", "line 2 must hold numbers, with a point, got b'4,5'"),
        (b'"1","2"\n', "line 1 must hold numbers, got b'\"1\"'"),
        (b"1_000,2\n3,4\n", "line 1 must hold numbers, got b'1_000'"),
        (b"1,2\n3,\xff4\n", r"line 2 must hold numbers, got b'\\xff4'"),
        (b"1,2\n3,0x10\n", "line 2 must hold numbers, got b'0x10'"),
        (b"1,2\n3,1e999\n", r"heights must be finite or NaN, got infinity at \[1, 1\]"),
        (b"1,2\n3,-1e38\n", r"heights must be below 1e\+38 m .* got -1e\+38 at \[1, 1\]"),
        (b"1" * 5_000_000, "line 1 must have at most 4194304 bytes, got more"),
    ],
)
def test_lines_that_are_wrong_are_named(load, content, message):
    for name in ("a.csv", "a.txt"):
        with pytest.raises(ValueError, match=f"{name}: .*{message}"):
            load(content, name)


def test_a_long_word_is_shown_in_part(load):
    with pytest.raises(ValueError, match="got b'" + "x" * 40 + "'"):
        load(b"1,2\n" + b"x" * 999, "a.csv")


def test_lines_are_read_one_at_a_time(load, monkeypatch):
    monkeypatch.setattr(number_tables, "_LONGEST_LINE", 8)
    np.testing.assert_array_equal(load(b"1,2,3,4\n5,6,7,8", "a.csv"), [[1, 2, 3, 4], [5, 6, 7, 8]])
    with pytest.raises(ValueError, match="line 2 must have at most 8 bytes"):
        load(b"1,2,3,4\n5,6,7,8,9", "a.csv")
