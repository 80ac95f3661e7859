"""Lifts, a turntable, a ship, a door, a conveyor, a bridge that falls: ground that moves."""

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics import BoxCollider, CapsuleCollider, CharacterMovement, Ground

from ..picture import colors
from ..picture.frame import Camera, Frame, Label, Mesh, Tint
from ..scenery.bodies import Body
from ..scenery.inputs import STEP, Controls, Floats3, Rules, strides
from ..scenery.pick import ALL_LAYERS, AnyGround
from ..scenery.player import JUMP
from ..scenery.scene import Scene
from .building import Piece, arena, block, drawn, made_of, solid
from .machines import (
    MOVING_LAYER,
    UPRIGHT,
    Machine,
    Pose,
    abrupt,
    eased,
    falling,
    platform,
    ship,
    spinning,
    swaying,
    turntable,
)

TOP, FLOOR = 6.0, 0.3  # heights of the towers and of machines at the ground
LIFT, QUICK_LIFT = (0.0, -9.4), (15.0, -9.4)  # x and z
WAIT, TRAVEL = 2.0, 3.0  # seconds
QUICK_TRAVEL = 1.6
TOWERS = ((0.0, -14.0), (15.0, -14.0))
TURNTABLE = (-12.5, FLOOR, 0.0)
POND, WATER, DEPTH = (-15.0, -14.0), -0.5, 3.2
DOOR, DOOR_WAIT, DOOR_TRAVEL = (13.0, 1.0), 1.2, 0.9
BELT_FROM, BELT_TO, BELT_X, BELT_SPEED = -9.0, 4.0, -5.0, 2.0
BELT_TOP, SLATS = 0.6, 0.8
LEDGE, LEDGE_LAYER = (6.5, 1.35, -3.5), 2
PLANKS, PLANK_HOLDS, PLANK_LIES, LYING = 9, 0.35, 2.0, 0.12  # from 0.35 to 2 s it falls
JUMPER_LAP, DROPS, JUMPS = 420, 40, 150  # steps
_PAVED = (150, 150, 152)


class Crate:
    """What owns a box that turns along with what it stands on."""

    def __init__(self, place: Floats3) -> None:
        self.position, self.rotation = glm.vec3(place), glm.quat()


