"""Balls roll over the edges between triangles: as the library treats them, and one by one."""

from typing import Any

import numpy as np

from terrain_physics import AABB, HeightMap, SphereCollider
from terrain_physics.rows import intersect_sphere_triangle

from ..picture import colors
from ..picture.frame import Balls, Camera, Frame, Label, Tint
from ..scenery.bodies import Body, Floats, rotation_about
from ..scenery.inputs import STEP, Controls
from ..scenery.scene import Scene, path_lines
from .building import arena

RADIUS, SPEED = 0.5, 8.0
START, END = -15.96, 16.0
ROUNDS = 16
EXAGGERATED = 25.0  # heights of the paths on level ground
_HANDLED, _ONE_BY_ONE = colors.BLUE, colors.ORANGE
_BUMP = 1e-4  # meters up in one step
# (z, whether the lane has ridges, whether the library moves the ball)
LANES = ((-4.37, False, True), (-1.37, False, False), (1.63, True, True), (4.63, True, False))
RIDGES_APART = 4  # meters
_ACROSS = (-6, 7)  # z of the lines at both ends


class OneByOne:
    """A ball pushed out of each triangle by itself, in random order: what trips over edges."""

    def __init__(self, place: tuple[float, float, float], seed: int) -> None:
        self.place, self.before = np.array(place), np.array(place)
        self.velocity = np.array([SPEED, 0.0, 0.0])
        self.random = np.random.default_rng(seed)
        self.turn = np.eye(3)

    def step(self, land: HeightMap, gravity: float, seconds: float) -> None:
        """Fall, move, and leave one triangle after the other."""
        self.before = self.place.copy()
        self.velocity[1] -= gravity * seconds
        self.place = self.place + self.velocity * seconds
        reach = np.full(3, RADIUS)
        box = AABB((self.place - reach).tolist(), (self.place + reach).tolist())
        vertices = land.triangles_in(box).vertices
        order = self.random.permutation(len(vertices))
        for _ in range(ROUNDS):
            moved = False
            for index in order:
                push = self._push(vertices[index])
                depth = float(np.sqrt(push @ push))
                if depth > 1e-9:
                    moved = True
                    self.place = self.place + push
                    normal = push / depth
                    into = min(0.0, float(self.velocity @ normal))
                    self.velocity = self.velocity - into * normal
            if not moved:
                break
        way = self.place - self.before
        angle = float(np.hypot(way[0], way[2])) / RADIUS
        axis = np.array([way[2], 0.0, -way[0]])
        length = float(np.sqrt(axis @ axis))
        if length > 0.0:
            self.turn = rotation_about(axis / length, angle) @ self.turn

    def _push(self, triangle: Floats) -> Floats:
        ball = np.array([[*self.place, RADIUS]])
        pushes: Floats = intersect_sphere_triangle(ball, triangle[np.newaxis])
        return np.asarray(np.nan_to_num(pushes[0]))

    def state(self) -> tuple[Any, ...]:
        """Return all of it."""
        generator = self.random.bit_generator.state
        return self.place.copy(), self.before.copy(), self.velocity.copy(), self.turn, generator

    def restore(self, state: tuple[Any, ...]) -> None:
        """Take it back."""
        place, before, velocity, self.turn, self.random.bit_generator.state = state
        self.place, self.before, self.velocity = place.copy(), before.copy(), velocity.copy()


