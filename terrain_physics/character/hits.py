"""Hits of characters on the ground and on each other: one as a value, many as arrays."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels.character.reports import hits as kernels
from terrain_physics._kernels.character.state.layout import HITS
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.tolerances import LEAST_IMPACT
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._public import public
from terrain_physics.character.rows import Rows
from terrain_physics.surface.naming import Objects
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import columns_of, pickled_plain, shown_briefly

BlockReason = Literal["steep", "wall", "step", "ceiling", "edge", "character"]

REASONS: tuple[BlockReason | None, ...] = (
    None, "steep", "wall", "step", "ceiling", "edge", "character",
)  # fmt: skip
_WORDS = np.array([reason or "" for reason in REASONS])

_GROUND = -1


@public
@shown_briefly
@pickled_plain
class MoveHit(NamedTuple):
    """A surface that a character ran into in an update.

    Attributes
    ----------
    triangle : int
        The triangle's id; -1 outside a map, and of a character.
    point : glm.vec3
        Where the body touches it, in meters.
    normal : glm.vec3
        Its unit normal there, towards the body.
    speed : float
        How fast the body ran into it, in m/s: the part of its velocity against the normal. Of a
        character, how fast both approached each other.
    other : int
        Row of the other character that it was, in the order of the group's keys; -1: the ground.
    material : int
        Material of the cell or face, outside a map of the nearest cell; 0 of a character.
    reason : {"steep", "wall", "step", "ceiling", "edge", "character"} or None
        Why it blocked the body, as in `MoveResult.blocked_by`; None if it did not, such as a floor
        that the body fell on.
    material_name : str or None
        The name of the material; None if it has none.
    part_name : str or None
        The name of the part of a `Ground`; None if it has none.
    """

    triangle: int
    point: glm.vec3
    normal: glm.vec3
    speed: float
    other: int = _GROUND
    material: int = 0
    reason: BlockReason | None = None
    material_name: str | None = None
    part_name: str | None = None

    @property
    def part(self) -> int:
        """The key of the part of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS


