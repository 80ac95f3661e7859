"""The meshes of a ground as one table for kernels: meshes come, go and move in place."""

from typing import Any

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh import parts as columns
from terrain_physics._kernels.mesh.adjacency import Neighbors
from terrain_physics._kernels.mesh.part_tree import LAYERS, NODE_SIZE, ROOT, add_room, clear
from terrain_physics._kernels.mesh.parts import put_part, take_part
from terrain_physics._kernels.mesh.tree import Mesh, bounds_in
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER, MESH_ROW_SIZE
from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.ground_arrays import addresses, table_over

_CLEAR, _ADD_ROOM = CachedDispatch(clear), CachedDispatch(add_room)
_PUT, _TAKE = CachedDispatch(put_part), CachedDispatch(take_part)

# Empty rows are closed up if there are more of them than of other rows, and more than this.
_FEWEST_GAPS = 16


class MeshTable:
    """Meshes by ascending numbers.

    `put`, `replace` and `remove` may write to the arrays in place: the caller sees to it that
    nobody reads meanwhile, or copies the table first.

    Attributes
    ----------
    view : ndarray of int64
        The table for kernels; read-only. It keeps the arrays of the meshes alive.
    """

    __slots__ = ("_boxes", "_links", "_owned", "_places", "_rows", "view")

    def __init__(self, room: int = 1) -> None:
        self._places: dict[int, int] = {}
        self._rows = np.zeros((1 + room, MESH_ROW_SIZE), dtype=np.int64)
        self._rows[0, columns.ROW_COUNT] = 1
        nodes = 2 * len(self._rows)
        self._boxes = np.empty((nodes, 6))
        self._links = np.empty((nodes, NODE_SIZE), dtype=np.int64)
        _CLEAR.call(self._links)
        self._show([[]])

    def _show(self, owned: list[Any]) -> None:
        """Show new arrays to kernels."""
        self._owned = owned
        tree = addresses(self._boxes, self._links)
        self._rows[0, columns.TREE_BOXES : columns.TREE_BOXES + len(tree)] = tree
        self.view = table_over(self._rows, (owned, self._boxes, self._links))

    @property
    def layers(self) -> int:
        """All layers with a mesh."""
        return int(self._links[self._links[0, ROOT], LAYERS])

    def copy(self) -> "MeshTable":
        """Return a separate table of the same meshes."""
        other = MeshTable.__new__(MeshTable)
        other._places = self._places.copy()  # noqa: SLF001 its own
        other._rows = self._rows.copy()  # noqa: SLF001
        other._boxes = self._boxes.copy()  # noqa: SLF001
        other._links = self._links.copy()  # noqa: SLF001
        other._show([list(arrays) for arrays in self._owned])  # noqa: SLF001
        return other

    def put(
        self,
        number: int,
        arrays: Mesh,
        materials: Bytes | None,
        facing: int,
        ids: Int64s | None = None,
    ) -> None:
        """Add a mesh to the first layer; its number is higher than any before.

        ``ids`` (n,) are those of the faces in their part, if they are not the faces' numbers.
        """
        row = np.zeros(MESH_ROW_SIZE, dtype=np.int64)
        of_tree = addresses(
            arrays.corners, arrays.order, arrays.boxes, arrays.children, arrays.frame,
            arrays.vertices, arrays.faces,
        )  # fmt: skip
        row[columns.CORNERS : columns.CORNERS + len(of_tree)] = of_tree
        row[columns.LAYERS], row[columns.FACING] = FIRST_LAYER, facing
        if materials is not None:
            row[columns.MATERIALS : columns.MATERIALS + 2] = addresses(materials)
        if ids is not None:
            row[columns.IDS : columns.IDS + 2] = addresses(ids)
        self._put(number, row, [arrays, materials, ids])

    def put_as(self, number: int, other: "MeshTable", named: Bytes | None, layers: int) -> None:
        """Add the mesh of a table of one mesh to some layers; the number is as in `put`.

        ``named`` (256,) are the numbers of its materials in this table, if they differ.
        """
        self._put(number, *other._as(named, layers))  # noqa: SLF001

    def _as(self, named: Bytes | None, layers: int) -> tuple[Int64s, list[Any]]:
        """Return the row of the only mesh, as another table has it, and its arrays."""
        row, arrays = self._rows[1].copy(), self._owned[1]
        row[columns.LAYERS] = layers
        if named is not None:
            arrays = [*arrays, named]
            row[columns.NAMED : columns.NAMED + 2] = addresses(named)
        return row, arrays

    def _put(self, number: int, row: Int64s, arrays: list[Any]) -> None:
        if len(self._owned) > 1 and self._rows[len(self._owned) - 1, columns.NUMBER] >= number:
            self._close_up()  # a part that is put back would stand behind its own empty row
        place = len(self._owned)
        if place == len(self._rows):
            self._make_room()
            place = len(self._owned)
        self._owned.append([])
        self._hang(place, number, row, arrays, is_new=True)
        self._places[number] = place

    def replace(self, number: int, other: "MeshTable", named: Bytes | None) -> None:
        """Replace a mesh by another one, or by itself moved; parameters as in `put_as`."""
        place = self._places[number]
        layers = int(self._rows[place, columns.LAYERS])
        self._hang(place, number, *other._as(named, layers), is_new=False)  # noqa: SLF001

    def set_layers(self, number: int, layers: int) -> None:
        """Put a mesh on other layers."""
        place = self._places[number]
        row = self._rows[place].copy()
        row[columns.LAYERS] = layers
        self._hang(place, number, row, self._owned[place], is_new=False)

    def _hang(
        self, place: int, number: int, row: Int64s, arrays: list[Any], *, is_new: bool
    ) -> None:
        """Write a row that points to arrays."""
        row = row.copy()
        row[columns.NUMBER] = number
        # The former arrays are kept until the row points to them no longer.
        self._owned[place] = [*arrays, self._owned[place]]
        _PUT.call(self._rows, self._boxes, self._links, place, row, is_new)
        self._owned[place] = list(arrays)

    def put_skin(self, number: int, neighbors: Neighbors) -> None:
        """Add the connectivity of a mesh's triangles, for sweeps."""
        place = self._places[number]
        found = addresses(*neighbors)
        self._owned[place].append(neighbors)
        self._rows[place, columns.WELDED : columns.WELDED + len(found)] = found

    def bounds(self, number: int) -> tuple[Floats3, Floats3]:
        """Return the lower and upper corner of the box around a mesh."""
        arrays: Mesh = self._owned[self._places[number]][0]
        return bounds_in(arrays.frame)

    def remove(self, number: int) -> None:
        """Remove a mesh."""
        place = self._places.pop(number)
        _TAKE.call(self._rows, self._boxes, self._links, place)
        self._owned[place] = []
        while len(self._owned) > 1 and not self._owned[-1]:  # a restore puts lower numbers there
            self._owned.pop()
        self._rows[0, columns.ROW_COUNT] = len(self._owned)

    def _make_room(self) -> None:
        """Close up the empty rows if there are many, else double the rows."""
        used = len(self._places)
        if len(self._owned) - 1 - used > max(used, _FEWEST_GAPS):
            self._close_up()
            return
        first_node = len(self._links)
        self._rows = _with_room(self._rows)
        self._boxes, self._links = _with_room(self._boxes), _with_room(self._links)
        _ADD_ROOM.call(self._links, first_node)
        self._show(self._owned)

    def _close_up(self) -> None:
        other = MeshTable(len(self._rows) - 1)
        for number, place in self._places.items():
            other._put(number, self._rows[place], self._owned[place])
        for name in self.__slots__:  # `view` comes last
            setattr(self, name, getattr(other, name))


def _with_room(values: Any) -> Any:
    """Return an array of twice as many rows that begins with the same ones."""
    more = np.empty((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    more[: len(values)] = values
    return more
