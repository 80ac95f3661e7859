"""Height-map files that are none, are damaged or lie about their size."""

import gzip
import io
import os
import random
import re
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from terrain_physics import HeightMap
from terrain_physics.heightmap import files
from terrain_physics.heightmap.files import load_heights
from terrain_physics.heightmap.formats import readers
from terrain_physics.heightmap.formats.exr import read_exr
from terrain_physics.heightmap.formats.readers import READERS
from terrain_physics.heightmap.formats.source import IMAGE_BYTES_LIMIT, PIXEL_LIMIT
from tests.helpers.examples import times
from tests.helpers.height_files import (
    RAMP,
    bmp_bytes,
    dds_bytes,
    gray_png,
    npy_bytes,
    npy_header,
    picture_png,
    png_bytes,
    png_chunk,
    tiff_bytes,
)


def changed(content: bytes, place: int, value: int) -> bytes:
    return content[:place] + bytes([value]) + content[place + 1 :]


def put_in(content: bytes, place: int, form: str, number: int) -> bytes:
    data = bytearray(content)
    struct.pack_into(form, data, place, number)
    return bytes(data)


def npz_bytes(
    heights: Any,
    *,
    name: str = "a.npy",
    packing: int = zipfile.ZIP_STORED,
    claims: int | None = None,
) -> bytes:
    """An archive of an array or of bytes; what it says of their length is up to the caller."""
    content = heights if isinstance(heights, bytes) else npy_bytes(heights)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        archive.writestr(name, content)
    data = buffer.getvalue()
    return data if claims is None else put_in(data, data.index(b"PK\1\2") + 24, "<I", claims)


def png_with(content: bytes, rows: int, columns: int) -> bytes:
    """A gray PNG of 8 bits: ``content`` are its lines, with the numbers of their filters."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0))
    chunks = header + png_chunk(b"IDAT", zlib.compress(content)) + png_chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def with_true_checksums(content: bytes) -> bytes:
    """Mend the checksums of a PNG's chunks, so that damage gets past them."""
    data, offset = bytearray(content), 8
    while offset + 12 <= len(data):
        end = offset + 12 + int.from_bytes(data[offset : offset + 4], "big")
        if end > len(data):
            break
        data[end - 4 : end] = struct.pack(">I", zlib.crc32(data[offset + 4 : end - 4]))
        offset = end
    return bytes(data)


HGT = np.arange(9, dtype=">i2").tobytes()
GRID = b"ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 20\n"
HUGE_GRID = b"ncols 30000\nnrows 30000\ncellsize 20\n" + b"1 " * 999


def gzip_bytes(content: bytes, *, claims: int | None = None) -> bytes:
    """Pack ``content``; what the end says of its length is up to the caller."""
    packed = gzip.compress(content, mtime=0)
    return packed if claims is None else packed[:-4] + struct.pack("<I", claims)


# Bombs take a second to pack: functions, so that only the tests of them do it.


@cache
def gzip_bomb() -> bytes:
    return gzip.compress(bytes(170_000_000), compresslevel=1)


@cache
def lying_bomb() -> bytes:
    return gzip.compress(bytes(100_000_000), compresslevel=1)[:-4] + struct.pack("<I", 18)


@cache
def wide_png() -> bytes:
    return png_bytes(9000, 9000, 8, 0, [bytes(9001)] * 9000)  # a real bomb: 80 KB, 81 MB


@cache
def deep_png() -> bytes:
    """A picture within the limit of pixels, whose pixels have 8 bytes: half a megabyte of file."""
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(64_001 * 100)) for _ in range(80)) + packer.flush()
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", 8000, 8000, 16, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", packed) + png_chunk(b"IEND", b"")


