"""The questions to a ground whose land is in tiles, some of which are missing.

With "load", a question reads the tiles that it needs, outside of all locks, and is asked again
until it needs none: the answer is that of one map. Rays and sweeps find what they need in the order
of their paths, by the boxes of the tiles, up to the first hit.

With "wait", nothing is read, and rays and sweeps tell where they come to a missing tile's box.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._locks import Mark
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.parts import GroundParts
from terrain_physics.surface.answers.hits import many_sweeps, many_triangles, one_triangle
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.streaming import Streaming
from terrain_physics.tiles.questions.land_tiles import LandTiles, Supply
from terrain_physics.tiles.questions.missing_tiles import MissingTiles
from terrain_physics.tiles.questions.needs import (
    AROUND,
    AS_ROWS,
    LAND,
    OF_ROWS,
    ON_PATHS,
    OVER,
    as_rows,
)
from terrain_physics.tiles.questions.row_answers import RowQuestion, Rows, answered, some_of
from terrain_physics.tiles.questions.unknown_hits import only_of, with_unknown

_Answer = TypeVar("_Answer")

# So often rays are cast again if tiles come and go meanwhile.
_ATTEMPTS = 3


class TiledQueries(Queries):
    """The answers of a ground whose land is in tiles.

    Parameters
    ----------
    parts : GroundParts
        The land has the key 0.
    supply : Supply
        Where its tiles come from. It is the `streaming` of the ground, too.
    mask : int
    tiles : LandTiles, optional
        The tiles of the land, if there are queries already.
    """

    __slots__ = ("_supply", "_tiles", "streaming")

    source: GroundParts
    streaming: Streaming | None

    def __init__(
        self,
        parts: GroundParts,
        supply: Supply,
        mask: int = ALL_LAYERS,
        tiles: LandTiles | None = None,
    ) -> None:
        super().__init__(parts, mask)
        self._supply, self._tiles = supply, LandTiles(supply) if tiles is None else tiles
        self.streaming = cast("Streaming", supply)

    def filtered(self, mask: int) -> "TiledQueries":
        queries = TiledQueries(self.source, self._supply, mask, self._tiles)
        queries.streaming = self.streaming
        return queries

    @property
    def _asks_land(self) -> bool:
        """Whether the mask selects the land."""
        return self.source.layers[LAND] & self.mask != 0

    @property
    def _loads(self) -> bool:
        """Whether questions load what they need."""
        return not self._tiles.waits and self._asks_land

    # The three ways to need tiles

    def _over(self, question: Any, ask: Callable[[], _Answer], *about: Any) -> _Answer:
        """Return an answer from all tiles under the boxes of a question of `needs.OVER`."""
        tiles, loads, own = self._tiles, self._loads, OVER[question]
        while True:
            missing = tiles.now()
            needed = own.under(missing, *about) if loads else []
            if needed:
                tiles.refuse_more(len(needed), own.what)
                tiles.bring(needed)
                continue
            answer = ask()
            changed = missing.or_changed()
            if changed is missing or not loads or not own.under(changed, *about):
                return answer

    def _of_rows(
        self, what: str, begin: Callable[[Mark], GroundArrays], many: Callable[..., Any],
        *about: Any,
    ) -> Any:  # fmt: skip
        """Return the answers of rows, each from the tiles that it needs."""

        def some(rows: Rows) -> list[Any]:
            return [some_of(rows, own) if isinstance(own, np.ndarray) else own for own in about]

        def ask(rows: Rows) -> Any:
            return Queries.asked_of_rows(self, begin, many, *some(rows))

        def need(missing: MissingTiles, rows: Rows, answer: Any) -> Int64s | None:
            return OF_ROWS[many].tiles(missing, answer, *some(rows))

        if self._loads:
            return answered(self._tiles, RowQuestion(what, ask, need, lambda: self.version))
        if many in ON_PATHS and self._asks_land:
            return self._known_hits(many, partial(ask, None), *about)
        return ask(None)

    def _known_hits(self, many: Any, ask: Callable[[], Any], *about: Any) -> Any:
        """Return the first hits on paths as far as it is known that there is nothing before."""
        attempts = _ATTEMPTS
        while True:
            attempts -= 1
            missing, hits = self._tiles.now(), ask()
            changed = missing.or_changed()
            if changed.are_none:
                return hits
            paths, ends = ON_PATHS[many](hits, *about)
            paths = paths._replace(looks_below=False)
            found = paths.first_missing(changed, ends, about[-1])
            if found is None:
                return hits
            if changed is missing or not attempts:
                return with_unknown(hits, paths, self._supply.tile_bounds, *found)

    # Questions

    def asked(self, ask: Callable[..., Any], *about: Any) -> Any:
        missing, answer = self._tiles.now(), super().asked(ask, *about)
        changed = missing.or_changed()
        if changed.are_none or changed.are_away(*AROUND[ask](answer, *about)):
            return answer
        if not self._asks_land:
            return answer
        if ask in OVER:
            return self._over(ask, partial(Queries.asked, self, ask, *about), *about[1:])
        what, many = AS_ROWS[ask]
        begin = self.begin_sweeping if many is many_sweeps else self.begin_asking
        return only_of(self._of_rows(what, begin, many, *as_rows(*about[1:])))

    def asked_of_rows(
        self, begin: Callable[[Mark], GroundArrays], ask: Callable[..., _Answer], *about: Any
    ) -> _Answer:
        if ask in OVER:
            return self._over(ask, partial(Queries.asked_of_rows, self, begin, ask, *about), *about)
        answer: _Answer = self._of_rows(OF_ROWS[ask].what, begin, ask, *about)
        return answer

    # For characters

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:
        if self._tiles.now().are_none:
            return Queries.asked(self, one_triangle, self.mask, part, triangle, point)
        rows = np.array([part]), np.array([triangle]), np.array([point])
        ids, materials, known = self.triangles_at(*rows)
        return int(ids[0]), int(materials[0]), bool(known[0])

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        """Return as of all grounds; with "wait" it is not known what a missing tile is made of."""
        missing, about = self._tiles.now(), (parts, triangles, points)
        ids, materials, known = super().triangles_at(*about)
        if self._tiles.waits:
            needed = OF_ROWS[many_triangles].tiles(missing.or_changed(), ids, *about)
            if needed is not None:
                materials[needed >= 0], known[needed >= 0] = 0, False
        return ids, materials, known
