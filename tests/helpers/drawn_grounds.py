"""Grounds drawn at random: maps of all kinds, meshes, and several of them as one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.helpers.draws import Draws

AnyGround = tp.HeightMap | tp.TriangleMesh | tp.Ground

_ONES = np.ones((8, 8), dtype=np.uint8)


def _heights(draws: Draws, rows: int, columns: int) -> NDArray[Any]:
    """Return rough heights, with a flat place and steps of quarters."""
    heights = draws.uniform(0.0, draws.one_of((0.3, 1.0, 3.0)), rows, columns)
    heights[: rows // 3, : columns // 2] = 0.5
    heights[-rows // 3 :, : columns // 3] = np.round(4.0 * heights[-rows // 3 :, : columns // 3])
    return np.asarray(heights, dtype=np.float32)


def plain(draws: Draws) -> tp.HeightMap:
    """Return a map that goes on outside."""
    return tp.HeightMap(_heights(draws, 15, 19))


def large(draws: Draws) -> tp.HeightMap:
    """Return a map of several levels of blocks."""
    return tp.HeightMap(_heights(draws, 70, 75), border="open", diagonal="alternating")


def narrow(draws: Draws) -> tp.HeightMap:
    """Return a map of oblong cells that ends at its border, split from b to d."""
    return tp.HeightMap(
        _heights(draws, 14, 20), cell_size=(0.7, 1.3), height_scale=0.37, border="open",
        diagonal="b-d", origin=(-3.3, 0.7, 2.1),
    )  # fmt: skip


def far(draws: Draws) -> tp.HeightMap:
    """Return a map far from the origin, turned upside down by its scale."""
    return tp.HeightMap(
        _heights(draws, 13, 17), height_scale=-0.6, origin=(1e6 + 0.25, -1e4, -2e6),
        diagonal="alternating", thickness=0.8,
    )  # fmt: skip


def holes(draws: Draws) -> tp.HeightMap:
    """Return a map with missing samples, split along the shorter diagonals."""
    heights = _heights(draws, 16, 18)
    heights[draws.uniform(0.0, 1.0, 16, 18) < 0.06] = np.nan
    return tp.HeightMap(heights, diagonal="shortest")


def cells(draws: Draws) -> tp.HeightMap:
    """Return a map with a diagonal, a mark as hole and a material for each cell."""
    drawn = draws.uniform(0.0, 1.0, 3, 14, 15)
    return tp.HeightMap(
        _heights(draws, 15, 16), diagonal=drawn[0] < 0.5, holes=drawn[1] < 0.05,
        materials=np.floor(5.0 * drawn[2]).astype(np.uint8), thickness=1.5, border="open",
    )  # fmt: skip


def steep(draws: Draws) -> tp.HeightMap:
    """Return cells of half a meter, as high as they are wide and more."""
    return tp.HeightMap(_heights(draws, 24, 26), cell_size=0.5, height_scale=0.8)


def _quads(rows: int, columns: int) -> tuple[NDArray[Any], ...]:
    """Return the corners of the cells of a grid."""
    corner = np.arange(rows * columns).reshape(rows, columns)
    return corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel(), corner[1:, 1:].ravel(), (
        corner[1:, :-1].ravel()
    )  # fmt: skip


def floor(draws: Draws, origin: Any = (0.0, 0.0, 0.0)) -> tp.TriangleMesh:
    """Return a rough floor whose triangles look up and down."""
    size = 15
    z, x = np.mgrid[:size, :size].astype(np.float64)
    moved = draws.uniform(-0.3, 0.3, 2, size, size)
    heights = draws.uniform(0.0, 0.8, size, size)
    heights[:, :5] = 0.25
    vertices = np.stack([x + moved[0], heights, z + moved[1]], axis=-1).reshape(-1, 3) + origin
    a, b, c, d = _quads(size, size)
    faces = np.concatenate([np.stack([a, c, b], axis=1), np.stack([a, d, c], axis=1)])
    turned = draws.uniform(0.0, 1.0, len(faces)) < 0.3
    faces[turned] = faces[turned][:, ::-1]
    return tp.TriangleMesh(vertices, faces)


def far_floor(draws: Draws) -> tp.TriangleMesh:
    """Return a floor far from the origin."""
    return floor(draws, (1e6, 1e3, -1e6))


def loose(draws: Draws) -> tp.TriangleMesh:
    """Return triangles that cross, touch and lie on each other; some are segments and points."""
    corners = draws.mixed((0.0, 0.0, 0.0), (14.0, 2.0, 14.0), 60, 1, 3)
    corners = corners + draws.mixed(-2.0, 2.0, 60, 3, 3)
    corners[5, 2] = corners[5, 1]
    corners[6] = corners[6, 0]
    corners[7, 2] = 0.5 * (corners[7, 0] + corners[7, 1])
    corners[9] = corners[8]
    corners[11, 0], corners[11, 1] = corners[10, 1], corners[10, 0]
    corners[12:30, :, 1] = 0.5
    return tp.TriangleMesh(corners.reshape(-1, 3), np.arange(180).reshape(-1, 3))


def boxes(draws: Draws) -> tp.TriangleMesh:
    """Return a floor of boxes beside and on each other, in steps of quarters."""
    vertices: list[Any] = []
    faces: list[list[int]] = []
    for k in range(16):
        low = np.array([3.5 * (k % 4), -1.0, 3.5 * (k // 4)])
        high = low + np.array([3.5, 1.0 + 0.25 * draws.below(5), 3.5])
        if k % 5 == 4:
            low = low + np.array([0.5, 2.0, 0.5])
            high = high + np.array([-0.5, 2.0, -0.5])
        start = len(vertices)
        vertices += [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])
                     for z in (low[2], high[2])]  # fmt: skip
        for a, b, c, d in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4),
                           (1, 5, 7, 3)):  # fmt: skip
            faces += [[start + a, start + b, start + c], [start + a, start + c, start + d]]
    return tp.TriangleMesh(vertices, faces)


def _tiles(draws: Draws) -> list[tp.HeightMap]:
    """Return four maps that share borders, one of them with holes."""
    heights = _heights(draws, 15, 17)
    heights[11, 12] = np.nan
    return [
        tp.HeightMap(heights[7 * i : 7 * i + 8, 8 * j : 8 * j + 9], origin=(8.0 * j, 0.0, 7.0 * i),
                     thickness=1.0 + 0.25 * j)
        for i in range(2)
        for j in range(2)
    ]  # fmt: skip


def tiles(draws: Draws) -> tp.Ground:
    """Return maps that share borders, with a mesh over them."""
    first, second, *others = _tiles(draws)
    return tp.Ground([first, second, loose(draws), *others])


def islands(draws: Draws) -> tp.Ground:
    """Return maps that share borders, one that does not, and two meshes."""
    apart = tp.HeightMap(_heights(draws, 9, 9), origin=(4.4, 0.6, 16.0), materials=_ONES)
    return tp.Ground([boxes(draws), *_tiles(draws), apart, floor(draws, (0.0, -0.5, 0.0))])


def bridge(draws: Draws) -> tp.Ground:
    """Return a map that goes on outside and a mesh."""
    return tp.Ground([holes(draws), boxes(draws)])


def only_meshes(draws: Draws) -> tp.Ground:
    """Return two meshes."""
    return tp.Ground([floor(draws), loose(draws)])


Maker = Callable[[Draws], Any]
MAPS: tuple[Maker, ...] = (plain, large, narrow, far, holes, cells, steep)
MESHES: tuple[Maker, ...] = (floor, far_floor, loose, boxes)
GROUNDS: tuple[Maker, ...] = (tiles, islands, bridge, only_meshes)


def box_of(ground: AnyGround) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a box around a ground, in meters."""
    if isinstance(ground, tp.TriangleMesh):
        return np.array(ground.bounds.lower64), np.array(ground.bounds.upper64)
    if isinstance(ground, tp.HeightMap):
        blocks = ground.blocks(ground.block_levels - 1)
        return blocks.lower.reshape(3), blocks.upper.reshape(3)
    corners = [box_of(part) for part in ground.parts.values()]
    return np.min([low for low, _ in corners], axis=0), np.max([up for _, up in corners], axis=0)