class Edges(Scene):
    name = "edges"
    title = "Balls roll over level triangles"
    task = "Two balls roll as the library moves them; two take each triangle by itself, and trip."
    view_distance = 17.0

    def build(self) -> None:
        self.land = self._map()
        self.lanes: list[Body | OneByOne] = []
        self.paths: list[list[tuple[float, float, float]]] = [[] for _ in LANES]
        self.bumps = [0] * len(LANES)
        self._new = [True] * len(LANES)
        self._rising = [False] * len(LANES)
        for index, (z, _, handled) in enumerate(LANES):
            place = (START, self.land.height_at(START, z) + RADIUS, z)
            if handled:
                self.lanes.append(self._smooth(place))
            else:
                self.lanes.append(OneByOne(place, (self.seed << 8) + index))
        self._track = self._painted(self.land)
        self.home = Camera((0.0, 12.5, 19.0), yaw=0.0, pitch=-0.56)

    def drive(self) -> None:
        for index, lane in enumerate(self.lanes):
            if isinstance(lane, Body):
                if self._new[index]:
                    lane.mover.velocity = (SPEED, 0.0, 0.0)
                    self._new[index] = False
            else:
                lane.step(self.ground_map, self.bodies.rules.gravity, STEP)

    @property
    def ground_map(self) -> HeightMap:
        """The map."""
        assert self.land is not None
        return self.land

    def step(self, seconds: float, controls: Controls) -> None:
        super().step(seconds, controls)
        for index, lane in enumerate(self.lanes):
            now, before = np.array(lane.place), np.array(lane.before)
            self.paths[index].append((float(now[0]), float(now[1]), float(now[2])))
            # On level ground nothing should ever go up.
            rising = now[1] - before[1] > _BUMP
            self.bumps[index] += bool(rising and not self._rising[index])
            self._rising[index] = bool(rising)
            if now[0] > END:
                self._again(index)

    def _again(self, index: int) -> None:
        z = LANES[index][0]
        place = (START, self.ground_map.height_at(START, z) + RADIUS, z)
        lane = self.lanes[index]
        if isinstance(lane, Body):
            lane.mover.position = place
            lane.before = place
        else:
            lane.place = np.array(place)
            lane.before, lane.velocity = lane.place.copy(), np.array([SPEED, 0.0, 0.0])
        self.paths[index], self.bumps[index], self._new[index] = [], 0, True

    def more_state(self) -> Any:
        others = [lane.state() for lane in self.lanes if isinstance(lane, OneByOne)]
        return (
            others,
            [list(path) for path in self.paths],
            list(self.bumps),
            list(self._new),
            list(self._rising),
        )

    def restore_more(self, state: Any) -> None:
        others, paths, bumps, new, rising = state
        self.paths, self.bumps = [list(path) for path in paths], list(bumps)
        self._new, self._rising = list(new), list(rising)
        naive = [lane for lane in self.lanes if isinstance(lane, OneByOne)]
        for lane, held in zip(naive, others, strict=True):
            lane.restore(held)

    def more_digest(self) -> bytes:
        naive = [lane for lane in self.lanes if isinstance(lane, OneByOne)]
        return b"".join(lane.place.tobytes() + lane.velocity.tobytes() for lane in naive)

    def decorate(self, frame: Frame, alpha: float) -> None:
        naive = [lane for lane in self.lanes if isinstance(lane, OneByOne)]
        places = np.array([lane.before + (lane.place - lane.before) * alpha for lane in naive])
        turns = np.array([lane.turn for lane in naive])
        radii = np.full(len(naive), RADIUS)
        frame.balls.append(Balls(places, radii, turns, colors.rows(_ONE_BY_ONE, len(naive))))
        frame.tints.append(self._track)
        for index, (z, ridged, handled) in enumerate(LANES):
            if len(self.paths[index]) > 1:
                color = _HANDLED if handled else _ONE_BY_ONE
                path = np.array(self.paths[index])
                if not ridged:
                    path[:, 1] = RADIUS + EXAGGERATED * (path[:, 1] - RADIUS)
                frame.lines.append(path_lines(path, color, lift=0.0))
            lane = self.lanes[index]
            kind = "edges handled" if handled else "one by one"
            text = f"{kind}, {self._speed(lane):.2f} m/s"
            if not ridged:
                text = f"{text}, {self.bumps[index]} bumps"
            place = (START + 1.5, 1.6, z)
            frame.labels.append(Label(text, place))
        frame.grid = True

    @staticmethod
    def _speed(lane: "Body | OneByOne") -> float:
        return lane.speed if isinstance(lane, Body) else float(np.hypot(*lane.velocity[::2]))

    def _smooth(self, place: tuple[float, float, float]) -> Body:
        ball = SphereCollider(RADIUS)
        return self.put(ball, place, _HANDLED, name="handled", ground_friction=0.0)

    def menu(self) -> list[str]:
        return [f"paths on level ground: heights x {EXAGGERATED:.0f}", "more gravity, more bumps"]

    @staticmethod
    def _painted(land: HeightMap) -> Tint:
        """Return the track on the triangles of the land: lanes, ridges, and lines at both ends."""
        box = AABB((-END - 1.0, -2.0, _ACROSS[0]), (END + 1.0, 2.0, _ACROSS[1]))
        triangles = land.triangles_in(box).vertices
        column, row = np.floor(triangles.mean(axis=1)[:, ::2]).T
        tints = np.zeros((len(triangles), 3), dtype=np.uint8)
        painted = np.zeros(len(triangles), dtype=np.bool_)
        for z, ridged, handled in LANES:
            lane = row == np.floor(z)
            tints[lane] = _HANDLED if handled else _ONE_BY_ONE
            along = (column - round(START)) % RIDGES_APART
            if ridged:  # on both sides of each ridge
                tints[lane & ((along == 0) | (along == RIDGES_APART - 1))] = colors.WHITE
            painted |= lane
        ends = (column < round(START)) | (column >= round(END))
        tints[ends] = np.where((column + row)[ends, np.newaxis] % 2 == 0, 255, 0)
        painted |= ends
        return Tint(triangles[painted].astype(np.float64), tints[painted], 0.35)

    def _map(self) -> HeightMap:
        land = arena(self.random, size=65 if self.small else 193, flat=26.0)
        heights = np.array(land.heights)
        middle = len(heights) // 2
        for z, ridged, _ in LANES:
            if ridged:
                row = middle + round(z)
                columns = (
                    np.arange(round(START) + RIDGES_APART, round(END) - 1, RIDGES_APART) + middle
                )
                heights[row - 1 : row + 2, columns] += 0.12
        return HeightMap(heights, origin=land.origin)
