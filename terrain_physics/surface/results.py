"""Results of queries, as small immutable values."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._public import public, quick
from terrain_physics.geometry.shapes import Triangle
from terrain_physics.surface.naming import NO_NAMES, Naming, Objects

_Hit = TypeVar("_Hit")
_Rows = TypeVar("_Rows", bound="NamedRows")
_Single = TypeVar("_Single", bound="RayHit | SweepHit | ClosestPoint | None")
_Marked = TypeVar("_Marked", bound="HitRows")


NAMES = ("material_name", "part_name")
"""The fields of each hit with names."""

_SHOWN_IF_SET = (*NAMES, "unknown")

# Squares of larger numbers may overflow in float32, in which depths are found.
_MOST_SQUARED = 1e18

# Of so many rows at most, Python's floats are sooner than NumPy's calls; the bits are the same.
_FEW = 6

# Makes a named tuple of a kind from its parts, in two thirds of the time of calling the kind.
new_hit = tuple.__new__


def plain(hit: Any) -> tuple[Any, ...]:
    """Return a hit as plain numbers, as PyGLM's own pickles need a module that will be removed."""
    return tuple(tuple(part) if isinstance(part, glm.vec3) else part for part in hit)


def of_plain(kind: type[_Hit], parts: tuple[Any, ...]) -> _Hit:
    """Return the hit of a kind from plain numbers."""
    return kind(*(glm.vec3(*part) if isinstance(part, tuple) else part for part in parts))


def shown_briefly(kind: type[_Hit]) -> type[_Hit]:
    """Make named tuples leave names that are None, and what is not unknown, out of ``repr``."""

    def brief(hit: Any) -> str:
        fields = zip(hit._fields, hit, strict=True)
        shown = [f"{name}={part!r}" for name, part in fields if part or name not in _SHOWN_IF_SET]
        return f"{type(hit).__name__}({', '.join(shown)})"

    kind.__repr__ = brief  # type: ignore[method-assign]
    return kind


def pickled_plain(kind: type[_Hit]) -> type[_Hit]:
    """Make named tuples with vectors pickle and copy as plain numbers."""

    def _of_plain(made: type[_Hit], parts: tuple[Any, ...]) -> _Hit:
        return of_plain(made, parts)

    named: Any = kind
    named._of_plain = classmethod(_of_plain)  # noqa: SLF001 a pickle finds it by the class
    named.__reduce__ = lambda hit: (type(hit)._of_plain, (plain(hit),))  # noqa: SLF001
    return kind


