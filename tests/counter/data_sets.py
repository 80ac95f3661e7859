"""Triangles (n, 9) and spheres (q, 4) to count: seeded, each hard in a way of its own."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Problem = tuple[Floats, Floats]

SMALL: dict[str, Callable[[np.random.Generator, int, int], Problem]] = {}


def _small(
    make: Callable[[np.random.Generator, int, int], Problem],
) -> Callable[[np.random.Generator, int, int], Problem]:
    SMALL[make.__name__] = make
    return make


def triangles_around(rng: np.random.Generator, centers: Floats, low: float, high: float) -> Floats:
    """Return triangles about centers (n, 3), their longest edges roughly from low to high."""
    corners = rng.normal(size=(len(centers), 3, 3))
    corners /= np.linalg.norm(corners, axis=2, keepdims=True)
    size = rng.uniform(low, high, (len(centers), 1, 1)) / np.sqrt(3.0)
    triangles: Floats = (centers[:, np.newaxis] + corners * size).reshape(-1, 9)
    return triangles


def spheres_around(rng: np.random.Generator, centers: Floats, low: float, high: float) -> Floats:
    return np.column_stack([rng.uniform(low, high, len(centers)), centers])


def surface(rng: np.random.Generator, count: int) -> Floats:
    """Return points on a rolling surface 2000 wide."""
    x, z = rng.uniform(-1000.0, 1000.0, (2, count))
    return np.column_stack([x, 60.0 * np.sin(x / 170.0) * np.cos(z / 130.0), z])


def uniform_large(count: int, radius: float, seed: int = 1, half: float = 1000.0) -> Problem:
    """Return a uniform set: centers in a cube of 2 half, edges 5..30, radii 1..radius."""
    rng = np.random.default_rng(seed)
    triangles = triangles_around(rng, rng.uniform(-half, half, (count, 3)), 5.0, 30.0)
    return triangles, spheres_around(rng, rng.uniform(-half, half, (count, 3)), 1.0, radius)


def clustered_large(count: int, radius: float, seed: int = 1) -> Problem:
    """Return triangles and spheres on a rolling surface, edges 5..30, radii 1..radius."""
    rng = np.random.default_rng(seed)
    triangles = triangles_around(rng, surface(rng, count), 5.0, 30.0)
    return triangles, spheres_around(rng, surface(rng, count), 1.0, radius)


@_small
def uniform(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles = triangles_around(rng, rng.uniform(-50.0, 50.0, (n, 3)), 5.0, 30.0)
    return triangles, spheres_around(rng, rng.uniform(-60.0, 60.0, (q, 3)), 0.0, 100.0)


@_small
def clustered(rng: np.random.Generator, n: int, q: int) -> Problem:
    hearts = rng.uniform(-1e4, 1e4, (3, 3))
    triangles = triangles_around(
        rng, hearts[rng.integers(3, size=n)] + rng.normal(size=(n, 3)), 0.1, 2.0
    )
    return triangles, spheres_around(
        rng, hearts[rng.integers(3, size=q)] + rng.normal(size=(q, 3)), 0.1, 3.0
    )


@_small
def nested(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Triangles one inside the other and spheres one inside the other, about one point."""
    heart = rng.uniform(-10.0, 10.0, 3)
    corners = np.array([[1.0, 0.0, 0.0], [-0.5, 0.5, 0.0], [-0.5, -0.5, 0.25]])
    triangles = heart + corners * 1.1 ** np.arange(n)[:, np.newaxis, np.newaxis]
    radii = np.geomspace(0.1, 1.1**n, q)
    return triangles.reshape(-1, 9), np.column_stack([radii, np.broadcast_to(heart, (q, 3))])


