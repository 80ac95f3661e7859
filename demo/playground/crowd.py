"""2,000 characters wander over the land, moved by one call."""

import math
from typing import Any

import numpy as np

from demo import colors
from demo.bodies import Body
from demo.frame import Camera, Capsules, Frame
from demo.inputs import STEP, Floats3
from demo.pick import described
from demo.scene import Scene
from demo.scenes import load_land
from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    HeightMap,
    raycast_capsule_many,
)

COUNT = 2000
RADIUS = 0.35
SPACING = 2.2
TURN_EVERY = 120  # steps


class Crowd(Scene):
    name = "crowd"
    title = "2,000 characters on the land"
    takes_land = True
    view_distance = 50.0
    saved_every = 40

    def build(self) -> None:
        self.land = load_land() if self.given_land is None else self.given_land
        count = 60 if self.small else COUNT
        side = math.ceil(math.sqrt(count))
        x0, z0 = self._corner(self.land, side * SPACING)
        row, column = np.divmod(np.arange(count), side)
        places = np.column_stack([column, row]) * SPACING + self.random.uniform(
            -0.6, 0.6, (count, 2)
        )
        places += (x0, z0)
        heights = self.land.height_at(places[:, 0], places[:, 1])
        tall = self.random.uniform(1.5, 1.95, count)
        self.group = CharacterGroup(self.land, seed=self.seed, ground_friction=0.0)
        for index in range(count):
            collider = CapsuleCollider(RADIUS, tall[index], offset=(0.0, tall[index] / 2, 0.0))
            x, z = places[index].tolist()
            self.group.add(
                index, (x, float(np.nan_to_num(heights[index])) + 0.3, z), collider=collider
            )
        self._obey()
        self.tall = tall
        self.colors = np.array(colors.PEOPLE, dtype=np.uint8)[
            self.random.integers(len(colors.PEOPLE), size=count)
        ]
        self.before = self.group.positions
        self.headings = self.random.uniform(0.0, math.tau, count)
        self.speeds = self.random.uniform(1.0, 3.0, count)
        self.turns = self.random.uniform(-1.2, 1.2, count)
        x, z = x0 + side * SPACING * 0.5, z0 + side * SPACING + 14.0
        height = float(np.nan_to_num(self.land.height_at(x, z)))
        self.home = Camera((x, height + 15.0, z), yaw=0.0, pitch=-0.33)

    def drive(self) -> None:
        """Each second a character turns a little; not all in the same step."""
        if self.bodies.rules != self._obeyed:
            self._obey()
        lap = self.steps // TURN_EVERY
        rows = np.arange(self.steps % TURN_EVERY, len(self.headings), TURN_EVERY)
        angles = self.headings[rows] + self.turns[rows] * lap
        speeds = self.speeds[rows]
        self.group.walk(speeds * np.cos(angles), speeds * np.sin(angles), keys=rows.tolist())
        self.before = self.group.positions
        self.group.update(STEP)

    def _obey(self) -> None:
        self._obeyed = rules = self.bodies.rules
        self.group.set_rules(
            gravity=rules.gravity,
            slope_limit=rules.slope_limit,
            step_offset=rules.step_offset,
            resolver=rules.resolver,
        )

    def more_state(self) -> Any:
        return self.group.state(), self.before, self._obeyed

    def restore_more(self, state: Any) -> None:
        group, self.before, self._obeyed = state
        self.group.restore(group)

    def more_digest(self) -> bytes:
        return self.group.state_hash().encode()

    def decorate(self, frame: Frame, alpha: float) -> None:
        places = self.before + (self.group.positions - self.before) * alpha
        low, high = places.copy(), places.copy()
        low[:, 1] += RADIUS
        high[:, 1] += self.tall - RADIUS
        radii = np.full(len(places), RADIUS)
        frame.capsules.append(Capsules(low, high, radii, self.colors))

    def nearest(self, place: Floats3, count: int) -> list[Body]:
        away = self.group.positions - np.array(place)
        order = np.argsort((away * away).sum(axis=1), kind="stable")
        thrown = super().nearest(place, count)
        return [*thrown, *(self._body(int(row)) for row in order[: count - len(thrown)])]

    def pick(self, origin: Floats3, direction: Floats3) -> str:
        places = self.group.positions
        capsules = np.column_stack([places, places, np.full(len(places), RADIUS)])
        capsules[:, 1] += RADIUS
        capsules[:, 4] += self.tall - RADIUS
        distances = raycast_capsule_many([origin], [direction], capsules)
        met = [] if np.isnan(distances).all() else [self._body(int(np.nanargmin(distances)))]
        return described(origin, direction, self.ground, [*met, *self.bodies])

    def _body(self, row: int) -> Body:
        """Return one of the crowd as a body, for views and picking."""
        member = self.group[row]
        return Body(member, member.collider, colors.WHITE, name=f"of the crowd: {row}")

    @property
    def focus(self) -> Body | None:
        return self._body(0)

    def menu(self) -> list[str]:
        return [f"{len(self.group):,} characters, {int(self.group.grounded.sum()):,} grounded"]

    def _corner(self, land: HeightMap, extent: float) -> tuple[float, float]:
        if self.given_land is None:
            return 250.0, 372.0
        (rows, columns), (cell_x, cell_z) = land.cell_count, land.cell_size
        x, _, z = land.origin64
        return x + 0.5 * (columns * cell_x - extent), z + 0.5 * (rows * cell_z - extent)
