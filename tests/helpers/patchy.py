"""A ground of which some rectangles are not there yet, for tests of those who wait."""

from collections.abc import Iterable

import numpy as np

from terrain_physics import Ground
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.surface.streaming import Streaming
from terrain_physics.surface.surface import queries_of

Rectangle = tuple[float, float, float, float]


class Patchy(Streaming):
    """Rectangles of ground that is not there: least x and z, greatest x and z.

    It only says so: the ground itself may be all there.

    Attributes
    ----------
    missing : list of tuple
    loads : bool
        Whether ground that is needed is there at once, or who needs it waits.
    asked : list of ndarray
        The boxes of each call of `bring`.
    """

    def __init__(self, missing: Iterable[Rectangle] = (), *, loads: bool = False) -> None:
        self.missing, self.loads, self.waits = list(missing), loads, 0
        self.asked: list[Floats] = []

    def bring(self, boxes: Floats) -> Bools | None:
        self.asked.append(boxes.copy())
        if self.loads:
            self.missing = [own for own in self.missing if not self._touch(boxes, own).any()]
        return self.reached(boxes)

    def reached(self, boxes: Floats) -> Bools | None:
        assert boxes.shape[1:] == (4,)
        assert np.isfinite(boxes).all()
        found = np.zeros(len(boxes), np.bool_)
        for own in self.missing:
            found |= self._touch(boxes, own)
        return found if found.any() else None

    def count_waits(self, count: int) -> None:
        self.waits += count

    @staticmethod
    def _touch(boxes: Floats, own: Rectangle) -> Bools:
        x0, z0, x1, z1 = own
        touch = (boxes[:, 0] <= x1) & (boxes[:, 2] >= x0)
        found: Bools = touch & (boxes[:, 1] <= z1) & (boxes[:, 3] >= z0)
        return found


def patchy(ground: Ground, *missing: Rectangle, loads: bool = False) -> Patchy:
    """Let a ground say that rectangles of it are not there; return what tells it."""
    streaming = Patchy(missing, loads=loads)
    _let_stream(ground, streaming)
    return streaming


class Supply(Streaming):
    """Brings the tiles of a lattice, or lets those wait who need them.

    Attributes
    ----------
    asked : int
        How often `bring` was called.
    """

    def __init__(self, terrain: LatticeMap, *, loads: bool) -> None:
        self.terrain, self.loads, self.waits, self.asked = terrain, loads, 0, 0

    def bring(self, boxes: Floats) -> Bools | None:
        self.asked += 1
        waits, numbers = self.terrain.missing_in(boxes)
        if not numbers:
            return None
        if not self.loads:
            return waits
        self.terrain.source.fetch(numbers)
        return None

    def reached(self, boxes: Floats) -> Bools | None:
        waits, numbers = self.terrain.missing_in(boxes)
        return waits if numbers else None

    def count_waits(self, count: int) -> None:
        self.waits += count


def supplied(ground: Ground, terrain: LatticeMap, *, loads: bool) -> Supply:
    """Let a ground of a lattice have its tiles brought; return what brings them."""
    supply = Supply(terrain, loads=loads)
    _let_stream(ground, supply)
    return supply


def _let_stream(ground: Ground, streaming: Streaming) -> None:
    queries = queries_of(ground)
    kind = type(queries)
    queries.__class__ = type(kind.__name__, (kind,), {"streaming": streaming, "__slots__": ()})
