"""Meshes to test with: vertices (v, 3) and faces (n, 3)."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Case = tuple[Array, NDArray[np.int64]]


def grid(heights: Array, size: float = 1.0) -> Case:
    """Return the triangles of a height map, cells split as `HeightMap` splits them."""
    rows, columns = heights.shape
    z, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    vertices = np.stack([x * size, heights, z * size], axis=-1).reshape(-1, 3)
    d = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    a, b, c = d + columns, d + columns + 1, d + 1
    faces = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], axis=1).reshape(-1, 3)
    return vertices, faces


def bumpy_sphere(rings: int, *, seed: int = 0, center=(0.0, 0.0, 0.0), bumps: float = 0.05) -> Case:
    """Return a ball of radius 1 with bumps: 4 rings (rings - 1) triangles, fronts outside."""
    around = 2 * rings
    polar, turn = np.meshgrid(
        np.pi * np.arange(1, rings) / rings, np.pi * np.arange(around) / rings, indexing="ij"
    )
    places = [np.sin(polar) * np.cos(turn), np.cos(polar), np.sin(polar) * np.sin(turn)]
    vertices = np.vstack([np.stack(places, -1).reshape(-1, 3), [[0, 1, 0], [0, -1, 0]]])
    x, y, z = vertices.T
    radii = 1.0 + bumps * np.sin(7 * x + seed) * np.sin(9 * y) * np.cos(8 * z + 2 * seed)
    k = np.arange(around)
    following = (k + 1) % around
    faces = []
    for ring in range(rings - 2):
        top, below = ring * around, (ring + 1) * around
        faces += [np.stack([top + k, top + following, below + following], 1)]
        faces += [np.stack([top + k, below + following, below + k], 1)]
    last, pole = (rings - 2) * around, (rings - 1) * around
    faces += [np.stack([np.full(around, pole), following, k], 1)]
    faces += [np.stack([np.full(around, pole + 1), last + k, last + following], 1)]
    return vertices * radii[:, None] + np.array(center), np.concatenate(faces)


def torus(rings: int, sides: int, *, radius: float = 1.0, thickness: float = 0.3) -> Case:
    """Return 2 rings * sides triangles; around +Y."""
    turn, roll = np.meshgrid(
        2 * np.pi * np.arange(rings) / rings, 2 * np.pi * np.arange(sides) / sides, indexing="ij"
    )
    out = radius + thickness * np.cos(roll)
    places = [out * np.cos(turn), thickness * np.sin(roll), out * np.sin(turn)]
    vertices = np.stack(places, axis=-1).reshape(-1, 3)
    i, j = (part.ravel() for part in np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij"))
    onward, up = (i + 1) % rings, (j + 1) % sides
    a, b, c, d = i * sides + j, onward * sides + j, onward * sides + up, i * sides + up
    return vertices, np.concatenate([np.stack([a, c, b], 1), np.stack([a, d, c], 1)])


def soup(rng: np.random.Generator, count: int, size: float = 0.3) -> Case:
    """Return triangles that share nothing, each about ``size`` large, in -1..1."""
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.uniform(-size, size, (count, 3, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def lattice(rng: np.random.Generator, count: int, reach: int = 4) -> Case:
    """Return triangles with area on points of a lattice, in which nearly all contacts are ties."""
    vertices = np.array([*np.ndindex(reach, reach, reach)], float)
    faces = rng.integers(len(vertices), size=(4 * count, 3))
    a, b, c = vertices[faces].transpose(1, 0, 2)
    small = np.abs(vertices[faces] - a[:, None]).max(axis=(1, 2)) <= 2
    faces = faces[small & np.cross(b - a, c - a).any(axis=1)]
    return vertices, faces[:count]


def with_flat_faces(case: Case) -> Case:
    """Return a mesh with segments and points among its faces."""
    vertices, faces = case
    last = len(vertices)
    middle = 0.5 * vertices[0] + 0.5 * vertices[1]
    flat = [[0, 1, last], [2, 2, 5], [3, 3, 3], [4, 7, 4]]
    return np.vstack([vertices, middle]), np.vstack([faces, flat])


MESHES = {
    "one": (np.array([[0.0, 0, 0], [0, 0, 4], [4, 0, 0]]), np.array([[0, 1, 2]])),
    "sphere": bumpy_sphere(8),
    "torus": torus(17, 9),
    "grid": grid(np.random.default_rng(1).uniform(0, 2, (9, 12))),
    "soup": soup(np.random.default_rng(2), 150),
    "flat": with_flat_faces(bumpy_sphere(6)),
    "far": bumpy_sphere(6, center=(1e6, -2e6, 3e6)),
    "tiny": (bumpy_sphere(5)[0] * 1e-12, bumpy_sphere(5)[1]),
    "huge": (bumpy_sphere(5)[0] * 1e30, bumpy_sphere(5)[1]),
}
