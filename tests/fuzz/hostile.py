"""Arguments for any public function, by name: sensible ones, and what games pass by mistake."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from pyglm import glm

import terrain_physics as tp

NUMBERS: tuple[Any, ...] = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1e-12, 1e-160, 5e-324, 1e5, -1e9, 1e30, 1e40, 1e69, 1e70, -1e71,
    1e154, 1e155, 1e300, -1.7e308, float("inf"), float("-inf"), float("nan"), 2**31, 2**53 + 1,
    -(2**63), 2**64, 10**400, True,
)  # fmt: skip
NONSENSE: tuple[Any, ...] = (
    None, "", "1", "up", b"x", 1j, (), [], {}, [[]], [1, [2, 3]], (1.0, 2.0), (1, 2, 3, 4),
    object(), np.float32(1), np.int8(-1), np.array(3.0), np.array(["a"]), np.zeros((0, 3)),
    np.zeros((2, 0)), np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), range(3),
    np.zeros(3, dtype=[("x", "f8")]), glm.vec3(1, 2, 3), glm.dvec3(1e9, 0, 0), glm.vec2(0),
    glm.quat(), glm.mat4(), np.datetime64("NaT", "s"),
)  # fmt: skip


class Source:
    """Draws the arguments of one call, all of them with the same number of rows."""

    def __init__(self, rng: Generator, low: Any, high: Any) -> None:
        self.rng = rng
        # NumPy draws from no more than half of what float64 holds; a map of holes has no box.
        self.low, self.high = (
            np.nan_to_num(np.clip(corner, -1e300, 1e300))
            for corner in (np.asarray(low) - 1.0, np.asarray(high) + 1.0)
        )
        self.size = float(np.max(self.high - self.low))
        self.count = int(rng.choice([0, 1, 2, 5, 40]))

    def one_of(self, values: Any) -> Any:
        return values[self.rng.integers(len(values))]

    def place(self) -> Any:
        return self.rng.uniform(self.low, self.high)

    def places(self) -> Any:
        return self.rng.uniform(self.low, self.high, (self.count, 3))

    def length(self, *shape: int) -> Any:
        return 10.0 ** self.rng.uniform(-2, 0.7, shape or None)

    def normals(self, *shape: int) -> Any:
        return self.rng.normal(size=(*shape, 3)) * self.one_of((0.1, 1.0, 30.0))

    def turns(self) -> Any:
        turns = np.linalg.qr(self.rng.normal(size=(self.count, 3, 3)))[0]
        return turns * np.sign(np.linalg.det(turns))[:, None, None]

    def shape(self) -> Any:
        a, b = self.place(), self.place()
        kind = self.rng.integers(3)
        if kind == 0:
            return tp.Sphere(a, self.length())
        if kind == 1:
            return tp.Capsule(a, a + self.normals(), self.length())
        return tp.OBB(b, self.length(3), self.one_of((None, glm.normalize(glm.quat(1, 2, 3, 4)))))

    def any_shape(self) -> Any:
        a, b, c = self.place(), self.place(), self.place()
        others = (
            tp.AABB(np.minimum(a, b), np.maximum(a, b)),
            tp.Triangle(a, b, c),
            tp.Segment(a, b),
            tp.Plane(a, self.normals()),
            self.shape(),
        )
        return self.one_of(others)


def _capsules(source: Source) -> Any:
    first = source.places()
    return np.hstack([first, first + source.normals(source.count), source.length(source.count, 1)])


def _spheres(source: Source) -> Any:
    return np.hstack([source.places(), source.length(source.count, 1)])


def _shapes(source: Source) -> Any:
    kind = source.rng.integers(5)
    if kind == 0:
        return [source.shape() for _ in range(source.count)]
    if kind == 1:
        return _spheres(source)
    if kind == 2:
        return tp.Spheres(_spheres(source))
    if kind == 3:
        return tp.Capsules(_capsules(source))
    return tp.Boxes(source.places(), source.length(source.count, 3), source.turns())


def _matrix(source: Source) -> Any:
    return source.one_of((glm.mat4(1.0), glm.dmat4(2.0), np.eye(4), np.diag([-2.0, 1.0, 3.0, 1.0])))


_ROWS: dict[str, Callable[[Source], Any]] = {
    "spheres": _spheres,
    "capsules": _capsules,
    "triangles": lambda s: s.places()[:, None] + s.normals(s.count, 3),
    "segments": lambda s: s.places()[:, None] + s.normals(s.count, 2),
    "planes": lambda s: np.stack([s.places(), s.normals(s.count)], axis=1),
    "points": Source.places,
    "origins": Source.places,
    "positions": Source.places,
    "vertices": Source.places,
    "centers": Source.places,
    "lowers": Source.places,
    "uppers": lambda s: s.high + s.length(s.count, 3),
    "directions": lambda s: s.normals(s.count),
    "motions": lambda s: s.normals(s.count),
    "offsets": lambda s: s.normals(s.count)[:, : s.one_of((2, 3))],
    "velocities": lambda s: s.normals(s.count),
    "rotations": Source.turns,
    "radii": lambda s: s.length(s.count),
    "shapes": _shapes,
    "rows": lambda s: s.one_of((_spheres, _capsules))(s),
    "faces": lambda s: s.rng.integers(0, max(s.count, 1), (s.count, 3)),
    "heights": lambda s: s.rng.uniform(0, 3, s.rng.integers(2, 9, 2)),
    "object_ids": lambda s: s.rng.integers(0, 12, s.count),
}
_SINGLE: dict[str, Callable[[Source], Any]] = {
    "shape": Source.shape,
    "surface": Source.any_shape,
    "first": Source.any_shape,
    "second": Source.any_shape,
    "aabb": lambda s: tp.AABB(s.low, s.place() + 1.0),
    "obb": lambda s: tp.OBB(s.place(), s.length(3)),
    "sphere": lambda s: tp.Sphere(s.place(), s.length()),
    "capsule": lambda s: tp.Capsule(s.place(), s.place(), s.length()),
    "segment": lambda s: tp.Segment(s.place(), s.place()),
    "ray": lambda s: tp.Ray(s.place(), s.normals()),
    "bounds": lambda s: tp.AABB(s.low, s.high),
    "collider": lambda s: s.one_of(
        (tp.SphereCollider(s.length()), tp.BoxCollider(s.length(3)), tp.CapsuleCollider(0.3, 1.8))
    ),
    "half_extents": lambda s: s.length(3),
    "velocity": Source.normals,
    "direction": Source.normals,
    "motion": Source.normals,
    "normal": Source.normals,
    "offset": lambda s: s.normals() * 0.1,
    "rotation": lambda s: s.one_of((None, glm.quat(), glm.mat3(1.0))),
    "extents": lambda s: s.length(3),
    "subdivisions": lambda s: int(s.rng.integers(0, 3)),
    "sections": lambda s: int(s.rng.integers(3, 40)),
    "steps": lambda s: int(s.rng.integers(1, 20)),
    "mesh": lambda s: tp.TriangleMesh.box(s.length(3)),
    "meshes": lambda s: [tp.TriangleMesh.box(s.length(3)) for _ in range(s.count)],
    "matrix": _matrix,
    "transform": _matrix,
    "yaw": lambda s: s.one_of((None, s.rng.uniform(-9, 9), s.rng.uniform(-9, 9, s.count))),
    "name": lambda s: s.one_of(("gravity", "slope_limit", "mask", "leave")),
    "x": lambda s: s.one_of((s.place()[0], s.places()[:, 0])),
    "z": lambda s: s.one_of((s.place()[2], s.places()[:, 2])),
    "max_distance": lambda s: s.one_of((float("inf"), 0.0, 3.0, s.rng.uniform(0, 9, s.count))),
    "cell_size": lambda s: s.one_of((1.0, 0.1, (0.5, 2.0))),
    "keep": lambda s: s.one_of(("all", "deepest")),
    "border": lambda s: s.one_of(("extend", "open")),
    "diagonal": lambda s: s.one_of(("a-c", "b-d", "alternating", "shortest")),
    "delta_time": lambda s: s.one_of((0.0, 1 / 240, 1 / 60, 0.1, 0.5)),
    "frame_seconds": lambda s: s.one_of((0.0, 1 / 60, 3.0)),
    "seconds": lambda s: s.one_of((1 / 60, 1 / 120)),
    "max_delta": lambda s: s.one_of((0.25, 1.0)),
    "slope_limit": lambda s: s.rng.uniform(0, 1.57),
    "ground_rule": lambda s: s.one_of(("contact", "sum")),
    "resolver": lambda s: s.one_of(("shuffled", "simultaneous")),
    "slope_speed": lambda s: s.one_of(("horizontal", "surface")),
    "material_rules": lambda s: s.one_of(({}, {"ice": {"friction": 0.5}}, {0: {"speed": 2.0}})),
    "threads": lambda s: s.one_of((None, 1, 2, 5)),
    "layers": lambda s: s.one_of((1, 2, 0)),
    "names": lambda s: s.one_of((None, ["lift"], ["lift", None])),
    "mask": lambda s: s.one_of((0xFFFF_FFFF, 1, 6, 0)),
    "two_sided": lambda s: s.one_of((True, False)),
    "copy": lambda s: s.one_of((True, False)),
    "material": lambda s: int(s.rng.integers(256)),
    "strength": lambda s: s.rng.uniform(),
    "flat": lambda s: s.one_of((0.0, 0.01, s.length())),
    "level": lambda s: int(s.rng.integers(4)),
    "version": lambda s: int(s.rng.integers(4)),
    "triangle": lambda s: s.one_of((s.one_of((0, 1, 5)), tp.Triangle(*s.normals(3)))),
    "object_id": lambda s: int(s.rng.integers(12)),
    "max_depth": lambda s: int(s.rng.integers(1, 60)),
    "leaf_capacity": lambda s: int(s.rng.integers(1, 40)),
    "max_steps": lambda s: int(s.rng.integers(1, 9)),
    "max_rounds": lambda s: int(s.rng.integers(1, 30)),
    "seed": lambda s: int(s.rng.integers(2**63)),
    "key": lambda s: s.one_of(("ada", 3, 4, -1)),
    "keys": lambda s: s.one_of((None, ["ada"], [3, 4], range(9, 9 + s.count))),
    "around": lambda s: s.place()[::2],
    "goals": lambda s: s.one_of((s.place(), s.places(), s.place()[::2])),
    "spacing": lambda s: s.one_of((0.5, 1.0, 2.0)),
    "max_drop": lambda s: s.one_of((0.0, 1.0, 2.0)),
    "area": lambda s: (s.place()[::2] - 2.0, s.place()[::2] + 2.0),
    "budget": lambda s: s.one_of((None, 0.0, 0.001)),
    "cost": lambda s: s.one_of((None, {}, {0: 2.0}, {"ice": 3.0})),
    "nearest": lambda s: s.one_of((True, False)),
}
_VECTORS = {
    "point", "position", "origin", "center", "lower", "upper", "a", "b", "c", "before", "after",
    "start", "goal",
}  # fmt: skip
_OPTIONAL = {"holes", "materials", "material_names", "thickness", "owner", "progress"}


def sensible(source: Source, name: str, *, many: bool) -> Any:
    """Return a value for an argument of this name, of a function of one or of many."""
    name = name.removeprefix("other_")
    if name in _ROWS or (name == "half_extents" and many):
        return _ROWS.get(name, lambda s: s.length(s.count, 3))(source)
    if many and name in {"first", "second"}:
        return _ROWS["triangles"](source)
    if many and name in {"a", "b", "c"}:
        return source.places()[:, :2]
    if name in _SINGLE:
        return _SINGLE[name](source)
    if name in _VECTORS:
        return source.place()
    if name in _OPTIONAL:
        return None
    return source.length()  # radii, depths, margins, gravity


def spoiled(source: Source, value: Any) -> Any:
    """Return a value as a game may pass it by mistake, or in another form."""
    rng = source.rng
    if not isinstance(value, (np.ndarray, list, tuple)) or rng.random() < 0.2:
        return source.one_of(source.one_of((NUMBERS, NONSENSE)))
    array = np.array(value, dtype=object if isinstance(value, list) else None)
    kind = rng.integers(10)
    if kind <= 3 and array.size:
        array = array.astype(object if kind == 3 else array.dtype)
        places = rng.integers(0, array.size, rng.integers(1, 3))
        number = source.one_of(NUMBERS if kind < 3 else NONSENSE)
        with np.errstate(all="ignore"):
            for place in places:
                try:
                    array.reshape(-1)[place] = number
                except (OverflowError, TypeError, ValueError):
                    return source.one_of(NONSENSE)
        return array
    if kind == 4:
        return array[..., :-1] if array.ndim else array
    if kind == 5:
        return array[None]
    if kind == 6:
        return array.tolist()
    if kind == 7:
        return np.asfortranarray(array)[::-1]
    if kind == 8:
        with np.errstate(all="ignore"):
            return (
                array.astype(source.one_of(("f4", "i8", "f2", ">f8", "c16", "?", "u1")), copy=True)
                if array.dtype.kind in "fiu" and np.isfinite(array.astype(float)).all()
                else array
            )
    return array[:1]
