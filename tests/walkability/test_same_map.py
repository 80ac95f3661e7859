"""A map is what its ground is now, and nothing far away: however it came to be, it is the same.

Not a mesh far away, nor what becomes of it, nor tiles, nor a mesh that was there meanwhile.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    Ground,
    HeightMap,
    SphereCollider,
    TiledGround,
    TriangleMesh,
    Walkability,
)
from tests.helpers import walked_lands, walking_lands
from tests.helpers.examples import rest_is_full
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, waves

AREA = ((3, 3), (9, 9))
BODIES: dict[str, Any] = {
    "capsule": CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)),
    "box": BoxCollider((0.4, 0.9, 0.4), offset=(0, 0.9, 0)),
    "ball": SphereCollider(0.45, offset=(0, 0.45, 0)),
}


def slope(per_meter: float, across: float = 0.0, height: float = 0.0) -> HeightMap:
    """Return an even slope along +X, and across."""
    z, x = np.mgrid[:14, :14]
    return HeightMap(per_meter * x + across * z + height)


def noise() -> HeightMap:
    """Return land as rough as steps."""
    return HeightMap(np.round(np.random.default_rng(37).normal(0, 0.25, (14, 14)), 3))


LANDS: dict[str, Callable[[], Any]] = {
    **{f"slope {share:.2%}": partial(slope, share) for share in (0.0015, 0.01, 0.025)},
    "slope aside": partial(slope, 0.013, 0.007),
    "slope high up": partial(slope, 0.013, 0.007, 3000.0),
    "noise": noise,
    "smooth": partial(walking_lands.smooth_land, 14),
    "rough": partial(walking_lands.rough_land, 14),
    "wavy": walking_lands.wavy_land,
    "slopes": walking_lands.slopes,
    **{f"{name} with parts": partial(make, 1) for name, make in walked_lands.LANDS.items()},
}


_FIRST = ["noise", "rough", "slope high up", "one_way with parts"]
_ALL = [*_FIRST, *(name for name in LANDS if name not in _FIRST)]

Found = tuple[Any, Any, Any]


def made(ground: Any, body: str, area: Any = AREA) -> Walkability:
    """Return a map of walkers that meet the first layer alone, before its first update."""
    return Walkability(ground, BODIES[body], area=area, mask=1, threads=1)


def found(paths: Walkability) -> Found:
    """Return the heights, edges and labels of all levels; what no body stands on is no level."""
    assert paths.update() == 0
    used = max(1, np.count_nonzero(paths.standing.any(axis=(1, 2))))
    return paths.heights[:used], paths.edges[:used], paths.labels[:used]


def hold_equal(one: Found, other: Found) -> None:
    for own, others in zip(one, other, strict=True):
        np.testing.assert_array_equal(own, others)


def life_of_a_part(ground: Ground, where: tuple[float, float, float]) -> Iterator[str]:
    """Make a change of a mesh after another, from its coming to its going; say which."""
    part = ground.add(TriangleMesh.box((2.2, 0.4, 1.7)), transform=where)
    yield "there"
    ground.set_one_way(part, (0, 1, 0))
    yield "one-way"
    ground.set_layers(part, 2)
    yield "on a layer that is left out"
    ground.set_layers(part, 3)
    ground.set_surface_velocity(part, (0.4, 0, 0))
    yield "a conveyor, too"
    ground.move(part, (where[0] - 1.3, where[1] + 0.3, where[2]))
    yield "elsewhere"
    ground.set_one_way(part, None)
    ground.set_surface_velocity(part, (0, 0, 0))
    yield "still again"
    ground.remove(part)
    yield "gone"


@pytest.mark.parametrize("land", rest_is_full(_ALL, len(_FIRST)))
@pytest.mark.parametrize("body", rest_is_full(BODIES))
class TestOnEachLand:
    def ground(self, land: str) -> Ground:
        made = LANDS[land]()
        return made if isinstance(made, Ground) else Ground([made])

    def test_what_is_far_decides_nothing(self, land: str, body: str) -> None:
        ground = self.ground(land)
        paths = made(ground, body)
        alone = found(paths)
        assert np.isfinite(alone[0]).sum() > 4
        for change in life_of_a_part(ground, (500, 1, 500)):
            hold_equal(found(paths), alone)
            if change in {"there", "one-way", "gone"}:
                hold_equal(found(made(ground, body)), alone)

    def test_an_updated_map_is_one_made_anew(self, land: str, body: str) -> None:
        ground = self.ground(land)
        paths = made(ground, body)
        alone, x, z = found(paths), 7.3, 6.2
        top = float(np.nanmean(paths.heights))
        for change in life_of_a_part(ground, (x, top + 0.1, z)):
            now = found(paths)
            hold_equal(now, found(made(ground, body)))
            if change in {"on a layer that is left out", "gone"}:
                hold_equal(now, alone)


@pytest.mark.parametrize("land", ["smooth", "rough", "slopes"])
def test_a_mesh_far_away_turns_no_field(land: str) -> None:
    ground = Ground([LANDS[land]()])
    alone = made(ground, "capsule", None)
    assert alone.update() == 0
    ground.add(TriangleMesh.box((2, 2, 2)), transform=(500, 1, 500))
    area = ((0, 0), tuple(alone.positions[0, -1, -1, [0, 2]]))
    paths = made(ground, "capsule", area)
    assert paths.update() == 0
    goals = alone.positions[alone.standing][[3, -20]]
    one, other = alone.field(goals), paths.field(goals)
    np.testing.assert_array_equal(other.distance[0], one.distance[0])
    np.testing.assert_array_equal(other.direction[0], one.direction[0])


def _samples(land: HeightMap) -> Any:
    """Return the heights of a land, over and over, as those of two tiles."""
    rows, columns = np.ogrid[: SIDE + 1, : 2 * SIDE + 1]
    heights = np.asarray(land.heights)
    return heights[rows % len(heights), columns % heights.shape[1]]


TILED: dict[str, Callable[[], Any]] = {
    "waves": partial(waves, 1, 2),
    "rough": lambda: walking_lands.rough_land(2 * SIDE).heights[: SIDE + 1],
    "wavy": lambda: _samples(walking_lands.wavy_land()),
    "kerbs": lambda: _samples(walking_lands.kerbs()),
    "slopes": lambda: _samples(walking_lands.slopes()),
}


@pytest.mark.parametrize("land", TILED)
@pytest.mark.parametrize("body", rest_is_full(BODIES))
def test_tiles_are_as_one_map(land: str, body: str) -> None:
    source = TilesOfArrays(TILED[land]())
    area = (SIDE - 3, 20), (SIDE + 3, 26)
    tiled, one = TiledGround.open(source, missing="load"), source.one_map()
    paths, known = made(tiled, body, area), made(one, body, area)
    hold_equal(found(paths), found(known))
    for ground in (tiled, one):
        ground.carve((SIDE + 0.4, 23.2), radius=1.5, depth=0.5)
    hold_equal(found(paths), found(known))
    hold_equal(found(paths), found(made(tiled, body, area)))
