"""Grounds of every kind of which a test knows all faces: closed solids, and skins.

Cells of maps are closed boxes, see `tests.oracles.map_solids`; meshes are their own faces.
"""

import copy
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import AABB, Ground, HeightMap, TiledGround, TriangleMesh
from tests.helpers.tiled_lands import SIDE, TilesOfArrays
from tests.oracles.map_solids import faces_of, outer_faces
from tests.oracles.mesh import closest_distances
from tests.oracles.winding import winding_numbers

Floats = NDArray[np.float64]
Draw = np.random.Generator

DIAGONALS = ("a-c", "b-d", "alternating")

HAIR = 1e-6
"""Meters from a face within which rounding may decide."""


class Known(NamedTuple):
    """A ground, and what it is made of."""

    ground: Any
    solids: list[Floats]
    """The faces (n, 3, 3) of each, fronts outwards."""
    skins: Floats
    """The faces (n, 3, 3) that have no inside."""
    listed: list[Floats]
    """The corners (n, 6, 3) of both triangles of cells, and (n, 3, 3) of the faces of meshes."""


class Case:
    """A ground of a kind, drawn from a seed, and places and ways to ask about.

    Cases of the same kind and seed share the ground: ask it, and do not change it.
    """

    def __init__(self, kind: str, seed: int) -> None:
        known, drawn = _made(kind, seed)
        self.draw = copy.deepcopy(drawn)
        self.ground, self.solids, self.skins, self.listed = known
        self.faces = np.concatenate([*self.solids, self.skins])
        near = np.concatenate([corners.reshape(-1, 3) for corners in self.listed])
        self.low, self.high = near.min(axis=0) - 1.5, near.max(axis=0) + 1.5

    def places(self, count: int) -> Floats:
        """Return places anywhere, every third straight above or below samples, edges or middles."""
        found = self.draw.uniform(self.low, self.high, (count, 3))
        found[::3, ::2] = np.round(2.0 * found[::3, ::2]) / 2.0
        return found

    def places_outside(self, count: int, radius: float = HAIR) -> Floats:
        """Return places that are in nothing solid, and farther than a radius from all faces."""
        found = np.empty((0, 3))
        while len(found) < count:
            places = self.places(2 * count)
            places = places[~np.any([np.zeros(2 * count), *self.insides(places)], axis=0)]
            found = np.concatenate([found, places[self.distances(places) > radius]])
        return found[:count]

    def distances(self, places: Floats) -> Floats:
        """Return how far places are from the nearest of all faces."""
        return np.asarray(closest_distances(places, self.faces).min(axis=1))

    def insides(self, places: Floats) -> list[Any]:
        """Tell of each solid which of some places are in it."""
        return [winding_numbers(solid, places) > 0.5 for solid in self.solids]

    def directions(self, count: int) -> Floats:
        """Return directions, every fourth along an axis."""
        ways = self.draw.normal(size=(count, 3))
        ways[::4] = np.sign(ways[::4]) * np.eye(3)[self.draw.integers(3, size=len(ways[::4]))]
        return np.asarray(ways / np.sqrt((ways * ways).sum(axis=1, keepdims=True)))

    def triangles(self) -> dict[int, Floats]:
        """Return the corners (3, 3) of all triangles by their ids; sides are none of them."""
        found = self.ground.triangles_in(AABB(self.low, self.high), margin=0.0)
        pairs = zip(found.ids.tolist(), found.vertices, strict=True)
        return {number: corners for number, corners in pairs if number >= 0}

    def is_beside(self, triangle: int) -> bool:
        """Tell whether an id is that of no triangle: of a side, an underside, or ground outside."""
        if triangle < 0:
            return isinstance(self.ground, HeightMap) and self.ground.border != "open"
        part, own = self.ground, triangle
        if isinstance(part, Ground) and part.parts:
            key, own = part.part_of(triangle)
            part = part.parts[key]
        return not isinstance(part, TriangleMesh) and own >= 2 * math.prod(part.cell_count)


@cache
def _made(kind: str, seed: int) -> tuple[Known, Draw]:
    """Return a ground, and where its draws have come to."""
    draw = np.random.default_rng(seed)
    return KINDS[kind](draw), draw


Land = tuple[HeightMap, Any]
"""A map and its diagonals."""


