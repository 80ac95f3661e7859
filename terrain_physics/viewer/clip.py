"""A clip that a page shows: bodies and ground at moments of time."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s

RATE = 20.0
"""Samples a second, at most."""

SHAPE_NAMES = ("ball", "box", "capsule")
"""The kinds of bodies that a page can draw; ``page.js`` has a row for each."""


@dataclass(slots=True)
class ClipBodies:
    """Bodies by sample and number; one that is not there has the shape -1.

    Attributes
    ----------
    names : list of str
    shapes : list of (str, tuple of float)
        Kinds, which are of `SHAPE_NAMES`, with half extents in meters along own axes: of a capsule
        the radius, half the length of its axis, and the radius.
    shape : ndarray of int64, shape (s, b)
        Which of the shapes each one has.
    center : ndarray of float64, shape (s, b, 3)
        In meters.
    rotation : ndarray of float64, shape (s, b, 4)
        Unit quaternions x, y, z, w.
    state : ndarray of uint8, shape (s, b)
        How each stands: 0 airborne, 1 steep, 2 wedged, 3 grounded, 4 on another one's head.
    is_put : ndarray of bool, shape (s, b)
        Whether it came from the sample before by being put there: no path leads between them.
    touch : ndarray of float64, shape (s, b, 6)
        Where it touches the ground, in meters, and the unit normal there.
    blocked : ndarray of float64, shape (k, 8)
        Sample, number of the body, point and unit normal of what was in its way.
    """

    names: list[str]
    shapes: list[tuple[str, tuple[float, float, float]]]
    shape: Int64s
    center: Floats
    rotation: Floats
    state: Bytes
    is_put: Bools
    touch: Floats
    blocked: Floats


class ClipSurface(NamedTuple):
    """The triangles of a part, from some sample on.

    Attributes
    ----------
    first : int
        The sample.
    faces : ndarray of int32, shape (n, 3)
        Rows of vertices, counter-clockwise seen from the front.
    materials : ndarray of uint8, shape (n,)
    """

    first: int
    faces: NDArray[np.int32]
    materials: Bytes


class Edit(NamedTuple):
    """Vertices that lie elsewhere from some sample on.

    Attributes
    ----------
    first : int
        The sample.
    rows : ndarray of int64, shape (k,)
    vertices : ndarray of float64, shape (k, 3)
    """

    first: int
    rows: Int64s
    vertices: Floats


@dataclass(slots=True)
class ClipPart:
    """A height map or a mesh of the ground, and what becomes of it.

    Attributes
    ----------
    kind : {"map", "mesh"}
    cell : tuple of float
        Of a map: meters from sample to sample along x and z; of a mesh zeros.
    around : tuple of int
        Rows and columns of vertices of a map whose border goes on outward for ever, at its heights;
        zeros of others.
    is_cut : bool
        Whether it is a part of a map that is too large.
    first : int
        The sample that it comes with.
    vertices : ndarray of float64, shape (v, 3)
        In meters, in its own frame.
    surfaces : list of Surface
        The first of them comes with the part.
    material_names : tuple of str, or None
        Of the materials 0, 1, ..., if they have any.
    edits : list of Edit
    position, rotation, is_solid : list
        Where its frame is at each sample from the first one until it goes: three numbers in meters,
        a unit quaternion x, y, z, w; and whether anybody meets it.
    """

    kind: str
    cell: tuple[float, float]
    around: tuple[int, int]
    is_cut: bool
    first: int
    vertices: Floats
    surfaces: list[ClipSurface]
    material_names: tuple[str, ...] | None = None
    edits: list[Edit] = field(default_factory=list)
    position: list[Floats] = field(default_factory=list)
    rotation: list[Floats] = field(default_factory=list)
    is_solid: list[bool] = field(default_factory=list)


class Clip(NamedTuple):
    """Bodies and ground in motion.

    Attributes
    ----------
    title : str
    times : list of float
        Of the samples, in seconds from 0 on.
    bodies : Bodies
    parts : list of Part
    slope_cosine : float
        Cosine of the steepest slope that the first body walks.
    """

    title: str
    times: list[float]
    bodies: ClipBodies
    parts: list[ClipPart]
    slope_cosine: float
