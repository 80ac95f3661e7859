"""What maps held when their world was made or loaded, and how far they are from that.

A watcher hears of each edit before it is made (`prepare`), and keeps the values that the edit is
the first to replace, by squares. So what was there at first can be put together again at any time.
Squares that differ travel as the exclusive or of both.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Ranges, Region, within
from terrain_physics.heightmap.checks import edited
from terrain_physics.heightmap.framed import DTYPES, KINDS, Edited, StoredMap, place_of
from terrain_physics.heightmap.undo import (
    Patch,
    Square,
    blank,
    by_squares,
    crossed,
    place_in,
    squares_in,
    values_with,
)
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.values import LandValues, checked_values, land_digest

SIDE = 32
"""Samples or cells along each side of a square."""

Wanted = Mapping[Square, Patch]
"""Values that differ from the first ones."""

Read = Callable[[Edited, Ranges, Iterable[Patch]], NDArray[Any]]
"""Returns what a map holds at a place, once patches of that kind are put over it."""


class FirstValues:
    """The values of a map that were edited since this was made; a watcher of it.

    Attributes
    ----------
    terrain : StoredMap
    before : dict of Square to Patch
        What was there before the first edit.
    solid_depth : tuple of (float, bool)
        That of the map at that moment: see `LiveMap`.
    """

    __slots__ = ("__weakref__", "before", "solid_depth", "terrain")

    def __init__(self, terrain: StoredMap) -> None:
        self.terrain = terrain
        self.before: dict[Square, Patch] = {}
        with terrain.lock:
            self.solid_depth = terrain.solid_depth
            terrain.watchers.add(self, 0)

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of an edit: `prepare` has heard of it."""

    def prepare(self, number: int, what: Edited, region: Region, place: Ranges) -> None:  # noqa: ARG002
        """Keep what an edit is about to change at a place."""
        if what in KINDS:
            self._keep(what, place, squares_in(what, place, SIDE))

    def _keep(self, what: Edited, place: Ranges, squares: list[Square]) -> None:  # noqa: ARG002
        """Keep what is in squares that a place meets."""
        for square in squares:
            if square not in self.before:
                own = place_in(self.terrain, square, SIDE)
                self.before[square] = Patch(what, own, self.terrain.values(what, own))

    def read(self) -> Read:
        """Return what reads the map as it is now."""
        return lambda what, place, patches: values_with(self.terrain, what, place, patches)

    def fetch(self, what: Edited, place: Ranges) -> None:
        """Have in place what an edit replaces."""

    def first(self, what: Edited) -> NDArray[Any]:
        """Return all that was there at that moment. The caller holds the lock."""
        own = [patch for patch in self.before.values() if patch.what == what]
        whole = place_of(self.terrain, what, self.terrain.whole)
        return self.read()(what, whole, own).astype(DTYPES[what])

    def told(self, patches: Iterable[Patch], content: list[bytes]) -> dict[str, list[Any]]:
        """Tell the squares that differ once patches are put over the map, by kind."""
        then, read = by_squares(patches, SIDE), self.read()
        found: dict[str, list[Any]] = {}
        for square in sorted(self.before):
            what, *numbers = square
            known = self.before[square]
            changed = known.crossed(read(what, known.place, then.get(square, ())))
            if changed.any():
                found.setdefault(what, []).append(numbers)
                content.append(changed.tobytes())
        return found

    def received(self, about: Any, take: Callable[[int], bytes]) -> dict[Square, Patch]:
        """Return the squares that `told` gave elsewhere; any error if they are damaged."""
        read, wanted = self.read(), dict[Square, Patch]()
        if not about.keys() <= set(KINDS):
            raise ValueError("squares must be of heights, holes or materials")
        for what in KINDS:
            squares: list[Square] = [(what, row, column) for row, column in about.get(what, [])]
            if squares != sorted(set(squares)):
                raise ValueError("squares must ascend")
            for square in squares:
                wanted[square] = self._received(square, read, take)
        return wanted

    def _received(self, square: Square, read: Read, take: Callable[[int], bytes]) -> Patch:
        """Return the checked values of a square that differ."""
        what, *numbers = square
        whole = place_of(self.terrain, what, self.terrain.whole)
        for name, number, span in zip(("row", "column"), numbers, whole, strict=True):
            checks.whole(name, number, 0, (span.stop - 1) // SIDE)
        place, known = place_in(self.terrain, square, SIDE), self.before.get(square)
        first = read(what, place, () if known is None else (known,)).astype(DTYPES[what])
        changed = np.frombuffer(take(first.nbytes), f"<u{first.itemsize}").reshape(first.shape)
        new = crossed(first, changed).view(DTYPES[what])
        return Patch(what, place, checked_values(self.terrain, what, new), changed != 0)

    def bring(self, wanted: Wanted, solid_depth: tuple[float, bool]) -> None:
        """Bring the map to what it held at first, but for values that differ from that."""
        self.terrain.put_solid_depth(solid_depth)
        read = self.read()
        for square in sorted(self.before.keys() | wanted.keys()):
            own = [known[square] for known in (self.before, wanted) if square in known]
            what, place = square[0], own[0].place
            new = read(what, place, own)
            differs = crossed(new, read(what, place, ())) != 0
            if differs.any():
                _, part = edited(differs, differs.shape)
                self.fetch(what, within(place, part))
                self.terrain.put_back(what, within(place, part), new[part])
                read = self.read()


class FirstLandValues(FirstValues):
    """The same of a land of tiles.

    Its squares lie on the whole land, and not in its tiles. They know the values alone that were
    edited: others may be in a tile that is not loaded. Those are the same on both sides of a
    network.

    Attributes
    ----------
    supply : TileSupply
    """

    __slots__ = ("supply",)

    def __init__(self, supply: TileSupply) -> None:
        self.supply = supply
        super().__init__(supply.land)

    def _keep(self, what: Edited, place: Ranges, squares: list[Square]) -> None:
        now = None
        for square in squares:
            known = self.before.get(square)
            if known is not None and known.covers(place):
                continue
            now = now or Patch(what, place, self.terrain.values(what, place))
            new = blank(self.terrain, square, SIDE)
            for patch in (now,) if known is None else (now, known):
                patch.put_over(new.values, new.marks, new.place)
            self.before[square] = new

    def read(self) -> Read:  # noqa: D102 as of any map
        return LandValues(self.supply).of

    def fetch(self, what: Edited, place: Ranges) -> None:  # noqa: D102
        self.supply.fetch(self.supply.land.tiles_of(place, int(what == "heights")))

    def digest(self) -> str:
        """Return 32 hexadecimal digits of the land at that moment."""
        with self.terrain.lock:
            return land_digest(self.supply, self._put_first)

    def _put_first(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Put the values of that moment over those at a place."""
        for square in squares_in(what, place, SIDE):
            if square in self.before:
                self.before[square].put_over(values, place=place)