def _land(draw: Draw, shape: tuple[int, int] = (5, 5), level: float = 0.0, **options: Any) -> Land:
    """Return a map, mostly with holes, of any thickness, diagonals and scale."""
    rows, columns = shape
    cells = rows - 1, columns - 1
    diagonal: Any = DIAGONALS[draw.integers(3)] if draw.random() < 0.7 else draw.random(cells) < 0.5
    samples = draw.uniform(-0.4, 0.4, shape) + level
    scale = (1.0, -0.5)[draw.integers(2)]
    samples[tuple(draw.integers(shape))] = np.nan if draw.random() < 0.2 else level
    options = {
        "holes": draw.random(cells) < draw.choice([0.0, 0.2]),
        "thickness": (None, 0.7, 3.0)[draw.integers(3)],
    } | options
    land = HeightMap(samples / scale, height_scale=scale, diagonal=diagonal, **options)
    return land, diagonal


def _cells(land: HeightMap, diagonal: Any) -> Floats:
    """Return the corners (n, 6, 3) of the two triangles of each cell that has them."""
    faces = faces_of(land, diagonal)
    rises = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])[:, 1]
    return faces[rises > 0.0].reshape(-1, 6, 3)


def _of_lands(ground: Any, *lands: Land, endless: bool = False) -> Known:
    solids = [outer_faces(faces_of(*land, endless=endless)) for land in lands]
    return Known(ground, solids, _NONE, [_cells(*land) for land in lands])


_NONE = np.empty((0, 3, 3))


def _corners(mesh: TriangleMesh) -> Floats:
    return np.asarray(mesh.vertices[mesh.faces], np.float64)


def _crate(draw: Draw, *, solid: bool) -> TriangleMesh:
    x, y, z = draw.uniform((0.0, -0.3, 0.0), (4.0, 1.5, 4.0))
    axis = glm.normalize(glm.dvec3(draw.normal(size=3)))
    turn = glm.rotate(glm.translate(glm.dmat4(), glm.dvec3(x, y, z)), draw.uniform(0, 3), axis)
    return TriangleMesh.box(draw.uniform(0.3, 1.2, 3), transform=turn, solid=solid)


def map_alone(draw: Draw) -> Known:
    land = _land(draw, border="open")
    return _of_lands(land[0], land)


def endless_map(draw: Draw) -> Known:
    land = _land(draw)
    return _of_lands(land[0], land, endless=True)


def ground_of_one_map(draw: Draw) -> Known:
    land = _land(draw, border="open")
    return _of_lands(Ground([land[0]]), land)


def maps_side_by_side(draw: Draw) -> Known:
    """Two maps with cliffs between them."""
    lands = [_land(draw, origin=(x, 0, 0), border="open") for x in (0.0, 4.0)]
    return _of_lands(Ground([land for land, _ in lands]), *lands)


