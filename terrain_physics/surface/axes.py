"""Axes of other engines: from their coordinates to the library's, and back.

The library's own axes are "y-up". Owners of characters, arrays of maps and meshes may come with
other axes, which are converted here exactly: numbers change places and signs. The order of corners
never changes, not even between left-handed and right-handed axes: triangles that are
counter-clockwise seen from the front in the other axes are so here too.
"""

from typing import Any, Literal, get_args, overload

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Floats
from terrain_physics._public import PublicType, public
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3

AxesName = Literal["y-up", "z-up", "y-up-left"]
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

    __slots__ = ("_both", "_is_identity", "_linear_signs", "_signs", "order")

    def __init__(self, order: tuple[int, int, int], signs: Floats3) -> None:
        self.order, self._signs = order, signs
        self._is_identity = order == (0, 1, 2) and signs == (1.0, 1.0, 1.0)
        # Made once: each update of an owner with a scale or a rotation asks for them.
        self._both, self._linear_signs = np.ix_(order, order), np.multiply.outer(signs, signs)

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
        turned: Floats = matrix[self._both] * self._linear_signs + 0.0
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


_Vector = glm.vec3 | glm.dvec3 | tuple[float, float, float]
_Matrix3 = glm.mat3 | glm.dmat3
_Matrix4 = glm.mat4 | glm.dmat4

_OTHER_MATRICES = tuple(
    getattr(glm, f"{kind}{size}")
    for kind in ("mat", "dmat")
    for size in ("2x2", "2x3", "2x4", "3x2", "3x4", "4x2", "4x3")
)


@public
class Axes(metaclass=PublicType):
    """The axes of a game's engine, to and from the library's: no sign changes by hand.

    It stands wherever ``axes=`` takes a name, too.

    Parameters
    ----------
    name : {"y-up", "z-up", "y-up-left"}
        "y-up" are the library's own, right-handed with +Y up. "z-up" has +Z up, as in Panda3D and
        Blender, "y-up-left" is left-handed with +Y up, as in ursina and Unity.

    Raises
    ------
    ValueError
        For another name.

    Examples
    --------
    >>> axes = Axes("y-up-left")  # ursina
    >>> axes.from_game((1, 2, 3)), axes.to_game((1, 2, -3))
    (vec3( 1, 2, -3 ), vec3( 1, 2, 3 ))
    >>> Axes("z-up").to_game([(1, 2, 3), (4, 5, 6)])
    array([[ 1., -3.,  2.],
           [ 4., -6.,  5.]])
    """

    __slots__ = ("_frame", "name")

    name: AxesName

    def __init__(self, name: AxesName) -> None:
        self._frame = _FRAMES[checks.choice("name", name, get_args(AxesName))]
        self.name = name

    @overload
    def to_game(self, value: _Vector) -> glm.vec3: ...
    @overload
    def to_game(self, value: _Matrix3) -> glm.mat3: ...
    @overload
    def to_game(self, value: _Matrix4) -> glm.mat4: ...
    @overload
    def to_game(self, value: Any) -> Any: ...
    def to_game(self, value: Any) -> Any:
        """Return what is in the library's axes in those of the game.

        Parameters
        ----------
        value : three numbers, array_like of shape (n, 3), or matrix
            A point, a direction or a velocity, or many of them in rows. Or a glm.mat3, such as
            ``hero.rotation``, or a 4 x 4 matrix, such as ``ground.transform(key)``. A 3 x 3 array
            is three rows.

        Returns
        -------
        glm.vec3, ndarray of float64 of shape (n, 3), glm.mat3 or glm.mat4
            For three numbers, rows and matrices; for a 4 x 4 array an array. Exact: numbers change
            places and signs.

        Raises
        ------
        TypeError, ValueError
            For anything else, and for numbers that are not finite.
        """
        return _turned(self._frame.from_ours, value)

    @overload
    def from_game(self, value: _Vector) -> glm.vec3: ...
    @overload
    def from_game(self, value: _Matrix3) -> glm.mat3: ...
    @overload
    def from_game(self, value: _Matrix4) -> glm.mat4: ...
    @overload
    def from_game(self, value: Any) -> Any: ...
    def from_game(self, value: Any) -> Any:
        """Return what is in the game's axes in those of the library.

        Parameters
        ----------
        value
            As for `to_game`; also a vector of the engine, with ``x``, ``y`` and ``z``.

        Returns
        -------
        glm.vec3, ndarray of float64 of shape (n, 3), glm.mat3 or glm.mat4
            As `to_game` returns them.

        Raises
        ------
        TypeError, ValueError
            As `to_game`.
        """
        return _turned(self._frame.to_ours, value)

    def __repr__(self) -> str:
        return f"Axes({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axes) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Axes, (self.name,)


AnyAxes = AxesName | Axes


def _turned(turn: Turn, value: Any) -> Any:
    """Return a point, rows or a matrix after a change of axes."""
    if isinstance(value, (glm.mat3, glm.dmat3, glm.mat4, glm.dmat4)):
        kind = glm.mat3 if len(value) == 3 else glm.mat4
        return kind(*_turned_matrix(turn, value.to_list()).ravel().tolist())  # of its columns
    if isinstance(value, _OTHER_MATRICES):
        raise TypeError(f"value must be a mat3 or a mat4, got {checks.shorten(value)}")
    if hasattr(value, "x") or len(checks.shape_of(value)) != 2:
        return glm.vec3(turn.point(checks.vector("value", value)))
    rows = checks.array("value", value, (None, 3), (4, 4))
    if rows.shape == (4, 4):
        return _turned_matrix(turn, rows.T).T
    turned = turn.rows(rows)
    return turned if turned.flags.writeable else turned.copy()


def _turned_matrix(turn: Turn, columns: Any) -> Floats:
    """Return the columns of a matrix after a change of axes, as rows."""
    turned = np.array(checks.array("value", columns, (3, 3), (4, 4)))
    turned[:3, :3] = turn.linear(turned[:3, :3])
    if len(turned) == 4:
        turned[3:, :3] = turn.rows(turned[3:, :3])
    return turned


def frame_of(axes: AnyAxes) -> AxesFrame:
    """Return the axes of a name, or raise ValueError."""
    if isinstance(axes, Axes):
        return axes._frame  # noqa: SLF001
    return _FRAMES[checks.choice("axes", axes, get_args(AxesName))]
