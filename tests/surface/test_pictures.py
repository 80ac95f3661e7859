"""Pictures for notebooks: PNG files of what is there, of a bounded size."""

import struct
import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
    Walkability,
    World,
)

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
NOTHING, DOT = [24, 26, 32], [255, 168, 48]


def pixels(shown: Any) -> NDArray[np.uint8]:
    """Return the pixels (rows, columns, 3) of what a notebook shows, read as the format says."""
    content = shown._repr_png_()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = {}, 8
    while at < len(content):
        (size,), kind = struct.unpack(">I", content[at : at + 4]), content[at + 4 : at + 8]
        found[kind] = content[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", content[at + 8 + size : at + 12 + size])
        assert check == zlib.crc32(kind + found[kind])
        at += 12 + size
    assert [*found] == [b"IHDR", b"IDAT", b"IEND"]
    columns, rows, *how = struct.unpack(">IIBBBBB", found[b"IHDR"])
    assert how == [8, 2, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(rows, -1)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(rows, columns, 3)


def hills(size: int = 33, **options: Any) -> HeightMap:
    z, x = np.mgrid[:size, :size]
    return HeightMap(2 * np.sin(x / 3) + np.cos(z / 4), **options)


@pytest.mark.parametrize("shape", [(2, 2), (2, 90), (300, 40), (1500, 700)])
def test_the_size_is_bounded_and_keeps_its_shape(shape: tuple[int, int]) -> None:
    rows, columns, _ = pixels(HeightMap(np.zeros(shape))).shape
    assert 128 < max(rows, columns) <= 512
    assert (rows > columns) == (shape[0] > shape[1])


def test_holes_are_dark_and_nothing_else_is() -> None:
    land = hills()
    assert (pixels(land) != NOTHING).any(axis=2).all()
    land.holes[4:8, 20:28] = True
    is_dark = (pixels(land) == NOTHING).all(axis=2)
    rows, columns = np.nonzero(is_dark)
    times = is_dark.shape[0] / 33
    assert rows.min() >= 4 * times
    assert rows.max() < 9 * times
    assert columns.min() >= 20 * times
    assert columns.max() < 29 * times


def test_slopes_to_the_light_are_brighter() -> None:
    roof = 16.0 - np.abs(np.arange(33.0) - 16.0) + np.zeros((33, 1))
    picture = pixels(HeightMap(roof)).astype(int).sum(axis=2)
    rows, columns = picture.shape
    assert picture[rows // 2, columns // 4] > picture[rows // 2, 3 * columns // 4]


def test_no_ground_at_all_is_dark() -> None:
    assert (pixels(HeightMap(np.full((5, 5), np.nan))) == NOTHING).all()


def test_pictures_change_nothing_and_are_the_same_again() -> None:
    land = hills(origin=(-5, 2, 9), cell_size=(2, 0.5))
    before = land.version
    assert land._repr_png_() == land._repr_png_()
    assert land.version == before


def test_places_off_the_largest_part_are_orange() -> None:
    floor = np.zeros((21, 21))
    floor[:, 14] = 9.0
    paths = Walkability(HeightMap(floor), BODY)
    paths.update()
    picture = pixels(paths).astype(int)
    times = picture.shape[0] // 21
    wide, narrow = picture[10 * times, 5 * times], picture[10 * times, 18 * times]
    assert wide[1] > wide[0]
    assert narrow[0] > narrow[1]
    assert (picture[10 * times, 12 * times : 17 * times] == NOTHING).all(axis=1).any()


def test_a_world_shows_where_its_characters_are() -> None:
    ground = Ground([hills(129), TriangleMesh.box((2, 2, 2), position=(60, 3, 60))])
    world = World(ground)
    assert world._repr_png_() is None
    world.add("hero", CharacterMovement(ground, BODY, position=(50, 4, 50)))
    crowd = CharacterGroup(ground, BODY)
    world.add("crowd", crowd)
    crowd.add_many(range(3), [(54, 4, 50), (50, 4, 56), (9e4, 4, 9e4)])
    is_dot = (pixels(world) == DOT).all(axis=2)
    assert 0.0 < is_dot.mean() < 0.1
    rows, _ = np.nonzero(is_dot)
    assert rows.min() < 0.45 * is_dot.shape[0] < 0.55 * is_dot.shape[0] < rows.max()
    assert max(is_dot.shape) <= 512