ZIP = npy_header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }") + b"cos\nsystem\n"
HUGE_NPY = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999), }")
LINE = npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }") + b"\0" * 16
RGB = png_bytes(2, 2, 8, 2, [b"\0" * 6, b"\0" * 5 + b"\1"])
GRAY_ALPHA = png_bytes(2, 2, 16, 4, [b"\0\0\xff\xff" * 2, b"\0\0\xff\xff\0\0\0\1"])
TWO_COLORS = png_chunk(b"PLTE", b"\0\0\0\0\0\1")
PALETTE = png_bytes(2, 2, 8, 3, [b"\0\1"] * 2, extra=TWO_COLORS)
FEW_COLORS = png_bytes(2, 2, 8, 3, [b"\0\2"] * 2, extra=TWO_COLORS)
ODD_COLORS = png_bytes(2, 2, 8, 3, [b"\0\1"] * 2, extra=png_chunk(b"PLTE", bytes(7)))
MANY_ALPHAS = png_bytes(2, 2, 8, 3, [b"\0\1"] * 2, extra=TWO_COLORS + png_chunk(b"tRNS", b"\0\1\2"))
NO_COLORS = png_bytes(2, 2, 8, 3, [b"\0\1"] * 2)
ODD_CLEAR = png_bytes(2, 2, 8, 0, [b"\0\1"] * 2, extra=png_chunk(b"tRNS", b"\0\1\2"))
UNKNOWN_FILTER = png_with(b"\0\0\0\5\0\0", 2, 2)
BMP = bmp_bytes(np.zeros((4, 5, 3), "u1"), 24)
BMP_8 = bmp_bytes(np.array([[0, 1], [2, 3]], "u1"), 8, palette=np.zeros((4, 3), "u1"))
THIN = png_bytes(1, 9, 8, 0, [bytes(9)])
NO_PIXELS = png_bytes(2, 2, 8, 0, [])
HUGE_PNG = png_bytes(1 << 31, 1 << 31, 16, 0, [b"\0\0"])
FEW_PNG = png_bytes(8000, 8000, 16, 0, [b"\0\0"])
HUGE_TIFF = tiff_bytes(RAMP, changes=[(256, 4, 1, 9000), (257, 4, 1, 9000)])
FEW_TIFF = tiff_bytes(RAMP, changes=[(256, 4, 1, 5000)])
FEW_DEFLATE = tiff_bytes(RAMP, deflate=True, changes=[(256, 4, 1, 5000), (257, 4, 1, 5000)])


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Write a file, return its path."""

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npy", b"", "must start as a NumPy file, got b''"),
        ("a.npy", gray_png(RAMP), "must start as a NumPy file"),
        ("a.npy", npy_bytes(RAMP)[:-1], "truncated: needs 198 bytes, got 197"),
        ("a.npy", npy_bytes(RAMP)[:60], "damaged header"),
        ("a.npy", npy_bytes(RAMP)[:7] + b"\x01" + npy_bytes(RAMP)[8:], "format version 1.1,"),
        ("a.npy", npy_bytes(RAMP).replace(b"NUMPY\1", b"NUMPY\7"), "format version 7"),
        ("a.npy", HUGE_NPY, "truncated: needs 79999998400000"),
        ("a.npy", ZIP, "must hold integers or floats of up to 8 bytes"),
        ("a.npy", npy_bytes(np.zeros((2, 2), complex)), "must hold integers or floats"),
        ("a.npy", npy_bytes(np.zeros((2, 2), bool)), "must hold integers or floats"),
        ("a.npy", npy_bytes(np.zeros((2, 2), "S4")), "must hold integers or floats"),
        ("a.npy", npy_bytes(np.zeros((2, 2), [("x", "f4")])), "must hold integers or floats"),
        ("a.npy", LINE, r"two-dimensional, at least 2 x 2, got shape \(2,\)"),
        ("a.npy", npy_bytes(np.zeros((2, 2, 2))), "two-dimensional"),
        ("a.npy", npy_bytes(np.zeros((1, 9))), "at least 2 x 2"),
        ("a.npy", npy_bytes(np.zeros((0, 4))), "at least 2 x 2"),
        ("a.npz", b"", "damaged .npz file .BadZipFile"),
        ("a.npz", npy_bytes(RAMP), "damaged .npz file .BadZipFile"),
        ("a.npz", npz_bytes(RAMP)[:-1], "damaged .npz file .BadZipFile"),
        ("a.npz", changed(npz_bytes(RAMP), 200, 9), "damaged .npz file"),
        ("a.npz", npz_bytes(RAMP, name="a.txt"), "must hold one array, .* got none"),
        ("a.npz", npz_bytes(HUGE_NPY), "truncated: needs 79999998400000"),
        ("a.npz", npz_bytes(RAMP, packing=zipfile.ZIP_BZIP2), "another packing"),
        ("a.npz", npz_bytes(RAMP, claims=1 << 30), "must unpack to at most 198 bytes, got 1073741"),
        (
            "a.npz",
            npz_bytes(RAMP, packing=zipfile.ZIP_DEFLATED, claims=1 << 30),
            "an array must unpack to at most [0-9]+ bytes, got 1073741824",
        ),
        ("a.r32", bytes(2), "square of 32-bit heights, .* got 2 bytes"),
        ("a.r32", bytes(4 * 6), "square of 32-bit heights, .* got 24 bytes"),
        ("a.bmp", b"", "must start as a BMP file, got b''"),
        ("a.bmp", BMP[:53], "must start as a BMP file"),
        ("a.bmp", BMP[:-1], "truncated: needs 118 bytes, got 117"),
        ("a.bmp", gray_png(RAMP), "must start as a BMP file"),
        ("a.bmp", put_in(BMP, 14, "<I", 12), "header of 12 bytes"),
        ("a.bmp", put_in(BMP, 28, "<H", 16), "must have 1, 4, 8, 24 or 32 bits .* got 16 bits"),
        ("a.bmp", put_in(BMP, 30, "<I", 1), "not compressed, got 24 bits, compression 1"),
        ("a.bmp", put_in(BMP, 18, "<i", 1 << 30), "truncated: needs 12884901942 bytes, got 118"),
        ("a.bmp", put_in(BMP, 22, "<i", -(1 << 31)), "truncated: needs 34359738422 bytes"),
        ("a.bmp", put_in(BMP, 18, "<i", -5), "at least 2 x 2 heights, got 4 rows, -5 columns"),
        ("a.bmp", put_in(BMP, 10, "<I", 99), "truncated: needs 163 bytes, got 118"),
        ("a.bmp", put_in(BMP_8, 46, "<I", 3), "a palette of 3 colors, and a pixel of color 3"),
        ("a.bmp", put_in(BMP_8, 46, "<I", 999), "a palette of 999 colors"),
        ("a.bmp", put_in(BMP_8, 10, "<I", 54), "a palette of 4 colors"),
        (
            "a.bmp",
            bmp_bytes(np.zeros((2, 2, 4), "u1"), 32, masks=(255, 0xFF00, 0xFF0000, 0)),
            "8 bits for each color, got masks .'0xff', '0xff00', '0xff0000'.",
        ),
        ("a.exr", b"", "must start as an OpenEXR file, got b''"),
        ("a.r16", b"", "square of 16-bit heights, .* got 0 bytes"),
        ("a.r16", bytes(2), "got 2 bytes"),
        ("a.r16", bytes(2 * 3 * 4), "got 24 bytes"),
        ("a.raw", bytes(19), "got 19 bytes"),
        ("a.hgt", bytes(1201 * 1201 * 2 - 2), "got 2884800 bytes"),
        ("a.hgt.gz", b"", "must start as a gzip file, got b''"),
        ("a.hgt.gz", HGT, "must start as a gzip file"),
        ("a.hgt.gz", gzip_bytes(HGT)[:-1], "must (unpack|be)"),
        ("a.hgt.gz", gzip_bytes(HGT[:-1]), "square of 16-bit heights, .* got 17 bytes"),
        ("a.hgt.gz", gzip_bytes(HGT, claims=8), "must unpack to 8 bytes, and end there|damaged"),
        ("a.hgt.gz", gzip_bytes(HGT, claims=32), r"damaged gzip file"),
        ("a.hgt.gz", gzip_bytes(HGT)[:-12] + gzip_bytes(HGT)[-8:], "damaged gzip file"),
        ("a.hgt.gz", gzip_bytes(HGT) + gzip_bytes(HGT), "and end there"),
        (
            "a.hgt.gz",
            gzip_bytes(HGT, claims=80_000),
            "must unpack to at most [0-9]+ bytes, got 80000",
        ),
        ("a.hgt.gz", gzip_bomb, "must unpack to at most 160000000 bytes, got 170000000"),
        ("a.hgt.gz", lying_bomb, "damaged gzip file: must unpack to 18 bytes, and end there"),
        ("a.asc", b"", "header must have nrows, a whole number, got nan"),
        ("a.asc", b"1 2 3 4", "header must have nrows"),
        ("a.asc", b"rows 2\n" + GRID, "header must be that of an ESRI ASCII grid, got b'rows'"),
        ("a.asc", GRID.replace(b"3", b"3.5") + b"1 " * 6, "ncols, a whole number, got 3.5"),
        ("a.asc", GRID.replace(b"3", b"-3") + b"1 " * 6, "ncols, a whole number, got -3"),
        ("a.asc", GRID.replace(b"3", b"inf") + b"1 " * 6, "ncols, a whole number, got inf"),
        ("a.asc", GRID.replace(b"3", b"1") + b"1 " * 6, "at least 2 x 2 heights, got 2 rows, 1"),
        (
            "a.asc",
            GRID.replace(b"cellsize 20", b"") + b"1 " * 6,
            "must have cellsize, or dx and dy",
        ),
        ("a.asc", GRID.replace(b"20", b"2,0") + b"1 " * 6, "must hold numbers, got b'2,0'"),
        ("a.asc", GRID + b"1 2 3 4 5", "truncated: needs at least 62 bytes, got 61"),
        ("a.asc", GRID + b"1.00000 2 3 4 5", "truncated: must hold 6 heights, got 5"),
        ("a.asc", GRID + b"1 2 3 4 5 6 7", "must hold 6 heights, got more"),
        ("a.asc", GRID + b"1 2 3 4 5 1,5", "must hold numbers, got b'1,5'"),
        (
            "a.asc",
            GRID + b"1 2 3 4 5 inf",
            r"heights must be finite or NaN, got infinity at \[1, 2\]",
        ),
        ("a.asc", GRID + b"1" * 999_999, "must hold numbers, got b'1111"),
        ("a.asc", HUGE_GRID, "truncated: needs at least 1800000034 bytes, got 2034"),
        ("a.png", b"", "must start as a PNG file"),
        ("a.png", b"GIF89a" + bytes(60), "must start as a PNG file, got b'GIF89a"),
        ("a.png", gray_png(RAMP)[:20], "must start as a PNG file"),
        ("a.png", gray_png(RAMP)[:40], "truncated"),
        ("a.png", gray_png(RAMP)[:-1], "truncated: no end"),
        ("a.png", gray_png(RAMP)[:-24], "truncated: PNG chunk b'IDAT'"),
        ("a.png", RGB, r"must be gray, .* got \(0, 0, 1\) at \[1, 1\]"),
        ("a.png", GRAY_ALPHA, r"must be opaque, .* got alpha 1 of 65535 at \[1, 1\]"),
        ("a.png", PALETTE, r"must be gray, .* got \(0, 0, 1\) at \[0, 1\]"),
        ("a.png", FEW_COLORS, "a palette of 6 bytes with 0 of alpha, and a pixel of color 2"),
        ("a.png", ODD_COLORS, "a palette of 7 bytes with 0 of alpha, and a pixel of color 1"),
        ("a.png", MANY_ALPHAS, "a palette of 6 bytes with 3 of alpha"),
        ("a.png", NO_COLORS, "a palette of 0 bytes"),
        ("a.png", ODD_CLEAR, "damaged PNG file: a transparent color of 3 bytes"),
        ("a.png", png_bytes(2, 2, 3, 0, [b"\0"] * 2), "no PNG has 3 bits of color type 0"),
        ("a.png", png_bytes(2, 2, 4, 2, [b"\0" * 3] * 2), "no PNG has 4 bits of color type 2"),
        ("a.png", png_bytes(2, 2, 8, 5, [b"\0" * 3] * 2), "no PNG has 8 bits of color type 5"),
        ("a.png", with_true_checksums(changed(gray_png(RAMP), 26, 1)), r"methods \[1, 0\]"),
        ("a.png", with_true_checksums(changed(gray_png(RAMP), 27, 1)), r"methods \[0, 1\]"),
        ("a.png", with_true_checksums(changed(gray_png(RAMP), 28, 2)), "interlace 2"),
        ("a.png", with_true_checksums(changed(gray_png(RAMP), 28, 1)), "must unpack to"),
        ("a.png", UNKNOWN_FILTER, "damaged PNG file: filters must be 0 to 4, got 5"),
        ("a.png", with_true_checksums(changed(gray_png(RAMP), 50, 0)), "damaged PNG file .Error"),
        ("a.png", THIN, "at least 2 x 2 heights, got 1 rows, 9 columns"),
        ("a.png", NO_PIXELS, "damaged PNG file"),
        ("a.png", HUGE_PNG, "at most 80000000 pixels, got 2147483648 rows"),
        ("a.png", wide_png, "at most 80000000 pixels, got 9000 rows"),
        ("a.png", deep_png, "an image must unpack to at most 320000000 bytes, got 512008000"),
        ("a.png", FEW_PNG, "truncated: too few bytes for its pixels, got 8000 rows"),
        ("a.tif", b"", "must start as a TIFF file"),
        ("a.tif", b"II*\0", "truncated"),
        ("a.tif", tiff_bytes(RAMP)[:-9], "truncated"),
        ("a.tif", gray_png(RAMP), "must start as a TIFF file"),
        ("a.tif", tiff_bytes(RAMP.astype(float)), "must be 32-bit float, .* got 64-bit float"),
        ("a.tif", tiff_bytes(RAMP.astype(np.int8)), "got 8-bit signed"),
        ("a.tif", tiff_bytes(RAMP.astype("u4"), order=">"), "must be little-endian, got big"),
        ("a.tif", tiff_bytes(RAMP, changes=[(277, 3, 1, 3)]), "one channel.* got 3 channels"),
        ("a.tif", tiff_bytes(RAMP, changes=[(262, 3, 1, 3)]), "photometric 3"),
        ("a.tif", tiff_bytes(RAMP, changes=[(262, 3, 1, 0)]), "photometric 0"),
        (
            "a.tif",
            tiff_bytes(RAMP, changes=[(259, 3, 1, 7)]),
            "compression must be one of .* got 7",
        ),
        ("a.tif", tiff_bytes(RAMP, changes=[(257, 4, 1, 1)]), "at least 2 x 2 heights"),
        (
            "a.tif",
            tiff_bytes(RAMP, changes=[(42113, 2, 3, b"no\0")]),
            "must be a number, got b'no'",
        ),
        ("a.tif", HUGE_TIFF, "at most 80000000 pixels"),
        ("a.tif", FEW_TIFF, "too few bytes for its pixels"),
        ("a.tif", FEW_DEFLATE, "too few bytes for its pixels"),
    ],
)
def test_bad_files_are_refused_by_name_rule_and_value(put, name, content, message):
    content = content() if callable(content) else content
    load_heights(put("whole.png", gray_png(RAMP)))  # a kernel is loaded, which is not measured
    path = put(name, content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message) as caught:
            load_heights(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: ")
    assert peak < len(content) + 3_000_000  # the file itself, and Pillow's import


def test_size_limits_hold_before_anything_is_read(tmp_path):
    path = tmp_path / "a.png"
    with path.open("wb") as file:
        file.write(gray_png(RAMP))
        file.truncate(IMAGE_BYTES_LIMIT + 1)  # sparse: takes no room on the disk
    with pytest.raises(ValueError, match=re.escape(f"{path}: must have at most {1 << 30} bytes")):
        load_heights(path)


@pytest.mark.parametrize("content", [HUGE_PNG, wide_png, FEW_PNG, HUGE_TIFF, FEW_TIFF, FEW_DEFLATE])
def test_bombs_never_reach_the_decoder(put, monkeypatch, content):
    content = content() if callable(content) else content
    opened = []
    monkeypatch.setattr(Image, "open", lambda *given, **_: opened.append(given))
    monkeypatch.setattr(zlib, "decompressobj", lambda *given: opened.append(given))
    with pytest.raises(ValueError, match="pixels"):
        load_heights(put("a.png" if content.startswith(b"\x89") else "a.tif", content))
    assert not opened


def test_no_more_is_unpacked_than_a_png_has_pixels(put):
    path = put("a.png", png_with(bytes(20_000_000), 2, 2))  # what follows its pixels is left out
    tracemalloc.start()
    try:
        assert not load_heights(path).any()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_the_largest_usual_image_is_within_the_limit():
    assert 8193 * 8193 <= PIXEL_LIMIT < (Image.MAX_IMAGE_PIXELS or 0)  # above its own Pillow warns


def test_a_broken_bit_anywhere_in_a_png_is_noticed(put):
    content = bytearray(gray_png(RAMP[:2, :2]))
    path = put("a.png", content)
    load_heights(path)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
            load_heights(path)


def test_unknown_suffix_lists_the_known_ones(put):
    for name in ("a.jpg", "png", ".png"):
        path = put(name, gray_png(RAMP))
        with pytest.raises(
            ValueError, match=r"must be one of \.npy, \.npz, .*\.tiff, got"
        ) as error:
            load_heights(path)
        assert str(path) in str(error.value)


def test_missing_file_directory_and_pipe(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_heights(tmp_path / "missing.png")
    assert "missing.png" in str(caught.value)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ValueError, match=r"folder.png: must be a regular file, got d"):
        load_heights(tmp_path / "folder.png")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.raw")
        with pytest.raises(ValueError, match=r"pipe.raw: must be a regular file, got p"):
            load_heights(tmp_path / "pipe.raw")


TILE = (np.arange(12 * 12).reshape(12, 12) * 401 % 60000).astype(np.uint16)
GRAYS = np.repeat(np.arange(0, 256, 17, dtype=np.uint8)[:, None], 3, axis=1)
SEEDS = {
    "npy": ("a.npy", npy_bytes(TILE)),
    "npy, fortran order, floats": ("a.npy", npy_bytes(np.asfortranarray(TILE, np.float32))),
    "npz": ("a.npz", npz_bytes(TILE)),
    "npz, packed": ("a.npz", npz_bytes(TILE, packing=zipfile.ZIP_DEFLATED)),
    "r16": ("a.r16", TILE.tobytes()),
    "r32": ("a.r32", TILE.astype("<f4").tobytes()),
    "csv": ("a.csv", b"\n".join(",".join(map(str, row)).encode() for row in TILE.tolist())),
    "txt": ("a.txt", b"\n".join(" ".join(map(str, row)).encode() for row in TILE.tolist())),
    "bmp, palette": ("a.bmp", bmp_bytes(TILE.astype("u1") % 16, 4, palette=GRAYS)),
    "bmp, 24 bit": ("a.bmp", bmp_bytes(np.stack([TILE.astype("u1")] * 3, axis=2), 24)),
    "hgt": ("a.hgt", TILE.tobytes()),
    "hgt, packed": ("a.hgt.gz", gzip_bytes(TILE.tobytes())),
    "asc": (
        "a.asc",
        b"ncols 12\nnrows 12\ncellsize 5\nNODATA_value 3\n"
        + " ".join(map(str, TILE.ravel().tolist())).encode(),
    ),
    "dds, 8 bit": ("a.dds", dds_bytes(TILE.astype(np.uint8))),
    "dds, 16 bit": ("a.dds", dds_bytes(TILE)),
    "dds, DX10, floats": ("a.dds", dds_bytes(TILE.astype(np.float32), dx10=41)),
    "png, 8 bit": ("a.png", gray_png(TILE.astype(np.uint8))),
    "png, 16 bit": ("a.png", gray_png(TILE)),
    "png, palette": (
        "a.png",
        picture_png(
            (TILE % 16).astype("u1")[:, :, None],
            3,
            bits=4,
            interlaced=True,
            kinds=range(5),
            extra=png_chunk(b"PLTE", GRAYS.tobytes()) + png_chunk(b"tRNS", b"\xff\0"),
        ),
    ),
    "png, RGB of 16 bit": ("a.png", picture_png(np.stack([TILE] * 3, axis=2), 2, kinds=(4, 3))),
    "png, gray and alpha": (
        "a.png",
        picture_png(np.stack([TILE, TILE * 0 - 1], axis=2).astype("u1"), 4, interlaced=True),
    ),
    "tiff, 32 bit": ("a.tif", tiff_bytes(TILE.astype(np.int32))),
    "tiff, floats": ("a.tif", tiff_bytes(TILE.astype(np.float32))),
    "tiff, deflate": ("a.tif", tiff_bytes(TILE, order=">", deflate=True)),
    "tiff, big": ("a.tif", tiff_bytes(TILE, big=True, changes=[(42113, 2, 9, b"-9999.00\0")])),
}


def test_each_reader_has_a_seed():
    suffixes = {"." + name.partition(".")[2] for name, _ in SEEDS.values()}
    # OpenEXR may be missing; where it is not, test_files_pictures cuts such a file.
    assert {READERS[suffix] for suffix in suffixes} == set(READERS.values()) - {read_exr}


@pytest.mark.parametrize("kind", SEEDS)
def test_files_cut_anywhere_load_or_are_refused_by_name(put, kind):
    name, content = SEEDS[kind]
    path = put(name, content)
    for end in range(0, len(content), 1 if times(100) == 100 else 7):
        path.write_bytes(content[:end])
        assert outcome(path) in {"loaded", "refused"}


def test_docstrings_list_each_format():
    for text in (readers.__doc__, files.__doc__, load_heights.__doc__, HeightMap.load.__doc__):
        assert text is not None
        missing = [suffix for suffix in READERS if suffix not in text]
        assert not missing, text


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Break a file in one to four places: bits, lengths, missing, added and moved parts."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data) or 1)
        span = chance.choice((1, 2, 4, 8, 40))
        match chance.randrange(7):
            case 0:
                data[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[place:]
            case 2:
                del data[place : place + span]
            case 3:
                data[place:place] = chance.randbytes(span)
            case 4:
                data[place : place + span] = chance.choice((b"\0", b"\xff", b"9")) * span
            case 5:
                data[place:place] = data[chance.randrange(len(data) or 1) :][:span]
            case 6:
                number = chance.choice((0, 1, 2, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF))
                data[place : place + 4] = struct.pack(chance.choice("<>") + "I", number)
    return bytes(data)


def outcome(path: Path) -> str:
    """Return "loaded" or "refused"; any other exception is the test's failure."""
    try:
        heights = load_heights(path)
    except (ValueError, OSError) as error:
        return "refused" if str(path) in str(error) else f"refused without naming it: {error}"
    assert heights.ndim == 2
    assert min(heights.shape) >= 2
    assert heights.dtype.kind in "iuf"
    return "loaded"


