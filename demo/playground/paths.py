"""A map of where one can walk: click to move, a door that 300 find, and trenches that close it."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Field, Ground, HeightMap, Path, Walkability

from ..picture import colors
from ..picture.frame import Balls, Camera, Frame, Label
from ..scenery.bodies import Floats
from ..scenery.inputs import STEP, STEPS_A_SECOND, Controls, Floats3, Rules
from ..scenery.map_view import Ribbon, squares_of, tint_of
from ..scenery.pick import AnyGround
from ..scenery.player import BODY, HEIGHT, WALK
from .building import Piece, arena, block, drawn, solid, stairs
from .throng import Throng, scattered

CELL, SIDE, FLAT = 0.5, 193, 60.0  # meters; samples; cells from the middle to the hills
SPACING, REACH, SMALL_REACH = 1.0, 42.0, 19.0  # of the map, in meters

# The wall stands along x; the door is in it.
WALL, WALL_HEIGHT, THICKNESS = 13.0, 2.6, 0.4  # WALL: from the middle to an end
DOOR_AT, DOOR, DOOR_HEIGHT = 3.0, 1.2, 2.2
# Tables of land, and a pit: x, z, half their sizes along both, height.
WITH_STAIRS = (11.0, -11.0, 3.5, 3.5, 1.5)
WITHOUT = (-18.0, 8.0, 3.0, 3.0, 1.5)
PIT = (15.0, 7.0, 2.5, 2.5, -1.5)
RISE, TREAD, STEPS = 0.25, 0.5, 5

COUNT, APART, PACE = 300, 1.3, 3.0
SOUTH, NORTH = (-1.0, 13.0), (-3.0, -13.0)  # where people go, in turn
ARRIVED = 4.0  # meters of the way that are left
HERO = (10.0, 4.0)

TRENCH, TRENCH_DEPTH = (4.0, 0.75), 2.2  # half its length and width; deeper than anybody drops
REPAIRED_AFTER = 60  # steps from a change of the ground until all go by the new map
SETTLED_AFTER = 60  # steps without a change of the rules until there is a map for them
BUDGET = 5e-4  # seconds of a step, to repair the map
SHOWN = 32.0  # meters around the hero
TOUCHED = 2.0  # meters around a change that are made anew

# What the script does: at which second of each turn, and where.
TURN = 24.0
SCRIPT: dict[float, tuple[str, Floats3]] = {
    1.0: ("go", (11.0, 1.5, -11.0)),
    6.0: ("trench", (DOOR_AT, 0.0, 0.0)),
    9.0: ("go", (17.5, 0.0, -11.0)),
    13.0: ("go", (9.0, 0.0, 5.0)),
    17.0: ("fill", (DOOR_AT, 0.0, 0.0)),
}

Slices = tuple[slice, slice]


class Plan(NamedTuple):
    """What people go by, and what is shown of the map."""

    to_south: Field
    to_north: Field
    squares: Floats  # (n, 4, 3)
    tints: NDArray[np.uint8]  # (n, 3)
    parts: int


class Paths(Throng):
    name = "paths"
    title = "Where can one walk?"
    task = "Click where to walk. {hole} digs a trench under the mouse; {run} and {hole} fill it."
    view_distance = 24.0
    tools: ClassVar[Mapping[str, str]] = {"left": "go", "hole": "trench", "run hole": "fill"}
    heights: ClassVar[tuple[float, float]] = (HEIGHT, HEIGHT)  # a map is for one body

    def build(self) -> None:
        rough = arena(self.random, size=SIDE, flat=FLAT)
        self.level = _with_tables(CELL * rough.heights.astype(np.float64))
        self.land = HeightMap(self.level, cell_size=CELL, origin=(-_MIDDLE, 0.0, -_MIDDLE))
        pieces = _buildings()
        self.meshes = drawn(pieces)
        self._ground = Ground([self.land, solid(pieces)])
        count = 40 if self.small else COUNT
        self.obeyed_at = 0  # the step in which the rules changed last
        self.gather(scattered(self.random, count, APART) + SOUTH, HERO)
        self.goes_north = np.ones(count, dtype=np.bool_)
        self.path: Path | None = None
        self._ribbon = Ribbon()
        self.goal: Floats3 | None = None
        self.told = ""
        self.trenches: tuple[Slices, ...] = ()
        self.changed: tuple[Slices, ...] = ()  # what the plan does not know yet
        self.changed_at = 0
        self._maps: dict[Rules, Walkability] = {}
        self._adopt_rules()
        self.home = Camera((24.0, 16.0, 24.0), yaw=1.0, pitch=-0.5)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    # The map

    @property
    def map(self) -> Walkability:
        """The map for the rules that people go by."""
        return self._maps[self.ruled]

    def _adopt_rules(self) -> None:
        """Go by the map for the present rules."""
        self.ruled = self._obeyed
        if self.ruled not in self._maps:
            reach = SMALL_REACH if self.small else REACH
            self._maps[self.ruled] = Walkability(
                self._ground,
                BODY,
                rules=self.hero.mover.rules,
                spacing=SPACING,
                area=((-reach, -reach), (reach, reach)),
            )
        self._plan()

    def _plan(self) -> None:
        """Make the map true, and find all ways anew."""
        assert self.land is not None
        self.map.update()
        self.changed = ()
        shown = squares_of(self.map, self.land)
        self.plan = Plan(self.map.field(SOUTH), self.map.field(NORTH), *shown)
        if self.goal is not None:
            self._go(self.goal)

    def _repair(self) -> None:
        """Repair the map, a little in each step.

        How much that is depends on the clock. So that all runs are the same, nobody goes by the new
        map before a certain step, in which the rest is done.
        """
        self.map.update(budget=BUDGET)
        if self.steps - self.changed_at >= REPAIRED_AFTER:
            self._plan()

    def _obey(self) -> None:
        super()._obey()
        self.obeyed_at = self.steps

    # What happens in a step

    def lead(self) -> None:
        self._use_tool()
        if self.ruled != self._obeyed:  # all stand still until the sliders do
            if self.steps - self.obeyed_at >= SETTLED_AFTER:
                self._adopt_rules()
            return
        if self.changed:
            self._repair()
        self._lead_people()
        self._lead_hero()

    def _use_tool(self) -> None:
        tool, place = self.controls.tool, self.controls.place
        if place is None:
            return
        if tool == "go":
            self._go(place)
        elif tool == "trench":
            self._dig(place)
        elif tool == "fill":
            self._fill(place)

    def _lead_people(self) -> None:
        for field, keys in (
            (self.plan.to_north, np.flatnonzero(self.goes_north)),
            (self.plan.to_south, np.flatnonzero(~self.goes_north)),
        ):
            left = field.lead(self.group, PACE, keys.tolist())
            turns = keys[np.asarray(left) < ARRIVED]
            self.goes_north[turns] = ~self.goes_north[turns]

    def _lead_hero(self) -> None:
        assert self.player is not None
        if self.controls.forward or self.controls.right:
            self.path = self.goal = None
        if self.path is None:
            return
        state = self.path.lead(self.hero.mover, WALK)
        self.player.turn_to(self.hero.mover.velocity.x, self.hero.mover.velocity.z, STEP)
        if state == "arrived":
            self.path = self.goal = None

    def _go(self, place: Floats3) -> None:
        """Find a way for the hero, as soon as the map is true."""
        self.goal = place
        if self.changed or self.ruled != self._obeyed:
            return
        self.map.update()  # the land may have been put back since
        try:
            self.path = self.map.path(self.hero.mover, place, nearest=True)
        except ValueError:  # off the map, or high in the air
            self.path = None
        self.told = "" if self.path is not None else "No way leads there."
        if self.path is None:
            self.goal = None

    # Trenches

    def _dig(self, place: Floats3) -> None:
        """Dig a trench across the way to a place that is pointed at."""
        x, _, z = place
        hero_x, _, hero_z = self.hero.place
        long, wide = TRENCH
        half_x, half_z = (long, wide) if abs(z - hero_z) >= abs(x - hero_x) else (wide, long)
        around = _samples(z, half_z), _samples(x, half_x)
        if around not in self.trenches and self.level[around].size:
            self.trenches = (*self.trenches, around)
            self._change(around, self.level[around] - TRENCH_DEPTH)

    def _fill(self, place: Floats3) -> None:
        """Fill the trenches at a place."""
        row, column = _sample(place[2]), _sample(place[0])
        for around in self.trenches:
            rows, columns = around
            if rows.start - 1 <= row <= rows.stop and columns.start - 1 <= column <= columns.stop:
                self.trenches = tuple(other for other in self.trenches if other != around)
                self._change(around, self.level[around])

    def _change(self, around: Slices, heights: Floats) -> None:
        assert self.land is not None
        self.land[around] = heights
        self.changed, self.changed_at = (*self.changed, around), self.steps

    # What the demo asks of a scene

    def script(self) -> Controls:
        """Climb the stairs, drop off the ledge, come back; the door is closed for a while."""
        seconds = self.steps % round(TURN * STEPS_A_SECOND) / STEPS_A_SECOND
        tool, place = SCRIPT.get(seconds, ("", (DOOR_AT, 0.0, 0.0)))
        yaw = self.home.yaw + 0.08 * math.sin(self.steps / 300.0)
        return Controls(yaw=yaw, pitch=self.home.pitch, tool=tool, place=place)

    def more_state(self) -> Any:
        mine = (
            self.goes_north.copy(), self.path, self._progress, self.goal, self.told, self.trenches,
            self.changed, self.changed_at, self.obeyed_at, self.ruled, self.plan,
        )  # fmt: skip
        return super().more_state(), self._ground.state(), mine

    def restore_more(self, state: Any) -> None:
        more, ground, mine = state
        self._ground.restore(ground)
        super().restore_more(more)
        (
            goes_north, self.path, progress, self.goal, self.told, self.trenches,
            self.changed, self.changed_at, self.obeyed_at, self.ruled, self.plan,
        ) = mine  # fmt: skip
        self.goes_north = goes_north.copy()
        if self.path is not None:
            self.path.progress, self.path.stalled = progress

    @property
    def _progress(self) -> tuple[float, float]:
        """What the path remembers of the hero."""
        return (0.0, 0.0) if self.path is None else (self.path.progress, self.path.stalled)

    def more_digest(self) -> bytes:
        rest = repr((self.trenches, self.goal, self._progress)).encode()
        return super().more_digest() + self.goes_north.tobytes() + rest

    def news(self) -> str:
        return self.told

    def menu(self) -> list[str]:
        lines = [f"{int(self.map.standing.sum()):,} places, {self.plan.parts} parts"]
        if self.path is not None:
            lines.append(f"a path of {self.path.length:.0f} m: {self.path.progress:.0f} m walked")
        return [*super().menu(), *lines]

    def decorate(self, frame: Frame, alpha: float) -> None:
        super().decorate(frame, alpha)
        frame.meshes += self.meshes
        middles = self.plan.squares.mean(axis=1)
        near = np.hypot(*(middles - self.hero.place)[:, ::2].T) < SHOWN
        frame.tints.append(tint_of(self.plan.squares[near], self._tints(middles)[near]))
        if self.path is not None:
            ribbon = self._ribbon.of(self.path, self._ground.version)
            frame.tints += [] if ribbon is None else [ribbon]
            end = self.path.points[-1:] + np.array((0.0, 0.3, 0.0))
            turn = np.eye(3)[np.newaxis]
            frame.balls.append(Balls(end, np.array([0.3]), turn, colors.rows(colors.GOLD, 1)))
        for (x, z, _, _, height), words in ((WITHOUT, "no way up"), (PIT, "no way out")):
            frame.labels.append(Label(words, (x, max(height, 0.0) + 2.2, z)))

    def _tints(self, middles: Floats) -> NDArray[np.uint8]:
        """Return the colors of the squares: white where the map is being made anew."""
        tints = self.plan.tints
        if not self.changed:
            return tints
        x, _, z = middles.T
        stale = np.zeros(len(tints), dtype=np.bool_)
        for rows, columns in self.changed:
            stale |= _is_near(z, rows) & _is_near(x, columns)
        return np.where(stale[:, np.newaxis], colors.WHITE, tints).astype(np.uint8)


_MIDDLE = CELL * (SIDE // 2)


def _sample(along: float) -> int:
    """Return the row of the land at z, or the column at x."""
    return round((along + _MIDDLE) / CELL)


def _samples(along: float, half: float) -> slice:
    return slice(max(_sample(along - half), 0), max(_sample(along + half) + 1, 0))


def _is_near(along: Floats, samples: slice) -> NDArray[np.bool_]:
    """Tell which x or z are near to columns or rows of the land."""
    lower, upper = CELL * samples.start - _MIDDLE, CELL * (samples.stop - 1) - _MIDDLE
    return np.asarray((along > lower - TOUCHED) & (along < upper + TOUCHED))


def _with_tables(heights: Floats) -> Floats:
    """Return heights with the tables and the pit."""
    for x, z, half_x, half_z, height in (WITH_STAIRS, WITHOUT, PIT):
        heights[_samples(z, half_z), _samples(x, half_x)] += height
    return heights


def _buildings() -> list[Piece]:
    """Return the wall with its door, and the stairs."""
    high, thick, deep = WALL_HEIGHT, 0.5 * THICKNESS, 3.0
    left, right = DOOR_AT - 0.5 * DOOR, DOOR_AT + 0.5 * DOOR
    over = 0.5 * (high - DOOR_HEIGHT)
    walls = [
        block(
            (0.5 * (start + end), 0.5 * (high - deep), 0.0),
            (0.5 * (end - start), 0.5 * (high + deep), thick),
            colors.STONE,
        )
        for start, end in ((-WALL, left), (right, WALL))
    ]
    lintel = block((DOOR_AT, high - over, 0.0), (0.5 * DOOR, over, thick), colors.WOOD)
    x, z, _, half_z, _ = WITH_STAIRS
    foot = x, 0.0, z + half_z + TREAD * STEPS
    return [*walls, lintel, *stairs(foot, RISE, TREAD, STEPS, 2.0, colors.STONE)]
