"""Results: what a query or a step answers, as small immutable values."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics.shapes import Triangle


class Triangles:
    """Triangles as read-only arrays; iterating gives them one by one as `Triangle`.

    Attributes
    ----------
    vertices : ndarray of float64, shape (n, 3, 3)
        Corners in meters, counter-clockwise seen from the front.
    normals : ndarray of float64, shape (n, 3)
        Unit normals of the front.
    ids : ndarray of int64, shape (n,)
        The same triangle always has the same id; -1 outside the map.
    """

    __slots__ = ("ids", "normals", "vertices")

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    ids: NDArray[np.int64]

    def __init__(
        self, vertices: NDArray[np.float64], normals: NDArray[np.float64], ids: NDArray[np.int64]
    ) -> None:
        for name, values in (("vertices", vertices), ("normals", normals), ("ids", ids)):
            view = values.view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Triangles are immutable, cannot set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Triangles, (self.vertices, self.normals, self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Triangle]:
        for a, b, c in self.vertices.tolist():
            yield Triangle(a, b, c)

    def __repr__(self) -> str:
        return f"<Triangles: {len(self)}>"


class MoveResult(NamedTuple):
    """What one update of a character did.

    Attributes
    ----------
    grounded : bool
        Whether the character stands on walkable ground, or is wedged between steep slopes.
    ground_normal : glm.vec3 or None
        The normal of the ground it stands on; None in the air.
    contacts : int
        How many triangles hold it up at the end; those that a neighbour covers do not count.
    penetration : float
        The deepest penetration left, in meters.
    converged : bool
        Whether it ended outside of the ground, to 1e-5 m.
    rounds : int
        The most rounds of gather, shuffle and push that a step needed; 0 at rest.
    lifted : float
        How far it was lifted straight up in this update, in meters: from below the ground, or where
        pushing out found no near way.
    """

    grounded: bool
    ground_normal: glm.vec3 | None
    contacts: int
    penetration: float
    converged: bool
    rounds: int
    lifted: float