def fuzz(path: Path, content: bytes, count: int, seed: str) -> None:
    chance = random.Random(seed)  # noqa: S311
    outcomes = {"loaded": 0, "refused": 0}
    outcome(path)  # imports Pillow, which is not what is measured
    tracemalloc.start()
    try:
        for _ in range(count):
            damaged = mutated(content, chance)
            if path.suffix == ".png" and chance.random() < 0.8:
                damaged = with_true_checksums(damaged)
            path.write_bytes(damaged)
            outcomes[outcome(path)] += 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000  # the files have less than 1 KB
    assert outcomes["loaded"] + outcomes["refused"] == count
    assert outcomes["refused"] > count // 10


@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_files_load_or_are_refused_by_name(put, kind):
    name, content = SEEDS[kind]
    path = put(name, content)
    assert outcome(path) == "loaded"
    fuzz(path, content, times(400), seed=kind)


@pytest.mark.long
@pytest.mark.parametrize("kind", SEEDS)
def test_many_mutated_files(put, kind):
    name, content = SEEDS[kind]
    fuzz(put(name, content), content, 20_000, seed="long " + kind)


@given(
    st.sampled_from(sorted({*READERS} - {".exr"})),
    st.sampled_from(
        [
            b"",
            b"\x93NUMPY\1\0",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            b"II*\0",
            b"MM\0+",
            b"DDS |",
            b"PK\3\4",
            b"PK\5\6" + bytes(18),
            b"BM",
            b"1,2\n3,4\n",
            b"\xef\xbb\xbf1 2\n",
        ]
    ),
    st.binary(max_size=200),
)
def test_random_bytes_load_or_are_refused_by_name(tmp_path_factory, suffix, start, rest):
    path = tmp_path_factory.getbasetemp() / ("random" + suffix)
    path.write_bytes(start + rest)
    assert outcome(path) in {"loaded", "refused"}
