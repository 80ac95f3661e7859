"""Paths as lines on the ground: they follow hills, stairs and ledges, and nothing above them."""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    BoxCollider,
    CapsuleCollider,
    Ground,
    HeightMap,
    Path,
    SphereCollider,
    TiledGround,
    TriangleMesh,
    Walkability,
)
from tests.helpers.examples import rest_is_full
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, waves

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BODIES: dict[str, Any] = {
    "capsule": BODY,
    "sphere": SphereCollider(0.4),
    "box": BoxCollider((0.3, 0.9, 0.4), offset=(0.1, 0, 0)),
}
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}


def path_on(ground: Any, start: Any, goal: Any, body: Any = BODY, **options: Any) -> Path:
    paths = Walkability(ground, body, **RULES, **options)
    paths.update()
    path = paths.path(start, goal)
    assert path is not None
    return path


def hills() -> HeightMap:
    z, x = np.mgrid[:13, :25]
    return HeightMap(2 * np.sin(x / 3) + 0.3 * np.cos(z))


@pytest.mark.parametrize("body", rest_is_full(BODIES))
@pytest.mark.parametrize("spacing", [0.1, 0.5, 3.0])
def test_it_is_on_hills_where_pieces_hang(body: str, spacing: float) -> None:
    land = hills()
    path = path_on(land, (2, 6), (22, 6), BODIES[body])
    line = path.on_ground(spacing)
    x, y, z = line.T
    assert y == pytest.approx(land.height_at(x, z), abs=1e-9)
    apart = np.hypot(np.diff(x), np.diff(z))
    assert 0 < apart.min() <= apart.max() <= spacing + 1e-9
    corners = set(map(tuple, line[:, ::2].tolist()))
    assert all((x, z) in corners for x, _, z in path.points.tolist())
    assert line[[0, -1]][:, ::2].tolist() == path.points[[0, -1]][:, ::2].tolist()


def test_a_piece_hangs_high_above_the_hills() -> None:
    path = path_on(hills(), (2, 6), (22, 6))
    line = path.on_ground(0.1)
    straight = np.interp(line[:, 0], path.points[:, 0], path.points[:, 1])
    assert np.abs(straight - line[:, 1]).max() > 1


def test_it_stays_under_a_deck_and_goes_over_it() -> None:
    ground = Ground([
        HeightMap(np.zeros((13, 25))),
        TriangleMesh.box((8, 0.3, 12), position=(12, 2.25, 6)),
        TriangleMesh.box((0.3, 0.3, 12), position=(20, 2.05, 6)),
    ])  # fmt: skip
    under = path_on(ground, (2, 0, 6), (23, 0, 6)).on_ground()
    assert np.abs(under[:, 1]).max() < 1e-6
    over = path_on(ground, (9, 2.4, 3), (15, 2.4, 9)).on_ground()
    assert over[:, 1] == pytest.approx(2.4, abs=1e-6)


def test_it_climbs_stairs_and_falls_down_a_ledge() -> None:
    boxes = [
        TriangleMesh.box((8.5 - x, 0.3 * up, 6), position=((8.5 + x) / 2, 0.15 * up, 3))
        for up, x in enumerate((2.5, 3.5, 4.5, 5.5), 1)
    ]
    land = Ground([HeightMap(np.zeros((7, 13))), *boxes])
    path = path_on(land, (1, 3), (11, 3))
    assert {"step", "drop"} <= set(path.kinds)
    line = path.on_ground(0.2)
    x, y, z = line.T
    assert y == pytest.approx(land.height_at(x, z), abs=1e-6)
    assert (y.max(), y[-1]) == (pytest.approx(1.2), pytest.approx(0.0, abs=1e-6))


def test_it_goes_across_gaps() -> None:
    heights = np.zeros((41, 101))
    heights[:, 50:52] = -30  # a crack that a body goes over
    heights[:, 70:72] = -0.5  # and one that is not deep
    land = HeightMap(heights, cell_size=0.1)
    path = path_on(land, (2, 2), (9, 2))
    x, y, _ = path.on_ground(0.02).T
    assert y[(x < 6.8)] == pytest.approx(0.0, abs=0.4)
    assert y[x > 7.3] == pytest.approx(0.0, abs=1e-6)


def test_a_path_of_one_point_is_one_point_on_the_ground() -> None:
    line = path_on(hills(), (2, 6), (2, 6), SphereCollider(0.4)).on_ground()
    assert line.tolist() == [[2, pytest.approx(hills().height_at(2, 6)), 6]]


def test_layers_that_the_map_leaves_out_are_no_ground() -> None:
    deck = TriangleMesh.box((4, 0.2, 12), position=(8, 0.1, 6))
    ground = Ground([HeightMap(np.zeros((13, 25))), deck], layers=[1, 2])
    assert np.abs(path_on(ground, (2, 6), (22, 6), mask=1).on_ground()[:, 1]).max() < 1e-6
    assert path_on(ground, (2, 6), (22, 6)).on_ground()[:, 1].max() == pytest.approx(0.2)


def test_where_tiles_wait_it_is_straight() -> None:
    area = (SIDE - 4, 18), (SIDE + 4, 28)
    land = TiledGround.open(TilesOfArrays(waves(1, 2)), missing="wait")
    land.load_now(AABB((0, -99, 0), (2 * SIDE, 99, SIDE)))
    path = path_on(land, (SIDE - 3, 20), (SIDE + 3, 26), area=area)
    loaded = path.on_ground(0.25)
    assert loaded[:, 1] == pytest.approx(land.height_at(loaded[:, 0], loaded[:, 2]), abs=1e-9)
    for _ in range(130):  # what was asked for stays a while
        land.keep_near([(SIDE - 6, 0, 20)], 1.0, 1.0)
        land.load_some()
    assert not land.ready(AABB((SIDE + 1, -99, 18), (SIDE + 4, 99, 28)))
    waiting, here = path.on_ground(0.25), loaded[:, 0] < SIDE
    assert waiting[here].tobytes() == loaded[here].tobytes()
    assert (waiting[:, ::2] == loaded[:, ::2]).all()
    corners = np.array([tuple(point) for point in path.points])
    straight = np.interp(waiting[~here, 0], corners[:, 0], corners[:, 1])
    assert waiting[~here, 1] == pytest.approx(straight, abs=1e-5)
    assert np.abs(straight - loaded[~here, 1]).max() > 0.3


@pytest.mark.parametrize("spacing", [0, -1, math.nan, math.inf, "1", None])
def test_it_is_refused(spacing: Any) -> None:
    path = path_on(hills(), (2, 6), (22, 6))
    with pytest.raises((TypeError, ValueError), match="spacing must be"):
        path.on_ground(spacing)


def test_too_many_points_say_what_would_do() -> None:
    path = path_on(hills(), (2, 6), (22, 6))
    for spacing in (1e-6, 5e-324):
        with pytest.raises(
            ValueError, match=r"spacing must be at least 2.02e-05 m on a path of 20"
        ):
            path.on_ground(spacing)
