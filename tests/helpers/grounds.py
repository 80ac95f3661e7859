"""Grounds to test with: a map whole and cut into tiles, and everything that can be asked."""

import copy
import itertools
import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    TriangleMesh,
)
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS

Array = NDArray[Any]


class Cut(NamedTuple):
    """A map, its tiles, and which tile and which id there each id of the map has.

    Ids are those of triangles, and behind them those of the sides of cells.
    """

    whole: HeightMap
    tiles: list[HeightMap]
    owner: Array
    own: Array


def rough(rows: int = 25, columns: int = 41, seed: int = 3) -> Array:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.3, (rows, columns)), axis=1).astype(np.float32)


def cut(
    heights: Array,
    row_cuts: tuple[int, ...],
    column_cuts: tuple[int, ...],
    *,
    reverse: bool = False,
    cells: dict[str, Any] | None = None,
    **options: Any,
) -> Cut:
    """Cut a map; ``cells`` are options with a value for each cell."""
    tables: dict[str, Any] = cells or {}
    whole = HeightMap(heights, border="open", **tables, **options)
    cell_x, cell_z = whole.cell_size
    x, y, z = whole.origin64
    rows, columns = whole.cell_count
    # The ids of each cell: two triangles, and six behind all triangles.
    owner = [np.empty((rows, columns, size), np.int64) for size in (2, 6)]
    own = [np.empty_like(of_each) for of_each in owner]
    spans = list(itertools.product(itertools.pairwise(row_cuts), itertools.pairwise(column_cuts)))
    tiles = []
    for k, ((row_0, row_1), (column_0, column_1)) in enumerate(spans[::-1] if reverse else spans):
        part = np.s_[row_0:row_1, column_0:column_1]
        first = 0
        for owners, ids in zip(owner, own, strict=True):
            owners[part], shape = k, owners[part].shape
            ids[part] = first + np.arange(np.prod(shape)).reshape(shape)
            first += int(np.prod(shape))
        origin = (x + column_0 * cell_x, y, z + row_0 * cell_z)
        tiles.append(
            HeightMap(
                heights[row_0 : row_1 + 1, column_0 : column_1 + 1],
                **{name: values[part] for name, values in tables.items()},
                **(options | {"origin": origin}),
            )
        )
    return Cut(whole, tiles, *(np.concatenate([k.ravel() for k in each]) for each in (owner, own)))


class Questions(NamedTuple):
    """Rows to ask about, some of them far away."""

    x: Array
    z: Array
    balls: Array
    capsules: Array
    centers: Array
    halves: Array
    turns: Array
    motions: Array
    directions: Array