@public
@dataclass(frozen=True, slots=True, eq=False)
class MoveHits:
    """Hits of characters, as read-only arrays; iterating gives each row as `MoveHit`.

    Attributes
    ----------
    character : ndarray of int64, shape (m,)
        Row of the character, in the order of the group's keys; 0 of a character alone.
    triangle : ndarray of int64, shape (m,)
        The triangles' ids; -1 outside a map, and of characters.
    point : ndarray of float64, shape (m, 3)
        Where the bodies touch them, in meters.
    normal : ndarray of float64, shape (m, 3)
        The unit normals there, towards the bodies.
    speed : ndarray of float64, shape (m,)
        How fast the bodies ran into them, in m/s.
    other : ndarray of int64, shape (m,)
        Rows of the other characters that they were, in the order of the keys; -1: the ground.
    material : ndarray of uint8, shape (m,)
        Materials of the cells or faces, outside a map of the nearest cells; 0 of characters.
    reason : ndarray of str, shape (m,)
        Why they blocked the bodies: "steep", "wall", "step", "ceiling", "edge" or "character"; ""
        if they did not.
    material_name, part_name : ndarray of object, shape (m,)
        The names of the materials and of the parts of a `Ground`; None where there is none.
    """

    character: Int64s
    triangle: Int64s
    point: Floats
    normal: Floats
    speed: Floats
    other: Int64s
    material: Bytes
    reason: NDArray[np.str_]
    material_name: Objects
    part_name: Objects

    @property
    def part(self) -> Int64s:
        """The keys of the parts of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS

    def __post_init__(self) -> None:
        for values in self.arrays():
            values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.triangle)

    def __iter__(self) -> Iterator[MoveHit]:
        rows = zip(*(values.tolist() for values in self.arrays()[1:]), strict=True)
        for triangle, point, normal, speed, other, material, reason, *names in rows:
            vectors = _vector(point), _vector(normal)
            yield MoveHit(triangle, *vectors, speed, other, material, reason or None, *names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MoveHits):
            return NotImplemented
        pairs = zip(self.arrays(), other.arrays(), strict=True)
        return all(one.shape == two.shape and same_values(one, two) for one, two in pairs)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __repr__(self) -> str:
        return f"<MoveHits: {len(self)}>"

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the hits as columns of a table, as `RayHits.columns` does."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return columns_of(arrays, ("point", "normal"))

    def arrays(self) -> list[NDArray[Any]]:
        """Return the arrays, in the order above."""
        return [getattr(self, field.name) for field in fields(self)]


Log = tuple[bytes, Queries]
"""The hits of one character in an update, copied, and the ground that knows the rest."""


def blocker_of(log: Log, count: int) -> MoveHit | None:
    """Return the hit of ``count`` that took the most speed; None if none took any."""
    content, queries = log
    rows = memoryview(content).cast("d")
    best, most = -1, 0.0
    for row in range(0, count * kernels.HIT_SIZE, kernels.HIT_SIZE):
        if rows[row + kernels.REASON] != kernels.LET_PASS and rows[row + kernels.TAKEN] > most:
            best, most = row, rows[row + kernels.TAKEN]
    if best < 0:
        return None
    hit = rows[best : best + kernels.HIT_SIZE].tolist()
    x, y, z = hit[kernels.HIT_POINT : kernels.HIT_POINT + 3]
    part, number = int(hit[kernels.HIT_PART]), int(hit[kernels.HIT_TRIANGLE])
    other = _GROUND
    if hit[kernels.REASON] == kernels.CHARACTER:
        other, number = number, -1
    (triangle, material, is_known), naming = queries.with_names(
        lambda: queries.triangle_at(part, number, (x, y, z))
    )
    names = (naming.material(material) if is_known else None), naming.part(triangle)
    point, normal = _vector((x, y, z)), _vector(hit[kernels.HIT_NORMAL : kernels.HIT_NORMAL + 3])
    reason = REASONS[int(hit[kernels.REASON])]
    return MoveHit(triangle, point, normal, hit[kernels.TAKEN], other, material, reason, *names)


class Logs:
    """Hits of many characters in an update: copied at once, and read on demand.

    Parameters
    ----------
    logs : ndarray of float64, shape (n, HITS_SIZE)
        The logs of all characters.
    counts : ndarray, shape (n,)
        How many hits each log has.
    met : ndarray of int64, shape (m,)
        The characters that hit something.
    queries : Queries
        The queries of the ground, which know ids and materials.
    """

    __slots__ = ("_characters", "_queries", "_rows")

    def __init__(self, logs: Floats, counts: Floats, met: Int64s, queries: Queries) -> None:
        which, slots = np.nonzero(np.arange(kernels.MOST_HITS) < counts[met, np.newaxis])
        rows = logs[:, : kernels.OWN].reshape(-1, kernels.MOST_HITS, kernels.HIT_SIZE)
        self._characters, self._queries = met[which], queries
        self._rows = rows[self._characters, slots]

    def blockers(self) -> MoveHits:
        """Return, for each blocked character, the hit that took the most speed from it."""
        order = self._strongest_first(kernels.TAKEN)
        order = order[self._rows[order, kernels.REASON] != kernels.LET_PASS]
        _, first = np.unique(self._characters[order], return_index=True)
        return self._named(order[first], kernels.TAKEN)

    def blocked(self) -> Int64s:
        """Return the blocked characters, some more than once."""
        rows = np.flatnonzero(self._rows[:, kernels.REASON] != kernels.LET_PASS)
        return self._characters.take(rows)

    def hitting(self) -> Int64s:
        """Return the characters that ran into something, some more than once."""
        rows = np.flatnonzero(self._rows[:, kernels.IMPACT] >= LEAST_IMPACT)
        return self._characters.take(rows)

    def impacts(self) -> MoveHits:
        """Return the impacts of the characters, the strongest of each first."""
        order = self._strongest_first(kernels.IMPACT)
        order = order[self._rows[order, kernels.IMPACT] >= LEAST_IMPACT]
        return self._named(order, kernels.IMPACT)

    def _strongest_first(self, speed: int) -> Int64s:
        """Return the order by character, and for each from the greatest speed to the least."""
        return np.lexsort((-self._rows[:, speed], self._characters))

    def _named(self, order: Int64s, speed: int) -> MoveHits:
        """Return some of the rows as hits, with ids and materials."""
        rows = self._rows[order]
        points = rows[:, kernels.HIT_POINT : kernels.HIT_POINT + 3].copy()
        parts, numbers = rows[:, [kernels.HIT_PART, kernels.HIT_TRIANGLE]].astype(np.int64).T
        others = np.where(rows[:, kernels.REASON] == kernels.CHARACTER, numbers, _GROUND)
        numbers = np.where(others == _GROUND, numbers, -1)
        (triangles, materials, known), naming = self._queries.with_names(
            lambda: self._queries.triangles_at(parts, numbers, points)
        )
        return MoveHits(
            self._characters[order],
            triangles,
            points,
            rows[:, kernels.HIT_NORMAL : kernels.HIT_NORMAL + 3].copy(),
            rows[:, speed].copy(),
            others,
            materials,
            _WORDS[rows[:, kernels.REASON].astype(np.int64)],
            naming.all_materials(materials, known),
            naming.all_parts(triangles),
        )


def logs_of(rows: Rows, queries: Queries) -> Logs | None:
    """Return the hits of characters (n, ...) in their last update; None: none."""
    counts = rows.state[:, HITS]
    met = np.flatnonzero(counts)
    return Logs(rows.hits, counts, met, queries) if len(met) else None


def impacts_of(rows: Rows, queries: Queries) -> MoveHits:
    """Return the impacts of characters (n, ...) in their last update."""
    logs = logs_of(rows, queries)
    return _NONE if logs is None else logs.impacts()


def renumber_others(hits: Floats, kept: Int64s, count: int) -> None:
    """Renumber the other characters in logs (n, HITS_SIZE) after some of ``count`` were removed.

    ``kept`` (n,) are the old rows of those that are left. A hit on a removed character loses it.
    """
    rows = hits[:, : kernels.OWN].reshape(-1, kernels.MOST_HITS, kernels.HIT_SIZE)
    which = rows[:, :, kernels.REASON] == kernels.CHARACTER
    new = np.full(count + 1, _GROUND)  # the last entry is for those removed earlier
    new[kept] = np.arange(len(kept))
    old = rows[which, kernels.HIT_TRIANGLE].astype(np.int64)
    found = new[np.where((old >= 0) & (old < count), old, count)]
    log, slot = np.nonzero(which)
    hits[log, slot * kernels.HIT_SIZE + kernels.HIT_TRIANGLE] = found


def spread(hits: MoveHits | None, count: int) -> MoveHits:
    """Return a row for each of ``count`` characters: its hit; NaN, -1, 0, "", None where none."""
    arrays: tuple[NDArray[Any], ...] = (
        np.arange(count),
        np.full(count, -1, dtype=np.int64),
        np.full((count, 3), np.nan),
        np.full((count, 3), np.nan),
        np.full(count, np.nan),
        np.full(count, _GROUND, dtype=np.int64),
        np.zeros(count, dtype=np.uint8),
        np.full(count, "", dtype=_WORDS.dtype),
        np.full(count, None),
        np.full(count, None),
    )
    if hits is not None:
        for values, known in zip(arrays, hits.arrays(), strict=True):
            values[hits.character] = known
    return MoveHits(*arrays)


_NONE = spread(None, 0)


def same_values(one: Any, two: Any) -> bool:
    """Tell whether two arrays or numbers are equal; NaNs count as equal."""
    return np.array_equal(one, two, equal_nan=np.asarray(one).dtype.kind == "f")


def _vector(values: Iterable[float]) -> glm.vec3:
    return glm.vec3(*values) + 0.0
