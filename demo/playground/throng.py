"""Many who are in each other's way, and a player who is one of them."""

import math
from typing import Any, ClassVar

import numpy as np

from terrain_physics import CapsuleCollider, CharacterGroup
from terrain_physics.rows import raycast_capsule

from ..picture import colors
from ..picture.frame import Frame, Pills
from ..scenery.bodies import Body, Floats
from ..scenery.inputs import STEP, Floats3
from ..scenery.pick import Found, described
from ..scenery.player import BODY, RADIUS, Player
from ..scenery.scene import Scene

PLAYER = "player"
PLAYER_MASS = 800.0  # kg; the others have 80


class Throng(Scene):
    """A scene whose people are one group: they push each other, and the player pushes them.

    A subclass calls `gather` in `build`, and lets people walk in `lead`.
    """

    saved_every = 40
    heights: ClassVar[tuple[float, float]] = (1.5, 1.95)  # of people, the least and the greatest

    def lead(self) -> None:
        """Let people walk; all are stepped afterwards."""
        raise NotImplementedError

    def gather(self, places: Floats, start: tuple[float, float]) -> None:
        """Put people on the land, x and z (n, 2), with the keys 0 to n - 1; the player is last."""
        tall = self.random.uniform(*self.heights, len(places))
        self.group = CharacterGroup(self.ground, seed=self.seed, collide=True)
        for index, height in enumerate(tall.tolist()):
            collider = CapsuleCollider(RADIUS, height, offset=(0.0, height / 2, 0.0))
            self.group.add(index, self._on_land(*places[index].tolist()), collider=collider)
        self.group.add(PLAYER, self._on_land(*start), collider=BODY, mass=PLAYER_MASS)
        self.player = Player(self.group[PLAYER])
        self.hero = self.player.body
        self.tall = np.append(tall, BODY.height)
        self.colors = np.array(colors.PEOPLE, dtype=np.uint8)[
            self.random.integers(len(colors.PEOPLE), size=len(places))
        ]
        self.before = self.group.positions
        self._obey()

    @property
    def people(self) -> Floats:
        """Where all but the player are, x and z (n, 2)."""
        return self.group.positions[:-1, ::2]

    def drive(self) -> None:
        if self.bodies.rules != self._obeyed:
            self._obey()
        self.lead()
        self.before, self.hero.before = self.group.positions, self.hero.place
        self.group.update(STEP)
        self.hero.result = self.hero.mover.move_result()

    def _obey(self) -> None:
        self._obeyed = rules = self.bodies.rules
        self.group.set_rules(
            gravity=rules.gravity,
            slope_limit=rules.slope_limit,
            step_offset=rules.step_offset,
            resolver=rules.resolver,
        )

    def more_state(self) -> Any:
        return self.group.state(), self.before, self._obeyed, self.hero.before, self.hero.result

    def restore_more(self, state: Any) -> None:
        group, self.before, self._obeyed, self.hero.before, self.hero.result = state
        self.group.restore(group)

    def more_digest(self) -> bytes:
        return self.group.state_hash().encode()

    def decorate(self, frame: Frame, alpha: float) -> None:
        places = self.before + (self.group.positions - self.before) * alpha
        low, high = self._ends(places)
        radii = np.full(len(self.colors), RADIUS)
        frame.capsules.append(Pills(low[:-1], high[:-1], radii, self.colors))

    def nearest(self, place: Floats3, count: int) -> list[Body]:
        away = self.group.positions - np.array(place)
        order = np.argsort((away * away).sum(axis=1), kind="stable")
        thrown = super().nearest(place, count)
        return [*thrown, *(self._body(int(row)) for row in order[: count - len(thrown)])]

    def pick(self, origin: Floats3, direction: Floats3) -> Found:
        low, high = self._ends(self.group.positions)
        capsules = np.column_stack([low, high, np.full(len(low), RADIUS)])
        distances = raycast_capsule([origin], [direction], capsules)
        met = [] if np.isnan(distances).all() else [self._body(int(np.nanargmin(distances)))]
        return described(origin, direction, self.ground, [*met, *self.bodies], self.part_names)

    def menu(self) -> list[str]:
        return [f"{len(self.group):,} characters, {int(self.group.grounded.sum()):,} grounded"]

    def _ends(self, places: Floats) -> tuple[Floats, Floats]:
        """Return the ends of all capsules, the player's last, at places (n + 1, 3)."""
        low, high = places.copy(), places.copy()
        low[:, 1] += RADIUS
        high[:, 1] += self.tall - RADIUS
        return low, high

    def _body(self, row: int) -> Body:
        """Return one of the group as a body, for views and picking."""
        if row == len(self.group) - 1:
            return self.hero
        member = self.group[row]
        return Body(member, member.collider, colors.WHITE, name=f"of the crowd: {row}")

    def _on_land(self, x: float, z: float) -> Floats3:
        """Return a place just above the land; beyond it, at height 0."""
        assert self.land is not None
        return x, float(np.nan_to_num(self.land.height_at(x, z))) + 0.3, z


def scattered(random: np.random.Generator, count: int, spacing: float) -> Floats:
    """Return places of people around the origin, x and z (n, 2), in rows that look like none.

    Nobody is in another.
    """
    side = math.ceil(math.sqrt(count))
    rows = np.column_stack(np.divmod(np.arange(count), side)) - 0.5 * (side - 1)
    loose = 0.5 * spacing - RADIUS
    return np.asarray(rows * spacing + random.uniform(-loose, loose, (count, 2)))
