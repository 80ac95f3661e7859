"""A world of 32 by 32 km that no file holds: its tiles are made where the hero goes."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from terrain_physics import AABB, GeneratedTiles, Tile, TiledGround

from ..picture.frame import Camera, Frame
from ..scenery import mountains
from ..scenery.inputs import STEP, Controls, Floats3
from ..scenery.mountains import CELL, COLORS, HIGHEST, MATERIALS, SIDE, TILES
from ..scenery.pick import AnyGround
from ..scenery.scene import Scene
from ..scenery.tile_map import LoadedMap, TileMap, colored, world_map
from ..scenery.window import Window
from .glider import Glider

TILE = SIDE * CELL  # meters
EDGE = -0.5 * TILES * TILE  # where the world begins, along x and z
START = (107.0, 32.2)  # row and column, in tiles
SEEN, SEEN_SMALL = 12, 4  # tiles along the side of the window
MARGIN = 1.5  # tiles around what is seen that are loaded, too
EVERY = 4  # steps from one look at what is to be loaded to the next
LOADING = 1.0  # milliseconds of such a step
REACH, DEPTH = 6.0, 0.6  # meters, of digging
YAW = 3.9

# What the script does, by its second: jump, open the glider.
JUMPS = (1.0, 1.6)


class Endless(Scene):
    name = "world"
    title = "A world of 32 by 32 km"
    task = "{jump} twice opens a glider. The left mouse button digs."
    view_distance = 11.0
    tools: ClassVar[Mapping[str, str]] = {"left": "dig", "run left": "heap"}

    def build(self) -> None:
        self._ground = TiledGround.open(
            GeneratedTiles(
                _made,
                size=(TILES, TILES),
                tile=SIDE,
                cell_size=CELL,
                origin=(EDGE, 0.0, EDGE),
                heights=(0.0, HIGHEST),
                material_names=MATERIALS,
                name="world",
            )
        )
        self.window = Window(
            self._ground, tiles=SEEN_SMALL if self.small else SEEN, side=SIDE, cell=CELL,
            origin=EDGE, material_names=MATERIALS,
        )  # fmt: skip
        self.radius = self.window.far + MARGIN * TILE
        self.glider, self.strokes = Glider(), 0
        colors = colored(*mountains.overview(), COLORS)
        self.colors, self.near = colors.tobytes(), LoadedMap(colors, self.radius / TILE)
        z, x = (EDGE + TILE * along for along in START)
        self._ground.load_now(_around(x, z, self.window.far))
        height = self._ground.height_at(x, z)
        self.player = self.enter((x, height + 0.2, z), yaw=YAW)
        self.home = Camera((x, height + 4.0, z), yaw=YAW, pitch=-0.2)
        self.land = self.window.follow(x, z, 0)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    def drive(self) -> None:
        assert self.player is not None
        if self.steps % EVERY == 0:
            self._ground.keep_near([self.player.body.mover], self.radius, 1.5 * self.radius)
            self._ground.load_some(LOADING)
        self.glider.drive(self.player, self.controls, STEP)
        if self.controls.place is not None and self.controls.tool:
            self._dig(self.controls.tool, self.controls.place)

    def _dig(self, tool: str, place: Floats3) -> None:
        if tool == "dig":
            self._ground.carve(place, REACH, DEPTH)
        else:
            self._ground.raise_(place, REACH, DEPTH)
        self._ground.paint(place, REACH, "earth")
        self.strokes += 1
        self.window.edited(place[0], place[2], REACH + CELL)

    def script(self) -> Controls:
        """Jump, open the glider, and fly over hills and lakes to the mountains."""
        seconds = self.steps * STEP
        yaw = YAW + 0.3 * math.sin(0.2 * seconds)
        pitch = 0.1 if seconds < 10.0 else -0.2 + 0.12 * math.sin(0.5 * seconds)
        jump = any(self.steps == round(at / STEP) for at in JUMPS)
        dig = self.steps == 30
        place = self.player.body.place if dig and self.player is not None else None
        return Controls(
            forward=1.0, yaw=yaw, pitch=pitch, jump=jump, tool="dig" if dig else "", place=place
        )

    # Ground that changes is part of the state

    def more_state(self) -> Any:
        return self._ground.state(), self.glider.state(), self.strokes

    def restore_more(self, state: Any) -> None:
        ground, glider, self.strokes = state
        self._ground.restore(ground)
        self.glider.restore(glider)

    def more_digest(self) -> bytes:
        return repr((self.glider.state(), self.strokes)).encode()

    def maps(self) -> tuple[TileMap, ...]:
        assert self.player is not None
        hero, yaw = self._hero_tile, self.player.yaw
        return (
            self.near.around(hero, yaw, self._ground.loaded, self._ground.edited),
            world_map(self.colors, hero, yaw),
        )

    def menu(self) -> list[str]:
        row, column = (int(along) for along in self._hero_tile)
        loaded, edited = len(self._ground.loaded), len(self._ground.edited)
        return [
            f"tile {row}, {column} of {TILES} by {TILES}",
            f"{loaded} of {TILES * TILES:,} tiles loaded, {edited} edited",
        ]

    def decorate(self, frame: Frame, alpha: float) -> None:
        assert self.player is not None
        body = self.player.body
        x, y, z = (a + (b - a) * alpha for a, b in zip(body.before, body.place, strict=True))
        self.land = frame.land = self.window.follow(x, z, self.steps)
        frame.land_moves, frame.far = True, self.window.far
        self.glider.fill(frame, (x, y, z), self.player.yaw)

    @property
    def _hero_tile(self) -> tuple[float, float]:
        """The row and the column of tiles where the hero is."""
        assert self.player is not None
        x, _, z = self.player.body.place
        return (z - EDGE) / TILE, (x - EDGE) / TILE


def _made(row: int, column: int) -> Tile:
    """Return a tile of the world."""
    heights, materials = mountains.tile(row, column)
    return Tile(heights, materials=materials)


def _around(x: float, z: float, far: float) -> AABB:
    """Return a box around a place, as high as the world."""
    return AABB((x - far, 0.0, z - far), (x + far, HIGHEST, z + far))
