"""The questions to a ground of tiles."""

from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.queries import GroundQueries
from terrain_physics.surface.streaming import Streaming


class TiledQueries(GroundQueries):
    """Answers of the tiles that are loaded, and of meshes."""

    __slots__ = ("streaming",)

    def __init__(self, parts: GroundParts, supply: Streaming, mask: int = ALL_LAYERS) -> None:
        super().__init__(parts, mask)
        self.streaming: Streaming | None = supply
