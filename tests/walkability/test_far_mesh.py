"""A mesh far away decides nothing about where one can walk: neither there, nor taken away."""

from collections.abc import Callable
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
    TriangleMesh,
    Walkability,
)
from tests.helpers import walked_lands, walking_lands
from tests.helpers.examples import rest_is_full

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


LANDS: dict[str, Callable[[], Any]] = {
    **{f"slope {share:.2%}": partial(slope, share) for share in (0.0015, 0.01, 0.025)},
    "slope aside": partial(slope, 0.013, 0.007),
    "slope high up": partial(slope, 0.013, 0.007, 3000.0),
    "smooth": partial(walking_lands.smooth_land, 14),
    "rough": partial(walking_lands.rough_land, 14),
    "wavy": walking_lands.wavy_land,
    "slopes": walking_lands.slopes,
    **{f"{name} with parts": partial(make, 1) for name, make in walked_lands.LANDS.items()},
}


def found(paths: Walkability) -> tuple[Any, Any]:
    """Return the heights and edges of all levels; what no body stands on is no level."""
    assert paths.update() == 0
    shape = (-1, *paths.shape[-2:])
    heights, edges = paths.heights.reshape(shape), paths.edges.reshape(*shape, 8)
    used = max(1, np.count_nonzero(np.isfinite(heights).any(axis=(1, 2))))
    return heights[:used].copy(), edges[:used].copy()


@pytest.mark.parametrize("land", LANDS)
@pytest.mark.parametrize("body", rest_is_full(BODIES))
def test_places_and_edges_are_the_same(land: str, body: str) -> None:
    made = LANDS[land]()
    ground = made if isinstance(made, Ground) else Ground([made])
    paths = Walkability(ground, BODIES[body], area=AREA)
    alone = found(paths)
    assert np.isfinite(alone[0]).sum() > 4
    far = ground.add(TriangleMesh.box((2, 2, 2)), transform=(500, 1, 500))
    for _ in ("with a mesh", "without it"):
        for now in (paths, Walkability(ground, BODIES[body], area=AREA)):
            for own, other in zip(found(now), alone, strict=True):
                np.testing.assert_array_equal(own, other)
        if far in ground.parts:
            ground.remove(far)
