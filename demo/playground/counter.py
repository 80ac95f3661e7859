"""How many triangles does the surface of each ball touch: the contest's question, live."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics import count_touching
from terrain_physics.rows import surface_touches_triangle

from ..picture import colors
from ..picture.frame import Balls, Camera, Frame, Label, Mesh, Tint
from ..scenery.bodies import Floats
from ..scenery.scene import Scene
from .building import arena

BALLS, TRIANGLES = 12, 2600
_MIDDLE = np.array([0.0, 11.0, 0.0])


class Counter(Scene):
    name = "counter"
    title = "Balls in a cloud of triangles"
    task = "Yellow triangles are touched by the surface of a ball; the numbers count them."
    view_distance = 25.0

    def build(self) -> None:
        self.land = arena(self.random, size=65 if self.small else 193, flat=30.0)
        count = 300 if self.small else TRIANGLES
        self.triangles = self._shells(count)
        faces = np.arange(3 * count).reshape(count, 3)
        both = np.concatenate([faces, faces[:, ::-1]])
        self.cloud = Mesh(self.triangles.reshape(-1, 3), both, (196, 210, 236))
        balls = 3 if self.small else BALLS
        self.radii = self.random.uniform(0.8, 1.7, balls)
        self.ways = self.random.uniform(-1.0, 1.0, (balls, 3, 2))
        self.count()
        self.home = Camera((9.0, 13.5, 20.5), yaw=0.4, pitch=-0.1)

    def drive(self) -> None:
        self.count(self.steps + 1)

    def count(self, steps: int = 0) -> None:
        """Place the balls and count."""
        self.before = self._places(max(steps - 1, 0))
        self.places = self._places(steps)
        rows = np.column_stack([self.radii, self.places])
        self.counts = count_touching(self.triangles, rows)
        self._lit: NDArray[np.bool_] | None = None

    def _places(self, steps: int) -> Floats:
        angle = 2.0 * math.pi * (self.ways[:, :, 0] + self.ways[:, :, 1] * steps / 2400.0)
        return np.asarray(_MIDDLE + np.cos(angle) * (10.0, 5.0, 6.0))

    def _shells(self, count: int) -> Floats:
        """Small triangles on three shells around the middle."""
        way = self.random.normal(size=(count, 3))
        way /= np.sqrt((way * way).sum(axis=1))[:, np.newaxis]
        layer = self.random.integers(0, 3, count)[:, np.newaxis]
        centers = _MIDDLE + way * (10.5, 6.0, 8.5) * (0.45 + 0.28 * layer)
        corners = self.random.normal(size=(count, 3, 3)) * 0.3
        return np.asarray(centers[:, np.newaxis] + corners)

    def restore(self, state: tuple[object, ...]) -> None:
        super().restore(state)
        self.count(self.steps)

    def more_digest(self) -> bytes:
        return self.places.tobytes() + self.counts.tobytes()

    def decorate(self, frame: Frame, alpha: float) -> None:
        places = self.before + (self.places - self.before) * alpha
        share = self.counts / max(1, int(self.counts.max()))
        turns = np.tile(np.eye(3), (len(places), 1, 1))
        frame.balls.append(
            Balls(places, self.radii, turns, colors.mixed(colors.WHITE, colors.ORANGE, share))
        )
        frame.meshes.append(self.cloud)
        lit = self.triangles[self._touched()]
        if len(lit):
            both = np.concatenate([lit, lit[:, ::-1]])
            frame.tints.append(Tint(both, colors.rows(colors.YELLOW, len(both)), 0.95))
        for place, radius, number in zip(places, self.radii, self.counts, strict=True):
            x, y, z = place.tolist()
            frame.labels.append(Label(str(int(number)), (x, y + float(radius) + 0.3, z)))

    def _touched(self) -> NDArray[np.bool_]:
        """Return which triangles some ball touches; a sphere around each leaves few to ask."""
        if self._lit is not None:
            return self._lit
        centers = self.triangles.mean(axis=1)
        reach = np.sqrt(((self.triangles - centers[:, np.newaxis]) ** 2).sum(axis=2)).max(axis=1)
        away = self.places[:, np.newaxis] - centers
        distance = np.sqrt((away * away).sum(axis=2))
        near = np.abs(distance - self.radii[:, np.newaxis]) <= reach
        ball, triangle = np.nonzero(near)
        spheres = np.column_stack([self.places[ball], self.radii[ball]])
        touched = surface_touches_triangle(spheres, self.triangles[triangle])
        self._lit = lit = np.zeros(len(self.triangles), dtype=np.bool_)
        lit[triangle[touched]] = True
        return lit

    def menu(self) -> list[str]:
        return [
            f"{len(self.triangles):,} triangles, {len(self.radii)} balls",
            f"{int(self.counts.sum())} touches, {int(self._touched().sum())} triangles lit",
        ]
