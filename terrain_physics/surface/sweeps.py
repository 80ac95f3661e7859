"""The questions about moving shapes, for ground of any kind: shapes in, as rows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels.surface.sweep import (
    BODY_SIZE,
    BOX,
    CAPSULE,
    HALF,
    RADIUS,
    ROTATION,
    SPHERE,
)
from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import OBB, Capsule, Sphere
from terrain_physics.surface.results import SweepHit, SweepHits

_KINDS: tuple[tuple[type, int], ...] = ((Sphere, SPHERE), (Capsule, CAPSULE), (OBB, BOX))


class ShapeSweeps:
    """The questions about moving shapes, and the rules of their answers.

    The ground is touched from above and from below. What touches it at the start and moves further
    in is stopped at fraction 0; what moves out of or along it is free. Motion counts as along a
    surface if it leads into it by less than a millionth of its length (motions and normals in
    float32 are that far from square). So nothing that slides over level ground is stopped by it,
    nor by the edge of the next triangle: a touch at an edge or a corner whose normal leads into a
    neighbour is one of the face.
    """

    __slots__ = ()

    def sweep(self, shape: Sphere | Capsule | OBB, motion: Any) -> SweepHit | None:
        """Return where a moving shape first touches the ground.

        Parameters
        ----------
        shape : Sphere, Capsule or OBB
            Where it starts.
        motion : three numbers
            The straight way, in meters; the shape does not turn.

        Returns
        -------
        SweepHit or None
            ``None`` where the way is free. Touching at the start: what moves further in is stopped
            at fraction 0, what moves out or along (into the ground by less than a millionth of its
            way) is free.

        Raises
        ------
        TypeError
            For other shapes.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> hit = land.sweep(Sphere((0.5, 3, 0.5), 1), (0, -4, 0))
        >>> hit.fraction, hit.point, hit.normal
        (0.5, vec3( 0.5, 0, 0.5 ), vec3( 0, 1, 0 ))
        >>> land.sweep(Sphere((0.5, 1, 0.5), 1), (5, 0, 0)) is None
        True
        """
        kind = _kind_of("shape", shape)
        bodies = np.array([_row(shape)])
        bodies.setflags(write=False)
        motions = np.array([_checks.vector("motion", motion)])
        motions.setflags(write=False)
        return self.sweep_of_row(kind, bodies, motions)

    def sweep_spheres(self, spheres: Any, motions: Any, *, threads: int | None = None) -> SweepHits:
        """Return where n moving spheres first touch the ground.

        Parameters
        ----------
        spheres : array_like, shape (n, 4) or (1, 4)
            x, y, z, radius in meters; radius >= 0.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; by default one for each processor, for few shapes one. The
            results do not depend on it.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative radii and row counts that do not match.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> land.sweep_spheres([(0.5, 3, 0.5, 1), (0.5, 9, 0.5, 1)], [(0, -4, 0)]).fraction
        array([0.5, nan])
        """
        rows = _checks.spheres("spheres", spheres)
        bodies = np.zeros((len(rows), BODY_SIZE))
        bodies[:, :HALF] = rows
        return self._sweep_rows(SPHERE, "spheres", bodies, motions, threads)

    def sweep_capsules(
        self, capsules: Any, motions: Any, *, threads: int | None = None
    ) -> SweepHits:
        """Return where n moving capsules first touch the ground.

        Parameters
        ----------
        capsules : array_like, shape (n, 7) or (1, 7)
            Both ends of the axis, and the radius, in meters; radius >= 0.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; by default one for each processor, for few shapes one. The
            results do not depend on it.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative radii and row counts that do not match.
        """
        rows = _checks.array("capsules", capsules, (None, 7))
        _checks.refuse_negative("radius", "capsules", rows[:, 6:])
        bodies = np.zeros((len(rows), BODY_SIZE))
        bodies[:, :RADIUS] = 0.5 * rows[:, 0:3] + 0.5 * rows[:, 3:6]
        bodies[:, RADIUS] = rows[:, 6]
        bodies[:, HALF:ROTATION] = 0.5 * rows[:, 3:6] - 0.5 * rows[:, 0:3]
        return self._sweep_rows(CAPSULE, "capsules", bodies, motions, threads)

    def sweep_obbs(
        self,
        centers: Any,
        half_extents: Any,
        rotations: Any,
        motions: Any,
        *,
        threads: int | None = None,
    ) -> SweepHits:
        """Return where n moving boxes first touch the ground.

        Any of the arrays may have one row, which then serves for all.

        Parameters
        ----------
        centers, half_extents : array_like, shape (n, 3) or (1, 3)
            In meters; half extents >= 0.
        rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
            Orthonormal matrices with the box axes as columns.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; by default one for each processor, for few shapes one. The
            results do not depend on it.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        ValueError
            For other shapes, non-finite values, negative half extents, matrices that are no
            rotations and row counts that do not match.
        """
        places = _checks.points("centers", centers)
        halves = _checks.points("half_extents", half_extents)
        _checks.refuse_negative("half extent", "half_extents", halves)
        turns = _checks.rotations("rotations", rotations)
        count = _checks.common_length(centers=places, half_extents=halves, rotations=turns)
        bodies = np.zeros((count, BODY_SIZE))
        bodies[:, :RADIUS] = places
        bodies[:, HALF:ROTATION] = halves
        bodies[:, ROTATION:] = turns.reshape(-1, 9)
        return self._sweep_rows(BOX, "boxes", bodies, motions, threads)

    def sweep_many(
        self,
        shapes: Sequence[Sphere | Capsule | OBB],
        motions: Any,
        *,
        threads: int | None = None,
    ) -> SweepHits:
        """Return where moving shapes first touch the ground.

        Parameters
        ----------
        shapes : sequence of Sphere, of Capsule or of OBB
            All of one kind.
        motions : array_like, shape (n, 3) or (1, 3)
            Straight ways, in meters.
        threads : int, optional
            How many threads work; by default one for each processor, for few shapes one. The
            results do not depend on it.

        Returns
        -------
        SweepHits
            By the rules of `sweep`.

        Raises
        ------
        TypeError
            For other shapes, and for shapes of several kinds.
        """
        if isinstance(shapes, (Sphere, Capsule, OBB, np.ndarray)):
            raise TypeError(
                f"shapes must be a sequence of Sphere, Capsule or OBB, "
                f"got {_checks.shorten(shapes)}"
            )
        if not shapes:
            return self._sweep_rows(SPHERE, "shapes", np.zeros((0, BODY_SIZE)), motions, threads)
        kind = _kind_of("shapes[0]", shapes[0])
        for i, shape in enumerate(shapes):
            _checks.instance(f"shapes[{i}]", shape, type(shapes[0]))
        bodies = np.array([_row(shape) for shape in shapes])
        return self._sweep_rows(kind, "shapes", bodies, motions, threads)

    def _sweep_rows(
        self, kind: int, name: str, bodies: Floats, motions: Any, threads: int | None
    ) -> SweepHits:
        bodies.setflags(write=False)
        ways = _checks.points("motions", motions)
        count = _checks.common_length(**{name: bodies, "motions": ways})
        return self.sweeps_of_rows(kind, bodies, ways, count, threads)

    def sweep_of_row(self, kind: int, bodies: Floats, motions: Floats) -> SweepHit | None:
        """Return the hit of one row."""
        raise NotImplementedError

    def sweeps_of_rows(
        self, kind: int, bodies: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        """Return the hits of n rows; arrays of one row serve for all."""
        raise NotImplementedError


def hit_of(row: Floats, triangle: int, material: int) -> SweepHit | None:
    """Return the hit in a row of numbers: distance, point, normal, fraction; NaN: None."""
    distance, x, y, z, nx, ny, nz, fraction = row.tolist()
    if math.isnan(distance):
        return None
    return SweepHit(fraction, distance, glm.vec3(nx, ny, nz), glm.vec3(x, y, z), triangle, material)


def hits_of(
    numbers: Floats, triangles: NDArray[np.int64], materials: NDArray[np.uint8]
) -> SweepHits:
    """Return the hits in rows of numbers."""
    return SweepHits(
        numbers[:, 7].copy(),
        numbers[:, 0].copy(),
        numbers[:, 4:7].copy(),
        numbers[:, 1:4].copy(),
        triangles,
        materials,
    )


def _kind_of(name: str, shape: object) -> int:
    for shape_type, kind in _KINDS:
        if isinstance(shape, shape_type):
            return kind
    raise TypeError(f"{name} must be a Sphere, Capsule or OBB, got {_checks.shorten(shape)}")


def _row(shape: Sphere | Capsule | OBB) -> tuple[float, ...]:
    """Return the row that describes a body to the kernels."""
    if isinstance(shape, Sphere):
        return (*shape.center64, shape.radius, *[0.0] * 12)
    if isinstance(shape, Capsule):
        ends = list(zip(shape.a64, shape.b64, strict=True))
        middle = [0.5 * a + 0.5 * b for a, b in ends]
        half = [0.5 * b - 0.5 * a for a, b in ends]
        return (*middle, shape.radius, *half, *[0.0] * 9)
    return (*shape.center64, 0.0, *shape.half_extents64, *shape.rotation64)
