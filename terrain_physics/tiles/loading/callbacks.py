"""Callbacks of a game, which are told of tiles that came and went."""

from collections import deque
from collections.abc import Callable

from terrain_physics.geometry.shapes import AABB

Callback = Callable[[int, int, AABB], object]


class TileCallbacks:
    """The callbacks of a ground of tiles, and what they have not been told yet.

    Attributes
    ----------
    on_load, on_unload : callable or None
        Called by `tell`, with row, column and bounds of a tile.
    """

    def __init__(self) -> None:
        self.on_load: Callback | None = None
        self.on_unload: Callback | None = None
        self._untold = deque[tuple[bool, int, int, AABB]]()
        self._is_telling = False

    def are_told(self, *, has_come: bool) -> bool:
        """Tell whether anybody is to be told of tiles that come, or that go."""
        return (self.on_load if has_come else self.on_unload) is not None

    def note(self, place: tuple[int, int], box: AABB, *, has_come: bool) -> None:
        """Note that a tile has come, or has gone."""
        self._untold.append((has_come, *place, box))

    def tell(self) -> None:
        """Tell what was noted, in its order; the caller holds no locks.

        A callback may load tiles: these are told of behind it.
        """
        if self._is_telling:
            return
        self._is_telling = True
        try:
            while self._untold:
                has_come, row, column, box = self._untold.popleft()
                callback = self.on_load if has_come else self.on_unload
                if callback is not None:
                    callback(row, column, box)
        finally:
            self._is_telling = False
