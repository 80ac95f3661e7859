"""The core of a strategy game: 5,000 units that find ways, see, are picked, saved, replayed.

It plays a short battle and ends. ``--picture OUT.png`` draws it; that needs the extra ``demo``.
"""

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    Field,
    Ground,
    GroupState,
    HeightMap,
    Mismatch,
    Ray,
    Recording,
    TriangleMesh,
    Walkability,
    replay,
)
from terrain_physics.rows import raycast_capsule

from ..picture import colors
from ..picture.camera import looking_at, pick_ray, project
from ..picture.frame import Lines, Pills
from ..scenery.scenes import load_land
from ._drawing import SIZE, frame_of, save_frame

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

TICK = 1 / 20  # seconds of an update: a strategy game needs no more of them
RADIUS, TALL, EYES = 0.4, 1.8, 1.6  # meters
BODY = CapsuleCollider(RADIUS, TALL, offset=(0, TALL / 2, 0))  # the position is at the feet
SPACING, ROOM, SPEED, SIGHT = 1.2, 6.0, 5.0, 60.0  # meters, meters, m/s, meters
STEEPEST = np.radians(45)
BLUE_CAMP, RED_CAMP, BASE = (270.0, 415.0), (358.0, 412.0), (316.0, 420.0)  # x and z
BATTLEFIELD = ((220.0, 360.0), (400.0, 470.0))  # of which there is a map
VIEW = looking_at((309, 78, 484), (306, 20, 414))
RECTANGLE, TARGET = ((400, 190), (540, 300)), (680.0, 320.0)  # pixels: drawn, and clicked


class Outcome(NamedTuple):
    """What came of a game."""

    picked: int | None
    selected: int
    sight: int
    loaded_is_same: bool
    differs: Mismatch | None


class March(NamedTuple):
    """Units on their way to a place, and the field that they go by."""

    target: tuple[float, float]  # x and z
    near: float  # meters of the way that are left where they leave the field
    units: Flags
    field: Field


class Game:
    """Two armies, the land, and what is built on it."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.units = CharacterGroup(ground, BODY, collide=True, slope_limit=STEEPEST)
        self.goals, self.is_red = np.empty((0, 2)), np.empty(0, np.bool_)
        self.marches: list[March] = []
        self.paths = Walkability(
            ground, BODY, slope_limit=STEEPEST, spacing=2, speed=SPEED, area=BATTLEFIELD
        )

    def muster(self, blues: int, reds: int) -> None:
        """Line up both armies; the reds' keys are the last ones."""
        middles = np.repeat([BLUE_CAMP, RED_CAMP], (blues, reds), axis=0)
        self.goals = middles + np.concatenate([ranks(blues), ranks(reds)])
        self.is_red = np.arange(blues + reds) >= blues
        x, z = self.goals.T
        places = np.column_stack([x, self.ground.height_at(x, z), z])
        self.units.add_many(range(len(places)), places)

    def build(self, x: float, z: float, size: tuple[float, float, float]) -> None:
        """Level the ground, and put a building there."""
        (land,) = (part for part in self.ground.parts.values() if isinstance(part, HeightMap))
        reach = 0.5 * np.hypot(size[0], size[2])
        land.flatten((x, z), radius=reach + 8, flat=reach + 1)
        place = glm.vec3(x, land.height_at(x, z) + 0.5 * size[1], z)
        self.ground.add(TriangleMesh.box(size, transform=glm.translate(place)))
        self.marches = [self.march(*each[:3]) for each in self.marches]

    def tick(self) -> None:
        """Have everyone walk on; `units.update` follows.

        Those that march go by their field until they are near; the others straight to their goals.
        """
        way = self.goals - self.units.positions[:, [0, 2]]
        far = np.hypot(*way.T)
        vx, vz = (way * (np.minimum(SPEED, far) / np.maximum(far, 1e-9))[:, np.newaxis]).T
        self.units.walk(vx, vz)
        for march in self.marches:
            keys = np.flatnonzero(march.units)
            left = march.field.lead(self.units, SPEED, keys)
            march.units[keys] = left > march.near

    def send(self, units: Flags, x: float, z: float) -> None:
        """Send units to a place, in the order in which they stand."""
        if units.any():
            now = self.units.positions[units][:, [0, 2]]
            order = now - now.mean(axis=0)
            self.goals[units] = order + np.array([x, z])
            for march in self.marches:
                march.units[units] = False
            self.marches = [march for march in self.marches if march.units.any()]
            near = float(np.hypot(*order.T).max()) + ROOM
            self.marches.append(self.march((x, z), near, units.copy()))

    def march(self, target: tuple[float, float], near: float, units: Flags) -> March:
        """Return units on the way to a target, round all that is there now."""
        self.paths.update()  # makes what is new, and what a building has touched
        return March(target, near, units, self.paths.field(target, nearest=True))

    def ends(self) -> tuple[Floats, Floats]:
        """Return the middles of the balls at the feet and heads of the units, (n, 3) each."""
        feet = self.units.positions
        return feet + np.array([0, RADIUS, 0]), feet + np.array([0, TALL - RADIUS, 0])

    # What a mouse does

    def unit_at(self, ray: Ray) -> int | None:
        """Return the unit that a ray from the camera meets first, if no ground is before it."""
        capsules = np.column_stack([*self.ends(), np.full(len(self.units), RADIUS)])
        distances = raycast_capsule([ray.origin64], [ray.direction64], capsules)
        hit = self.ground.raycast(ray)
        limit = hit.distance if hit else np.inf
        met = np.flatnonzero(distances < limit)  # those that it misses are NaN
        return int(met[distances[met].argmin()]) if len(met) else None

    def units_within(self, lower: tuple[int, int], upper: tuple[int, int]) -> Flags:
        """Return which units a rectangle of pixels holds."""
        pixels = project(VIEW, SIZE, self.units.positions)[:, :2]
        return np.asarray(((pixels >= lower) & (pixels <= upper)).all(axis=1))

    # What they see

    def lines_of_sight(self) -> Floats:
        """Return from where to where blues see the nearest red: eyes of both (n, 2, 3).

        Each ray ends at the eyes that it looks for: what stands behind them hides nobody.
        """
        eyes = self.units.positions + np.array([0, EYES, 0])
        blues, reds = eyes[~self.is_red], eyes[self.is_red]
        away = np.hypot(*(blues[:, np.newaxis] - reds).T[::2])  # level, (reds, blues)
        enemies = reds[away.argmin(axis=0)]
        ways = enemies - blues
        far = np.linalg.norm(ways, axis=1)
        hits = self.ground.raycast_many(blues, ways, max_distance=far)
        sees = np.isnan(hits.distance) & (far < SIGHT)
        return np.asarray(np.stack([blues, enemies], axis=1)[sees])

    # Files

    def save(self, folder: Path) -> None:
        """Write all there is: the ground as it was built on, and the units."""
        self.ground.save(folder / "level.ground")
        rest = {
            "goals": self.goals.tolist(),
            "is_red": self.is_red.tolist(),
            "marches": [(*each[:2], each.units.tolist()) for each in self.marches],
            "units": self.units.state().to_dict(),
        }
        (folder / "units.json").write_text(json.dumps(rest))

    @classmethod
    def load(cls, folder: Path) -> "Game":
        """Return the game that `save` wrote; it goes on bit for bit.

        The map and the fields follow from the ground: they are made anew.
        """
        game = cls(Ground.load(folder / "level.ground"))
        rest = json.loads((folder / "units.json").read_text())
        game.units.restore(GroupState.from_dict(rest["units"]))
        game.goals, game.is_red = np.array(rest["goals"]), np.array(rest["is_red"])
        for (x, z), near, units in rest["marches"]:
            game.marches.append(game.march((x, z), near, np.array(units)))
        return game