def questions(lower: Any, upper: Any, count: int = 300, seed: int = 1) -> Questions:
    """Return questions within a box, two of them to a side of it."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(lower, upper, (count, 3))
    places[:2] += 1000.0
    turns, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, None]
    radii = rng.uniform(0.1, 1.5, (count, 1))
    directions = rng.normal(size=(count, 3))
    directions[::5, ::2] = 0.0  # upright
    return Questions(
        places[:, 0],
        places[:, 2],
        np.hstack([places, radii]),
        np.hstack([places, places + rng.normal(size=(count, 3)), 0.4 * radii]),
        places,
        rng.uniform(0.1, 1.0, (count, 3)),
        turns,
        rng.normal(0, 4, (count, 3)),
        directions,
    )


def everything(
    land: Any, asked: Questions, threads: int | None = None, mask: int = ALL_LAYERS
) -> dict[str, Any]:
    """Return all answers to arrays of questions: contacts, hits and plain arrays by name."""
    x, z, balls, capsules, centers, halves, turns, motions, directions = asked
    options: Any = {"threads": threads, "mask": mask}
    low, high = centers - halves, centers + halves
    offsets, ids = land.triangles_in_many(low, high, mask=mask)
    answers = {
        "rays": land.raycast_many(centers, directions, **options),
        "short rays": land.raycast_many(centers, directions, 2.0, **options),
        "ball sweeps": land.sweep_many(balls, motions, **options),
        "capsule sweeps": land.sweep_many(Capsules(capsules), motions, **options),
        "box sweeps": land.sweep_many(Boxes(centers, halves, turns), motions, **options),
        "shape sweeps": land.sweep_many([Sphere(b[:3], b[3]) for b in balls], motions, **options),
        "counts": land.contact_counts(balls, **options),
        "counts that touch": land.touches(balls, **options),
        "counts of capsules": land.contact_counts(Capsules(capsules), **options),
        "counts of boxes": land.contact_counts(Boxes(centers, halves, turns), **options),
        "offsets": offsets,
        "lists": (np.repeat(np.arange(len(x)), np.diff(offsets)), ids),
        "box": land.triangles_in(AABB(centers[5] - 3, centers[5] + 3), mask=mask),
        "closest": land.closest_points(centers, **options),
        **{
            f"{name}, {keep}": found
            for keep in ("all", "deepest")
            for name, found in (
                ("balls", land.contacts(balls, keep=keep, **options)),
                ("rows", land.contacts(balls, keep=keep, **options)),
                ("shapes", land.contacts(_capsules(capsules), keep=keep, **options)),
                ("capsules", land.contacts(Capsules(capsules), keep=keep, **options)),
                ("boxes", land.contacts(Boxes(centers, halves, turns), keep=keep, **options)),
            )
        },
    }
    if not isinstance(land, TriangleMesh):
        answers["heights"] = land.height_at(x, z, **options)
        answers["normals"] = land.normal_at(x, z, **options)
    return answers


def _capsules(rows: Array) -> list[Capsule]:
    return [Capsule(row[:3], row[3:6], row[6]) for row in rows]


def one_by_one(land: Any, asked: Questions, count: int = 40, mask: int = ALL_LAYERS) -> list[Any]:
    """Return the answers to single questions."""
    x, z, balls, capsules, centers, halves, turns, motions, directions = asked
    answers: list[Any] = []
    for k in range(count):
        shapes = (
            Sphere(balls[k, :3], balls[k, 3]),
            Capsule(capsules[k, :3], capsules[k, 3:6], capsules[k, 6]),
            OBB(centers[k], halves[k], turns[k]),
        )
        answers += [
            land.raycast(Ray(centers[k], directions[k]), mask=mask),
            land.raycast(Ray(centers[k], directions[k]), 2.0, mask=mask),
            *(land.sweep(shape, motions[k], mask=mask) for shape in shapes),
            *(land.contacts(shape, mask=mask) for shape in shapes),
            land.height_at(float(x[k]), float(z[k]), mask=mask),
            land.normal_at(float(x[k]), float(z[k]), mask=mask),
            land.closest_point(centers[k], mask=mask),
        ]
    return answers


def bits(answer: Any) -> list[Any]:
    """Return what an answer holds, to be compared to the last bit."""
    if hasattr(answer, "penetration"):
        arrays = [answer.query, answer.triangle, answer.penetration, answer.normal, answer.point]
        arrays.append(answer.material)
    elif hasattr(answer, "vertices"):
        arrays = [answer.vertices, answer.normals, answer.ids]
    elif isinstance(answer, tuple):
        arrays = list(answer)
    else:
        arrays = [answer]
    return [(np.asarray(values).dtype.str, np.asarray(values).tobytes()) for values in arrays]


def ground_of(case: Cut, *others: TriangleMesh) -> Ground:
    return Ground([*case.tiles, *others])


def _placed(mesh: TriangleMesh, matrix: NDArray[np.float64]) -> TriangleMesh:
    """Return a mesh made where another one is put."""
    x, y, z = (mesh.vertices[:, [axis]] for axis in range(3))
    turn, place = matrix[:3, :3], matrix[:3, 3]
    vertices = x * turn[:, 0] + y * turn[:, 1] + z * turn[:, 2] + place
    return TriangleMesh(
        vertices,
        mesh.faces,
        materials=mesh.materials,
        material_names=mesh.material_names,
        solid=mesh.solid,
    )


def refitted_or_copied(ground: Ground, key: int, rng: np.random.Generator) -> Ground:
    """Sometimes refit a mesh; return the ground, or sometimes a copy of it."""
    mesh = ground.parts[key]
    if isinstance(mesh, TriangleMesh) and rng.random() < 0.3:
        mesh.refit(mesh.vertices * 1.05)
    if rng.random() < 0.5:
        return ground
    return copy.copy(ground) if rng.random() < 0.5 else pickle.loads(pickle.dumps(ground))


def assert_as_made_there(ground: Ground, asked: Any) -> None:
    """Check that all answers are those of a ground whose meshes were made where they are."""
    made = [
        _placed(part, ground.transform(key)) if isinstance(part, TriangleMesh) else part
        for key, part in ground.parts.items()
    ]
    expected = everything(Ground(made), asked)
    for name, answer in everything(ground, asked).items():
        assert bits(answer) == bits(expected[name]), name
