"""Height-map files of every format, read back; options; paths; Pillow missing."""

import gzip
import io
import mmap
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from terrain_physics import HeightMap
from terrain_physics.heightmap.files import load_heights
from tests.helpers.examples import rest_is_full
from tests.helpers.height_files import RAMP, gray_png, npy_bytes, npy_header, tiff_bytes


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Write a file, return its path."""

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def same(loaded: Any, expected: Any, dtype: Any) -> None:
    assert loaded.dtype == dtype
    assert loaded.dtype.isnative
    assert loaded.flags.c_contiguous
    assert loaded.flags.writeable
    np.testing.assert_array_equal(loaded, expected)


@pytest.mark.parametrize("dtype", ["u1", "i1", "<u2", ">u2", ">i4", "<i8", "<f2", "<f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_keeps_type_and_values(put, dtype, order):
    heights = np.asarray(np.arange(12).reshape(3, 4) * 9 + 0.25, dtype=dtype, order=order)
    loaded = load_heights(put("a.npy", npy_bytes(heights)))
    same(loaded, heights, np.dtype(dtype).newbyteorder("="))


def is_mapped(values: Any) -> bool:
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values, mmap.mmap)


def test_npy_is_mapped(tmp_path):
    path = tmp_path / "a.npy"
    heights = np.random.default_rng(0).normal(0, 9, (300, 200)).astype(np.float32)
    heights[20, 30] = np.nan
    np.save(path, heights)
    before = path.read_bytes()
    loaded = load_heights(path, mmap=True)
    same(loaded, heights, np.float32)
    assert is_mapped(loaded)
    land = HeightMap.load(path, mmap=True)
    assert is_mapped(land._storage.heights)
    same_land = HeightMap(heights)
    for each in (land, same_land):
        each.raise_((100, 100), 8, 3.0)
        each[5, 6] = 2.5
    np.testing.assert_array_equal(land[:], same_land[:])
    assert is_mapped(land._storage.heights)  # no copy was made
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match=r"flip needs a copy, use mmap=False, got flip='rows'"):
        HeightMap.load(path, mmap=True, flip="rows")
    with pytest.raises(ValueError, match=r"no_data needs a copy, use mmap=False, got no_data=2"):
        HeightMap.load(path, mmap=True, no_data=2)
    with pytest.raises(TypeError, match="mmap must be a bool, got 'no'"):
        HeightMap.load(path, mmap="no")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"has no argument max_height: did you mean .*height_range"):
        HeightMap.load(path, max_height=9)  # type: ignore[call-arg]
    land.save(tmp_path / "a.ground")
    copy = HeightMap.load(tmp_path / "a.ground", mmap=False)
    np.testing.assert_array_equal(copy[:], land[:])


@pytest.mark.parametrize(
    ("heights", "message"),
    [
        (np.zeros((3, 4), np.float64), "mmap is for aligned float32 heights in C order"),
        (np.zeros((3, 4), ">f4"), "mmap is for aligned float32 heights in C order"),
        (np.zeros((3, 4), np.float32, order="F"), "mmap is for aligned float32 heights in C order"),
        (np.full((3, 4), np.inf, np.float32), r"must be finite or NaN, got infinity at \[0, 0\]"),
    ],
)
def test_what_cannot_be_mapped_is_named(tmp_path, heights, message):
    path = tmp_path / "a.npy"
    np.save(path, heights)
    with pytest.raises(ValueError, match=f"a.npy: .*{message}"):
        HeightMap.load(path, mmap=True)
    with pytest.raises(ValueError, match=r"mmap is for \.npy files, got \.r16"):
        HeightMap.load(tmp_path / "a.r16", mmap=True)


def test_a_loaded_map_is_not_copied_and_may_be_edited(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((50, 50), np.float32))
    land = HeightMap.load(tmp_path / "a.npy")
    heights = land._storage.heights
    land[3, 4] = 5.0
    assert land._storage.heights is heights
    assert land.height_at(4, 3) == 5.0


def test_a_class_of_a_game_loads_what_it_makes_of_a_file(tmp_path):
    class Raised(HeightMap):
        def __init__(self, heights: Any, *, cell_size: Any, origin: Any, **options: Any) -> None:
            self.raw = heights
            super().__init__(heights, cell_size=cell_size, origin=origin)
            assert options.keys() >= {"holes", "materials"}
            assert "copy" not in options

    np.save(tmp_path / "a.npy", np.zeros((9, 9), np.float32))
    land = Raised.load(tmp_path / "a.npy")
    land[3, 4] = 5.0
    assert not land.raw.any()


def test_infinity_is_found_in_any_part(tmp_path):
    for place in ([0, 0], [1499, 1], [1500, 1499]):
        heights = np.zeros((1501, 1500), np.float32)
        heights[tuple(place)] = -np.inf
        np.save(tmp_path / "a.npy", heights)
        with pytest.raises(ValueError, match=rf"got infinity at \[{place[0]}, {place[1]}\]"):
            load_heights(tmp_path / "a.npy")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_of_every_format_version(put, version):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, RAMP, version=version)
    same(load_heights(put("a.npy", buffer.getvalue())), RAMP, np.uint16)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_one_array_and_of_several(tmp_path, save):
    path = tmp_path / "a.npz"
    save(path, heights=RAMP)
    same(load_heights(path), RAMP, np.uint16)
    same(load_heights(path, key="heights"), RAMP, np.uint16)
    floats = np.asfortranarray(RAMP * 0.1)
    save(path, RAMP, floats=floats, line=np.arange(9), pickled=np.array({}, object))
    same(load_heights(path, key="floats", flip="both"), floats[::-1, ::-1], np.float64)
    same(load_heights(path, key="arr_0"), RAMP, np.uint16)
    with pytest.raises(
        ValueError,
        match=r"a.npz: must hold one array, or be given its key, got 'floats', 'line', 'pickled'",
    ):
        load_heights(path)
    with pytest.raises(ValueError, match=r"key must be that of an array in it, .* got 'height'"):
        load_heights(path, key="height")
    with pytest.raises(ValueError, match=r"a.npz: must be two-dimensional"):
        load_heights(path, key="line")
    with pytest.raises(ValueError, match=r"a.npz: must hold integers or floats"):
        load_heights(path, key="pickled")
    save(path)
    with pytest.raises(ValueError, match="must hold one array, or be given its key, got none"):
        load_heights(path)
    with pytest.raises(ValueError, match=r"mmap is for \.npy files, got \.npz"):
        load_heights(path, mmap=True)


def test_npy_header_as_other_programs_write_it(put):
    text = '{"shape":(2,3),"descr":"<f4","fortran_order":False}'
    content = npy_header(text) + struct.pack("<6f", *range(6))
    same(load_heights(put("a.npy", content)), [[0, 1, 2], [3, 4, 5]], np.float32)


def test_npy_extremes_survive(put):
    heights = np.array([[np.nextafter(1e38, 0), 5e-324], [-0.0, np.nan]])
    same(load_heights(put("a.npy", npy_bytes(heights))), heights, np.float64)


@pytest.mark.parametrize("suffix", [".r16", ".raw", ".RAW"])
def test_raw_square_little_endian(put, suffix):
    content = struct.pack("<9H", 0, 1, 2, 256, 257, 32767, 32768, 65534, 65535)
    expected = [[0, 1, 2], [256, 257, 32767], [32768, 65534, 65535]]
    same(load_heights(put("a" + suffix, content)), expected, np.uint16)


def test_raw_oblong_big_endian(put):
    path = put("a.raw", struct.pack(">6H", 0, 1, 2, 256, 65534, 65535))
    loaded = load_heights(path, shape=(2, 3), byte_order="big")
    same(loaded, [[0, 1, 2], [256, 65534, 65535]], np.uint16)
    same(load_heights(path, shape=[3, 2], byte_order="big"), loaded.reshape(3, 2), "u2")


@pytest.mark.parametrize("order", ["little", "big"])
def test_raw_floats(put, order):
    heights = np.array([[1.1, np.nan, -3e37], [5e-324, 1e-45, 0.0]], np.float32)
    path = put("a.r32", heights.astype("<f4" if order == "little" else ">f4").tobytes())
    same(load_heights(path, shape=(2, 3), byte_order=order), heights, np.float32)
    square = put("b.R32", heights[:, :2].tobytes())
    same(load_heights(square, flip="rows"), heights[::-1, :2], np.float32)
    with pytest.raises(ValueError, match=r"a.r32: must be a square of 32-bit heights, .* got 24 b"):
        load_heights(path)
    with pytest.raises(ValueError, match=r"a.r32: shape \(2, 2\) must have 16 bytes, got 24"):
        load_heights(path, shape=(2, 2))


def test_hgt_voids_are_holes(put):
    path = put("N47E011.hgt", struct.pack(">4h", -32768, -32767, 8848, 32767))
    same(load_heights(path), [[np.nan, -32767], [8848, 32767]], np.float32)


@pytest.mark.parametrize("side", rest_is_full([1201, 3601]))
def test_hgt_of_the_two_usual_sizes(put, side):
    heights = (np.arange(side * side) % 60001 - 30000).astype(">i2").reshape(side, side)
    loaded = load_heights(put("S01W001.hgt", heights.tobytes()))
    same(loaded, heights, np.float32)


def test_hgt_oblong(put):
    path = put("N60E010.hgt", struct.pack(">6h", *range(6)))
    same(load_heights(path, shape=(3, 2)), [[0, 1], [2, 3], [4, 5]], np.float32)


def test_packed_hgt(put):
    heights = np.arange(-5, 7, dtype=">i2").reshape(3, 4)
    heights[1, 1] = -32768
    expected = np.where(heights == -32768, np.nan, heights)
    path = put("N60E010.hgt.gz", gzip.compress(heights.tobytes()))
    same(load_heights(path, shape=(3, 4)), expected, np.float32)
    path = put("N60E011.HGT.GZ", gzip.compress(heights[:, :3].tobytes()))
    same(load_heights(path, flip="rows"), expected[::-1, :3], np.float32)


def test_grids_of_text_keep_every_digit(put):
    heights = np.array([[0.1, 1e-300], [-12345.678901234567, 8848.86]])
    text = "ncols 2\nnrows 2\ncellsize 1\n" + " ".join(map(repr, heights.ravel().tolist()))
    same(load_heights(put("a.asc", text.encode())), heights, np.float64)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_written_by_hand(put, dtype):
    heights = RAMP.astype(dtype)
    same(load_heights(put("a.png", gray_png(heights))), heights, dtype)


def test_png_written_by_pillow_keeps_all_65536_values(put, tmp_path):
    heights = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    Image.fromarray(heights).save(tmp_path / "a.png")
    same(load_heights(tmp_path / "a.png"), heights, np.uint16)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("deflate", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int16, np.int32, np.float32])
def test_tiff_written_by_hand(put, order, big, deflate, dtype):
    heights = (RAMP * (0.37 if dtype == np.float32 else 1)).astype(dtype)
    if heights.dtype.str[1:] in {"u4", "i4"}:
        heights = (heights.astype(np.int64) * 67_511 - 1).astype(dtype)  # all 32 bits
    path = put("a.tiff", tiff_bytes(heights, order=order, big=big, deflate=deflate))
    if order == ">" and big:
        with pytest.raises(ValueError, match="must start as a TIFF file, got b'MM"):
            load_heights(path)
    elif order == ">" and (dtype == np.uint32 or (deflate and heights.dtype.kind != "u")):
        with pytest.raises(ValueError, match="must be little-endian, got big"):
            load_heights(path)
    else:
        same(load_heights(path), heights, dtype)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tiff_written_by_pillow(tmp_path, compression, dtype):
    heights = (np.arange(64 * 48).reshape(64, 48) * 21.25).astype(dtype)
    Image.fromarray(heights).save(tmp_path / "a.tif", compression=compression)
    same(load_heights(tmp_path / "a.tif"), heights, dtype)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (np.float32, b"-3.4028234663852886e+38"),
        (np.int16, b"-32768"),
        (np.uint16, b" 3 "),
        (np.int32, b"-2147483647"),
        (np.uint32, b"4294967295"),
    ],
)
def test_tiff_no_data_is_a_hole(put, dtype, text):
    heights = RAMP.astype(dtype)
    heights[1, 2] = dtype(float(text))
    kind = np.float32 if dtype in {np.float32, np.int16, np.uint16} else np.float64
    expected = heights.astype(kind)
    expected[heights == heights[1, 2]] = np.nan
    content = tiff_bytes(heights, changes=[(42113, 2, len(text) + 1, text + b"\0")])
    same(load_heights(put("a.tif", content)), expected, kind)


def test_nan_is_a_hole_and_infinity_is_refused(put):
    heights = np.array([[1, np.nan], [2, 3]], np.float32)
    for name, content in (("a.npy", npy_bytes(heights)), ("a.tif", tiff_bytes(heights))):
        same(load_heights(put(name, content)), heights, np.float32)
    heights[1, 0] = -np.inf
    for name, content in (("a.npy", npy_bytes(heights)), ("a.tif", tiff_bytes(heights))):
        with pytest.raises(ValueError, match=rf"{name}: heights must be finite.* at \[1, 0\]"):
            load_heights(put(name, content))


@pytest.mark.parametrize("dtype", [">i2", "<i2", "<f2", "<f4", ">f4", "f8", "u1", "i8"])
def test_no_data_is_a_hole(put, dtype):
    heights = np.array([[1, 7, 3], [7, 5, 6]], dtype)
    expected = np.where(heights == 7, np.nan, heights.astype(np.float64))
    loaded = load_heights(put("a.npy", npy_bytes(heights)), no_data=7)
    kind = np.dtype(dtype) if heights.dtype.kind == "f" else np.dtype("f4")
    kind = np.dtype("f8") if dtype == "i8" else kind.newbyteorder("=")
    same(loaded, expected, kind)
    same(load_heights(put("a.npy", npy_bytes(heights)), no_data=7.5), heights.astype(kind), kind)


def test_no_data_is_compared_before_the_range_and_beside_the_tag(put):
    heights = np.array([[0, 9], [9, 65535]], np.uint16)
    path = put("a.tif", tiff_bytes(heights, changes=[(42113, 2, 2, b"9\0")]))
    expected = [[np.nan, np.nan], [np.nan, 2]]
    same(load_heights(path, height_range=(1, 2), no_data=0), expected, np.float64)


@pytest.mark.parametrize(
    ("value", "dtype", "names"),
    [
        (-3.4028234663852886e38, np.float32, ("a.npy", "a.tif", "a.r32", "a.npz")),
        (1.7014118346046923e38, np.float32, ("a.tif",)),
        (1e38, np.float64, ("a.npy",)),
        (-1e300, np.float64, ("a.npz",)),
    ],
)
def test_numbers_beyond_all_heights_are_no_ground(put, tmp_path, value, dtype, names):
    for name in names:
        refused_and_holes_by_option(put, tmp_path, name, value, dtype)


def refused_and_holes_by_option(put, tmp_path, name, value, dtype):
    heights = np.array([[1, 2], [value, 4]], dtype)
    contents = {"a.npy": npy_bytes(heights), "a.r32": heights.tobytes()}
    if name == "a.npz":
        np.savez(tmp_path / name, heights)
    else:
        put(name, contents[name] if name in contents else tiff_bytes(heights))
    with pytest.raises(
        ValueError, match=rf"{name}: heights must be below 1e\+38 m .* at \[1, 0\]\. Pass no_data="
    ) as caught:
        load_heights(tmp_path / name)
    named = float(str(caught.value).partition("Pass no_data=")[2].split()[0])
    for option in {value, named}:
        same(load_heights(tmp_path / name, no_data=option), [[1, 2], [np.nan, 4]], dtype)
    assert np.isnan(HeightMap.load(tmp_path / name, no_data=named)[1, 0])


def test_infinity_may_be_no_data(put):
    heights = np.array([[1, 2], [np.inf, 4]], np.float32)
    path = put("a.npy", npy_bytes(heights))
    same(load_heights(path, no_data=np.inf), [[1, 2], [np.nan, 4]], np.float32)


@pytest.mark.parametrize("name", ["a.npy", "a.tif"])
def test_the_void_of_16_bits_is_no_ground(put, name):
    heights = np.array([[1, -32767], [3, -32768]], np.int16)
    path = put(name, npy_bytes(heights) if name == "a.npy" else tiff_bytes(heights))
    with pytest.raises(
        ValueError, match=rf"{name}: heights of 16 bits must be above -32768, .* got it at \[1, 1\]"
    ):
        load_heights(path)
    same(load_heights(path, no_data=-32768), [[1, -32767], [3, np.nan]], np.float32)
    tagged = tiff_bytes(heights, changes=[(42113, 2, 7, b"-32768\0")])
    same(load_heights(put("b.tif", tagged)), [[1, -32767], [3, np.nan]], np.float32)
    same(load_heights(put("c.npy", npy_bytes(heights.astype("i4")))), heights, np.int32)


@pytest.mark.parametrize(("dtype", "most"), [(np.uint8, 255), (np.uint16, 65535)])
def test_height_range_spans_what_the_format_can_hold(put, dtype, most):
    heights = np.array([[0, 1], [most // 3, most]], dtype)
    loaded = load_heights(put("a.png", gray_png(heights)), height_range=(-20, 300.5))
    assert loaded.dtype == np.float64
    assert (loaded[0, 0], loaded[1, 1]) == (-20, 300.5)
    np.testing.assert_allclose(loaded, -20 + heights * (320.5 / most), rtol=0, atol=1e-12)


def test_height_range_with_holes(put):
    heights = np.array([[0, 9], [9, 65535]], np.uint16)
    path = put("a.tif", tiff_bytes(heights, changes=[(42113, 2, 2, b"9\0")]))
    same(load_heights(path, height_range=(1, 2)), [[1, np.nan], [np.nan, 2]], np.float64)


def test_flip(put):
    path = put("a.npy", npy_bytes(np.array([[1, 2, 3], [4, 5, 6]])))
    same(load_heights(path, flip="rows"), [[4, 5, 6], [1, 2, 3]], int)
    same(load_heights(path, flip="columns"), [[3, 2, 1], [6, 5, 4]], int)
    same(load_heights(path, flip="both"), [[6, 5, 4], [3, 2, 1]], int)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        (
            "a.png",
            {"shape": (5, 7)},
            ValueError,
            "a.png: shape is for .r16, .raw, .r32, .hgt and .hgt.gz",
        ),
        (
            "a.png",
            {"byte_order": "big"},
            ValueError,
            "a.png: byte_order is for .r16, .raw and .r32",
        ),
        (
            "a.hgt",
            {"byte_order": "big"},
            ValueError,
            "a.hgt: byte_order is for .r16, .raw and .r32",
        ),
        (
            "a.raw",
            {"byte_order": "middle"},
            ValueError,
            "byte_order must be one of .* got 'middle'",
        ),
        ("a.raw", {"shape": (1, 4)}, ValueError, "shape must be at least 2 x 2, got .1, 4"),
        ("a.raw", {"shape": (-2, -2)}, ValueError, "shape must be at least 2 x 2"),
        ("a.raw", {"shape": (2, 3)}, ValueError, "a.raw: .*must have 12 bytes, got 8"),
        ("a.raw", {"shape": (1 << 40, 1 << 40)}, ValueError, "a.raw: .*, got 8"),
        ("a.raw", {"shape": 4}, TypeError, "shape must be two integers .*, got 4"),
        ("a.raw", {"shape": (2, 2, 2)}, TypeError, "shape must be two integers"),
        ("a.raw", {"shape": (2.0, 2)}, TypeError, "shape must be two integers"),
        ("a.raw", {"shape": "22"}, TypeError, "shape must be two integers"),
        ("a.raw", {"flip": "up"}, ValueError, "flip must be one of .*, got 'up'"),
        ("a.raw", {"flip": ["rows"]}, ValueError, "flip must be one of"),
        ("a.raw", {"height_range": (3, 3)}, ValueError, "height_range must have low < high"),
        ("a.raw", {"height_range": (0, np.inf)}, ValueError, r"height_range\[1\] must be finite"),
        ("a.raw", {"height_range": (np.nan, 1)}, ValueError, r"height_range\[0\] must be finite"),
        ("a.raw", {"height_range": 60}, TypeError, "height_range must be two numbers"),
        ("a.raw", {"height_range": (0, 1, 2)}, TypeError, "height_range must be two numbers"),
        ("a.raw", {"height_range": "09"}, TypeError, "height_range.* must be a finite number"),
        ("a.hgt", {"height_range": (0, 9)}, ValueError, "a.hgt: height_range .*, got int16"),
        ("a.npy", {"height_range": (0, 9)}, ValueError, "a.npy: height_range .*, got float32"),
    ],
)
def test_options_that_make_no_sense_are_refused(put, name, options, error, message):
    contents = {"a.npy": npy_bytes(np.zeros((2, 2), np.float32)), "a.png": gray_png(RAMP)}
    path = put(name, contents.get(name, struct.pack("<4H", 1, 2, 3, 4)))
    with pytest.raises(error, match=message):
        load_heights(path, **options)


def test_paths_of_every_kind(put, tmp_path, monkeypatch):
    path = put("höhe 1.npy", npy_bytes(RAMP))
    same(load_heights(str(path)), RAMP, np.uint16)
    monkeypatch.chdir(tmp_path)
    same(load_heights("höhe 1.npy"), RAMP, np.uint16)
    for wrong in (7, None, ["a.npy"], b"a.npy"):
        with pytest.raises(TypeError, match=r"path must be a str or os\.PathLike, got"):
            load_heights(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"path must be one the system takes, got 'a\\x00b.npy'"):
        load_heights("a\0b.npy")


def test_without_pillow_only_tiff_fails_and_the_extra_is_named(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(
        ImportError, match=r'a.tif: .* pip install "terrain-physics\[images\]"'
    ) as caught:
        load_heights(put("a.tif", tiff_bytes(RAMP)))
    assert caught.value.name == "PIL"
    for name, content in (("a.npy", npy_bytes(RAMP)), ("a.png", gray_png(RAMP))):
        same(load_heights(put(name, content)), RAMP, np.uint16)


def test_our_land_leaves_room_for_the_reference_scene():
    land = Path(__file__).parents[2] / "assets" / "land.png"
    heights = load_heights(land, height_range=(0, 80))
    assert heights.shape == (513, 513)
    corner = heights[:102, :102]  # scenes drop their bodies here, from y = 20
    assert 0.0 < corner.min() < corner.max() < 17.0
    assert 78.0 < heights.max() < 80.0
    slopes = np.degrees(np.arctan(np.hypot(*np.gradient(heights))))
    assert 0.5 < np.mean(slopes < 30.0) < 0.8
    assert np.mean(slopes > 50.0) > 0.02
