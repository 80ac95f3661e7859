"""The game of `netplay`: what both sides compute alike from the keys of both players."""

import random

import numpy as np

from terrain_physics import CapsuleCollider, CharacterGroup, Ground, HeightMap, TriangleMesh, World

from ..picture import colors
from ..picture.frame import Camera, Frame, Label, Pills
from ._drawing import frame_of

STEP = 1 / 60
LEFT, RIGHT, UP, DOWN, JUMP, DIG, BUILD = (1 << bit for bit in range(7))
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
SPEED, CHASE = 5.0, 2.5  # m/s
CHASERS = 10
CRATES = 12  # each player may build so many
LIFT, DOOR, BELT = 1, 2, 3  # keys of parts


class Match:
    """Two players, a crowd that chases them, a lift, a door, a belt, and land to dig in."""

    def __init__(self) -> None:
        z, x = np.mgrid[:65, :65]
        land = HeightMap(0.6 * np.sin(x / 5) * np.cos(z / 6))
        boxes = [TriangleMesh.box(size) for size in ((4, 0.4, 4), (0.6, 5, 8), (10, 1, 3))]
        self.ground = Ground([land, *boxes])
        self.crate = TriangleMesh.box((1, 1, 1))
        self.ground.move(BELT, (32, 0.3, 22))
        self.ground.set_surface_velocity(BELT, (1.5, 0, 0))
        self._move_parts(0)
        self.crowd = CharacterGroup(self.ground, BODY, collide=True, heads="stand", threads=1)
        self.crowd.add_many(["west", "east"], [(26, 1, 34), (38, 1, 34)], mass=120.0)
        turns = np.arange(CHASERS)
        places = np.column_stack([20 + 2.5 * turns, np.full(CHASERS, 1.0), 45 + 2.0 * (turns % 2)])
        self.chasers = [f"chaser {k}" for k in turns]
        self.crowd.add_many(self.chasers, places)
        self.world = World(self.ground)
        self.world.add("crowd", self.crowd)
        self.world.extra = bytes(2)  # how many crates each has built: goes back with the world

    def step(self, frame: int, keys: tuple[int, int]) -> None:
        """Advance by one frame, the same on both sides."""
        self._move_parts(frame)
        for side, (name, held) in enumerate(zip(("west", "east"), keys, strict=True)):
            self._steer(side, name, held, frame)
        self._chase()
        self.world.update(STEP)

    def _move_parts(self, frame: int) -> None:
        """Move the lift up and down, and the door to and fro, with halts."""
        up = min(max(abs(frame % 480 - 240) - 40, 0), 160) / 160
        over = min(max(abs(frame % 300 - 150) - 30, 0), 90) / 90
        self.ground.move(LIFT, (32, 0.2 + 4 * up, 40), STEP)
        self.ground.move(DOOR, (24 + 16 * over, 2, 31), STEP)

    def _steer(self, side: int, name: str, held: int, frame: int) -> None:
        player = self.crowd[name]
        east, south = _sign(held, RIGHT, LEFT), _sign(held, DOWN, UP)
        slower = 0.7071 if east and south else 1.0
        player.walk(slower * SPEED * east, slower * SPEED * south)
        if held & JUMP and player.grounded:
            player.jump(1.2)
        x, y, z = player.position64
        if held & DIG and frame % 6 == 0:
            self.ground.carve((x + 1.5 * east, z + 1.5 * south), 1.5, 0.1)
        built = self.world.extra[side]
        if held & BUILD and frame % 30 == 0 and built < CRATES and (east or south):
            place = x + 1.6 * east, y + 0.5, z + 1.6 * south
            self.ground.add(self.crate, transform=place)  # one mesh at many places
            counts = bytearray(self.world.extra)
            counts[side] += 1
            self.world.extra = bytes(counts)

    def _chase(self) -> None:
        """Send each chaser towards the player who is nearer to it."""
        places = self.crowd.positions[:, ::2]
        ways = places[np.newaxis, :2] - places[2:, np.newaxis]  # (chasers, players, 2)
        lengths = np.sqrt(ways[..., 0] * ways[..., 0] + ways[..., 1] * ways[..., 1])
        rows = np.arange(CHASERS), lengths.argmin(axis=1)
        speeds = CHASE * ways[rows] / np.maximum(lengths[rows], 1e-3)[:, np.newaxis]
        self.crowd.walk(speeds[:, 0], speeds[:, 1], keys=self.chasers)

    def draw(self, side: int, text: str) -> Frame:
        """Return the picture that a player sees."""
        x, y, z = self.crowd[("west", "east")[side]].position64
        tints = {LIFT: colors.YELLOW, DOOR: colors.BLUE, BELT: colors.STONE}
        camera = Camera((x, y + 9.0, z + 11.0), 0.0, -0.65)
        tints |= {key: colors.WOOD for key in self.ground.parts if key > BELT}
        frame = frame_of(self.ground, tints, camera)
        lows = self.crowd.positions + np.array([0, BODY.radius, 0])
        highs = self.crowd.positions + np.array([0, BODY.height - BODY.radius, 0])
        count = len(self.crowd)
        shown = colors.rows(colors.TEAL, count)
        shown[0], shown[1] = colors.ORANGE, colors.RED
        frame.capsules.append(Pills(lows, highs, np.full(count, BODY.radius), shown))
        frame.labels.append(Label(text, (x, y + BODY.height + 0.5, z)))
        return frame


def _sign(held: int, more: int, less: int) -> int:
    return bool(held & more) - bool(held & less)


def autopilot(seed: int, side: int, frame: int) -> int:
    """Return the keys of a player that nobody steers: others six times a second."""
    drawn = random.Random(f"{seed} {side} {frame // 10}")  # noqa: S311
    held = drawn.choice((0, LEFT, RIGHT)) | drawn.choice((0, UP, DOWN))
    held |= JUMP if drawn.random() < 0.2 else 0
    held |= DIG if drawn.random() < 0.2 else 0
    return held | (BUILD if drawn.random() < 0.15 else 0)


def held_keys(pygame: object) -> int:
    """Return the keys of a player as bits: WASD or arrows, Space, E to dig, Q to build."""
    down = pygame.key.get_pressed()  # type: ignore[attr-defined]
    named = {
        LEFT: ("K_a", "K_LEFT"), RIGHT: ("K_d", "K_RIGHT"), UP: ("K_w", "K_UP"),
        DOWN: ("K_s", "K_DOWN"), JUMP: ("K_SPACE",), DIG: ("K_e",), BUILD: ("K_q",),
    }  # fmt: skip
    return sum(
        bit for bit, names in named.items() if any(down[getattr(pygame, name)] for name in names)
    )
