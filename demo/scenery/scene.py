"""What every scene of the testbed is: ground, bodies, perhaps a player. No pygame."""

import hashlib
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider

from ..picture import colors
from ..picture.frame import Camera, Frame, Lines
from .bodies import Bodies, Body, Floats
from .inputs import Controls, Floats3, Rules, looking
from .pick import ALL_LAYERS, AnyGround, Found, described, pointed_at
from .player import BODY, Player
from .tile_map import TileMap

TRAIL_EVERY = 3  # steps from one point of a path to the next
TRAIL_LONGEST = 1200  # points
THROWN_MOST = 200
THROW_SPEED = 22.0


class Scene:
    """A small world that is stepped, saved, restored and drawn.

    A subclass says in `build` what there is, and in `drive` what moves by itself.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # a few words, also for the menu
    # What there is to do, in a sentence; {run} in it is the label of the key to run.
    task: ClassVar[str] = ""
    # Whether `--heightmap` can take the place of its ground.
    takes_land: ClassVar[bool] = False
    rules: ClassVar[Rules] = Rules()
    friction: ClassVar[float] = 3.0  # of things thrown
    saved_every: ClassVar[int] = 12  # steps; between two saved states the way back is redone
    # Tools by what uses them at the mouse: "left", its button, and "hole", a key, also with "run".
    tools: ClassVar[Mapping[str, str]] = {}
    # Layers of the ground that the camera stays in front of.
    opaque: ClassVar[int] = ALL_LAYERS
    view_distance: ClassVar[float] = 8.0  # from the camera to what it looks at

    def __init__(
        self, seed: int = 0, *, land: HeightMap | None = None, small: bool = False
    ) -> None:
        self.given_land = land
        self.small = small
        self.start(seed)

    def start(self, seed: int) -> None:
        """Begin anew."""
        self.seed, self.steps = seed, 0
        self.controls = Controls()
        self.random = np.random.default_rng(seed)
        self.bodies = Bodies(type(self).rules)
        self.land: HeightMap | None = None
        self.player: Player | None = None
        self.home = Camera()
        self.trail: deque[Floats3] = deque(maxlen=TRAIL_LONGEST)
        self._passed = 0  # points of the trail so far
        self.sun = Frame(self.home).sun
        self._thrown = 0
        self.part_names: dict[int, str] = {}  # of parts of the ground, by key
        self.build()

    # For subclasses

    def build(self) -> None:
        """Make ground and bodies."""
        raise NotImplementedError

    def drive(self) -> None:
        """Move what moves by itself; `controls` are this step's, bodies are stepped afterwards."""

    def script(self) -> Controls:
        """Return what a player might do now; pictures and headless runs are made with it."""
        sway = 0.12 * math.sin(self.steps / 300.0)
        return Controls(yaw=self.home.yaw + sway, pitch=self.home.pitch)

    def more_state(self) -> Any:
        """Return what a subclass holds beyond bodies and player."""
        return None

    def restore_more(self, state: Any) -> None:
        """Take back what `more_state` gave."""

    def more_digest(self) -> bytes:
        """Return what a subclass adds to the hash."""
        return b""

    def decorate(self, frame: Frame, alpha: float) -> None:
        """Add what is no body."""

    def menu(self) -> list[str]:
        """Return lines for the panel."""
        return []

    def maps(self) -> tuple[TileMap, ...]:
        """Return maps for the corner of the picture."""
        return ()

    def news(self) -> str:
        """Return what has happened that a player should be told, when it changes."""
        return ""

    # What the simulation does

    @property
    def ground(self) -> AnyGround:
        """What bodies stand on."""
        assert self.land is not None
        return self.land

    @property
    def focus(self) -> Body | None:
        """The body that views look at: the player, or what moves most."""
        if self.player is not None:
            return self.player.body
        return self.bodies[0] if len(self.bodies) else None

    def nearest(self, place: Floats3, count: int) -> list[Body]:
        """Return the bodies nearest to a place."""
        places = np.array([body.place for body in self.bodies]).reshape(-1, 3)
        away = places - np.array(place)
        order = np.argsort((away * away).sum(axis=1), kind="stable")
        return [self.bodies[int(index)] for index in order[:count]]

    def step(self, seconds: float, controls: Controls) -> None:
        """Advance by one step."""
        self.bodies.obey(controls.rules or type(self).rules)
        if controls.throw or controls.drop:
            self._throw(controls)
        if self.player is not None:
            self.player.drive(controls, seconds)
        self.controls = controls
        self.drive()
        self.bodies.step(seconds)
        if self.player is not None:
            self.player.stepped(seconds)
        if self.steps % TRAIL_EVERY == 0 and self.focus is not None:
            self.trail.append(self.focus.place)
            self._passed += 1
        self.steps += 1

    def state(self) -> tuple[Any, ...]:
        """Return everything that changes."""
        return (
            self.steps,
            self.bodies.state(),
            None if self.player is None else self.player.state(),
            self._passed,
            self._thrown,
            self.more_state(),
        )

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to a state of this scene, bit for bit."""
        self.steps, bodies, player, passed, self._thrown, more = state
        self.restore_more(more)
        self.bodies.restore(bodies)
        if self.player is not None:
            self.player.restore(player)
        for _ in range(min(self._passed - passed, len(self.trail))):
            self.trail.pop()
        self._passed = passed

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal where two states are, bit for bit."""
        digest = hashlib.blake2b(self.bodies.digest(), digest_size=8)
        digest.update(self.steps.to_bytes(8, "little"))
        digest.update(self.more_digest())
        return digest.hexdigest()

    def fill(self, frame: Frame, alpha: float) -> None:
        """Add all that is to be drawn, ``alpha`` of a step after the last but one."""
        frame.land, frame.sun = self.land, self.sun
        self.bodies.fill(frame, alpha)
        if self.player is not None:
            self.player.fill(frame, alpha)
        self.decorate(frame, alpha)

    def pick(self, origin: Floats3, direction: Floats3) -> Found:
        """Return what a line of sight meets first."""
        return described(origin, direction, self.ground, self.bodies, self.part_names)

    def point(self, origin: Floats3, direction: Floats3) -> Floats3 | None:
        """Return where a line of sight meets the ground."""
        return pointed_at(origin, direction, self.ground)

    # What players do

    def put(
        self, collider: Any, place: Floats3, color: colors.Color, *, name: str = "", **rules: Any
    ) -> Body:
        """Add a body of the scene; its seed follows from the scene's and from the order."""
        shown = rules.pop("shown", True)
        seed = (self.seed << 20) + len(self.bodies)
        mover = CharacterMovement(self.ground, collider, position=place, seed=seed, **rules)
        return self.bodies.add(Body(mover, collider, color, name=name, shown=shown))

    def enter(self, place: Floats3, *, yaw: float = 0.0) -> Player:
        """Add the player."""
        seed = (self.seed << 20) + len(self.bodies)
        mover = CharacterMovement(self.ground, BODY, position=place, seed=seed)
        player = Player(mover, yaw=yaw)
        self.bodies.add(player.body)
        return player

    def _throw(self, controls: Controls) -> None:
        x, y, z = self.player.eye if self.player is not None else controls.eye
        dx, dy, dz = looking(controls.yaw, min(controls.pitch + 0.25, 1.4))
        seed = (self.seed << 20) + 100_000 + self._thrown
        color = colors.BALLS[self._thrown % len(colors.BALLS)]
        place = (x + dx, y + dy, z + dz)
        collider: SphereCollider | BoxCollider = SphereCollider(0.35)
        speed, turn = THROW_SPEED, None
        if controls.drop:
            collider, color, speed = BoxCollider((0.5, 0.5, 0.5)), colors.GOLD, 4.0
            angle = 0.7 * self._thrown
            sin, cos = math.sin(angle), math.cos(angle)
            turn = np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
            place = (x + 3.0 * dx, y + 1.5, z + 3.0 * dz)
        mover = CharacterMovement(
            self.ground, collider, position=place, rotation=turn, seed=seed,
            ground_friction=self.friction,
        )  # fmt: skip
        mover.velocity = (dx * speed, dy * speed, dz * speed)
        self.bodies.add(Body(mover, collider, color, name="thrown"))
        self._thrown += 1
        if self._thrown > THROWN_MOST:
            oldest = next(body for body in self.bodies if body.name == "thrown")
            self.bodies.keep(lambda body: body is not oldest)


def path_lines(
    path: Sequence[Floats3] | Floats, color: colors.Color, *, lift: float = 0.03
) -> Lines:
    """Return a path as lines just above it, older ones darker."""
    points = np.array(path)[-TRAIL_LONGEST:]
    points[:, 1] += lift
    ends = np.stack([points[:-1], points[1:]], axis=1)
    age = np.linspace(0.35, 1.0, len(ends))
    low = (color[0] // 3, color[1] // 3, color[2] // 3)
    return Lines(ends, colors.mixed(low, color, age))
