"""Grounds of every kind of which a test knows all faces: closed solids, and skins.

Cells of maps are closed boxes, see `tests.oracles.map_solids`; meshes are their own faces.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import Ground, HeightMap, TiledGround, TriangleMesh
from tests.helpers.tiled_lands import SIDE, TilesOfArrays
from tests.oracles.map_solids import closest, faces_of, outer_faces
from tests.oracles.winding import winding_numbers

Floats = NDArray[np.float64]
Draw = np.random.Generator

DIAGONALS = ("a-c", "b-d", "alternating")


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
    """A ground of a kind, drawn from a seed, and places and ways to ask about."""

    def __init__(self, kind: str, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.ground, self.solids, self.skins, self.listed = KINDS[kind](self.draw)
        self.faces = np.concatenate([*self.solids, self.skins])
        near = np.concatenate([corners.reshape(-1, 3) for corners in self.listed])
        self._low, self._high = near.min(axis=0) - 1.5, near.max(axis=0) + 1.5

    def places(self, count: int) -> Floats:
        """Return places anywhere."""
        return self.draw.uniform(self._low, self._high, (count, 3))

    def places_outside(self, count: int, radius: float = 0.0) -> Floats:
        """Return places that are in nothing solid, and farther than a radius from all faces."""
        found: list[Floats] = []
        while len(found) < count:
            (place,) = self.places(1)
            is_free = radius == 0.0 or closest(self.faces, place)[0] > radius
            if is_free and not any(self.insides(place[np.newaxis])):
                found.append(place)
        return np.array(found)

    def insides(self, places: Floats) -> list[Any]:
        """Tell of each solid which of some places are in it."""
        return [winding_numbers(solid, places) > 0.5 for solid in self.solids]

    def directions(self, count: int) -> Floats:
        ways = self.draw.normal(size=(count, 3))
        return np.asarray(ways / np.sqrt((ways * ways).sum(axis=1, keepdims=True)))


def _land(draw: Draw, side: int = 5, x: float = 0.0, **options: Any) -> tuple[HeightMap, str]:
    diagonal = str(draw.choice(DIAGONALS))
    land = HeightMap(
        draw.uniform(-0.4, 0.4, (side, side)),
        holes=draw.random((side - 1, side - 1)) < draw.choice([0.0, 0.2]),
        thickness=(None, 0.7, 3.0)[draw.integers(3)],
        diagonal=diagonal,
        origin=(x, 0.0, 0.0),
        **options,
    )
    return land, diagonal


def _cells(land: HeightMap, diagonal: str) -> Floats:
    """Return the corners (n, 6, 3) of the two triangles of each cell that has them."""
    faces = faces_of(land, diagonal)
    rises = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])[:, 1]
    return faces[rises > 0.0].reshape(-1, 6, 3)


def _of_lands(ground: Any, *lands: tuple[HeightMap, str], endless: bool = False) -> Known:
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
    lands = [_land(draw, x=x, border="open") for x in (0.0, 4.0)]
    return _of_lands(Ground([land for land, _ in lands]), *lands)


def united_maps(draw: Draw) -> Known:
    """Two maps of one land, with a seam that has no side."""
    samples = draw.uniform(-0.4, 0.4, (5, 9))
    parts = [
        (HeightMap(samples[:, k : k + 5], origin=(k, 0, 0), border="open", thickness=2.0), "a-c")
        for k in (0, 4)
    ]
    known = _of_lands(Ground([part for part, _ in parts]), *parts)
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


def _with_crates(draw: Draw, lands: list[tuple[HeightMap, str]], count: int) -> Known:
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
    return _with_crates(draw, [_land(draw, x=x, border="open") for x in (0.0, 4.0)], 4)


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
        map_alone, endless_map, ground_of_one_map, maps_side_by_side, united_maps, skin, solid_mesh,
        crates_alone, map_and_crates, maps_and_crates, crates_that_moved, tiles,
    )
}  # fmt: skip
