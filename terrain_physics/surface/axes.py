"""Axes of other engines: from their coordinates to the library's, and back.

The library's own axes are "y-up". Owners of characters, arrays of maps and meshes may come with
other axes, which are converted here exactly: numbers change places and signs. The order of corners
never changes, not even between left-handed and right-handed axes: triangles that are
counter-clockwise seen from the front in the other axes are so here too.
"""

from typing import Literal, get_args

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3

Axes = Literal["y-up", "z-up", "y-up-left"]
"""The axis that points up; of "left"-handed axes the third leads away from a viewer of x and y."""


class Turn:
    """A change of axes.

    Parameters
    ----------
    order : three indices
        The source of each coordinate.
    signs : three of 1.0 and -1.0
        The factors of the coordinates.
    """

    __slots__ = ("_is_identity", "_signs", "order")

    def __init__(self, order: tuple[int, int, int], signs: Floats3) -> None:
        self.order, self._signs = order, signs
        self._is_identity = order == (0, 1, 2) and signs == (1.0, 1.0, 1.0)

    def point(self, point: Floats3) -> Floats3:
        """Return a point or a direction in the other axes; itself if the axes are the same."""
        if self._is_identity:
            return point
        (i, j, k), (a, b, c) = self.order, self._signs
        return a * point[i] + 0.0, b * point[j] + 0.0, c * point[k] + 0.0  # no negative zeros

    def rows(self, points: Floats) -> Floats:
        """Return points or directions (n, 3) in the other axes; themselves if they are the same."""
        if self._is_identity:
            return points
        turned: Floats = np.take(points, self.order, axis=1) * self._signs + 0.0
        return turned

    def linear(self, matrix: Floats) -> Floats:
        """Return a rotation times scale (3, 3) in the other axes; itself if they are the same."""
        if self._is_identity:
            return matrix
        chosen = matrix[np.ix_(self.order, self.order)]
        turned: Floats = chosen * np.multiply.outer(self._signs, self._signs) + 0.0
        return turned

    def inverse(self) -> "Turn":
        """Return the change in the other direction."""
        i, j, k = (self.order.index(axis) for axis in range(3))
        return Turn((i, j, k), (self._signs[i], self._signs[j], self._signs[k]))


class AxesFrame:
    """The axes of an engine.

    Attributes
    ----------
    to_ours, from_ours : Turn
        From these axes to the library's, and back.
    up : int
        The index of the axis that points up.
    """

    __slots__ = ("from_ours", "to_ours", "up")

    def __init__(self, to_ours: Turn) -> None:
        self.to_ours, self.from_ours = to_ours, to_ours.inverse()
        self.up = to_ours.order[1]


_FRAMES = {
    "y-up": AxesFrame(Turn((0, 1, 2), (1.0, 1.0, 1.0))),
    "z-up": AxesFrame(Turn((0, 2, 1), (1.0, 1.0, -1.0))),
    "y-up-left": AxesFrame(Turn((0, 1, 2), (1.0, 1.0, -1.0))),
}


def frame_of(axes: Axes) -> AxesFrame:
    """Return the axes of a name, or raise ValueError."""
    return _FRAMES[checks.choice("axes", axes, get_args(Axes))]
