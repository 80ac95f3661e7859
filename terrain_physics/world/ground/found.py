"""Grounds of any kind from their saved form, lands of tiles included."""

from typing import Any

from terrain_physics.ground.checks import Part
from terrain_physics.ground.ground import Ground, loaded_ground
from terrain_physics.surface.ground_files import RefusedError, SavedGround
from terrain_physics.tiles.saving.reference import TilesReference
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.tiles.tiled_ground import TiledGround


def tiles_for(
    wanted: TilesReference | None, saved_in: str, given: Any = None
) -> StoredTiles | None:
    """Return the tiles that a saved ground stands on, see `TilesReference.find`; None of others."""
    if wanted is not None:
        return wanted.find(saved_in, given)
    if given is not None:
        raise RefusedError(f"{saved_in}: tiles must be left out of a file without a TiledGround")
    return None


def loaded_on(saved: SavedGround, tiles: StoredTiles | None) -> Part | Ground:
    """Return the ground of a saved form, on the tiles that it stands on."""
    if tiles is None:
        return loaded_ground(saved)
    return TiledGround._of_land(saved, tiles)  # noqa: SLF001 of its own file


def keep_edits_in(ground: Part | Ground, saved_in: str, edits: Any) -> None:
    """Let the edits of a land that was loaded be kept in a file, if one is given."""
    if edits is None:
        return
    if not isinstance(ground, TiledGround):
        raise RefusedError(f"{saved_in}: edits must be left out of a file without a TiledGround")
    ground._keep_edits_in(edits)  # noqa: SLF001 as `TiledGround.load`
