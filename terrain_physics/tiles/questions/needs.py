"""Which tiles a question needs: those under boxes, the first on paths, or the nearest ones.

Each question of `Queries` is here by the function that answers it. What it is about has the order
of that function's arguments.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.tiles.squares import put_square_of_shapes
from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.answers import hits, triangles
from terrain_physics.surface.answers.contacts import (
    few_contacts_in,
    many_contact_counts,
    many_contacts,
)
from terrain_physics.surface.results import (
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
)
from terrain_physics.surface.shapes import box_of, centers_of, extents_of, for_kernels
from terrain_physics.tiles.questions.missing_tiles import MissingTiles
from terrain_physics.tiles.questions.paths import Paths

LAND = 0
"""The key of the land in its ground."""

_SQUARE = CachedDispatch(put_square_of_shapes)

# Half the size of what is asked at a place: whatever the height.
_PLACE, _STILL = np.array([[0.0, inf, 0.0]]), np.zeros((1, 3))
for _values in (_PLACE, _STILL):
    _values.setflags(write=False)

_Line = tuple[float, ...]  # x and z, x and z of its end, how far around it: see `are_away`


class OverBoxes(NamedTuple):
    """How a question needs all tiles under some boxes at once.

    Attributes
    ----------
    what : str
        The name of the argument that is over too many.
    boxes : callable
        Returns boxes (n, 4): least x and z, greatest x and z. None: it is easy to tell that nothing
        is missing. It is given the missing tiles.
    """

    what: str
    boxes: Callable[..., Floats | None]

    def under(self, missing: MissingTiles, *about: Any) -> list[int]:
        """Return the numbers of the missing tiles that are needed."""
        if missing.are_none or (boxes := self.boxes(missing, *about)) is None:
            return []
        numbers: list[int] = missing.under(boxes).tolist()
        return numbers


class OfRows(NamedTuple):
    """How rows need tiles.

    Attributes
    ----------
    what : str
        The name of the argument with the rows.
    tiles : callable
        Returns for each row the number of a missing tile that it needs next, -1 where it needs
        none; None if it is easy to tell that no row needs any. It is given the missing tiles and
        the answers.
    """

    what: str
    tiles: Callable[..., Int64s | None]


def _boxes_of(kind: int, rows: Floats) -> Floats:
    """Return the boxes (n, 4) under shapes."""
    places, extents = centers_of(kind, rows)[:, ::2], extents_of(kind, rows)[:, ::2]
    return np.concatenate([places - extents, places + extents], axis=1)


def _are_off(missing: MissingTiles, kind: int, rows: Floats) -> bool:
    """Tell whether missing tiles are away from a square around shapes."""
    square = np.empty(4)
    _SQUARE.call(kind, for_kernels(rows), len(rows), square)
    return not len(rows) or missing.are_off(square)


def _square_around(xs: Floats, zs: Floats, far: float) -> Floats:
    """Return the square (4,) around places, as far as that around each."""
    return np.array([xs.min() - far, zs.min() - far, xs.max() + far, zs.max() + far])


def _under_each(
    missing: MissingTiles, xs: Floats, zs: Floats, extents: Floats, threads: int | None
) -> Int64s | None:
    far = float(extents[:, ::2].max(initial=0.0))
    if not len(xs) or missing.are_off(_square_around(xs, zs, far)):
        return None
    starts, still = np.column_stack([xs, np.zeros(len(xs)), zs]), np.zeros(len(xs))
    return missing.first_on(starts, _STILL, still, extents, threads)[1]


def _under_shapes(
    missing: MissingTiles, _: Int64s, kind: int, rows: Floats, threads: int | None, *_more: Any
) -> Int64s | None:
    if _are_off(missing, kind, rows):
        return None
    x, _y, z = centers_of(kind, rows).T
    extents = extents_of(kind, rows) * (1.0, 0.0, 1.0) + _PLACE
    return _under_each(missing, x, z, extents, threads)


def _nearest(
    missing: MissingTiles, within: Floats, points: Floats, threads: int | None
) -> Int64s | None:
    """Return the nearest missing tile of each point up to a distance."""
    if not len(points):
        return None
    if missing.are_off(_square_around(points[:, 0], points[:, 2], float(within.max()))):
        return None
    return missing.nearest(points, within, threads)


def _nearest_and_under(
    missing: MissingTiles, distances: Floats, points: Floats, threads: int | None
) -> Int64s | None:
    near = _nearest(missing, np.abs(distances), points, threads)
    if near is None:
        return None
    below = _under_each(missing, points[:, 0], points[:, 2], _PLACE, threads)
    return near if below is None else np.where(below < 0, near, below)


def _on_rays(
    hits: RayHits, origins: Floats, directions: Floats, longest: Floats, _: int | None
) -> tuple[Paths, Floats]:
    return Paths.of_rays(origins, directions), np.fmin(hits.distance, longest)


def _on_sweeps(
    hits: SweepHits, kind: int, rows: Floats, motions: Floats, _: int | None
) -> tuple[Paths, Floats]:
    return Paths.of_shapes(kind, rows, motions), np.fmin(hits.fraction, 1.0)


ON_PATHS: dict[Any, Callable[..., tuple[Paths, Floats]]] = {
    hits.many_rays: _on_rays,
    hits.many_sweeps: _on_sweeps,
}
"""The paths on which unknown ground is told, up to the hits, and the multiples of their ways."""


def _first_on(
    on: Callable[..., tuple[Paths, Floats]], missing: MissingTiles, hits: Any, *about: Any
) -> Int64s | None:
    paths, ends = on(hits, *about)
    found = paths.first_missing(missing, ends, about[-1])
    return None if found is None else found[1]


OF_ROWS = {
    hits.surface_over: OfRows(
        "x and z",
        lambda missing, _, xs, zs, threads, *_more: _under_each(missing, xs, zs, _PLACE, threads),
    ),
    hits.are_contained: OfRows(
        "x and z",
        lambda missing, _, points, threads: _under_each(
            missing, points[:, 0], points[:, 2], _PLACE, threads
        ),
    ),
    many_contact_counts: OfRows("shapes", _under_shapes),
    hits.many_rays: OfRows("origins", partial(_first_on, _on_rays)),
    hits.many_sweeps: OfRows("shapes", partial(_first_on, _on_sweeps)),
    hits.points_closest: OfRows(
        "points",
        lambda missing, found, points, threads: _nearest(missing, found.distance, points, threads),
    ),
    hits.distances_of: OfRows("points", _nearest_and_under),
    hits.many_triangles: OfRows(
        "triangles",
        lambda missing, _, parts, triangles, _points: missing.of_ids(
            np.where(parts == LAND, triangles, -1)
        ),
    ),
}


def _around_ray(
    hit: RayHit | None, _: int, origin: Floats3, direction: Floats3, longest: float
) -> _Line:
    (x, _y, z), (dx, _dy, dz) = origin, direction
    length = longest if hit is None else hit.distance
    return x, z, x + (length * dx if dx else 0.0), z + (length * dz if dz else 0.0)


def _around_shape(_: Any, _mask: int, kind: int, row: Sequence[float], *_more: Any) -> _Line:
    (x0, _y, z0), (x1, _y1, z1) = box_of(kind, row)
    return x0, z0, x1, z1


def _around_sweep(
    hit: SweepHit | None, mask: int, kind: int, row: Sequence[float], motion: Floats3
) -> _Line:
    x0, z0, x1, z1 = _around_shape(hit, mask, kind, row)
    part, (way_x, _, way_z) = 1.0 if hit is None else hit.fraction, motion
    x, z = part * way_x, part * way_z
    return x0 + min(x, 0.0), z0 + min(z, 0.0), x1 + max(x, 0.0), z1 + max(z, 0.0)


AROUND: dict[Any, Callable[..., _Line]] = {
    hits.surface_at: lambda _, _mask, x, z: (x, z, x, z),
    hits.one_ray: _around_ray,
    few_contacts_in: _around_shape,
    hits.one_sweep: _around_sweep,
    triangles.few_triangles_in: lambda _, _mask, lower, upper: (*lower[::2], *upper[::2]),
    hits.point_closest: lambda hit, _, at: (at[0], at[2], at[0], at[2], hit.distance),
    hits.is_contained: lambda _, _mask, at: (at[0], at[2], at[0], at[2]),
    hits.distance_of: lambda found, _, at: (at[0], at[2], at[0], at[2], abs(found)),
}
"""What a question about one is near, as `MissingTiles.are_away` takes it, once it is answered."""


def _over_box(_: MissingTiles, lower: Floats3, upper: Floats3) -> Floats:
    return np.array([[lower[0], lower[2], upper[0], upper[2]]])


OVER: dict[Any, OverBoxes] = {
    few_contacts_in: OverBoxes(
        "shapes", lambda _, kind, row, _keep: _boxes_of(kind, np.array([row]))
    ),
    many_contacts: OverBoxes(
        "shapes",
        lambda missing, kind, rows, *_more: (
            None if _are_off(missing, kind, rows) else _boxes_of(kind, rows)
        ),
    ),
    triangles.few_triangles_in: OverBoxes("aabb", _over_box),
    triangles.all_triangles_in: OverBoxes("aabb", _over_box),
    triangles.triangle_ids_in: OverBoxes(
        "boxes", lambda _, boxes, _most: boxes.reshape(-1, 6)[:, [0, 2, 3, 5]]
    ),
}
"""The questions that need all tiles under boxes."""


AS_ROWS: dict[Any, tuple[str, Callable[..., Any]]] = {
    hits.surface_at: ("x and z", hits.surface_over),
    hits.one_ray: ("ray", hits.many_rays),
    hits.one_sweep: ("shape", hits.many_sweeps),
    hits.point_closest: ("point", hits.points_closest),
    hits.is_contained: ("x and z", hits.are_contained),
    hits.distance_of: ("points", hits.distances_of),
}
"""The name of the argument of a question about one, and what asks the same of rows."""


def as_rows(*about: Any) -> tuple[Any, ...]:
    """Return what is asked about one as rows are asked: arrays of one row, and one thread."""
    return *(own if isinstance(own, int) else read_only(np.array([own]))[0] for own in about), 1
