"""What scenes are built of: hills, blocks, stairs."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import AABB, HeightMap, TriangleMesh

from ..picture.frame import Color, Mesh

Floats = NDArray[np.float64]

# Corners of a block: bit 0 is x, bit 1 y, bit 2 z. Faces are counter-clockwise from outside.
_BLOCK_FACES = np.array(
    [
        (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5), (0, 1, 5), (0, 5, 4),
        (2, 6, 7), (2, 7, 3), (0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6),
    ]
)  # fmt: skip


def noise(rng: np.random.Generator, shape: tuple[int, int], cells: int) -> Floats:
    """Return smooth numbers from -1 to 1; bumps are about ``cells`` samples wide."""
    rows, columns = shape
    lattice = rng.uniform(-1.0, 1.0, (rows // cells + 2, columns // cells + 2))
    row, along = np.divmod(np.arange(rows), cells)
    column, beside = np.divmod(np.arange(columns), cells)
    u, v = (along / cells)[:, np.newaxis], beside / cells
    u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
    row = row[:, np.newaxis]
    near = lattice[row, column] * (1.0 - v) + lattice[row, column + 1] * v
    far = lattice[row + 1, column] * (1.0 - v) + lattice[row + 1, column + 1] * v
    return np.asarray(near * (1.0 - u) + far * u)


def hills(rng: np.random.Generator, shape: tuple[int, int], *, widest: int = 64) -> Floats:
    """Return rolling heights, about -1 to 1."""
    total, cells, weight = np.zeros(shape), widest, 0.6
    while cells >= 4:
        total += weight * noise(rng, shape, cells)
        cells, weight = cells // 2, weight * 0.4
    return total


def arena(rng: np.random.Generator, *, size: int = 257, flat: float = 34.0) -> HeightMap:
    """Return level ground around the origin, and hills from ``flat`` meters on."""
    middle = size // 2
    flat = min(flat, 0.75 * middle)
    steps = np.arange(size) - middle
    away = np.sqrt(steps[:, np.newaxis] ** 2.0 + steps**2.0)
    share = np.clip((away - flat) / (middle - flat), 0.0, 1.0)
    rise = share * share * (3.0 - 2.0 * share)
    heights = rise * (16.0 + 30.0 * hills(rng, (size, size), widest=48))
    return HeightMap(heights, origin=(-middle, 0.0, -middle))


def middle_of(land: HeightMap) -> tuple[float, float]:
    """Return x and z of the middle of a map."""
    (rows, columns), (cell_x, cell_z) = land.cell_count, land.cell_size
    x, _, z = land.origin64
    return x + 0.5 * columns * cell_x, z + 0.5 * rows * cell_z


class Piece(NamedTuple):
    """Triangles of one color and of one material."""

    vertices: Floats
    faces: NDArray[np.int64]
    color: Color
    material: str = "stone"


def made_of(material: str, pieces: list[Piece]) -> list[Piece]:
    """Return the same pieces of another material: footsteps on them sound so."""
    return [piece._replace(material=material) for piece in pieces]


def block(
    center: tuple[float, float, float],
    half: tuple[float, float, float],
    color: Color,
    *,
    yaw: float = 0.0,
) -> Piece:
    """Return a block, turned about +Y."""
    signs = np.array([[bit >> axis & 1 for axis in range(3)] for bit in range(8)]) * 2.0 - 1.0
    return Piece(_turned(signs * half, yaw) + center, _BLOCK_FACES, color)


def wedge(
    center: tuple[float, float, float],
    half: tuple[float, float, float],
    color: Color,
    *,
    yaw: float = 0.0,
) -> Piece:
    """Return a ramp that rises along -Z from the floor of its block to the top, turned about +Y."""
    signs = np.array([[bit >> axis & 1 for axis in range(3)] for bit in range(8)]) * 2.0 - 1.0
    signs[6], signs[7] = signs[4], signs[5]
    faces = _BLOCK_FACES[[0, 2, 4, 5, 6, 7, 8, 9]].copy()
    faces[0], faces[1] = (0, 4, 2), (1, 3, 5)
    faces[4], faces[5] = (2, 4, 5), (2, 5, 3)
    return Piece(_turned(signs * half, yaw) + center, faces, color)


def prism(low: Floats, high: Floats, color: Color) -> Piece:
    """Return the body between two convex outlines (n, 3) with as many corners.

    Seen from above, they are counter-clockwise, ``high`` over ``low``.
    """
    count = len(low)
    at = np.arange(count)
    after = (at + 1) % count
    fan = np.column_stack([np.zeros(count - 2, int), at[1:-1], at[2:]])
    sides = [[at, after, after + count], [at, after + count, at + count]]
    faces = [fan[:, ::-1], fan + count, *(np.column_stack(side) for side in sides)]
    return Piece(np.concatenate([low, high]), np.concatenate(faces), color)


def ring(radius: float, height: float, sections: int) -> Floats:
    """Return corners on a level circle about +Y, counter-clockwise seen from above."""
    angles = np.arange(sections) * (math.tau / sections)
    level = np.full(sections, height)
    return np.column_stack([radius * np.cos(angles), level, -radius * np.sin(angles)])


def stairs(
    foot: tuple[float, float, float],
    rise: float,
    tread: float,
    count: int,
    width: float,
    color: Color,
) -> list[Piece]:
    """Return steps up along -Z, a landing, and the same steps down."""
    x, y, z = foot
    pieces = []
    landing = 3.0
    for step in range(count):
        top = rise * (step + 1)
        length = 2.0 * tread * (count - 1 - step) + landing
        back = z - tread * (step + 0.0)
        center = (x, y + top - rise / 2.0, back - length / 2.0)
        pieces.append(block(center, (width / 2.0, rise / 2.0, length / 2.0), color))
    return pieces


def land_piece(land: HeightMap, reach: float, color: Color) -> Piece:
    """Return the triangles of a map from -reach to reach, and walls around that nobody passes."""
    inside = AABB((-reach, -1e3, -reach), (reach, 1e3, reach))
    corners = land.triangles_in(inside, margin=0.0).vertices.reshape(-1, 3)
    vertices, which = np.unique(corners, axis=0, return_inverse=True)
    return Piece(vertices, which.reshape(-1, 3), color, "grass")


def fence(reach: float, middle: tuple[float, float] = (0.0, 0.0)) -> list[Piece]:
    """Return four walls that nobody sees; they face inward too."""
    x, z = middle
    color = (0, 0, 0)
    return [
        block((x - reach, 0.0, z), (0.5, 200.0, reach), color),
        block((x + reach, 0.0, z), (0.5, 200.0, reach), color),
        block((x, 0.0, z - reach), (reach, 200.0, 0.5), color),
        block((x, 0.0, z + reach), (reach, 200.0, 0.5), color),
    ]


def drawn(pieces: list[Piece]) -> list[Mesh]:
    """Return one mesh for each color."""
    meshes = []
    for color in dict.fromkeys(piece.color for piece in pieces):
        vertices, faces = _joined([piece for piece in pieces if piece.color == color])
        meshes.append(Mesh(vertices, faces, color))
    return meshes


def solid(pieces: list[Piece]) -> TriangleMesh:
    """Return all triangles as ground."""
    names = list(dict.fromkeys(piece.material for piece in pieces))
    materials = np.repeat(
        [piece.material for piece in pieces], [len(piece.faces) for piece in pieces]
    )
    return TriangleMesh(*_joined(pieces), materials=materials, material_names=names)


def _joined(pieces: list[Piece]) -> tuple[Floats, NDArray[np.int64]]:
    counts = np.cumsum([0] + [len(piece.vertices) for piece in pieces])
    vertices = np.concatenate([piece.vertices for piece in pieces])
    faces = [piece.faces + first for piece, first in zip(pieces, counts[:-1], strict=True)]
    return vertices, np.concatenate(faces).astype(np.int64)


def _turned(points: Floats, yaw: float) -> Floats:
    sin, cos = math.sin(yaw), math.cos(yaw)
    turn = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
    return np.asarray(points @ turn.T)
