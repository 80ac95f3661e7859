"""The sides of a patch of a map's cells, as a mesh."""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap.solid.pieces import put_ids, put_triangles
from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics.heightmap.solid.pieces import pieces_of
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.ground_arrays import MapArrays

_PUT_TRIANGLES, _PUT_IDS = CachedDispatch(put_triangles), CachedDispatch(put_ids)


class SidePatch:
    """The sides of the cells of a patch: an edit makes those anew where it is, and no others.

    Its triangles are in the order of their ids.

    Attributes
    ----------
    storage : MeshStorage
        The triangles; those of other patches at the border of this one are ghosts.
    ids : ndarray of int64, shape (n,)
        The map's ids of the triangles; -1 outside an endless map.
    edges : ndarray of int64, shape (n,)
        The numbers of the sides that they are parts of.
    cells : ndarray of int64, shape (n,)
        The cells that they are sides of; outside the map the nearest ones.
    """

    __slots__ = ("cells", "edges", "ids", "storage")

    def __init__(self, frame: Floats, edges: Int64s, corners: Floats, of_corners: Int64s) -> None:
        """Take over the ``corners`` (m, 9) of triangles, of ghosts as well.

        Their own are the first ones: ``of_corners`` (n,) are the numbers of their edges.
        """
        count = len(of_corners)
        ids, cells = np.empty(count, np.int64), np.empty(count, np.int64)
        _PUT_IDS.call(frame, edges, of_corners, ids, cells)
        vertices, self.ids, self.cells, self.edges = read_only(
            corners.reshape(-1, 3), ids, cells, of_corners
        )
        faces = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
        faces.setflags(write=False)
        (named,) = read_only(np.concatenate([ids, cells, of_corners]))
        self.storage = MeshStorage(vertices, faces, side_ids=named)


def patch_of(
    frame: Floats, edges: Int64s, lines: Floats, count: int, others: Sequence[MapArrays]
) -> SidePatch | None:
    """Return a patch, None if nothing of its sides is bare.

    Its edges are the first ``count`` of ``edges`` (n, EDGE_SIZE), in order; the rest are those of
    other patches at its border. ``lines`` (n, LINE_SIZE) are theirs. ``others`` are maps that may
    cover a side.
    """
    pieces = pieces_of(edges, lines, frame, others)
    corners, of_corners = np.empty((2 * len(pieces), 9)), np.empty(2 * len(pieces), np.int64)
    found = _PUT_TRIANGLES.call(frame, edges, pieces, corners, of_corners)
    own = int(np.searchsorted(of_corners[:found], count))
    return SidePatch(frame, edges, corners[:found], of_corners[:own]) if own else None
