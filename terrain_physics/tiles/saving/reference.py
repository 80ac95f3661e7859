"""Which tiles a saved land stands on: a file of tiles by its path and digest, found again."""

import errno
import os
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple, Self

from terrain_physics._support import checks
from terrain_physics._support.files import file_name
from terrain_physics.surface.ground_files import SavedPart
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.tiles.tile_file import TileFile

LAND_KIND = "land of tiles"
"""Of a saved part that is the land of a `TiledGround`."""

_SHOWN_DIGITS = 8

_NOT_THERE = "not there"

_HEX_DIGITS = set("0123456789abcdef")


class TilesReference(NamedTuple):
    """What a saved land tells of its tiles.

    Attributes
    ----------
    path : str or None
        As it was given to `TiledGround.open`; None of tiles that no file holds.
    absolute : str or None
        The same from the root.
    digest : str
        Of the tiles: equal digests are equal worlds.
    """

    path: str | None
    absolute: str | None
    digest: str

    @classmethod
    def of(cls, tiles: StoredTiles) -> Self:
        """Return the reference to some tiles."""
        absolute = tiles.absolute if isinstance(tiles, TileFile) else None
        return cls(tiles.path, absolute, tiles.digest)

    def saved(self) -> dict[str, Any]:
        """Return it for JSON."""
        return self._asdict()

    @classmethod
    def of_land(cls, saved: SavedPart) -> Self:
        """Return the reference of a saved land; any error if it is damaged."""
        if saved.header["kind"] != LAND_KIND:
            raise ValueError(saved.header["kind"])
        about = saved.header["tiles"]
        path, absolute, digest = about["path"], about["absolute"], about["digest"]
        for own in (path, absolute):
            if own is not None:
                checks.instance("path", own, str)
                file_name(own)
        if not isinstance(digest, str) or not digest or not set(digest) <= _HEX_DIGITS:
            raise ValueError("digest must be hexadecimal digits")
        return cls(path, absolute, digest)

    def find(self, saved_in: str, given: Any = None) -> StoredTiles:
        """Return the tiles: those given, or else of the path that was saved, or beside the file.

        Parameters
        ----------
        saved_in : str
            The file that the reference is from: for messages, and its folder is looked into.
        given : path or StoredTiles, optional

        Raises
        ------
        FileNotFoundError
            If there is no file at any of these places; the message names all of them.
        TypeError, ValueError
            If there are others only, or tiles were given that are others, or none.
        """
        if given is None and self.path is None:
            raise ValueError(
                f"tiles must be given for {saved_in}: no file held them when it was saved"
            )
        if given is not None and not isinstance(given, (str, os.PathLike)):
            return self._checked(saved_in, given)
        troubles = []
        for place in self._places(saved_in) if given is None else [file_name(given)]:
            found = self._open(place)
            if not isinstance(found, str):
                return found
            troubles.append(f"{place}: {found}")
        hint = "" if given is not None else "; tiles= names a file that has moved"
        looked = f"looked at {'; '.join(troubles)}{hint}"
        if all(trouble.endswith(_NOT_THERE) for trouble in troubles):
            rule = f"{saved_in}: its file of tiles must be there"
            raise FileNotFoundError(errno.ENOENT, f"{rule}, {looked}")
        raise ValueError(f"{saved_in}: its file of tiles must be the one of then, {looked}")

    def _checked(self, saved_in: str, tiles: Any) -> StoredTiles:
        """Return tiles that no file needs to hold, or refuse others."""
        digest = getattr(tiles, "digest", None)
        if not isinstance(digest, str):
            raise TypeError(f"tiles must be a path, got {checks.shorten(tiles)}")
        if digest != self.digest:
            raise ValueError(f"tiles must be those of {saved_in}, {self._but(digest)}")
        found: StoredTiles = tiles
        return found

    def _open(self, place: str) -> TileFile | str:
        """Return the tiles at a place, or what is wrong there."""
        if not os.path.exists(place):  # noqa: PTH110 of a name as it is
            return _NOT_THERE
        try:
            tiles = TileFile.open(place)
        except (OSError, ValueError) as error:
            return str(error)
        if tiles.digest == self.digest:
            return tiles
        tiles.close()
        return self._but(tiles.digest)

    def _places(self, saved_in: str) -> list[str]:
        """Return where the file may be, each place once."""
        path = self.path or ""
        beside = Path(saved_in).parent / PureWindowsPath(path).name
        places = [path, *([self.absolute] if self.absolute else []), str(beside)]
        return list({os.path.abspath(place): place for place in reversed(places)}.values())[::-1]  # noqa: PTH100

    def _but(self, digest: str) -> str:
        return (
            f"digest {digest[:_SHOWN_DIGITS]}... where {self.digest[:_SHOWN_DIGITS]}... was saved"
        )
