"""Pictures as height maps: every kind of PNG and BMP, channels, encodings of meters, alpha."""

import io
import struct
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from terrain_physics import HeightMap
from terrain_physics.heightmap.files import load_heights
from tests.helpers.examples import examples
from tests.helpers.extras import library
from tests.helpers.height_files import (
    RAMP,
    bmp_bytes,
    gray_png,
    npy_bytes,
    picture_png,
    png_chunk,
    tiff_bytes,
)

pytestmark = pytest.mark.kernels

SMALL = RAMP.astype(np.uint8)
FORMATS = [  # color type, channels, bits
    (0, 1, 1), (0, 1, 2), (0, 1, 4), (0, 1, 8), (0, 1, 16),
    (2, 3, 8), (2, 3, 16), (4, 2, 8), (4, 2, 16), (6, 4, 8), (6, 4, 16),
]  # fmt: skip


@pytest.fixture
def load(tmp_path):
    """Load a file of this content."""

    def loaded(content: bytes, name: str = "a.png", **options: Any) -> Any:
        path = tmp_path / name
        path.write_bytes(content)
        return load_heights(path, **options)

    return loaded


def same(loaded: Any, expected: Any, dtype: Any) -> None:
    assert loaded.dtype == dtype
    assert loaded.flags.c_contiguous
    assert loaded.flags.writeable
    np.testing.assert_array_equal(loaded, expected)


def stacked(*channels):
    return np.stack(channels, axis=2)


def in_8_bits(numbers, bits):
    return numbers if bits >= 8 else numbers * (255 // (2**bits - 1))


# PNG: all bits of every kind


@given(
    st.sampled_from(FORMATS),
    st.tuples(st.integers(2, 13), st.integers(2, 13)),
    st.booleans(),
    st.lists(st.integers(0, 4), min_size=1, max_size=9),
    st.sampled_from([5, 2**16]),  # neighbors that tie, and all bits
    st.integers(0, 2**32 - 1),
)
@examples(150)
def test_every_kind_of_png_comes_back(
    tmp_path_factory, kind, shape, interlaced, filters, end, seed
):
    color, channels, bits = kind
    dtype = np.uint16 if bits == 16 else np.uint8
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, min(2**bits, end), (*shape, channels), dtype)
    path = tmp_path_factory.getbasetemp() / "any.png"
    content = picture_png(numbers, color, bits=bits, interlaced=interlaced, kinds=filters)
    path.write_bytes(content)
    if channels == 1:
        same(load_heights(path), in_8_bits(numbers[:, :, 0], bits), dtype)
    names = {2: ("gray", "alpha")}.get(channels, ("red", "green", "blue", "alpha"))
    for place, name in enumerate(names[:channels] if channels > 1 else ()):
        same(load_heights(path, channel=name), numbers[:, :, place], dtype)
    if bits == 8:  # Pillow reads these as they are
        with Image.open(io.BytesIO(content)) as image:
            np.testing.assert_array_equal(np.asarray(image).reshape(numbers.shape), numbers)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA", "1", "I;16"])
def test_gray_as_pillow_writes_it(load, mode):
    heights = RAMP if mode == "I;16" else SMALL
    image = Image.fromarray(heights)
    if mode == "1":
        heights = np.where(SMALL > 127, 255, 0).astype(np.uint8)
        image = Image.fromarray(heights)
    buffer = io.BytesIO()
    (image if mode == "I;16" else image.convert(mode)).save(buffer, "PNG")
    same(load(buffer.getvalue()), heights, heights.dtype)


def test_gray_kept_in_several_channels(load):
    for heights in (SMALL, RAMP):
        opaque = np.full_like(heights, np.iinfo(heights.dtype).max)
        for color, channels in (
            (2, (heights,) * 3),
            (4, (heights, opaque)),
            (6, (*(heights,) * 3, opaque)),
        ):
            same(load(picture_png(stacked(*channels), color)), heights, heights.dtype)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("interlaced", [False, True])
