"""What a ground without end takes its tiles from: a file, or whatever gives the same."""

from typing import Protocol

from terrain_physics._kernels.types import Bools, Float32s
from terrain_physics.lattice.tile import LatticeShape, LoadedTile


class StoredTiles(Protocol):
    """All tiles of a land, as they were made."""

    @property
    def path(self) -> str | None:
        """The file, if there is one."""

    @property
    def shape(self) -> LatticeShape:
        """What never changes."""

    @property
    def first(self) -> tuple[int, int]:
        """Row and column, as the user counts, of the lattice's first tile."""

    @property
    def exists(self) -> Bools:
        """Which tiles there are, (rows, columns)."""

    @property
    def ranges(self) -> Float32s:
        """Least and greatest height of each tile as stored, (rows * columns, 2).

        A tile of holes only has inf and -inf; an absent one has NaN.
        """

    @property
    def digest(self) -> str:
        """32 hexadecimal digits, the same for the same land."""

    def read(self, number: int) -> LoadedTile:
        """Return a tile in memory of its own; any thread may ask."""

    def close(self) -> None:
        """Let go of what is open."""