class Lift(Scene):
    name = "lift"
    title = "Lifts, a ship and a conveyor"
    task = "Ride up with the yellow lift, and cross the bridge that falls behind you."
    view_distance = 24.0
    opaque = ALL_LAYERS & ~MOVING_LAYER  # or it would jump when a lift passes by

    def build(self) -> None:
        land = arena(self.random, size=97 if self.small else 257, flat=38.0)
        land.flatten(POND, 8.5, WATER - DEPTH, flat=6.5)
        self.land = land
        still = self._still()
        self.meshes = drawn(still)
        self._ground = Ground([land, solid(still)])
        self.machines = list(self._machines())
        self.planks = {plank.key: plank for plank in self._planks()}
        self.moving = [*self.machines, *self.planks.values()]
        self.part_names = {1: "the buildings"} | {
            machine.key: machine.name for machine in self.moving
        }
        self._add_belt()
        self._add_ledge()
        self.trodden: dict[int, int] = {}  # the steps when planks were first stood on
        self._add_people()
        self._add_crates()
        self.player = self.enter((1.0, 0.05, -3.0))
        self.report = self.player.body.mover.ground_report()
        self.water = _water()
        self.home = Camera((6.0, 8.0, 18.0), yaw=0.42, pitch=-0.38)

    @property
    def ground(self) -> AnyGround:
        return self._ground

    # What there is

    def _still(self) -> list[Piece]:
        pieces = []
        for x, z in TOWERS:
            pieces.append(block((x, TOP / 2, z), (3.0, TOP / 2, 3.0), colors.STONE))
            pieces += [
                block((x + side, TOP + 0.4, z - 2.8), (0.4, 0.4, 0.2), colors.STONE)
                for side in (-2.6, -0.9, 0.9, 2.6)
            ]
        pieces += [
            block((x + side, 3.6, z), (0.12, 3.6, 0.12), colors.DARK)
            for x, z in (LIFT, QUICK_LIFT)
            for side in (-1.75, 1.75)
        ]
        x, z = DOOR
        pieces += [
            block((x + 3.4, 1.5, z), (2.0, 1.5, 0.2), colors.STONE),
            block((x - 2.6, 1.5, z), (1.2, 1.5, 0.2), colors.STONE),
            block((x, 3.2, z), (5.6, 0.2, 0.4), colors.STONE),
            # The jamb that the door closes against.
            block((x - 1.6, 1.5, z + 0.4), (0.2, 1.5, 0.2), colors.DARK),
        ]
        x, z = POND
        pier = block((x - 1.6, 0.1, z + 6.9), (0.9, 0.1, 4.5), colors.WOOD)
        pieces += made_of("wood", [pier])
        x, y, z = LEDGE
        for side in (-1.9, 1.9):
            pieces.append(
                block((x + side, y / 2 - 0.07, z), (0.08, y / 2 - 0.07, 0.08), colors.DARK)
            )
        return pieces

    def _machines(self) -> Iterator[Machine]:
        def on_rails(place: tuple[float, float], share: float) -> Pose:
            return (place[0], FLOOR + (TOP - FLOOR) * share, place[1]), UPRIGHT

        def sliding(seconds: float) -> Pose:
            open_share = 1.0 - eased(seconds, DOOR_WAIT, DOOR_TRAVEL)
            return (DOOR[0] + 2.8 * open_share, 0.0, DOOR[1] + 0.4), UPRIGHT

        ground = self._ground
        yield Machine(
            "the soft lift",
            ground,
            platform((1.5, 0.15, 1.5), colors.YELLOW),
            lambda seconds: on_rails(LIFT, eased(seconds, WAIT, TRAVEL)),
        )
        yield Machine(
            "the abrupt lift",
            ground,
            platform((1.5, 0.15, 1.5), colors.RED),
            lambda seconds: on_rails(QUICK_LIFT, abrupt(seconds, QUICK_TRAVEL)),
        )
        yield Machine("the turntable", ground, turntable(4.0, 0.5), spinning(TURNTABLE, 0.5))
        yield Machine("the ship", ground, ship(), swaying((POND[0], WATER, POND[1])))
        leaf = [block((0.0, 1.5, 0.0), (1.38, 1.45, 0.12), colors.BLUE)]
        yield Machine("the door", ground, leaf, sliding)

    def _planks(self) -> Iterator[Machine]:
        """From one tower to the other."""
        first = TOWERS[0][0] + 3.0
        long = (TOWERS[1][0] - 3.0 - first) / PLANKS
        for index in range(PLANKS):
            place = (first + (index + 0.5) * long, TOP, TOWERS[0][1])
            plank = block((0.0, -0.09, 0.0), (0.5 * long - 0.03, 0.09, 1.2), colors.WOOD)
            spin = float(self.random.uniform(-1.0, 1.0))
            way = falling(place, PLANK_HOLDS, TOP - LYING, spin, Rules().gravity)
            yield Machine("a plank", self._ground, made_of("wood", [plank]), way)

    def _add_belt(self) -> None:
        length = 0.5 * (BELT_TO - BELT_FROM)
        middle = (BELT_X, 0.5 * BELT_TOP, BELT_FROM + length)
        belt = made_of("metal", [block(middle, (1.0, 0.5 * BELT_TOP, length), _PAVED)])
        key = self._ground.add(solid(belt))
        self._ground.set_surface_velocity(key, (0.0, 0.0, BELT_SPEED))
        self.part_names[key] = "the conveyor"
        self.meshes += drawn(belt)
        places = np.arange(BELT_FROM + 0.1, BELT_TO - 0.1 - SLATS, SLATS).tolist()
        bars = [block((BELT_X, BELT_TOP, z), (0.92, 0.015, 0.09), colors.DARK) for z in places]
        self.slats = drawn(bars)[0]

    def _add_ledge(self) -> None:
        x, y, z = LEDGE
        ledge = made_of("metal", [block((x, y - 0.06, z), (2.0, 0.06, 1.1), colors.GREEN)])
        key = self._ground.add(solid(ledge), layers=LEDGE_LAYER)
        self._ground.set_one_way(key, (0.0, 1.0, 0.0))
        self.part_names[key] = "the one-way platform"
        self.meshes += drawn(ledge)

    def _add_people(self) -> None:
        x, z = POND
        places = {
            "passenger": (QUICK_LIFT[0] + 0.6, FLOOR + 0.05, QUICK_LIFT[1]),
            "dizzy": (TURNTABLE[0] + 2.8, FLOOR + 0.05, TURNTABLE[2]),
            "sailor": (x - 1.2, WATER + 1.3, z),
            "guest": (DOOR[0] - 0.6, 0.05, DOOR[1] + 0.4),
            "jumper": (LEDGE[0], 0.05, LEDGE[2]),
        }
        for (name, place), color in zip(places.items(), colors.PEOPLE[2:], strict=True):
            collider = CapsuleCollider(0.4, 1.7, offset=(0.0, 0.85, 0.0))
            self.put(collider, place, color, name=name)
        self.people = {body.name: body for body in self.bodies}

    def _add_crates(self) -> None:
        x, y, z = TURNTABLE
        for index in range(2 if self.small else 5):
            angle = 1.0 + index
            place = (x + 2.5 * math.cos(angle), y + 0.5, z + 2.5 * math.sin(angle))
            self._add_crate(place, "crate")
        for index in range(1 if self.small else 3):
            self._add_crate((BELT_X, BELT_TOP + 0.6, BELT_FROM + 1.0 + 4.2 * index), "freight")

    def _add_crate(self, place: Floats3, name: str) -> None:
        collider = BoxCollider((0.5, 0.5, 0.5))
        seed = (self.seed << 20) + len(self.bodies)
        mover = CharacterMovement(
            self._ground, collider, owner=Crate(place), turn_with_ground=True, seed=seed
        )
        self.bodies.add(Body(mover, collider, colors.GOLD, name=name))

    # What moves by itself

    def drive(self) -> None:
        seconds = (self.steps + 1) * STEP
        for machine in self.machines:
            machine.drive(self._ground, seconds)
        for key, since in self.trodden.items():
            if seconds - since * STEP < PLANK_LIES:
                self.planks[key].drive(self._ground, seconds - since * STEP)
        self._lead_people()
        for body in self.bodies:
            if body.name == "freight" and body.place[1] < BELT_TOP:
                body.mover.position = (BELT_X, BELT_TOP + 0.6, BELT_FROM + 0.7)
                body.before = body.mover.position64

    def step(self, seconds: float, controls: Controls) -> None:
        super().step(seconds, controls)
        # Reports are no part of a body's state: what they say is kept here.
        self.report = self._hero.mover.ground_report()
        for body in self.bodies:
            part = body.mover.ground_report().part
            if part in self.planks:
                self.trodden.setdefault(part, self.steps)

    def _lead_people(self) -> None:
        sailor, jumper = self.people["sailor"].mover, self.people["jumper"].mover
        sailor.velocity.x, sailor.velocity.z = 1.3 * math.sin(0.6 * self.steps * STEP), 0.0
        lap = self.steps % JUMPER_LAP
        jumper.mask = ALL_LAYERS & ~LEDGE_LAYER if lap < DROPS else ALL_LAYERS
        if lap == JUMPS:
            jumper.velocity.y = JUMP
        guest = self.people["guest"]
        x, _, z = guest.place
        goal = DOOR[1] + 0.4 + 1.5 * math.sin(0.4 * self.steps * STEP)
        guest.mover.velocity.x = DOOR[0] - x
        guest.mover.velocity.z = goal - z

    def script(self) -> Controls:
        """Ride up, cross the bridge, ride down, stand in the door's way."""
        x, z = self._goal()
        x0, _, z0 = self._hero.place
        yaw = self.home.yaw + 0.12 * math.sin(self.steps / 300.0)
        away = math.hypot(x - x0, z - z0)
        speed = min(1.0, 1.5 * away) / max(away, 1e-9)
        forward, right = strides(yaw, speed * (x - x0), speed * (z - z0))
        return Controls(forward=forward, right=right, yaw=yaw, pitch=self.home.pitch)

    def _goal(self) -> tuple[float, float]:
        """Return where the script leads: x and z."""
        x, y, z = self._hero.place
        soft, quick = (machine.way(self.steps * STEP)[0][1] for machine in self.machines[:2])
        if self.report.part == self.machines[0].key:
            return TOWERS[0] if y > TOP - 0.02 else LIFT
        if self.report.part == self.machines[1].key or (x > 10.0 and y < TOP - 0.5):
            # Off it before it has gone up again.
            return QUICK_LIFT if y > 2.0 else (DOOR[0], DOOR[1] + 0.4)
        if y < TOP - 0.5:
            return LIFT if soft < FLOOR + 0.02 else (LIFT[0], LIFT[1] + 3.0)
        if x < TOWERS[1][0] - 0.5:
            return TOWERS[0] if z > TOWERS[0][1] + 0.5 else TOWERS[1]
        is_near = abs(quick - TOP) < 0.5
        edge = TOWERS[1][1] + 2.5
        return QUICK_LIFT if is_near or z > edge + 0.5 else (TOWERS[1][0], edge)

    @property
    def _hero(self) -> Body:
        assert self.player is not None
        return self.player.body

    # Ground that moves is part of the state

    def more_state(self) -> Any:
        poses = [machine.before for machine in self.moving]
        # A copy of a ground has the same parts, but says itself where they are and how they move.
        return copy.copy(self._ground), poses, dict(self.trodden), self.report

    def restore(self, state: tuple[Any, ...]) -> None:
        ground, poses, trodden, self.report = state[-1]
        self._ground, self.trodden = copy.copy(ground), dict(trodden)
        for machine, pose in zip(self.moving, poses, strict=True):
            machine.before = pose
        for body, *_ in state[1][1]:
            body.mover.ground = self._ground
        super().restore(state)

    def more_digest(self) -> bytes:
        poses = (self._ground.transform(machine.key) for machine in self.moving)
        return b"".join(pose.tobytes() for pose in poses)

    # The picture

    def decorate(self, frame: Frame, alpha: float) -> None:
        frame.meshes += self.meshes
        for machine in self.moving:
            machine.fill(frame, self._ground, alpha)
        way = np.array([0.0, 0.0, BELT_SPEED * (self.steps - 1 + alpha) * STEP % SLATS])
        slats = self.slats
        frame.meshes.append(Mesh(slats.vertices + way, slats.faces, slats.color))
        frame.tints.append(self.water)
        for text, place in self._signs():
            frame.labels.append(Label(text, place))

    def _signs(self) -> Iterator[tuple[str, Floats3]]:
        yield "soft lift", (LIFT[0], TOP + 1.6, LIFT[1])
        yield "abrupt lift", (QUICK_LIFT[0], TOP + 1.6, QUICK_LIFT[1])
        yield "turntable", (TURNTABLE[0], 2.4, TURNTABLE[2])
        yield "ship", (POND[0], WATER + 7.0, POND[1])
        yield "door", (DOOR[0], 3.8, DOOR[1])
        yield "conveyor", (BELT_X, 2.2, -4.5)
        yield "one-way platform", (LEDGE[0], LEDGE[1] + 2.2, LEDGE[2])
        yield "bridge", (0.5 * (TOWERS[0][0] + TOWERS[1][0]), TOP + 2.9, TOWERS[0][1])

    def menu(self) -> list[str]:
        body, report = self._hero, self.report
        on = f"on {self.part_names.get(report.part, 'the ground')}"
        pressed = [
            f"{self.part_names[squeeze.part]}, {squeeze.depth:.2f} m"
            for squeeze in body.result.squeezed
        ]
        return [
            on if body.result.grounded else "in the air",
            f"which moves {_written(report.velocity)}",
            f"world velocity {_written(body.mover.world_velocity)}",
            f"squeezed by {' and '.join(pressed) or 'nothing'}",
        ]


def _written(velocity: glm.vec3) -> str:
    x, y, z = (round(part, 1) + 0.0 for part in velocity)
    return f"({x:.1f}, {y:.1f}, {z:.1f}) m/s"


def _water() -> Tint:
    """Return the surface of the pond."""
    x, z = POND
    angles = np.linspace(0.0, math.tau, 33)
    rim = np.column_stack([x + 8.5 * np.cos(angles), np.full(33, WATER), z + 8.5 * np.sin(angles)])
    middle = np.tile([x, WATER, z], (32, 1))
    corners = np.stack([middle, rim[1:], rim[:-1]], axis=1)
    return Tint(corners, colors.rows(colors.BLUE, 32), 0.55)
