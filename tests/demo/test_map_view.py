"""How the demo draws a path: as a ribbon that is made when it has to be."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from demo.scenery.map_view import KINDS, Ribbon, ribbon_of


def path(*points: tuple[float, float, float]) -> Any:
    """Return a path of straight pieces whose line has its corners alone."""
    kinds = tuple(("walk", "step", "drop")[k % 3] for k in range(len(points) - 1))
    known = np.array(points)
    return SimpleNamespace(points=known, kinds=kinds, on_ground=lambda _spacing: known.copy())


@pytest.mark.parametrize(
    "points",
    [
        ((0, 0, 0), (4, 0, 0), (4, 0, 4), (8, 0, 4)),
        ((0, 0, 0), (4, 0, 0), (0, 0, 0), (0, 0, 4)),  # back over its start
        ((0, 0, 0), (0, 2, 0), (4, 2, 0), (4, 0, 0)),  # straight up, and down at the end
    ],
)
def test_each_piece_of_a_ribbon_has_the_color_of_its_kind(points: Any) -> None:
    ribbon = ribbon_of(path(*points))
    assert ribbon is not None
    assert np.isfinite(ribbon.corners).all()
    once = ribbon.colors[: len(ribbon.colors) // 2]  # from above; then from below
    shown = [tuple(color) for color in once[::2].tolist()]
    assert shown == [KINDS["walk"], KINDS["step"], KINDS["drop"]]


def test_a_path_of_one_point_has_no_ribbon() -> None:
    assert ribbon_of(path((1, 0, 1))) is None
    assert Ribbon().of(path((1, 0, 1)), 3) is None


def test_a_ribbon_is_made_for_another_path_and_for_another_ground() -> None:
    ribbon, way, other = Ribbon(), path((0, 0, 0), (4, 0, 0)), path((0, 0, 0), (4, 0, 0))
    first = ribbon.of(way, 1)
    assert ribbon.of(way, 1) is first
    again = ribbon.of(way, 2)
    assert again is not first
    assert ribbon.of(other, 2) is not again
