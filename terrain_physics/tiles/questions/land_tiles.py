"""The tiles of a land as questions see them: which are missing, and how they are brought."""

from collections.abc import Sequence
from typing import Literal, Protocol

from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.lattice.tile import LatticeShape
from terrain_physics.tiles.questions.missing_tiles import MissingTiles
from terrain_physics.tiles.questions.tile_bounds import TileBounds

# How many bytes of tiles a question brings at once at most: many rows are answered in slices.
MOST_BYTES = 128 << 20


class Supply(Protocol):
    """What has a land, and brings its tiles."""

    land: LatticeMap
    missing: Literal["load", "wait"]

    @property
    def tile_bounds(self) -> TileBounds:
        """The boxes of its tiles."""

    def fetch(self, numbers: Sequence[int]) -> None:
        """Put tiles into the land now."""


class LandTiles:
    """The tiles of a land.

    Attributes
    ----------
    land : LatticeMap
    waits : bool
        Whether questions are answered without what is missing.
    most : int
        How many tiles a question brings at once.
    """

    __slots__ = ("_shown", "_supply", "land", "most", "waits")

    def __init__(self, supply: Supply) -> None:
        self._supply, self.land = supply, supply.land
        self.waits = supply.missing == "wait"
        self.most = max(MOST_BYTES // bytes_of(self.land.shape), 4)
        self._shown: MissingTiles | None = None  # a ground opens before it is asked

    def now(self) -> MissingTiles:
        """Return the tiles that are missing now."""
        shown = self._shown
        if shown is None or shown.revision != self.land.revision:
            shown = self._shown = MissingTiles.of(self.land, self._supply.tile_bounds)
        return shown

    def bring(self, numbers: Sequence[int]) -> None:
        """Bring missing tiles, and keep those that are loaded: all that a question needs at once.

        The caller holds no locks, as files are read.
        """
        self._supply.fetch(numbers)

    def refuse_more(self, count: int, what: str) -> None:
        """Refuse to bring so many tiles at once; ``what`` names the argument that needs them."""
        if count > self.most:
            raise ValueError(
                f"{what} must reach at most {self.most} tiles at once that are not loaded, got "
                f"{count}: ask about less at a time, or load what is needed by load_now first"
            )


def bytes_of(shape: LatticeShape) -> int:
    """Return how many bytes a tile takes at most, blocks aside."""
    return 4 * (shape.side + 1) ** 2 + 2 * shape.side**2