def edit(draws: Draws, ground: AnyGround) -> None:
    """Change a ground at one place."""
    if isinstance(ground, tp.HeightMap):
        _edit_map(draws, ground)
    elif isinstance(ground, tp.TriangleMesh):
        _move_vertices(draws, ground)
    elif draws.chance(0.5) and any(
        isinstance(part, tp.HeightMap) for part in ground.parts.values()
    ):
        low, high = box_of(ground)
        ground.raise_(draws.uniform(low, high, 3), 3.0, draws.one_of((-0.75, 0.5, 1.25)))
    else:
        edit(draws, draws.one_of(list(ground.parts.values())))


def _edit_map(draws: Draws, land: tp.HeightMap) -> None:
    rows, columns = land.cell_count
    row, column = draws.below(rows - 3), draws.below(columns - 3)
    low, high = box_of(land)
    kind = draws.below(8)
    if kind == 0:
        land[row : row + 3, column : column + 4] = draws.uniform(0.0, 1.5, 3, 4)
    elif kind == 1:
        land[row, column] = np.nan
    elif kind == 2:
        land.holes[row, column] = draws.chance(0.5)
    elif kind == 3:
        land.materials[row : row + 2, column : column + 2] = draws.below(256)
    elif kind == 4:
        land.thickness = draws.one_of((0.5, 1.0, 2.0))
    elif kind == 5:
        land.carve(draws.uniform(low, high, 3), 2.5, 0.75)
    else:
        land.raise_(draws.uniform(low, high, 3), 3.0, 0.5)


def _move_vertices(draws: Draws, mesh: tp.TriangleMesh) -> None:
    vertices = mesh.vertices.copy()
    if draws.chance(0.5):
        vertices[draws.below(len(vertices))] += draws.uniform(-0.5, 0.5, 3)
    else:
        vertices += draws.uniform(-0.1, 0.1, len(vertices), 3)
    mesh.refit(vertices)