def test_a_palette_is_what_it_shows(load, bits, interlaced):
    colors = np.random.default_rng(bits).permutation(256)[: 2**bits].astype(np.uint8)
    indices = np.random.default_rng(1).integers(0, 2**bits, (9, 11), np.uint8)
    table = png_chunk(b"PLTE", b"".join(bytes([color] * 3) for color in colors.tolist()))
    options: dict[str, Any] = {"bits": bits, "interlaced": interlaced, "kinds": (1, 4)}
    content = picture_png(indices[:, :, None], 3, extra=table, **options)
    same(load(content), colors[indices], np.uint8)
    clear = np.full(2**bits, 255, np.uint8)
    clear[int(indices[0, 0])] = 0
    content = picture_png(
        indices[:, :, None], 3, extra=table + png_chunk(b"tRNS", clear.tobytes()), **options
    )
    expected = colors[indices].astype(np.float32)
    expected[indices == indices[0, 0]] = np.nan
    same(load(content), expected, np.float32)
    same(load(content, channel="green"), colors[indices], np.uint8)
    same(load(content, channel="alpha"), clear[indices], np.uint8)


# Several channels


RED = stacked(RAMP, RAMP // 2, RAMP * 0)


def test_channels_that_differ_name_the_options(load):
    for content in (picture_png(RED, 2), picture_png(RED.astype(np.uint8), 2)):
        with pytest.raises(
            ValueError,
            match=r"a.png: must be gray, .* got \(3, 1, 0\) at \[0, 0\] "
            r'\(at most [0-9]+ from red anywhere\)\. Pass channel="red" '
            r'\(or "green", "blue"\) .* or, for elevation tiles, encoding="terrarium" or "mapbox"',
        ):
            load(content)
    same(load(picture_png(RED, 2), channel="green"), RAMP // 2, np.uint16)
    for channel, got in ((1, "129, 130, 129"), (2, "129, 129, 130")):
        almost = stacked(SMALL, SMALL, SMALL)
        almost[4, 6, channel] += 1
        with pytest.raises(ValueError, match=rf"got \({got}\) at \[4, 6\] \(at most 1 from red"):
            load(picture_png(almost, 2))


@pytest.mark.parametrize(
    ("content", "name", "options", "error", "message"),
    [
        (gray_png(RAMP), "a.png", {"channel": "red"}, ValueError, "several channels, got gray al"),
        (
            picture_png(stacked(SMALL, SMALL), 4),
            "a.png",
            {"channel": "red"},
            ValueError,
            "channel must be one of its own, gray and alpha, got 'red'",
        ),
        (
            picture_png(RED, 2),
            "a.png",
            {"channel": "alpha"},
            ValueError,
            "red, green and blue, got",
        ),
        (picture_png(RED, 2), "a.png", {"channel": 0}, TypeError, "channel must be a str, got 0"),
        (
            tiff_bytes(RAMP),
            "a.tif",
            {"channel": "red"},
            ValueError,
            "for .png, .bmp and .exr files",
        ),
        (gray_png(SMALL), "a.png", {"encoding": "mapbox"}, ValueError, "blue of 8 bits, got gray"),
        (picture_png(RED, 2), "a.png", {"encoding": "mapbox"}, ValueError, "got .* of uint16"),
        (picture_png(RED, 2), "a.png", {"encoding": "sea"}, ValueError, "encoding must be one of"),
        (npy_bytes(RAMP), "a.npy", {"encoding": "mapbox"}, ValueError, "for .png and .bmp files"),
        (
            picture_png(RED.astype(np.uint8), 2),
            "a.png",
            {"encoding": "mapbox", "height_range": (0, 9)},
            ValueError,
            "height_range must be left out with an encoding, which gives meters",
        ),
        (
            picture_png(RED.astype(np.uint8), 2),
            "a.png",
            {"encoding": "mapbox", "channel": "red"},
            ValueError,
            "channel must be left out with an encoding",
        ),
        (npy_bytes(RAMP), "a.npy", {"key": "a"}, ValueError, "key is for .npz files, got .npy"),
        (npy_bytes(RAMP), "a.npy", {"no_data": "a"}, TypeError, "no_data must be a number"),
        (npy_bytes(RAMP), "a.npy", {"no_data": np.nan}, ValueError, "no_data must be from"),
    ],
)
def test_options_that_make_no_sense_are_refused(load, content, name, options, error, message):
    with pytest.raises(error, match=message):
        load(content, name, **options)


def test_the_map_takes_the_options(tmp_path):
    (tmp_path / "a.png").write_bytes(picture_png(RED, 2))
    land = HeightMap.load(tmp_path / "a.png", channel="red", height_range=(0, 65535), no_data=3)
    assert np.isnan(land[0, 0])
    assert land[0, 1] == RAMP[0, 1]
    np.savez(tmp_path / "a.npz", one=RAMP, two=RAMP[:3])
    assert HeightMap.load(tmp_path / "a.npz", key="two").sample_count == (3, 7)
    HeightMap(RAMP).save(tmp_path / "a.ground")
    for option in ({"channel": "red"}, {"encoding": "mapbox"}, {"no_data": 3}, {"key": "a"}):
        with pytest.raises(ValueError, match=r"must be left out, as a .ground file"):
            HeightMap.load(tmp_path / "a.ground", **option)


# Elevation tiles


@given(st.lists(st.integers(1, 2**24 - 1), min_size=4, max_size=4))
@examples(60)
def test_terrarium_tiles_are_exact(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "tile.png"
    parts = np.array([[number >> 16, number >> 8 & 255, number & 255] for number in numbers])
    path.write_bytes(picture_png(parts.astype(np.uint8).reshape(2, 2, 3), 2))
    heights = load_heights(path, encoding="terrarium")
    assert heights.dtype == np.float64
    assert heights.ravel().tolist() == [number / 256 - 32768 for number in numbers]
    assert (heights.astype(np.float32) == heights).all()


@given(st.lists(st.integers(0, 2**24 - 1), min_size=4, max_size=4))
@examples(60)
def test_mapbox_tiles_are_the_decimals_they_mean(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "tile.png"
    parts = np.array([[number >> 16, number >> 8 & 255, number & 255] for number in numbers])
    path.write_bytes(picture_png(parts.astype(np.uint8).reshape(2, 2, 3), 2))
    decimals = [float(f"{number - 100_000}e-1") for number in numbers]
    assert load_heights(path, encoding="mapbox").ravel().tolist() == decimals


def test_tiles_without_a_warning_and_with_holes(tmp_path):
    tile = np.full((4, 4, 4), 255, np.uint8)
    tile[:, :, :3] = (128, 100, 64)
    tile[1, 2, 3] = 0
    (tmp_path / "a.png").write_bytes(picture_png(tile, 6))
    land = HeightMap.load(tmp_path / "a.png", encoding="terrarium", border="open")
    assert land[0, 0] == 100.25
    assert np.isnan(land[1, 2])
    assert land.height_at(3, 3) == 100.25
    assert np.isnan(land.height_at(2, 1))
    (tmp_path / "a.bmp").write_bytes(bmp_bytes(tile[:, :, :3], 24))
    assert HeightMap.load(tmp_path / "a.bmp", encoding="terrarium")[1, 2] == 100.25


def test_the_void_of_terrarium_is_no_ground(load):
    tile = np.zeros((2, 2, 3), np.uint8)
    tile[0, :, 0] = 128
    content = picture_png(tile, 2)
    with pytest.raises(ValueError, match=r"above -32768, .* got it at \[1, 0\]\. Pass no_data=-32"):
        load(content, encoding="terrarium")
    same(load(content, encoding="terrarium", no_data=-32768), [[0, 0], [np.nan] * 2], np.float64)


# Alpha


def test_transparent_is_a_hole_and_half_is_refused(load):
    for heights in (SMALL, RAMP):
        most = int(np.iinfo(heights.dtype).max)
        alpha = np.full_like(heights, most)
        alpha[1, 2] = 0
        expected = heights.astype(np.float32)
        expected[1, 2] = np.nan
        for color, channels in ((4, (heights, alpha)), (6, (*(heights,) * 3, alpha))):
            same(load(picture_png(stacked(*channels), color)), expected, np.float32)
        ranged = load(picture_png(stacked(heights, alpha), 4), height_range=(0, most))
        same(ranged, expected, np.float64)
        alpha[3, 3] = most - 1
        content = picture_png(stacked(heights, alpha), 4)
        with pytest.raises(ValueError, match=rf"opaque, .* alpha {most - 1} of {most} at \[3, 3\]"):
            load(content)
        same(load(content, channel="gray"), heights, heights.dtype)
        same(load(content, channel="alpha"), alpha, heights.dtype)


def test_a_picture_that_is_all_transparent_is_refused(load):
    content = picture_png(stacked(SMALL, SMALL * 0), 4)
    with pytest.raises(ValueError, match=r'got alpha 0 everywhere. Pass channel="gray" to read'):
        load(content)
    same(load(content, channel="gray"), SMALL, np.uint8)


def test_one_color_that_is_transparent(load):
    for heights in (SMALL, RAMP):
        expected = heights.astype(np.float32)
        expected[heights == heights[2, 3]] = np.nan
        one = struct.pack(">H", heights[2, 3])
        gray, rgb = heights[:, :, None], stacked(heights, heights, heights)
        same(load(picture_png(gray, 0, extra=png_chunk(b"tRNS", one))), expected, np.float32)
        same(load(picture_png(rgb, 2, extra=png_chunk(b"tRNS", one * 3))), expected, np.float32)
    four = np.array([[0, 1], [2, 3]], np.uint8)
    content = picture_png(four[:, :, None], 0, bits=2, extra=png_chunk(b"tRNS", b"\0\2"))
    same(load(content), [[0, 85], [np.nan, 255]], np.float32)


# BMP


@given(
    st.sampled_from([1, 4, 8, 24, 32]),
    st.tuples(st.integers(2, 9), st.integers(2, 9)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@examples(60)
def test_every_kind_of_bmp_comes_back(tmp_path_factory, bits, shape, upright, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "any.bmp"
    if bits <= 8:
        palette = rng.integers(0, 256, (2**bits, 3), np.uint8)
        indices = rng.integers(0, 2**bits, shape, np.uint8)
        content = bmp_bytes(indices, bits, palette=palette, upright=upright)
        colors = palette[indices]
    else:
        colors = rng.integers(0, 256, (*shape, bits // 8), np.uint8)
        content = bmp_bytes(colors, bits, upright=upright)
    path.write_bytes(content)
    for place, name in enumerate(("red", "green", "blue")):
        same(load_heights(path, channel=name), colors[:, :, place], np.uint8)
    with Image.open(io.BytesIO(content)) as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), colors[:, :, :3])


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_gray_bmp_as_pillow_writes_it(load, mode):
    heights = np.where(SMALL > 127, 255, 0).astype(np.uint8) if mode == "1" else SMALL
    buffer = io.BytesIO()
    Image.fromarray(heights).convert(mode).save(buffer, "BMP")
    same(load(buffer.getvalue(), "a.bmp"), heights, np.uint8)


def test_bmp_with_alpha(load):
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    alpha = np.full_like(SMALL, 255)
    alpha[0, 1] = 0
    pixels = stacked(SMALL, SMALL, SMALL, alpha)
    expected = SMALL.astype(np.float32)
    expected[0, 1] = np.nan
    same(load(bmp_bytes(pixels, 32, masks=masks), "a.bmp"), expected, np.float32)
    same(load(bmp_bytes(pixels, 32), "a.bmp"), SMALL, np.uint8)  # plain 32 bits have no alpha
    same(load(bmp_bytes(pixels, 32, masks=(*masks[:3], 0)), "a.bmp"), SMALL, np.uint8)


# OpenEXR


def exr(monkeypatch, *parts: dict[str, Any]) -> bytes:
    """Stand for OpenEXR, which then reads these parts; return a file that it may be asked for."""

    def opened(name: str, *, separate_channels: bool, header_only: bool) -> SimpleNamespace:
        assert separate_channels
        made = []
        for part in parts:
            shape = next(iter(part.values())).shape if part else (2, 2)
            known = [SimpleNamespace(name=name, xSampling=1, ySampling=1) for name in part]
            window = np.array([5, 6]), np.array([shape[1] + 4, shape[0] + 5])
            pixels = {name: SimpleNamespace(pixels=values) for name, values in part.items()}
            header = {"dataWindow": window, "channels": known}
            made.append(SimpleNamespace(header=header, channels={} if header_only else pixels))
        return SimpleNamespace(parts=made)

    module = ModuleType("OpenEXR")
    vars(module)["File"] = opened
    monkeypatch.setitem(sys.modules, "OpenEXR", module)
    return b"v/1\x01\2\0\0\0" + bytes(99)


METERS = (RAMP * 0.37).astype(np.float32)
ONES = np.ones_like(METERS)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint32])
def test_exr_of_one_channel(load, monkeypatch, dtype):
    heights = METERS.astype(dtype)
    for name in ("Y", "R", "A", "height"):
        same(load(exr(monkeypatch, {name: heights}), "a.exr"), heights, dtype)


def test_exr_of_several_channels(load, monkeypatch):
    gray = {"A": ONES, "B": METERS, "G": METERS, "R": METERS}  # the library sorts them
    same(load(exr(monkeypatch, gray), "a.exr"), METERS, np.float32)
    holes = gray | {"A": np.where(METERS > 900, np.float32(0), ONES)}
    expected = np.where(METERS > 900, np.float32(np.nan), METERS)
    same(load(exr(monkeypatch, holes), "a.exr"), expected, np.float32)
    with pytest.raises(ValueError, match=r"got alpha 0.5 of 1.0 at \[0, 0\]"):
        load(exr(monkeypatch, gray | {"A": ONES / 2}), "a.exr")
    apart = gray | {"G": METERS * 2}
    with pytest.raises(ValueError, match=r'must be gray, .* Pass channel="red"'):
        load(exr(monkeypatch, apart), "a.exr")
    same(load(exr(monkeypatch, apart), "a.exr", channel="green"), METERS * 2, np.float32)
    two = {"height": METERS, "mask": ONES}
    with pytest.raises(ValueError, match=r"got height and mask. Pass channel='height' or another"):
        load(exr(monkeypatch, two), "a.exr")
    same(load(exr(monkeypatch, two), "a.exr", channel="height"), METERS, np.float32)
    nan = np.where(METERS > 900, np.float32(np.nan), METERS)
    same(load(exr(monkeypatch, {"R": nan, "G": nan, "B": nan}), "a.exr"), nan, np.float32)


def test_exr_that_is_none_or_too_much(load, monkeypatch):
    content = exr(monkeypatch, {"Y": METERS}, {"Y": METERS})
    with pytest.raises(ValueError, match="must have one part, undamaged, got 2"):
        load(content, "a.exr")
    with pytest.raises(ValueError, match="must have one part, undamaged, got 0"):
        load(exr(monkeypatch), "a.exr")
    with pytest.raises(ValueError, match="must have channels with all pixels, got none"):
        load(exr(monkeypatch, {}), "a.exr")
    with pytest.raises(ValueError, match="must start as an OpenEXR file"):
        load(content[1:], "a.exr")
    with pytest.raises(ValueError, match="one sample in each pixel, got deep data"):
        load(b"v/1\x01\2\x08\0\0" + bytes(99), "a.exr")
    huge = np.broadcast_to(np.float32(0), (9000, 9000))
    with pytest.raises(ValueError, match="an image must have at most 80000000 pixels"):
        load(exr(monkeypatch, {"Y": huge}), "a.exr")
    wide = np.broadcast_to(np.float32(0), (4000, 4000))
    with pytest.raises(ValueError, match="too few bytes for its pixels"):
        load(exr(monkeypatch, {"Y": wide}), "a.exr")


def test_without_openexr_the_extra_is_named(load, monkeypatch):
    content = exr(monkeypatch, {"Y": METERS})
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(ImportError, match=r'a.exr: .* pip install "terrain-physics\[exr\]"') as got:
        load(content, "a.exr")
    assert got.value.name == "OpenEXR"


@pytest.mark.parametrize(
    "compression", ["NO", "RLE", "ZIPS", "ZIP", "PIZ"], ids=lambda name: name.lower()
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint32])
def test_exr_itself(tmp_path, compression, dtype):
    openexr = library("OpenEXR", "exr")
    heights = METERS.astype(dtype)
    header = {"compression": getattr(openexr, f"{compression}_COMPRESSION")}
    header["type"] = openexr.scanlineimage
    path = tmp_path / "a.exr"
    for channels in ({"Y": heights}, {"R": heights, "G": heights, "B": heights}):
        openexr.File(header, channels).write(str(path))
        same(load_heights(path), heights, dtype)
    content = path.read_bytes()
    for end in range(0, len(content), 7):
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match=r"a.exr: "):
            load_heights(path)
