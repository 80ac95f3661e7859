"""Heights written to a file and loaded again; holes, ranges, and files that stay as they were."""

import os
import stat
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from terrain_physics.heightmap import files as loaders
from terrain_physics.heightmap.files import load_heights, save_heights
from tests.helpers.examples import examples

LAND = np.random.default_rng(1).uniform(-3, 5, (40, 30)).cumsum(axis=0)


@pytest.mark.parametrize(
    "dtype", ["u1", "i1", "<u2", ">u2", "i4", "i8", "u8", "f2", "f4", "f8", ">f8", "longdouble"]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_keeps_every_number(tmp_path, dtype, order):
    heights = np.asarray(np.abs(LAND) / 2, dtype, order=order)
    path = tmp_path / "a.NPY"
    assert save_heights(path, heights) is None
    loaded = load_heights(path)
    assert loaded.dtype.itemsize <= 8
    np.testing.assert_array_equal(loaded, heights.astype(loaded.dtype))


def test_npy_keeps_holes(tmp_path):
    heights = LAND.copy()
    heights[3, 4] = np.nan
    save_heights(tmp_path / "a.npy", heights)
    np.testing.assert_array_equal(load_heights(tmp_path / "a.npy"), heights)


@pytest.mark.parametrize("suffix", [".png", ".r16", ".raw"])
@pytest.mark.parametrize("given_range", [None, (-500.0, 1000.0)])
def test_meters_come_back_to_half_a_step(tmp_path, suffix, given_range):
    path = tmp_path / f"a{suffix}"
    limits = save_heights(path, LAND, height_range=given_range)
    assert limits is not None
    assert limits == (given_range or (LAND.min(), LAND.max()))
    shape = None if suffix == ".png" else LAND.shape
    loaded = load_heights(path, height_range=limits, shape=shape)
    step = (limits[1] - limits[0]) / 65535
    assert np.abs(loaded - LAND).max() <= 0.5 * step * (1 + 1e-9)
    if given_range is None:
        assert (loaded.min(), loaded.max()) == limits


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=4, max_size=4),
    st.sampled_from([".png", ".r16"]),
)
@examples(100)
def test_any_four_heights_come_back(tmp_path_factory, numbers, suffix):
    path = tmp_path_factory.getbasetemp() / ("any" + suffix)
    heights = np.reshape(numbers, (2, 2))
    low, high = save_heights(path, heights) or (0.0, 0.0)
    assert low < high
    loaded = load_heights(path, height_range=(low, high))
    size = np.abs(heights).max()
    allowed = 0.5 * (high - low) / 65535 * (1 + 1e-9) + 1e-15 * size
    assert np.abs(loaded - heights).max() <= allowed


@pytest.mark.parametrize("height", [0.0, 7.25, -3.5, 1e30, -1e308, 1.7e308])
def test_a_flat_map_comes_back_exactly(tmp_path, height):
    limits = save_heights(tmp_path / "a.png", np.full((3, 3), height))
    assert limits is not None
    assert limits[0] < limits[1]
    assert (load_heights(tmp_path / "a.png", height_range=limits) == height).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, ">u2"])
@pytest.mark.parametrize("suffix", [".png", ".r16", ".raw", ".npy"])
def test_integers_of_a_file_go_back_as_they_are(tmp_path, dtype, suffix):
    heights = (np.arange(48 * 48).reshape(48, 48) * 29 % 65536).astype(dtype)
    assert save_heights(tmp_path / f"a{suffix}", heights) is None
    loaded = load_heights(tmp_path / f"a{suffix}")
    assert loaded.dtype == (np.uint16 if "r" in suffix else np.dtype(dtype).newbyteorder("="))
    np.testing.assert_array_equal(loaded, heights)


def test_integers_with_a_range_are_meters(tmp_path):
    heights = np.array([[0, 100], [200, 250]], np.uint8)
    assert save_heights(tmp_path / "a.png", heights, height_range=(0, 65535)) == (0, 65535)
    np.testing.assert_array_equal(load_heights(tmp_path / "a.png"), heights)


def test_other_programs_read_the_png(tmp_path, monkeypatch):
    """In several pieces, each filtered against the last row of the one before."""
    monkeypatch.setattr(loaders, "_PIXELS_AT_ONCE", 64)
    for dtype in (np.uint8, np.uint16):
        heights = np.random.default_rng(2).integers(0, 256 ** dtype().itemsize, (37, 21), dtype)
        save_heights(tmp_path / "a.png", heights)
        with Image.open(tmp_path / "a.png") as image:
            np.testing.assert_array_equal(np.asarray(image), heights)
        np.testing.assert_array_equal(load_heights(tmp_path / "a.png"), heights)


def test_smooth_land_packs_well(tmp_path):
    x, z = np.meshgrid(np.linspace(0, 6, 300), np.linspace(0, 6, 300))
    save_heights(tmp_path / "a.png", np.sin(x) * np.cos(z))
    assert (tmp_path / "a.png").stat().st_size < 0.75 * 2 * x.size


def test_a_png_needs_no_pillow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert save_heights(tmp_path / "a.png", LAND)
    assert (tmp_path / "a.png").stat().st_size > 100