def columns_of(
    arrays: Mapping[str, NDArray[Any]], vectors: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a result as columns of a table: one number, text or bool in a row.

    Names are objects: text, or None.

    Arrays named in ``vectors`` have one more axis, along x, y and z, and become three columns.
    """
    columns: dict[str, NDArray[Any]] = {}
    for name, values in arrays.items():
        if name in vectors:
            columns |= {f"{name}_{axis}": values[..., k].ravel() for k, axis in enumerate("xyz")}
        else:
            columns[name] = values.ravel()
    return columns


class NamedRows:
    """Base of answers with triangles and materials in rows, whose names are found on demand."""

    __slots__ = ()

    if TYPE_CHECKING:
        _naming: Naming

        @property
        def triangle(self) -> NDArray[np.int64]:
            """The triangles' ids."""

        @property
        def material(self) -> NDArray[np.uint8]:
            """Their materials."""

    @property
    def part(self) -> NDArray[np.int64]:
        """The keys of the parts of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS

    @property
    def material_name(self) -> NDArray[np.object_]:
        """The names of the materials; None where there is none."""
        return _naming_of(self).all_materials(self.material, self._touched())

    @property
    def part_name(self) -> NDArray[np.object_]:
        """The names of the parts of a `Ground`; None where there is none."""
        return _naming_of(self).all_parts(self.triangle)

    def __getstate__(self) -> tuple[Any, ...] | None:
        naming = _naming_of(self)
        return None if naming is NO_NAMES else (naming.materials, dict(naming.parts))

    def __setstate__(self, names: tuple[Any, ...]) -> None:
        named(self, Naming(*names))  # from plain values: a pickle names no private class

    def _touched(self) -> Bools:
        """Tell which rows are about a triangle; those of contacts all are."""
        distances: Floats = cast("Any", self).distance
        return np.isfinite(distances)


class HitRows(NamedRows):
    """Base of the first hits of rays and shapes, of which some may be unknown."""

    __slots__ = ()

    if TYPE_CHECKING:
        _unknown: Bools | None

        @property
        def distance(self) -> Floats:
            """The lengths of the paths until the hits."""

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Where the path comes to a tile of a `TiledGround` that is not there: what is hit then.

        Such a hit has the id -1, the material 0 and the normal 0.
        """
        unknown = getattr(self, "_unknown", None)
        if unknown is None:
            unknown = np.zeros(self.distance.shape, np.bool_)
            unknown.flags.writeable = False
        return unknown

    def __getstate__(self) -> tuple[Any, ...] | None:
        names, unknown = super().__getstate__(), getattr(self, "_unknown", None)
        return None if names is None and unknown is None else (names, unknown)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        names, unknown = state
        if names is not None:
            super().__setstate__(names)
        if unknown is not None:
            marked(self, unknown)

    def _touched(self) -> Bools:
        return super()._touched() & ~self.unknown


def marked(hits: _Marked, unknown: Bools) -> _Marked:
    """Return hits after they were told which of them are unknown, an array of their shape."""
    unknown.flags.writeable = False
    hits._unknown = unknown if unknown.any() else None  # noqa: SLF001 of its own file
    return hits


def named(rows: _Rows, naming: Naming) -> _Rows:
    """Return an answer after it was told the names of its ground."""
    if naming is not NO_NAMES:
        rows._naming = naming  # noqa: SLF001 of its own file
    return rows


def named_hit(hit: _Single, naming: Naming) -> _Single:
    """Return one hit, or None, with the names of its ground."""
    if naming is NO_NAMES or hit is None or hit.distance == math.inf:  # no ground is closest
        return hit
    if getattr(hit, "unknown", False):
        return hit
    at = hit._fields.index(NAMES[0])
    names = naming.material(hit.material), naming.part(hit.triangle)
    return cast("_Single", new_hit(type(hit), (*hit[:at], *names, *hit[at + len(names) :])))


def _naming_of(rows: NamedRows) -> Naming:
    return getattr(rows, "_naming", NO_NAMES)


def _name_columns(rows: NamedRows) -> dict[str, Objects]:
    """Return names as columns of a table."""
    return {name: getattr(rows, name) for name in NAMES}


@public
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

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the triangles as columns of a table: ``a_x`` to ``c_z``, ``normals_x``, ``ids``.

        For ``pandas.DataFrame(...)``, ``pyarrow.table(...)`` and alike.
        """
        a, b, c = self.vertices.swapaxes(0, 1)
        arrays = {"a": a, "b": b, "c": c, "normals": self.normals, "ids": self.ids}
        return columns_of(arrays, ("a", "b", "c", "normals"))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Triangle]:
        for a, b, c in self.vertices.tolist():
            yield Triangle(a, b, c)

    def __repr__(self) -> str:
        return f"<Triangles: {len(self)}>"


@public
@shown_briefly
@pickled_plain
class RayHit(NamedTuple):
    """First hit of a ray on the ground.

    Attributes
    ----------
    distance : float
        Along the ray from its origin, in meters.
    point : glm.vec3
        In meters.
    normal : glm.vec3
        The unit normal of the triangle's front.
    triangle : int
        The triangle's id; -1 outside the map.
    material : int
        Material of the cell or face, outside a map of the nearest cell.
    material_name : str or None
        The name of the material; None if it has none.
    part_name : str or None
        The name of the part of a `Ground`; None if it has none.
    unknown : bool
        Whether the ray comes here to where a tile that is not loaded may have ground: the triangle
        is -1, the material 0 and the normal 0, and what lies beyond is not looked for.
        Only a `TiledGround` with ``missing="wait"`` has such hits.
    """

    distance: float
    point: glm.vec3
    normal: glm.vec3
    triangle: int
    material: int = 0
    material_name: str | None = None
    part_name: str | None = None
    unknown: bool = False

    @property
    def part(self) -> int:
        """The key of the part of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS


class _RayColumns(NamedTuple):
    distance: NDArray[np.float64]
    point: NDArray[np.float64]
    normal: NDArray[np.float64]
    triangle: NDArray[np.int64]
    material: NDArray[np.uint8]


@public
class RayHits(_RayColumns, HitRows):
    """First hits of rays on the ground; row i is of ray i.

    Attributes
    ----------
    distance : ndarray of float64, shape (n,)
        Along the ray in meters; NaN where the ray missed.
    point : ndarray of float64, shape (n, 3)
        In meters; NaN where missed.
    normal : ndarray of float64, shape (n, 3)
        The unit normal of the triangle's front; NaN where missed.
    triangle : ndarray of int64, shape (n,)
        The triangle's id; -1 where missed, and outside a map.
    material : ndarray of uint8, shape (n,)
        Material of the cell or face, outside a map of the nearest cell; 0 where missed.
    material_name, part_name, part : ndarray
        The names of the materials and of the parts of a `Ground`, None where there is none; the
        keys of the parts, as `GroundReport.part`, -1 as ``triangle`` is. They are found when they
        are read, and are no fields of the tuple.
    unknown : ndarray of bool, shape (n,)
        As `RayHit.unknown`; no field of the tuple either.
    """

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the hits as columns of a table; vectors as ``point_x``, ``point_y``, ``point_z``.

        For ``pandas.DataFrame(...)``, ``pyarrow.table(...)`` and alike. The rays of a group come
        character by character.

        Examples
        --------
        >>> from terrain_physics import HeightMap
        >>> land = HeightMap([[0, 0], [0, 0]])
        >>> list(land.raycast_many([(0.5, 3, 0.5)], [(0, -1, 0)]).columns())[:4]
        ['distance', 'point_x', 'point_y', 'point_z']
        """
        own = self._asdict() | _name_columns(self) | {"unknown": self.unknown}
        return columns_of(own, ("point", "normal"))


@public
@shown_briefly
@pickled_plain
class SweepHit(NamedTuple):
    """First touch of a moving shape with the ground.

    Attributes
    ----------
    fraction : float
        The part of the motion until then, from 0 to 1.
    distance : float
        The length of the path until then, in meters.
    normal : glm.vec3
        The unit normal of the touch, towards the shape.
    point : glm.vec3
        A point of the ground that is touched, in meters.
    triangle : int
        The triangle's id; -1 outside the map.
    material : int
        Material of the cell or face, outside a map of the nearest cell.
    material_name : str or None
        The name of the material; None if it has none.
    part_name : str or None
        The name of the part of a `Ground`; None if it has none.
    unknown : bool
        Whether the shape comes here to where a tile that is not loaded may have ground: the
        triangle is -1, the material 0 and the normal 0; the point is on the box of that ground.
        Only a `TiledGround` with ``missing="wait"`` has such hits.
    """

    fraction: float
    distance: float
    normal: glm.vec3
    point: glm.vec3
    triangle: int
    material: int = 0
    material_name: str | None = None
    part_name: str | None = None
    unknown: bool = False

    @property
    def part(self) -> int:
        """The key of the part of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS


class _SweepColumns(NamedTuple):
    fraction: NDArray[np.float64]
    distance: NDArray[np.float64]
    normal: NDArray[np.float64]
    point: NDArray[np.float64]
    triangle: NDArray[np.int64]
    material: NDArray[np.uint8]


@public
class SweepHits(_SweepColumns, HitRows):
    """First touches of moving shapes with the ground; row i is of shape i.

    Attributes
    ----------
    fraction : ndarray of float64, shape (n,)
        The part of the motion until then, from 0 to 1; NaN where the path is free.
    distance : ndarray of float64, shape (n,)
        The length of the path until then, in meters; NaN where free.
    normal : ndarray of float64, shape (n, 3)
        The unit normal of the touch, towards the shape; NaN where free.
    point : ndarray of float64, shape (n, 3)
        A point of the ground that is touched, in meters; NaN where free.
    triangle : ndarray of int64, shape (n,)
        The triangle's id; -1 where free, and outside the map.
    material : ndarray of uint8, shape (n,)
        Material of the cell or face, outside a map of the nearest cell; 0 where free.
    material_name, part_name, part : ndarray
        The names of the materials and of the parts of a `Ground`, None where there is none; the
        keys of the parts, as `GroundReport.part`, -1 as ``triangle`` is. They are found when they
        are read, and are no fields of the tuple.
    unknown : ndarray of bool, shape (n,)
        As `SweepHit.unknown`; no field of the tuple either.
    """

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the hits as columns of a table, as `RayHits.columns` does."""
        own = self._asdict() | _name_columns(self) | {"unknown": self.unknown}
        return columns_of(own, ("point", "normal"))


@public
@shown_briefly
@pickled_plain
class ClosestPoint(NamedTuple):
    """The point of a ground closest to a point.

    Attributes
    ----------
    point : glm.vec3
        In meters.
    distance : float
        In meters, >= 0.
    triangle : int
        The triangle's id; -1 outside a map.
    material : int
        Material of the cell or face, outside a map of the nearest cell.
    material_name : str or None
        The name of the material; None if it has none.
    part_name : str or None
        The name of the part of a `Ground`; None if it has none.
    """

    point: glm.vec3
    distance: float
    triangle: int
    material: int = 0
    material_name: str | None = None
    part_name: str | None = None

    @property
    def part(self) -> int:
        """The key of the part of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS


class _PointColumns(NamedTuple):
    point: NDArray[np.float64]
    distance: NDArray[np.float64]
    triangle: NDArray[np.int64]
    material: NDArray[np.uint8]


@public
class ClosestPoints(_PointColumns, NamedRows):
    """The points of a ground closest to points; row i is of point i.

    Attributes
    ----------
    point : ndarray of float64, shape (n, 3)
        In meters.
    distance : ndarray of float64, shape (n,)
        In meters, >= 0.
    triangle : ndarray of int64, shape (n,)
        The triangles' ids; -1 outside a map.
    material : ndarray of uint8, shape (n,)
        Materials of the cells or faces, outside a map of the nearest cells.
    material_name, part_name, part : ndarray
        The names of the materials and of the parts of a `Ground`, None where there is none; the
        keys of the parts, as `GroundReport.part`, -1 as ``triangle`` is. They are found when they
        are read, and are no fields of the tuple.
    """

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the points as columns of a table, as `RayHits.columns` does."""
        return columns_of(self._asdict() | _name_columns(self), ("point",))


@public
@shown_briefly
@pickled_plain
class Contact(NamedTuple):
    """One contact of a shape with a triangle of the ground.

    Attributes
    ----------
    query : int
        The index of the shape asked about.
    triangle : int
        The triangle's id; -1 outside the map.
    penetration : glm.vec3
        The move that takes the shape out of the triangle, in meters.
    normal : glm.vec3
        The unit direction of that move.
    point : glm.vec3
        The point of the triangle nearest to a sphere's or a box's center, or a capsule's axis.
    material : int
        The material of the triangle; 0 if the ground has no materials.
    material_name : str or None
        The name of the material; None if it has none.
    part_name : str or None
        The name of the part of a `Ground`; None if it has none.
    """

    query: int
    triangle: int
    penetration: glm.vec3
    normal: glm.vec3
    point: glm.vec3
    material: int
    material_name: str | None = None
    part_name: str | None = None

    @property
    def part(self) -> int:
        """The key of the part of a `Ground`, as `GroundReport.part`."""
        return self.triangle >> ID_BITS

    @property
    def depth(self) -> float:
        """The length of the penetration, in meters."""
        x, y, z = self.penetration  # PyGLM's own length is fused on some systems
        if max(abs(x), abs(y), abs(z)) > _MOST_SQUARED:
            return math.sqrt(x * x + y * y + z * z)
        a, b, c = np.float32(x), np.float32(y), np.float32(z)
        return float(np.sqrt(a * a + b * b + c * c))


@public
class Contacts(NamedRows):
    """Contacts of shapes with the ground as read-only arrays; iterating gives each as `Contact`.

    They are ordered by query, and for each query by row, column and half of a map's triangles, by a
    mesh's faces, or by a ground's parts.

    Parameters
    ----------
    ints : ndarray of int64, shape (2, n) or more
        Queries and triangles; further rows, as kernels give them, are of no concern.
    floats : ndarray of float64, shape (3, n, 3)
        Penetrations, normals and points.
    material : ndarray of uint8, shape (n,), optional
        Materials of the triangles; by default all 0.
    """

    __slots__ = ("_floats", "_ints", "_material", "_naming")

    _floats: NDArray[np.float64]
    _ints: NDArray[np.int64]
    _material: NDArray[np.uint8] | None

    @quick
    def __init__(
        self,
        ints: NDArray[np.int64],
        floats: NDArray[np.float64],
        material: NDArray[np.uint8] | None = None,
    ) -> None:
        # Slots and properties already forbid assignments. A `__setattr__` that does it too would
        # take as long as the whole answer for a single sphere.
        ints.setflags(write=False)
        floats.setflags(write=False)
        if material is not None:
            material.setflags(write=False)
        self._ints, self._floats, self._material = ints, floats, material

    def __reduce__(self) -> tuple[Any, ...]:
        content = self._ints[:2].copy(), self._floats.copy(), self._material
        return Contacts, content, self.__getstate__()

    @property
    def query(self) -> NDArray[np.int64]:
        """The indices of the shapes asked about, shape (n,)."""
        values: NDArray[np.int64] = self._ints[0]
        return values

    @property
    def triangle(self) -> NDArray[np.int64]:
        """The triangles' ids, shape (n,); -1 outside the map."""
        values: NDArray[np.int64] = self._ints[1]
        return values

    @property
    def penetration(self) -> NDArray[np.float64]:
        """The moves that take the shapes out of the triangles, in meters, shape (n, 3)."""
        values: NDArray[np.float64] = self._floats[0]
        return values

    @property
    def normal(self) -> NDArray[np.float64]:
        """The unit directions of the moves, shape (n, 3)."""
        values: NDArray[np.float64] = self._floats[1]
        return values

    @property
    def point(self) -> NDArray[np.float64]:
        """The points of the triangles nearest to the shapes' middles, in meters, shape (n, 3).

        The middle of a sphere or a box is its center, that of a capsule its axis.
        """
        values: NDArray[np.float64] = self._floats[2]
        return values

    @property
    def depth(self) -> NDArray[np.float64]:
        """The lengths of the penetrations, in meters, shape (n,)."""
        rows = self._floats[0]
        if len(rows) <= _FEW:
            few = rows.tolist()
            depths = np.array([math.sqrt(x * x + y * y + z * z) for x, y, z in few], np.float64)
        else:
            x, y, z = rows.T
            depths = np.sqrt(x * x + y * y + z * z)
        depths.flags.writeable = False
        return depths

    @property
    def material(self) -> NDArray[np.uint8]:
        """The materials of the triangles, shape (n,); 0 if the ground has no materials.

        Outside a map it is that of the nearest cell.
        """
        if self._material is None:
            none = np.zeros(len(self), np.uint8)
            none.flags.writeable = False
            return none
        return self._material

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the contacts as columns of a table, as `RayHits.columns` does."""
        vectors = ("penetration", "normal", "point")
        names = ("query", "triangle", *vectors, "depth", "material")
        return columns_of(
            {name: getattr(self, name) for name in names} | _name_columns(self), vectors
        )

    def _touched(self) -> Bools:
        return np.ones(len(self), np.bool_)

    def __len__(self) -> int:
        return int(self._ints.shape[1])

    def __iter__(self) -> Iterator[Contact]:
        rows = zip(
            *self._ints[:2].tolist(), *self._floats.tolist(), self.material.tolist(), strict=True
        )
        naming = _naming_of(self)
        for query, triangle, move, normal, point, material in rows:
            names = naming.material(material), naming.part(triangle)
            vectors = glm.vec3(move), glm.vec3(normal), glm.vec3(point)
            yield Contact(query, triangle, *vectors, material, *names)

    def __repr__(self) -> str:
        return f"<Contacts: {len(self)}>"
