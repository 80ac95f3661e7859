"""The meshes of a ground as one table for kernels: meshes come, go and move in place."""

import copy
from itertools import repeat
from math import inf
from typing import Any

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh import parts as columns
from terrain_physics._kernels.mesh.adjacency import Neighbors, find_neighbors
from terrain_physics._kernels.mesh.part_tree import LAYERS, NODE_SIZE, ROOT, add_room, clear
from terrain_physics._kernels.mesh.parts import put_part, take_part
from terrain_physics._kernels.mesh.places import BOX, PLACE_SIZE, POSE_SIZE, SCALE
from terrain_physics._kernels.mesh.tree import LOWER, Mesh
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER, MESH_ROW_SIZE
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.ground_arrays import addresses, table_over

_CLEAR, _ADD_ROOM = CachedDispatch(clear), CachedDispatch(add_room)
_PUT, _TAKE = CachedDispatch(put_part), CachedDispatch(take_part)

_NO_POSE = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])

# That of an empty row: a box around it and others is the box around the others.
_NO_BOX = np.array([inf, inf, inf, -inf, -inf, -inf])

# Rows grow by a part of them, and by no fewer.
_GROWTH, _LEAST_GROWTH = 4, 4

# Empty rows are closed up if there are more of them than of other rows, and more than this.
_FEWEST_GAPS = 16


Key = int | tuple[int, int, int]
"""The number of a mesh; of sides, see `MeshTable.put_sides`."""