@pytest.mark.parametrize("flip", ["rows", "columns", "both"])
@pytest.mark.parametrize("suffix", [".npy", ".png", ".r16"])
def test_flipped_twice_is_as_before(tmp_path, flip, suffix):
    heights = np.arange(36, dtype=np.uint16).reshape(6, 6)
    save_heights(tmp_path / f"a{suffix}", heights, flip=flip)
    assert (load_heights(tmp_path / f"a{suffix}") != heights).any()
    np.testing.assert_array_equal(load_heights(tmp_path / f"a{suffix}", flip=flip), heights)


def test_byte_order(tmp_path):
    heights = np.array([[1, 2], [256, 65535]], np.uint16)
    save_heights(tmp_path / "a.r16", heights, byte_order="big")
    assert (tmp_path / "a.r16").read_bytes() == bytes([0, 1, 0, 2, 1, 0, 255, 255])
    np.testing.assert_array_equal(load_heights(tmp_path / "a.r16", byte_order="big"), heights)


HOLES = np.array([[1, 2], [np.nan, 4]])
FAR = np.array([[1, 2], [3, -np.inf]])


@pytest.mark.parametrize(
    ("name", "heights", "options", "error", "message"),
    [
        ("a.png", HOLES, {}, ValueError, r"a.png: 16-bit files cannot keep holes .* at \[1, 0\]"),
        ("a.r16", HOLES, {}, ValueError, r"a.r16: 16-bit files cannot keep holes .* at \[1, 0\]"),
        ("a.png", FAR, {}, ValueError, r"a.png: heights must be finite or NaN.* at \[1, 1\]"),
        ("a.npy", FAR, {}, ValueError, r"a.npy: heights must be finite or NaN.* at \[1, 1\]"),
        ("a.tif", LAND, {}, ValueError, r"a.tif: suffix must be one of .npy, .r16, .raw, .png"),
        ("a", LAND, {}, ValueError, "a: suffix must be one of"),
        ("a.npy", [1, 2], {}, ValueError, r"heights must have shape .* got \(2,\)"),
        ("a.npy", [[1, 2]], {}, ValueError, r"heights must have shape .* got \(1, 2\)"),
        ("a.npy", [[1, 2], [3]], {}, ValueError, "heights must be an array of numbers with rows"),
        ("a.npy", [["a", "b"]] * 2, {}, TypeError, "heights must hold integers or floats"),
        ("a.npy", [[True, False]] * 2, {}, TypeError, "heights must hold .* got dtype bool"),
        ("a.npy", LAND, {"height_range": (0, 1)}, ValueError, "height_range is for .png, .r16"),
        ("a.npy", LAND, {"byte_order": "big"}, ValueError, "byte_order is for .r16 and .raw"),
        ("a.png", LAND, {"byte_order": "big"}, ValueError, "byte_order is for .r16 and .raw"),
        ("a.png", LAND, {"byte_order": "?"}, ValueError, "byte_order must be one of"),
        ("a.png", LAND, {"flip": "up"}, ValueError, "flip must be one of"),
        ("a.png", LAND, {"height_range": (0, 1)}, ValueError, r"a.png: heights must be within"),
        ("a.png", LAND, {"height_range": (1, 0)}, ValueError, "height_range must have low < high"),
        ("a.png", LAND, {"height_range": 4}, TypeError, "height_range must be two numbers"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    tmp_path, name, heights, options, error, message
):
    path = tmp_path / name
    path.write_bytes(b"as it was")
    with pytest.raises(error, match=message):
        save_heights(path, heights, **options)
    assert path.read_bytes() == b"as it was"
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_paths(tmp_path):
    with pytest.raises(TypeError, match=r"path must be a str or os\.PathLike, got 7"):
        save_heights(7, LAND)  # type: ignore[arg-type]
    for name in ("a\0b.npy", "a\udfff.npy"):
        with pytest.raises(ValueError, match="path must be one the system takes"):
            save_heights(name, LAND)
    with pytest.raises(FileNotFoundError, match=r"No such folder: .*missing.a\.npy"):
        save_heights(tmp_path / "missing" / "a.npy", LAND)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(OSError, match=r"folder\.npy"):
        save_heights(tmp_path / "folder.npy", LAND)
    assert [file.name for file in tmp_path.iterdir()] == ["folder.npy"]


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need rights there")
def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.npy").write_bytes(b"")
    (tmp_path / "link.npy").symlink_to(tmp_path / "real.npy")
    save_heights(str(tmp_path / "link.npy"), LAND)
    assert Path(tmp_path / "link.npy").is_symlink()
    np.testing.assert_array_equal(load_heights(tmp_path / "real.npy"), LAND)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(FileExistsError, match=r"no regular file: .*pipe\.npy"):
        save_heights(tmp_path / "pipe.npy", LAND)
    assert Path(tmp_path / "pipe.npy").is_fifo()


def test_an_error_while_writing_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"as it was")

    def fail(*_given: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(zlib, "compressobj", fail)
    with pytest.raises(OSError, match="disk full"):
        save_heights(tmp_path / "a.png", LAND)
    assert (tmp_path / "a.png").read_bytes() == b"as it was"
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_no_image_that_could_not_be_loaded_again(tmp_path):
    heights = np.broadcast_to(np.uint16(0), (9000, 9000))
    with pytest.raises(ValueError, match="must have at most 80000000 pixels, got 81"):
        save_heights(tmp_path / "a.png", heights)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no mode bits")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_keeps_who_may_read_it(tmp_path, mode):
    path = tmp_path / "land.npy"
    path.write_text("before")
    path.chmod(mode)
    save_heights(path, np.zeros((2, 2)))
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert load_heights(path).shape == (2, 2)