def ranks(count: int) -> Floats:
    """Return places around (0, 0), a square of rows, x and z (n, 2)."""
    side = math.ceil(math.sqrt(count))
    return SPACING * (np.column_stack(np.divmod(np.arange(count), side)) - 0.5 * (side - 1))


def begin(blues: int, reds: int) -> Game:
    """Return a new game; a replay begins with the same."""
    game = Game(Ground([load_land()]))
    game.muster(blues, reds)
    return game


def play(blues: int, reds: int, ticks: int, folder: Path) -> tuple[Game, Outcome]:
    """Play and record a game, save it half-way, go on from there again, and replay it all."""
    game = begin(blues, reds)
    recording = Recording(game.units)
    x, y, _ = project(VIEW, SIZE, game.units.positions[blues // 2] + (0, 1.5, 0))[0]
    picked = game.unit_at(Ray(*pick_ray(VIEW, SIZE, (x, y))))  # a click

    selected = game.units_within(*RECTANGLE) & ~game.is_red
    target = game.ground.raycast(Ray(*pick_ray(VIEW, SIZE, TARGET)))  # another click
    if target is not None:
        game.send(selected, target.point.x, target.point.z)
    for tick in range(ticks):
        if tick == ticks // 8:
            game.build(*BASE, (10, 6, 8))
        if tick == ticks // 2:
            game.save(folder)
        game.tick()
        recording.update(TICK)

    again = Game.load(folder)
    for _ in range(ticks // 2, ticks):
        again.tick()
        again.units.update(TICK)
    return game, Outcome(
        picked=picked,
        selected=int(selected.sum()),
        sight=len(game.lines_of_sight()),
        loaded_is_same=again.units.state_hash() == game.units.state_hash(),
        differs=replay(recording, lambda: begin(blues, reds).units),
    )


def draw(game: Game, file: Path) -> None:
    """Draw both armies, and every twentieth line of sight."""
    frame = frame_of(game.ground, dict.fromkeys(game.ground.parts, colors.STONE), VIEW)
    is_red = game.is_red[:, np.newaxis]
    tints = np.where(is_red, colors.RED, colors.BLUE).astype(np.uint8)
    frame.capsules.append(Pills(*game.ends(), np.full(len(tints), RADIUS), tints))
    lines = game.lines_of_sight()[::20]
    frame.lines.append(Lines(lines, colors.rows(colors.YELLOW, len(lines))))
    save_frame(frame, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the armies")
    parser.add_argument("--reds", type=int, default=1_000, help="four times as many are blue")
    options = parser.parse_args()

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        game, outcome = play(4 * options.reds, options.reds, 48, Path(folder))
    print(f"a click picks unit {outcome.picked}, a rectangle {outcome.selected:,} units")
    print(f"{outcome.sight:,} blue units see the nearest red one")
    print(f"saved, loaded and played on: the same {outcome.loaded_is_same}")
    print(f"replayed from the start: differs {outcome.differs or 'nowhere'}")
    print(f"{len(game.units):,} units, {time.perf_counter() - start:.1f} s in all")
    if options.picture:
        draw(game, options.picture)


if __name__ == "__main__":
    main()
