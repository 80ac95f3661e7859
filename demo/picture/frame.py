"""What is to be drawn in one frame, as plain data: scenes fill it, renderers read it. No pygame."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

Floats = NDArray[np.float64]
Color = tuple[int, int, int]


@dataclass
class Camera:
    """Where the picture is taken from; meters and radians."""

    position: tuple[float, float, float] = (0.0, 10.0, 0.0)
    yaw: float = 0.0  # 0 looks along -Z, growing to the left
    pitch: float = -0.3  # growing upward
    field_of_view: float = 1.05  # from top to bottom


@dataclass
class Balls:
    """Spheres: centers (n, 3), radii (n,), rotations (n, 3, 3), colors (n, 3) of uint8."""

    centers: Floats
    radii: Floats
    rotations: Floats
    colors: NDArray[np.uint8]


@dataclass
class Crates:
    """Boxes: centers (n, 3), half extents (n, 3), rotations (n, 3, 3), colors (n, 3)."""

    centers: Floats
    half_extents: Floats
    rotations: Floats
    colors: NDArray[np.uint8]


@dataclass
class Pills:
    """Capsules: ends a and b (n, 3), radii (n,), colors (n, 3)."""

    a: Floats
    b: Floats
    radii: Floats
    colors: NDArray[np.uint8]


@dataclass
class Mesh:
    """Triangles of one color: vertices (v, 3), faces (m, 3). One that has moved is another one."""

    vertices: Floats
    faces: NDArray[np.int64]
    color: Color


@dataclass
class Lines:
    """Lines: ends (n, 2, 3), colors (n, 3); hidden where something is nearer."""

    ends: Floats
    colors: NDArray[np.uint8]


@dataclass
class Tint:
    """Triangles laid over what they lie on: corners (n, 3, 3), colors (n, 3), opacity 0..1."""

    corners: Floats
    colors: NDArray[np.uint8]
    opacity: float = 0.5


@dataclass
class Label:
    """Text at a place."""

    text: str
    place: tuple[float, float, float]


@dataclass
class Frame:
    """One picture."""

    camera: Camera
    land: HeightMap | None = None
    balls: list[Balls] = field(default_factory=list)
    boxes: list[Crates] = field(default_factory=list)
    capsules: list[Pills] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    lines: list[Lines] = field(default_factory=list)
    tints: list[Tint] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    hero: Pills | None = None  # one, outlined where something hides it
    sun: tuple[float, float, float] = (0.5, 0.7, 0.4)  # towards it
    wireframe: bool = False
    grid: bool = False  # lines of the cells
    # Rectangles of the picture, left, top, width and height, that labels stay clear of.
    covered: list[tuple[int, int, int, int]] = field(default_factory=list)
    # The land is a part of a larger one and moves: the one before is drawn until this one is ready.
    land_moves: bool = False
    far: float | None = None  # how far one sees, in meters; else as far as the land is wide
