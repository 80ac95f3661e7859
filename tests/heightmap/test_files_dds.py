"""DDS files: one channel, with the old header and with that of DX10; what they must not be."""

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from terrain_physics.heightmap.files import load_heights
from tests.helpers.height_files import RAMP, dds_bytes

FLOATS = RAMP.astype(np.float32) * 0.37 - 900
PIXEL_FLAGS, CODE, BITS, RED, GREEN, CAPS2, DXGI, DIMENSION, ARRAY = (
    80, 84, 88, 92, 96, 112, 128, 132, 140,
)  # fmt: skip


@pytest.fixture
def put(tmp_path: Path) -> Callable[[bytes], Path]:
    """Write a DDS file, return its path."""

    def write(content: bytes) -> Path:
        path = tmp_path / "a.DDS"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    ("heights", "options"),
    [
        (RAMP.astype(np.uint8), {}),
        (RAMP, {}),
        (RAMP.astype(np.uint8), {"changes": [(PIXEL_FLAGS, 0x40)]}),  # RGB with red alone
        (RAMP, {"changes": [(PIXEL_FLAGS, 0x40)]}),
        (RAMP.astype(np.uint8), {"dx10": 61}),
        (RAMP.astype(np.uint8), {"dx10": 62}),
        (RAMP, {"dx10": 56}),
        (RAMP, {"dx10": 57}),
        (FLOATS.astype(np.float16), {"dx10": 54}),
        (FLOATS, {"dx10": 41}),
        (RAMP.astype(np.uint8), {"code": 50}),
        (RAMP, {"code": 81}),
        (FLOATS.astype(np.float16), {"code": 111}),
        (FLOATS, {"code": 114}),
        (RAMP, {"mips": 3}),
        (RAMP, {"mips": 0}),
        (RAMP[:, :5].astype(np.uint8), {"row_bytes": 8}),  # rows filled up to whole words
        (RAMP, {"row_bytes": 16}),
        (RAMP, {"row_bytes": 16, "dx10": 56}),
    ],
)
def test_one_channel_is_read(put, heights, options):
    loaded = load_heights(put(dds_bytes(heights, **options)))
    assert loaded.dtype == heights.dtype
    assert loaded.dtype.isnative
    assert loaded.flags.c_contiguous
    assert loaded.flags.writeable
    np.testing.assert_array_equal(loaded, heights)


def test_options(put):
    path = put(dds_bytes(RAMP))
    loaded = load_heights(path, height_range=(-20, 300.5), flip="rows")
    np.testing.assert_allclose(loaded, -20 + RAMP[::-1] * (320.5 / 65535), rtol=0, atol=1e-12)
    with pytest.raises(
        ValueError, match=r"shape is for \.r16, \.raw, \.r32, \.hgt and \.hgt\.gz files"
    ):
        load_heights(path, shape=(5, 7))
    with pytest.raises(ValueError, match=r"byte_order is for \.r16, \.raw and \.r32 files"):
        load_heights(path, byte_order="big")
    with pytest.raises(ValueError, match=r"height_range is for .*, got float32"):
        load_heights(put(dds_bytes(FLOATS, dx10=41)), height_range=(0, 1))


def test_holes_and_infinities(put):
    heights = FLOATS.copy()
    heights[2, 3] = np.nan
    np.testing.assert_array_equal(load_heights(put(dds_bytes(heights, code=114))), heights)
    heights[2, 3] = np.inf
    with pytest.raises(ValueError, match=r"heights must be finite or NaN, .* at \[2, 3\]"):
        load_heights(put(dds_bytes(heights, code=114)))


DX10 = dds_bytes(RAMP, dx10=56)
CHANNEL = "must be one uncompressed channel of 8 or 16 bits, or of 16 or 32-bit floats, got"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must start as a DDS file, got b''"),
        (b"DDS |" + bytes(90), "must start as a DDS file"),
        (b"PNG " + dds_bytes(RAMP)[4:], "must start as a DDS file, got b'PNG"),
        (dds_bytes(RAMP, changes=[(4, 125)]), "DDS header must have 124 bytes, got 125"),
        (dds_bytes(RAMP)[:-1], "truncated: needs 198 bytes, got 197"),
        (DX10[:-1], "truncated: needs 218 bytes, got 217"),
        (DX10[:140], "truncated: DDS header needs 148 bytes, got 140"),
        (dds_bytes(RAMP, changes=[(12, 1)]), "at least 2 x 2 heights, got 1 rows, 7 columns"),
        (dds_bytes(RAMP, changes=[(16, 0)]), "at least 2 x 2 heights, got 5 rows, 0 columns"),
        (
            dds_bytes(RAMP, changes=[(12, 0xFFFFFFFF), (16, 0xFFFFFFFF)]),
            "truncated: needs 36893488130239234178 bytes, got 198",
        ),
        (dds_bytes(RAMP, changes=[(12, 60_000), (16, 60_000)]), "truncated: needs 7200000128"),
        (dds_bytes(RAMP, changes=[(CAPS2, 0xFE00)]), "got a cube map or a volume"),
        (dds_bytes(RAMP, changes=[(CAPS2, 0x200000)]), "got a cube map or a volume"),
        (dds_bytes(RAMP, changes=[(PIXEL_FLAGS, 0x20001)]), f"{CHANNEL} 16 bits, flags 0x20001"),
        (dds_bytes(RAMP, changes=[(PIXEL_FLAGS, 0x2)]), CHANNEL),
        (dds_bytes(RAMP, changes=[(BITS, 32)]), f"{CHANNEL} 32 bits"),
        (dds_bytes(RAMP, changes=[(RED, 0xF800)]), CHANNEL),
        (dds_bytes(RAMP, changes=[(RED, 0xFF), (GREEN, 0xFF00)]), CHANNEL),
        (dds_bytes(RAMP, code=int.from_bytes(b"DXT1", "little")), f"{CHANNEL} format b'DXT1'"),
        (dds_bytes(RAMP, code=36), rf"{CHANNEL} format b'\$"),
        (dds_bytes(RAMP, dx10=80), f"{CHANNEL} DXGI format 80"),
        (dds_bytes(RAMP, dx10=56, changes=[(DIMENSION, 4)]), "one picture, got dimension 4"),
        (dds_bytes(RAMP, dx10=56, changes=[(ARRAY, 6)]), "got dimension 3, 6 in an array"),
    ],
)
def test_other_files_are_refused(put, content, message):
    path = put(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message) as caught:
            load_heights(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: ")
    assert peak < 200_000


def test_every_length_is_refused_but_the_whole(put):
    for whole in (dds_bytes(RAMP), DX10):
        for length in range(len(whole)):
            path = put(whole[:length])
            with pytest.raises(ValueError, match=r"a\.DDS: "):
                load_heights(path)


def test_the_header_is_what_is_documented():
    """Sizes and places by Microsoft's guide, so that the tests do not share a mistake."""
    assert struct.unpack_from("<II", dds_bytes(RAMP), 72) == (0, 32)
    assert len(dds_bytes(RAMP)) - RAMP.nbytes == 4 + 124
    assert len(DX10) - RAMP.nbytes == 4 + 124 + 20
