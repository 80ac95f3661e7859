"""The land of a `TiledGround` to and from files: which tiles it stands on, and its edits.

The header: ``kind``: "land of tiles"; ``tiles``: the file of tiles, by its ``path`` as it was
given, the ``absolute`` one and its ``digest``; ``missing``, the policy; ``waits``, how often
characters have waited; and ``version``. The one array, ``edits``, has the bytes of
`EditStore.contents`.
"""

from typing import Any, Literal, NamedTuple, cast

import numpy as np

from terrain_physics._support import checks
from terrain_physics.surface.ground_files import MOST_EDITS, SavedGround, SavedPart
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.reference import LAND_KIND, TilesReference

GROUND_KIND = "tiled ground"
"""Of a ground whose first part is a land."""

POLICIES = "load", "wait"


class LandContent(NamedTuple):
    """What a land has beside its tiles.

    Attributes
    ----------
    missing : "load" or "wait"
    edits : bytes
    version, waits : int
    """

    missing: Literal["load", "wait"]
    edits: bytes
    version: int
    waits: int

    @classmethod
    def of(cls, supply: TileSupply) -> "LandContent":
        """Return that of a land. The caller lets nobody edit meanwhile."""
        edits = supply.tiles.edits.contents()
        return cls(supply.missing, edits, supply.land.version, supply.waits)

    def saved(self, reference: TilesReference) -> SavedPart:
        """Return the saved form of the land, which stands on these tiles."""
        header: dict[str, Any] = {
            "kind": LAND_KIND,
            "tiles": reference.saved(),
            "missing": self.missing,
            "waits": self.waits,
            "version": self.version,
        }
        return SavedPart(header, {"edits": np.frombuffer(self.edits, np.uint8)})

    @classmethod
    def of_saved(cls, saved: SavedPart) -> "LandContent":
        """Return that of a saved form; any error if it is damaged."""
        header = saved.header
        missing = checks.choice("missing", header["missing"], POLICIES)
        version, waits = (checks.whole(k, header[k], 0, MOST_EDITS) for k in ("version", "waits"))
        return cls(cast("Any", missing), saved.arrays["edits"].tobytes(), version, waits)


def reference_in(saved: SavedGround) -> TilesReference | None:
    """Return which tiles a saved ground stands on, None if on none; any error if it is damaged."""
    if saved.kind != GROUND_KIND:
        return None
    return TilesReference.of_land(saved.parts[0])
