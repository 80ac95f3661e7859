"""Contacts of many shapes with a height map, as arrays."""

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _arrays
from terrain_physics._kernels import map_contact_rows as row_kernels
from terrain_physics._kernels.map_find import find_contacts
from terrain_physics._kernels.map_one_ball import ball_contacts
from terrain_physics._kernels.map_triangles import list_triangles
from terrain_physics.contacts import Contacts
from terrain_physics.map_data import KernelArrays, MapData
from terrain_physics.shape_contacts import Floats, ShapeContacts, by_kind
from terrain_physics.shapes import Sphere
from terrain_physics.workers import Workers

# Shapes that a thread should get at once: less is not worth the handing over.
_LEAST = 1024
# Touches written at once, by the same reckoning.
_LEAST_TOUCHES = 8192

# How many touches, which shape, row, code: see `find_contacts`.
_Found = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class MapContacts(ShapeContacts, MapData):
    """What `terrain_physics.HeightMap` answers about contacts, and triangles in many boxes."""

    __slots__ = ()

    def triangles_in_rows(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets and ids of boxes: lower and upper corners, flat."""
        offsets = np.zeros(len(boxes) // 6 + 1, dtype=np.int64)
        with self.reading() as views:
            total, ids = list_triangles(*views, boxes, offsets)
        if total < 0:
            raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
        return offsets, ids[:total]

    def _of_one_ball(self, sphere: Sphere) -> Contacts | None:
        """Return the contacts of a small ball, without the ways of many; None for a large one."""
        x, y, z = sphere.center64
        with self._lock:
            if self._materials is not None:
                return None
            heights, cells, _, frame = self._views
            ints, floats = ball_contacts(heights, cells, frame, x, y, z, sphere.radius)
        return None if ints.size == 2 and ints[0, 0] < 0 else Contacts(ints, floats)

    def counts_of_rows(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        """Return how many triangles each row touches."""
        with Workers(threads) as workers, self.reading() as views:
            found = _find(workers, views, kind, bodies)
        who = [part[1][: part[0]] for part in found]
        return np.bincount(np.concatenate([*who, _NONE]), minlength=len(bodies))

    def contacts_of_rows(
        self,
        kind: int,
        bodies: Floats,
        keep: str,
        threads: int | None,
    ) -> Contacts:
        """Return the contacts of rows of one kind, all or the deepest of each."""
        deepest = _arrays.choice("keep", keep, ("all", "deepest")) == "deepest"
        with Workers(threads) as workers:
            with self.reading() as views:
                found = _find(workers, views, kind, bodies)
                put = _put_deepest if deepest else _put_all
                ints, floats, found = put(workers, views, kind, bodies, found)
            return Contacts(ints, floats, self._materials_of(found))

    def _materials_of(self, found: list[_Found]) -> NDArray[np.uint8] | None:
        """Return what the cells of the touches found are made of."""
        if self._materials is None:
            return None
        rows, columns = self.cell_count
        places = [np.empty(part[0], dtype=np.int64) for part in found]
        for (_, _, row, code), out in zip(found, places, strict=True):
            row_kernels.put_nearest_cells(rows, columns, row, code, out)
        with self._lock:
            made_of: NDArray[np.uint8] = self._materials.reshape(-1)[
                np.concatenate([*places, _NONE])
            ]
        return made_of


_NONE = np.empty(0, dtype=np.int64)


def _find(workers: Workers, views: KernelArrays, kind: int, bodies: Floats) -> list[_Found]:
    """Return the touches, in the ranges that the threads worked on."""
    rows = by_kind(kind, bodies)

    def find(first: int, last: int) -> _Found:
        return find_contacts(*views, *rows, first, last)

    found: list[_Found] = workers.run(find, len(bodies), _LEAST)
    for count, *_ in found:
        if count < 0:
            raise ValueError(
                f"shapes must be over at most 100 million cells, got shape {-1 - count}"
            )
    return found


def _put_all(
    workers: Workers,
    views: KernelArrays,
    kind: int,
    bodies: Floats,
    found: list[_Found],
) -> tuple[NDArray[np.int64], Floats, list[_Found]]:
    """Return (ints, floats, the touches that they tell of)."""
    heights, cells, _, frame = views
    rows = by_kind(kind, bodies)
    starts = list(accumulate((part[0] for part in found), initial=0))
    ints, floats = np.empty((2, starts[-1]), dtype=np.int64), np.empty((3, starts[-1], 3))
    flat_ints, flat_floats = ints.reshape(-1), floats.reshape(-1)

    def put(first: int, last: int) -> None:
        for part in range(first, last):
            count, who, row, code = found[part]
            row_kernels.put_contacts(
                heights, cells, frame, *rows, who, row, code,
                flat_ints, flat_floats, starts[part], count,
            )  # fmt: skip

    workers.run(put, len(found), 1)
    return ints, floats, found


def _put_deepest(
    workers: Workers,
    views: KernelArrays,
    kind: int,
    bodies: Floats,
    found: list[_Found],
) -> tuple[NDArray[np.int64], Floats, list[_Found]]:
    """Return the same of the deepest touch of each shape."""
    heights, cells, _, frame = views
    rows = by_kind(kind, bodies)

    def put(first: int, last: int) -> list[Any]:
        results = []
        for part in range(first, last):
            who, row, code = (values[: found[part][0]] for values in found[part][1:])
            size = int(np.count_nonzero(np.diff(who, prepend=-1)))
            places = np.empty(size, dtype=np.int64)
            ints, floats = np.empty((2, size), dtype=np.int64), np.empty((3, size, 3))
            row_kernels.put_deepest(
                heights, cells, frame, *rows, who, row, code,
                places, ints.reshape(-1), floats.reshape(-1),
            )  # fmt: skip
            kept = (size, who[places], row[places], code[places])
            results.append((ints, floats, kept))
        return results

    parts = [part for results in workers.run(put, len(found), 1) for part in results]
    return (
        np.concatenate([np.empty((2, 0), dtype=np.int64), *(part[0] for part in parts)], axis=1),
        np.concatenate([np.empty((3, 0, 3)), *(part[1] for part in parts)], axis=1),
        [part[2] for part in parts],
    )