@_small
def duplicated(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, spheres = uniform(rng, 3, 4)
    return triangles[rng.integers(3, size=n)], spheres[rng.integers(4, size=q)]


@_small
def all_the_same(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, _ = uniform(rng, 1, 1)
    centers = np.concatenate([triangles[0].reshape(3, 3), rng.uniform(-20.0, 20.0, (q, 3))])[:q]
    return np.repeat(triangles, n, axis=0), spheres_around(rng, centers, 0.0, 20.0)


@_small
def one_over_everything(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, spheres = uniform(rng, n, q)
    triangles[n // 2] = [-1e5, -10.0, -1e5, 1e5, -10.0, -1e5, 0.0, -10.0, 1e5]
    return triangles, spheres


@_small
def degenerate(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Points, segments with the corners in any order, corners on a line that rounds."""
    triangles = rng.integers(-4, 5, (n, 3, 3)).astype(np.float64)
    triangles[::3] = triangles[::3, :1]
    triangles[1::3, 2] = triangles[1::3, 0]
    along = rng.choice([0.1, 0.5, 0.7, 3.0], (len(triangles[2::3]), 1))
    triangles[2::3, 1] = triangles[2::3, 0] + (triangles[2::3, 2] - triangles[2::3, 0]) * along
    triangles = triangles[:, rng.permutation(3)]
    centers = rng.integers(-6, 7, (q, 3)).astype(np.float64)
    return triangles.reshape(-1, 9), np.column_stack([rng.integers(0, 8, q), centers])


@_small
def needles(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Triangles a million times longer than wide."""
    start, way, side = rng.uniform(-10.0, 10.0, (3, n, 3))
    triangles = np.stack(
        [start, start + way, start + way * rng.uniform(-1.0, 2.0, (n, 1)) + side * 1e-6], axis=1
    )
    spheres = spheres_around(rng, rng.uniform(-12.0, 12.0, (q, 3)), 0.0, 10.0)
    spheres[: q // 2, 1:] = triangles[rng.integers(n, size=q // 2), 0]
    return triangles.reshape(-1, 9), spheres


@_small
def integer_ties(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Whole coordinates and radii: tangent to corners, edges and faces everywhere."""
    triangles = rng.integers(-5, 6, (n, 9)).astype(np.float64)
    return triangles, rng.integers([0, -9, -9, -9], [12, 10, 10, 10], (q, 4)).astype(np.float64)


@_small
def pythagorean_ties(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Corners at whole vectors of whole length from the centers, the radius that length."""
    steps = np.array([[2, 3, 6], [1, 2, 2], [4, 4, 7], [0, 3, 4], [2, 6, 9], [8, 9, 12]])
    signs = rng.choice([-1, 1], (n, 3, 3))
    corners = rng.permuted(steps[rng.integers(6, size=(n, 3))], axis=2) * signs
    radii = rng.choice([3, 5, 7, 9, 11, 17], q)
    centers = rng.integers(0, 2, (q, 3)) * rng.integers(0, 3, (q, 3))
    return corners.reshape(-1, 9).astype(np.float64), np.column_stack([radii, centers]).astype(
        np.float64
    )


@_small
def decimal_ties(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Coordinates of one to three decimals, which no binary fraction holds: ties on paper."""
    places = 10.0 ** rng.integers(1, 4)
    triangles = rng.integers(-5, 6, (n, 9)) / places
    return triangles, rng.integers([0, -9, -9, -9], [12, 10, 10, 10], (q, 4)) / places


@_small
def rounded_ties(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Spheres through a corner, tangent to an edge, tangent to a face, as rounding allows."""
    triangles, _ = uniform(rng, n, q)
    corners = triangles[rng.integers(n, size=q)].reshape(q, 3, 3)
    edge = corners[:, 1] - corners[:, 0]
    normal = np.cross(edge, corners[:, 2] - corners[:, 0])
    beside = np.cross(normal, edge)
    side = np.array([rng.normal(size=(q, 3)), -beside, normal])[
        rng.integers(3, size=q), np.arange(q)
    ]
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    weights = rng.dirichlet([1.0, 1.0, 1.0], q)
    weights[:, 2] *= np.abs((side * normal).sum(axis=1)) > 0.5 * np.linalg.norm(normal, axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    foot = (corners * weights[:, :, np.newaxis]).sum(axis=1)
    radii = rng.uniform(0.1, 50.0, q)
    return triangles, np.column_stack([radii, foot + side * radii[:, np.newaxis]])


@_small
def zero_radius(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, _ = uniform(rng, n, q)
    centers = triangles.reshape(-1, 3)[rng.integers(3 * n, size=q)]
    centers[::2] += rng.uniform(-2e-10, 2e-10, centers[::2].shape)
    return triangles, np.column_stack([np.zeros(q), centers])


@_small
def holding_all(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, spheres = uniform(rng, n, q)
    spheres[:, 0] = np.resize([200.0, 1e3, 1e9, 1e200], q)
    spheres[: q // 2, 0] = np.linalg.norm(
        triangles.reshape(-1, 3)[:, np.newaxis] - spheres[: q // 2, 1:], axis=2
    ).max(axis=0)
    return triangles, spheres


@_small
def far_from_origin(rng: np.random.Generator, n: int, q: int) -> Problem:
    triangles, spheres = uniform(rng, n, q)
    shift = rng.uniform(-1e6, 1e6, 3)
    return triangles + np.tile(shift, 3), spheres + np.array([0.0, *shift])


@_small
def wide(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Small triangles a million meters apart, so that float32 decides nothing near them."""
    centers = rng.uniform(-1e6, 1e6, (n, 3))
    triangles = triangles_around(rng, centers, 0.1, 10.0)
    return triangles, spheres_around(rng, centers[rng.integers(n, size=q)], 0.0, 10.0)


@_small
def far_spheres(rng: np.random.Generator, n: int, q: int) -> Problem:
    """Spheres so large and far that float32, and then float64, sees a plane, or nothing."""
    triangles, spheres = uniform(rng, n, q)
    directions = rng.normal(size=(q, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distances = np.resize([1e3, 1e6, 1e9, 1e12, 1e15, 1e30], q)
    spheres[:, 0] = distances
    spheres[:, 1:] = directions * distances[:, np.newaxis] + rng.uniform(-50.0, 50.0, (q, 3))
    return triangles, spheres


@_small
def sorted_lines(rng: np.random.Generator, n: int, q: int) -> Problem:
    """A strip of triangles along a line, in order, and spheres along it in reverse order."""
    x = np.arange(n, dtype=np.float64)
    zero = np.zeros(n)
    triangles = np.column_stack([x, zero, zero, x + 1.0, zero, zero, x, zero, zero + 1.0])
    centers = np.column_stack([np.linspace(n, 0.0, q), np.zeros(q), np.zeros(q)])
    return triangles, np.column_stack([rng.integers(0, 4, q) * 0.5, centers])