class MeshTable:
    """Meshes by ascending numbers, or sides of maps.

    A mesh is where its vertices are, or at a place: see `terrain_physics._kernels.mesh.places`.

    `put`, `replace`, `place` and `remove` may write to the arrays in place: the caller sees to it
    that nobody reads meanwhile, or copies the table first.

    Attributes
    ----------
    view : ndarray of int64
        The table for kernels; read-only. It keeps the arrays of the meshes alive.
    """

    __slots__ = ("_boxes", "_links", "_owned", "_row_of", "_rows", "_spots", "view")

    def __init__(self, room: int = 1) -> None:
        self._row_of: dict[Key, int] = {}
        self._rows = np.zeros((1 + room, MESH_ROW_SIZE), dtype=np.int64)
        self._rows[0, columns.ROW_COUNT] = 1
        self._spots = np.zeros((1 + room, PLACE_SIZE))
        nodes = 2 * len(self._rows)
        self._boxes = np.empty((nodes, 6))
        self._links = np.empty((nodes, NODE_SIZE), dtype=np.int64)
        _CLEAR.call(self._links)
        self._show([()])

    def _show(self, owned: list[tuple[Any, ...]]) -> None:
        """Show new arrays to kernels."""
        self._owned = owned
        own = self._boxes, self._links, self._spots
        head = addresses(*own)
        self._rows[0, columns.TREE_BOXES : columns.TREE_BOXES + len(head)] = head
        self.view = table_over(self._rows, (owned, *own))

    @property
    def layers(self) -> int:
        """All layers with a mesh."""
        return int(self._links[self._links[0, ROOT], LAYERS])

    def copy(self) -> "MeshTable":
        """Return a separate table of the same meshes."""
        other = copy.copy(self)
        other.part()
        return other

    def part(self) -> None:
        """Have arrays of its own, after a copy that shares them."""
        self._row_of, self._rows = self._row_of.copy(), self._rows.copy()
        self._boxes, self._links = self._boxes.copy(), self._links.copy()
        self._spots = self._spots.copy()
        self._show(self._owned.copy())

    def put(
        self,
        number: int,
        arrays: Mesh,
        materials: Bytes | None,
        facing: int,
        ids: Int64s | None = None,
        *,
        uses_all: bool = False,
    ) -> None:
        """Add a mesh to the first layer; its number is higher than any before.

        ``ids`` (n,) are those of the faces in their part, if they are not the faces' numbers. If it
        ``uses_all``, each vertex is one of a face.
        """
        mesh = np.zeros(columns.MESH_SIZE, dtype=np.int64)
        of_tree = addresses(
            arrays.corners, arrays.order, arrays.boxes, arrays.children, arrays.frame,
            arrays.vertices, arrays.faces,
        )  # fmt: skip
        mesh[columns.CORNERS : columns.CORNERS + len(of_tree)] = of_tree
        if materials is not None:
            mesh[columns.MATERIALS : columns.MATERIALS + 2] = addresses(materials)
        if ids is not None:
            mesh[columns.IDS : columns.IDS + 2] = addresses(ids)
        mesh[columns.USES_ALL] = uses_all
        row = np.zeros(MESH_ROW_SIZE, dtype=np.int64)
        row[columns.MESH] = addresses(mesh)[0]
        row[columns.LAYERS], row[columns.FACING] = FIRST_LAYER, facing
        later: list[Neighbors] = []
        self._put(number, row, (arrays, mesh, later, materials, ids))

    def put_as(
        self,
        number: int,
        other: "MeshTable",
        named: Bytes | None,
        layers: int,
        pose: Floats | None = None,
        scale: float = 1.0,
    ) -> None:
        """Add the mesh of a table of one mesh to some layers; the number is as in `put`.

        ``named`` (256,) are the numbers of its materials in this table, if they differ. ``pose``
        (1, POSE_SIZE) and ``scale`` are its place, if it has one.
        """
        row, arrays = other.row_as(named, layers)
        self._put(number, row, arrays, pose, scale)

    def put_sides(self, key: tuple[int, int, int], other: "MeshTable") -> None:
        """Add the sides of a patch of a map, or replace them; their rows are in any order.

        ``key`` is the number of the map, its layers, and the number of the patch; ``other`` is as
        in `put_as`.
        """
        content, arrays = other.row_as(None, key[1])
        content[columns.OWNER], _, content[columns.NUMBER] = key
        row = self._row_of.get(key)
        if row is None:
            self._append(key, content, arrays)
        else:
            self._hang(row, content, arrays, None, 1.0, is_new=False)

    def row_as(self, named: Bytes | None, layers: int) -> tuple[Int64s, tuple[Any, ...]]:
        """Return the row of the only mesh, as another table has it, and its arrays."""
        row, arrays = self._rows[1].copy(), self._owned[1]
        row[columns.LAYERS] = layers
        if named is not None:
            arrays = (*arrays, named)
            row[columns.NAMED : columns.NAMED + 2] = addresses(named)
        return row, arrays

    def _put(
        self,
        number: int,
        content: Int64s,
        arrays: tuple[Any, ...],
        pose: Floats | None = None,
        scale: float = 1.0,
    ) -> None:
        if len(self._owned) > 1 and self._rows[len(self._owned) - 1, columns.NUMBER] >= number:
            self._close_up()  # a part that is put back would stand behind its own empty row
        content = content.copy()
        content[columns.NUMBER] = number
        self._append(number, content, arrays, pose, scale)

    def _append(
        self,
        key: Key,
        content: Int64s,
        arrays: tuple[Any, ...],
        pose: Floats | None = None,
        scale: float = 1.0,
    ) -> None:
        """Put a mesh in one more row."""
        row = len(self._owned)
        if row == len(self._rows):
            self._make_room()
            row = len(self._owned)
        self._owned.append(())
        self._hang(row, content, arrays, pose, scale, is_new=True)
        self._row_of[key] = row

    def replace(self, number: int, other: "MeshTable", named: Bytes | None) -> None:
        """Replace a mesh by another one at its place; parameters as in `put_as`."""
        row = self._row_of[number]
        layers = int(self._rows[row, columns.LAYERS])
        self._hang_again(row, *other.row_as(named, layers))

    def set_layers(self, number: int, layers: int) -> None:
        """Put a mesh on other layers."""
        row = self._row_of[number]
        content = self._rows[row].copy()
        content[columns.LAYERS] = layers
        self._hang_again(row, content, self._owned[row])

    def _hang_again(self, row: int, content: Int64s, arrays: tuple[Any, ...]) -> None:
        """Write a row that points to other arrays, of a mesh that stays where it is."""
        content[columns.NUMBER] = self._rows[row, columns.NUMBER]
        self._hang(row, content, arrays, *self._place_of(row), is_new=False)

    def _place_of(self, row: int) -> tuple[Floats | None, float]:
        """Return pose and scale of the mesh in a row; no pose: it is where its vertices are."""
        spot = self._spots[row].copy()
        is_placed = self._rows[row, columns.PLACED] != 0
        return spot[np.newaxis, :POSE_SIZE] if is_placed else None, float(spot[SCALE])

    def _hang(
        self,
        row: int,
        content: Int64s,
        arrays: tuple[Any, ...],
        pose: Floats | None,
        scale: float,
        *,
        is_new: bool,
    ) -> None:
        """Write a row that points to arrays."""
        if pose is None and scale != 1.0:
            pose = _NO_POSE
        content[columns.PLACED] = pose is not None
        given = np.ascontiguousarray(_NO_POSE if pose is None else pose)
        # The former arrays are kept until the row points to them no longer.
        self._owned[row] = (*arrays, self._owned[row])
        tree = self._boxes, self._links
        _PUT.call(self._rows, *tree, self._spots, row, content, given, scale, is_new)
        if pose is None:  # else the kernel has written it
            mesh: Mesh = arrays[0]
            self._spots[row, BOX : BOX + 6] = mesh.frame[LOWER:]
        self._owned[row] = arrays

    @property
    def arrays(self) -> tuple[Int64s, Floats, Int64s, Floats]:
        """Rows, boxes and nodes of the tree, and places of rows, for kernels that write to them."""
        return self._rows, self._boxes, self._links, self._spots

    def pose_of(self, number: int) -> Floats | None:
        """Return the pose (POSE_SIZE,) of a mesh; None if it is where its vertices are."""
        row = self._row_of[number]
        if self._rows[row, columns.PLACED] == 0:
            return None
        return self._spots[row, :POSE_SIZE].copy()

    def poses_of(self, rows: Int64s) -> Floats:
        """Return the poses (n, POSE_SIZE) of the meshes of rows, also where their vertices are."""
        if len(rows) == 1:  # three times as quick as below
            row = int(rows[0])
            is_placed = self._rows[row, columns.PLACED] != 0
            return self._spots[row : row + 1, :POSE_SIZE].copy() if is_placed else _NO_POSE.copy()
        poses = np.ascontiguousarray(self._spots[rows, :POSE_SIZE])
        poses[self._rows[rows, columns.PLACED] == 0] = _NO_POSE
        return poses

    def poses(self) -> tuple[Int64s, Floats]:
        """Return the numbers of the meshes with a pose, ascending, and the poses (n, POSE_SIZE)."""
        rows = 1 + np.flatnonzero(self._rows[1 : len(self._owned), columns.PLACED])
        return self._rows[rows, columns.NUMBER], self._spots[rows, :POSE_SIZE]

    def take_back(self, number: int) -> None:
        """Put a mesh where its vertices are, times its scale."""
        row = self._row_of[number]
        content, arrays = self._rows[row].copy(), self._owned[row]
        self._hang(row, content, arrays, None, self._place_of(row)[1], is_new=False)

    def neighbors(self) -> Neighbors:
        """Return the connectivity of the triangles of the only mesh of a table of one.

        The first call finds it, for sweeps, and puts it in all tables with the mesh.
        """
        arrays, mesh, later, *_ = self._owned[1]
        if not mesh[columns.WELDED + 1]:
            later.append(find_neighbors(arrays.vertices, arrays.faces))
            found = addresses(*later[-1])
            mesh[columns.WELDED : columns.WELDED + len(found)] = found
        known: Neighbors = later[-1]
        return known

    def bounds(self, number: int) -> tuple[Floats3, Floats3]:
        """Return the lower and upper corner of the box around a mesh."""
        x0, y0, z0, x1, y1, z1 = self._spots[self._row_of[number], BOX : BOX + 6].tolist()
        return (x0, y0, z0), (x1, y1, z1)

    def bounds_of_all(self) -> tuple[Floats, Floats]:
        """Return the corners (3,) of the box around all meshes; infinities if there are none."""
        # Six columns, one by one: NumPy takes five times as long for rows of three.
        columns_of_boxes = self._spots[1 : len(self._owned), BOX : BOX + 6].T
        lower = [values.min(initial=inf) for values in columns_of_boxes[:3]]
        upper = [values.max(initial=-inf) for values in columns_of_boxes[3:]]
        return np.array(lower), np.array(upper)

    def remove(self, key: Key) -> None:
        """Remove a mesh."""
        row = self._row_of.pop(key)
        _TAKE.call(self._rows, self._boxes, self._links, row)
        self._spots[row, BOX : BOX + 6] = _NO_BOX
        self._owned[row] = ()
        while len(self._owned) > 1 and not self._owned[-1]:  # a restore puts lower numbers there
            self._owned.pop()
        self._rows[0, columns.ROW_COUNT] = len(self._owned)

    def _make_room(self) -> None:
        """Close up the empty rows if there are many, else make more rows."""
        used = len(self._row_of)
        if len(self._owned) - 1 - used > max(used, _FEWEST_GAPS):
            self._close_up()
            return
        first_node, room = len(self._links), len(self._rows)
        room += max(room // _GROWTH, _LEAST_GROWTH)
        self._rows, self._spots = _with_room(self._rows, room), _with_room(self._spots, room)
        self._boxes = _with_room(self._boxes, 2 * room)
        self._links = _with_room(self._links, 2 * room)
        _ADD_ROOM.call(self._links, first_node)
        self._show(self._owned)

    def _close_up(self) -> None:
        other = MeshTable(len(self._rows) - 1)
        for key, row in self._row_of.items():
            content = self._rows[row].copy()
            other._append(key, content, self._owned[row], *self._place_of(row))
        # `view` comes last; one call of C, in which no signal handler runs.
        any(map(setattr, repeat(self), self.__slots__, [getattr(other, k) for k in self.__slots__]))


def _with_room(values: Any, count: int) -> Any:
    """Return an array of ``count`` rows that begins with the same ones."""
    more = np.empty((count, *values.shape[1:]), dtype=values.dtype)
    more[: len(values)] = values
    return more
