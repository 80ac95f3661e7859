"""The tiles of a file with the edits that a store keeps of them."""

from typing import NamedTuple

from terrain_physics.lattice.tile import LoadedTile
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.stored import StoredTiles


class ReadTile(NamedTuple):
    """A tile with its edits, as it was when it was read.

    Attributes
    ----------
    tile : LoadedTile
    edits : int
        As `EditStore.count` told of it: it has the edits until then, and perhaps later ones.
    """

    tile: LoadedTile
    edits: int


class EditedTiles:
    """Reads tiles with their edits; any thread may ask.

    Attributes
    ----------
    stored : StoredTiles
        The tiles as they were made.
    edits : EditStore
    """

    def __init__(self, stored: StoredTiles, edits: EditStore) -> None:
        self.stored, self.edits, self._is_closed = stored, edits, False

    def read(self, number: int) -> ReadTile:
        """Return a tile; errors name it."""
        self.refuse_closed()
        count = self.edits.count(number)  # first: later edits are seen by the count
        try:
            tile = self.stored.read(number)
        except Exception as error:
            if f"tile {self.place(number)}" in str(error):
                raise
            kind = next((own for own in (ValueError, OSError) if isinstance(error, own)), None)
            text = f"{self.name(number)} cannot be read: {error if kind else repr(error)}"
            raise (kind or RuntimeError)(text) from error
        return ReadTile(self.edits.apply(tile), count)

    def now(self, read: ReadTile) -> LoadedTile:
        """Return a tile with all edits. The caller lets nobody edit meanwhile."""
        tile = read.tile
        return tile if self.edits.count(tile.number) == read.edits else self.edits.apply(tile)

    def place(self, number: int) -> tuple[int, int]:
        """Return row and column of a tile as the user counts."""
        row, column = divmod(number, self.stored.shape.columns)
        return self.stored.first[0] + row, self.stored.first[1] + column

    def name(self, number: int) -> str:
        """Return what messages call a tile."""
        where = "" if self.stored.path is None else f" of {self.stored.path}"
        return f"tile {self.place(number)}{where}"

    def refuse_closed(self) -> None:
        """Raise ValueError if `close` was called."""
        if self._is_closed:
            raise ValueError("TiledGround must be open to read tiles, got a closed one")

    def close(self) -> None:
        """Let go of all files; OSError if edits cannot be put on the disk."""
        self._is_closed = True
        try:
            self.edits.close()
        finally:
            self.stored.close()