def maps_around_a_corner(draw: Draw) -> Known:
    """Up to three maps, cliffs of meters between them, small or far from the origin."""
    cell = float(draw.choice([0.5, 1.0, 3.0]))
    origin = np.round(draw.choice([0.0, 1.0, 1e4]) * draw.uniform(-1.0, 1.0, 3))
    thickness = (None, 0.3, 2.0, 5.0)[draw.integers(4)]
    lands = [
        _land(
            draw, level=draw.uniform(-5.0, 5.0) if k else 0.0, cell_size=cell, border="open",
            origin=np.add(origin, (4 * cell * (k % 2), 0.0, 4 * cell * (k // 2))).tolist(),
            thickness=thickness,
        )
        for k in range(2 + draw.integers(2))
    ]  # fmt: skip
    return _of_lands(Ground([land for land, _ in lands]), *lands)


def large_map(draw: Draw) -> Known:
    """A map of three levels of blocks, some of them holes."""
    holes = draw.random((9, 70)) < 0.1
    holes[:, 10:30] = True
    land = _land(draw, (10, 71), cell_size=(0.5, 2.0), holes=holes, border="open")
    return _of_lands(land[0], land)


def united_maps(draw: Draw) -> Known:
    """Two maps of one land, with a seam that has no side."""
    samples = draw.uniform(-0.4, 0.4, (5, 9))
    parts = [
        (HeightMap(samples[:, k : k + 5], origin=(k, 0, 0), border="open", thickness=2.0), "a-c")
        for k in (0, 4)
    ]
    return _of_one_land(Ground([part for part, _ in parts]), *parts)


def land_cut_at_random(draw: Draw) -> Known:
    """Maps of one land, of any sizes, one or two of them left out, in any order."""
    samples = draw.uniform(-0.4, 0.4, (6, 9))
    rows, columns = ([0, *sorted(draw.choice(range(1, n), 2, False)), n] for n in (5, 8))
    spans = list(product(pairwise(rows), pairwise(columns)))
    parts = [
        (HeightMap(samples[z : z1 + 1, x : x1 + 1], origin=(x, 0, z), thickness=2.0), "a-c")
        for (z, z1), (x, x1) in draw.permutation(spans)[draw.integers(1, 3) :].tolist()
    ]
    return _of_one_land(Ground([part for part, _ in parts]), *parts)


def _of_one_land(ground: Ground, *parts: Land) -> Known:
    """Return what is known of maps that are one, with seams that have no sides."""
    known = _of_lands(ground, *parts)
    return known._replace(solids=[outer_faces(np.concatenate(known.solids))])


def skin(draw: Draw) -> Known:
    ball = TriangleMesh.sphere(1.5, subdivisions=2, position=(2, 0.5, 2))
    kept = TriangleMesh(ball.vertices, ball.faces[draw.random(len(ball.faces)) < 0.7])
    return Known(kept, [], _corners(kept), [_corners(kept)])


def solid_mesh(draw: Draw) -> Known:
    ball = TriangleMesh.sphere(1.0, subdivisions=2, position=(2, 0.5, 2))
    bumpy = ball.vertices + draw.uniform(-0.1, 0.1, ball.vertices.shape)
    mesh = TriangleMesh(bumpy, ball.faces, solid=True)
    return Known(mesh, [_corners(mesh)], _NONE, [_corners(mesh)])


def _with_crates(draw: Draw, lands: list[Land], count: int) -> Known:
    """Return crates between maps, every other one solid."""
    crates = [_crate(draw, solid=k % 2 == 0) for k in range(count)]
    maps, middle = [land for land, _ in lands], len(lands) // 2
    ground = Ground([*maps[:middle], *crates, *maps[middle:]])
    return _and_faces(_of_lands(ground, *lands), [_corners(crate) for crate in crates])


def _and_faces(known: Known, faces: list[Floats]) -> Known:
    """Return what is known of maps with meshes, every other one solid."""
    skins = np.concatenate([_NONE, *faces[1::2]])
    return Known(known.ground, known.solids + faces[::2], skins, known.listed + faces)


def crates_alone(draw: Draw) -> Known:
    return _with_crates(draw, [], 12)


def map_and_crates(draw: Draw) -> Known:
    return _with_crates(draw, [_land(draw, border="open")], 6)


def maps_and_crates(draw: Draw) -> Known:
    lands = [_land(draw, origin=(x, 0, 0), border="open") for x in (0.0, 4.0)]
    return _with_crates(draw, lands, 4)


def crates_that_moved(draw: Draw) -> Known:
    """A map, and crates that were made elsewhere."""
    land = _land(draw, border="open")
    crates = [TriangleMesh.box((1.0, 0.5, 0.75), solid=solid) for solid in (True, False, True)]
    ground = Ground([land[0], *crates])
    faces = []
    for key, crate in enumerate(crates, 1):
        place = draw.uniform((0.0, 0.0, 0.0), (4.0, 1.5, 4.0))
        axis = glm.normalize(glm.dvec3(draw.normal(size=3)))
        ground.move(key, (place.tolist(), glm.angleAxis(float(draw.uniform(0, 3)), axis)))
        put = ground.transform(key)
        faces.append(_corners(crate) @ put[:3, :3].T + put[:3, 3])
    return _and_faces(_of_lands(ground, land), faces)


def tiles(draw: Draw) -> Known:
    """A patch of land across the seam of two tiles."""
    samples = np.zeros((SIDE + 1, 2 * SIDE + 1))
    patch = np.s_[10:14, SIDE - 2 : SIDE + 2]
    samples[10:15, SIDE - 2 : SIDE + 3] = draw.uniform(-0.4, 0.4, (5, 5))
    marks = np.ones((SIDE, 2 * SIDE), np.bool_)
    marks[patch] = draw.random((4, 4)) < 0.2
    arrays = TilesOfArrays(samples, thickness=2.0, marks=marks)
    land = HeightMap(
        np.float32(samples[10:15, SIDE - 2 : SIDE + 3]), holes=marks[patch], thickness=2.0,
        origin=(SIDE - 2, 0, 10), border="open",
    )  # fmt: skip
    return _of_lands(TiledGround.open(arrays), (land, "a-c"))


KINDS: dict[str, Callable[[Draw], Known]] = {
    make.__name__.replace("_", " "): make
    for make in (
        map_alone, large_map, endless_map, ground_of_one_map, maps_side_by_side,
        maps_around_a_corner, united_maps, land_cut_at_random, skin, solid_mesh, crates_alone,
        map_and_crates, maps_and_crates, crates_that_moved, tiles,
    )
}  # fmt: skip
