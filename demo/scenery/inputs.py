"""What a player asks of a scene in one step, as plain data that can be saved and played again."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

Floats3 = tuple[float, float, float]

STEPS_A_SECOND = 120
STEP = 1.0 / STEPS_A_SECOND

Resolver = Literal["shuffled", "simultaneous"]
RESOLVERS: tuple[Resolver, ...] = get_args(Resolver)
TOOLS = ("", "dig", "heap", "hole", "go", "trench", "fill")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the sliders set."""

    gravity: float = 9.81  # m/s^2
    slope_limit: float = math.radians(45.0)  # radians
    step_offset: float = 0.4  # meters
    resolver: Resolver = "shuffled"


@dataclass(frozen=True, slots=True)
class Controls:
    """The wishes of a player for one step."""

    forward: float = 0.0  # -1..1
    right: float = 0.0  # -1..1
    yaw: float = 0.0  # where the player looks, as `demo.picture.frame.Camera`
    pitch: float = 0.0
    run: bool = False
    jump: bool = False
    throw: bool = False  # a ball
    drop: bool = False  # a box
    eye: Floats3 = (0.0, 10.0, 0.0)  # where things are thrown from, in scenes without a player
    tool: str = ""  # what is done at `place` of the ground
    place: Floats3 | None = None
    rules: Rules | None = None  # None: the scene's own

    def repeated(self) -> "Controls":
        """Return the same for the next step: what is done once is done."""
        if not (self.throw or self.drop or self.jump):
            return self
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return Controls(**values | {"throw": False, "drop": False, "jump": False})


IDLE = Controls()


@dataclass(slots=True)
class Pointer:
    """A line of sight: where it starts and where it leads."""

    origin: Floats3 = (0.0, 0.0, 0.0)
    direction: Floats3 = field(default=(0.0, 0.0, -1.0))


def looking(yaw: float, pitch: float) -> Floats3:
    """Return the unit direction that a yaw and a pitch stand for."""
    level = math.cos(pitch)
    return -math.sin(yaw) * level, math.sin(pitch), -math.cos(yaw) * level


def strides(yaw: float, east: float, south: float) -> tuple[float, float]:
    """Return what `forward` and `right` are of a wish along +X and +Z."""
    sin, cos = math.sin(yaw), math.cos(yaw)
    return -east * sin - south * cos, east * cos - south * sin


def to_plain(controls: Controls) -> dict[str, Any]:
    """Return what differs from idle, as JSON can hold it; floats keep their bits."""
    values = asdict(controls)
    return {name: value for name, value in values.items() if value != getattr(IDLE, name)}


def from_plain(values: dict[str, Any]) -> Controls:
    """Return the controls that `to_plain` took apart."""
    given = dict(values)
    for name in ("eye", "place"):
        if given.get(name) is not None:
            x, y, z = given[name]
            given[name] = (float(x), float(y), float(z))
    if given.get("rules") is not None:
        given["rules"] = Rules(**given["rules"])
    controls = Controls(**given)
    if controls.tool not in TOOLS:
        raise ValueError(f"tool must be one of {TOOLS}, got {controls.tool!r}")
    return controls
