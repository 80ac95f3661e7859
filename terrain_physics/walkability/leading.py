"""Leading: what paths and fields have in common, which lead characters over a map."""

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import BOX
from terrain_physics._kernels.walkability.pursuit import Gait
from terrain_physics._support import checks
from terrain_physics._support.warn import warn
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.terms import Terms

# A frame of a game is rarely longer, in seconds. No character is led so fast that it would be
# beside its way after one such frame.
_LONG_FRAME = 0.05

# Speeds that differ from the map's by more, as a share, are told.
_OTHER_SPEED = 0.5


class Leading:
    """Base of what leads characters: it knows what the map was made for."""

    # How far a character may be led beside its way, as a share of its least half extent.
    _share: float

    def __init__(self, places: Places, terms: Terms) -> None:
        # Kernels take rules that may be written to, and are compiled for no others.
        self._places, self._terms = places, terms._replace(rules=terms.rules.copy())
        extent_x, _, extent_z = terms.rules[columns.EXTENTS : columns.EXTENTS + 3].tolist()
        is_box = terms.rules[columns.KIND] == BOX
        least = min(extent_x, extent_z) if is_box else extent_x
        self._least_extent, self._slack = least, self._share * least
        self._is_told = False  # of a speed far from the map's

    def _pace(self, speed: float | None, seconds: float) -> Gait:
        """Return how fast to lead; ``seconds`` are those of the last update."""
        usual = self._terms.speed
        wanted = usual if speed is None else checks.positive("speed", speed)
        if abs(wanted - usual) > _OTHER_SPEED * usual and not self._is_told:
            self._is_told = True
            warn(
                f"speed is {wanted:g} m/s, the map is made for {usual:g} m/s; where it leads over "
                "steps, drops and edges, a character as fast as that may go another way"
            )
        return Gait(wanted, max(seconds, _LONG_FRAME), self._slack)
