"""The grid of places: where it is, how large it may be, and what is refused."""

import math
from typing import Any

import numpy as np

from terrain_physics._kernels.types import read_only
from terrain_physics._kernels.walkability.layout import MOST_LEVELS
from terrain_physics._support import checks
from terrain_physics.character.colliders import BoxCollider, Collider
from terrain_physics.character.placement import AnyGround
from terrain_physics.heightmap.solid.sides import NEIGHBOR_GAP, bounds_of
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.limits import refuse_far
from terrain_physics.surface.queries import Queries
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import parts_of

MOST_PLACES = 64_000_000

# A spacing is at most so many radii of the body: a character walks between places, and beside the
# way between them nobody has looked.
_MOST_RADII = 8

# A walker is seen after each update, 60 times a second, and must not pass the end of an edge
# between two looks.
_MOST_SPACINGS_PER_SECOND = 30

# A slower walker would need thousands of updates for its way.
_LEAST_SPACINGS_PER_SECOND = 0.1

# The least and the greatest rate of updates, in 1/s.
_RATES = 5.0, 1000.0

# On the border of an area: a share of the spacing, more than rounding.
_ON_BORDER = 1e-9


def checked_spacing(spacing: Any, collider: Collider) -> float:
    """Return the spacing of places in meters, or refuse it."""
    known = checks.positive("spacing", spacing)
    radius = radius_of(collider)
    if known > _MOST_RADII * radius:
        raise ValueError(
            f"spacing must be at most {_MOST_RADII} radii of the collider, "
            f"{_MOST_RADII * radius:g} m, got {known}"
        )
    return known


def radius_of(collider: Collider) -> float:
    """Return the radius of a body; that of a box is its least half extent on the level."""
    if isinstance(collider, BoxCollider):
        return float(min(collider.half_extents64[0], collider.half_extents64[2]))
    return float(collider.radius)


def checked_speed(speed: Any, spacing: float) -> float:
    """Return the speed of walkers in m/s, or refuse it."""
    known = checks.positive("speed", speed)
    if known < _LEAST_SPACINGS_PER_SECOND * spacing:
        raise ValueError(
            f"speed must be at least {_LEAST_SPACINGS_PER_SECOND} spacings a second, "
            f"{_LEAST_SPACINGS_PER_SECOND * spacing:g} m/s, got {known}"
        )
    if known > _MOST_SPACINGS_PER_SECOND * spacing:
        raise ValueError(
            f"speed must be at most {_MOST_SPACINGS_PER_SECOND} spacings a second, "
            f"{_MOST_SPACINGS_PER_SECOND * spacing:g} m/s, got {known}"
        )
    return known


def checked_rates(rates: Any) -> tuple[float, ...]:
    """Return the rates of updates at which edges hold, in 1/s, or refuse them."""
    given = checks.listed("rates", rates)
    known = tuple(checks.between("rates", rate, *_RATES) for rate in given)
    if not known:
        raise ValueError("rates must be one or more numbers, got none")
    if sorted(set(known)) != list(known):
        raise ValueError(f"rates must be sorted, each once, got {checks.shorten(rates)}")
    return known


def places_over(ground: AnyGround, area: Any, spacing: float, levels: int) -> Places:
    """Return places on all multiples of the spacing in an area, or in the ground's bounds."""
    lower, upper = _corners(ground, area)
    refuse_far("area", read_only(np.stack([lower, upper]))[0])
    first = np.ceil(lower / spacing - _ON_BORDER)
    rows_and_columns = np.floor(upper / spacing + _ON_BORDER) - first + 1.0
    columns, rows = rows_and_columns.tolist()
    where = f"from {tuple(lower.tolist())} to {tuple(upper.tolist())}"
    if columns < 1 or rows < 1:
        raise ValueError(
            f"area must hold a multiple of the spacing, {spacing:g} m, along x and along z, "
            f"got {where}"
        )
    refuse_more_places(rows, columns, levels, spacing)
    x, z = (spacing * first).tolist()
    return Places(x, z, spacing, levels, int(rows), int(columns))


def refuse_more_places(rows: float, columns: float, levels: int, spacing: float) -> None:
    """Refuse more places than a map may have."""
    count = rows * columns * levels
    if count > MOST_PLACES:
        wide = _rounded(spacing * math.sqrt(count / MOST_PLACES))
        side = _rounded(spacing * math.sqrt(MOST_PLACES / levels))
        above = f", on {levels} levels" if levels > 1 else ""
        raise ValueError(
            f"places must be at most {MOST_PLACES}, got {count:.0f}: {rows:.0f} x {columns:.0f}"
            f"{above}; a spacing of {wide} m would do, or an area of {side} x {side} m"
        )


def _rounded(value: float) -> str:
    """Return a length as text, with three digits that matter."""
    return f"{float(f'{value:.3g}'):g}"


def _corners(ground: AnyGround, area: Any) -> Any:
    """Return the lower and the upper corner (x, z) of the area."""
    if area is None:
        bounds = ground.bounds
        return np.array(bounds.lower64)[[0, 2]], np.array(bounds.upper64)[[0, 2]]
    corners = checks.array("area", area, (2, 2))
    if (corners[0] > corners[1]).any():
        raise ValueError(
            "area must be the lower and the upper corner, ((x0, z0), (x1, z1)), "
            f"got {corners.tolist()}"
        )
    return corners


def levels_on(queries: Queries) -> int:
    """Return how many levels places need: one on maps that do not overlap, else three."""
    parts = parts_of(queries)
    if parts is None:
        return MOST_LEVELS if isinstance(queries.source, MeshStorage) else 1
    if any(isinstance(part, MeshStorage) for part in parts.sources.values()):
        return MOST_LEVELS
    maps = [own.source.storage for own in parts.maps.members if own.layers]
    if len(maps) < 2:
        return 1
    lowers, uppers = np.swapaxes([bounds_of(storage) for storage in maps], 0, 1)
    for lower, upper in zip(lowers, uppers, strict=True):
        overlap = np.minimum(upper, uppers) - np.maximum(lower, lowers)
        if np.count_nonzero((overlap > NEIGHBOR_GAP).all(axis=1)) > 1:  # each overlaps itself
            return MOST_LEVELS
    return 1
