"""The peers of the counter: scipy's k-d tree with NumPy, and CGAL's AABB tree."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-10
CGAL_SOURCE = Path(__file__).with_name("counter_cgal.cpp")
_PAIRS_AT_ONCE = 1 << 21


def kd_tree() -> Any:
    """Return scipy's tree; None where scipy is not installed."""
    try:
        from scipy.spatial import cKDTree
    except ImportError:
        return None
    return cKDTree


def count_with_kd_tree(
    triangles: NDArray[np.float64], spheres: NDArray[np.float64], *, threads: int
) -> NDArray[np.int64]:
    """Count by the tree of centroids: candidates within radius + reach, then exact distances.

    In float64, so ties may come out differently.
    """
    corners = triangles.reshape(-1, 3, 3)
    middles = corners.mean(axis=1)
    reach = np.linalg.norm(corners - middles[:, np.newaxis], axis=2).max()
    tree = kd_tree()(middles)
    counts = np.zeros(len(spheres), np.int64)
    step = 256
    for first in range(0, len(spheres), step):
        part = spheres[first : first + step]
        found = tree.query_ball_point(part[:, 1:], part[:, 0] + reach, workers=threads)
        lengths = np.array([len(rows) for rows in found])
        owners = np.repeat(np.arange(len(part)), lengths)
        rows = np.concatenate([np.asarray(rows, np.int64) for rows in found])
        for start in range(0, len(rows), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            hits = _touch(corners[rows[some]], part[owners[some]])
            counts[first : first + step] += np.bincount(owners[some][hits], minlength=len(part))
    return counts


def _touch(corners: NDArray[np.float64], spheres: NDArray[np.float64]) -> Any:
    """Tell which pairs of a triangle (k, 3, 3) and a sphere (k, 4) touch."""
    radii = spheres[:, 0]
    offsets = corners - spheres[:, np.newaxis, 1:]
    squares = np.einsum("kci,kci->kc", offsets, offsets)
    touched = squares.max(axis=1) >= np.maximum(radii - TOLERANCE, 0.0) ** 2
    open_rows = np.flatnonzero(touched)
    limit = (radii[open_rows] + TOLERANCE) ** 2
    touched[open_rows] = _nearest_square(offsets[open_rows], squares[open_rows]) <= limit
    return touched


def _nearest_square(offsets: NDArray[np.float64], squares: NDArray[np.float64]) -> Any:
    """Return the squared distances of triangles (k, 3, 3) to the origin."""
    nearest = squares.min(axis=1)
    normals = np.cross(offsets[:, 1] - offsets[:, 0], offsets[:, 2] - offsets[:, 0])
    inside = np.ones(len(offsets), bool)
    for start, end in ((0, 1), (1, 2), (2, 0)):
        edges = offsets[:, end] - offsets[:, start]
        lengths = np.maximum(np.einsum("ki,ki->k", edges, edges), 1e-300)
        along = np.clip(-np.einsum("ki,ki->k", edges, offsets[:, start]) / lengths, 0.0, 1.0)
        feet = offsets[:, start] + edges * along[:, np.newaxis]
        nearest = np.minimum(nearest, np.einsum("ki,ki->k", feet, feet))
        inside &= np.einsum("ki,ki->k", np.cross(edges, -offsets[:, start]), normals) >= 0.0
    squared = np.einsum("ki,ki->k", normals, normals)
    inside &= squared > 0.0
    heights = np.einsum("ki,ki->k", normals, offsets[:, 0]) ** 2 / np.maximum(squared, 1e-300)
    return np.where(inside, np.minimum(nearest, heights), nearest)


def cgal_program(folder: Path) -> Path | None:
    """Compile CGAL's counter into a folder; None where g++ or CGAL's headers are missing."""
    program = folder / "counter_cgal.exe"
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    flags = ("-O3", "-march=native", "-std=c++17", "-DNDEBUG")
    command = [compiler, *flags, str(CGAL_SOURCE), "-o", str(program)]
    finished = subprocess.run(command, check=False, capture_output=True)
    return program if finished.returncode == 0 else None


def write_problem(path: Path, triangles: NDArray[np.float64], spheres: NDArray[np.float64]) -> None:
    """Write a problem as text that reads back as the same numbers."""
    with path.open("w") as file:
        file.write(f"{len(triangles)} {len(spheres)}\n")
        np.savetxt(file, triangles.reshape(-1, 9), fmt="%.17g")
        np.savetxt(file, spheres, fmt="%.17g")


def count_with_cgal(program: Path, problem: Path) -> tuple[NDArray[np.int64], float, float]:
    """Return the counts of a written problem, and the seconds of build and of queries.

    On one thread, in float64, so ties may come out differently.
    """
    with problem.open() as file:
        finished = subprocess.run([program], check=True, stdin=file, capture_output=True, text=True)
    build, queries = map(float, finished.stderr.split())
    return np.array(finished.stdout.split(), np.int64), build, queries
