"""The level of `third_person_game`, along +X: what stands there, a door, a lift, a bridge."""

import numpy as np
from pyglm import glm

from terrain_physics import Ground, HeightMap, TriangleMesh

from ..picture import colors

DOOR = 37.0  # x
LIFT, TOP = 43.5, 6.0  # x; how high it goes, and the towers are
HOLDS, FALLS = 0.25, 1.2  # a plank that was stepped on holds so long, then falls so long; seconds
DAIS = (9.0, 12.5, 16.0, 22.0)  # x: from, gap from, gap to, to
TUNNEL = (26.0, 32.0)


class Level:
    """The ground, and what moves of it."""

    def __init__(self) -> None:
        self.ground = Ground([_land()])
        self.colors: dict[int, colors.Color] = {}
        self._build()
        self.door = self._add((0.3, 3, 2), (DOOR, 1.5, 0), colors.BLUE, "wood")
        self.lift = self._add((3, 0.3, 3), (LIFT, 0, 0), colors.YELLOW, "metal")
        self.planks: dict[int, float | None] = {}  # seconds since each was stepped on
        for x in np.arange(50, 60) + 0.5:
            key = self._add((0.94, 0.2, 2.4), (x, TOP - 0.1, 0), colors.WOOD, "wood")
            self.planks[key] = None
        self._door_open = self._lift_height = 0.0

    def update(self, hero: glm.vec3, stands_on: int, seconds: float) -> None:
        """Move everything on: before the hero, who then goes along."""
        is_near = abs(hero.x - DOOR) < 3 and hero.y < 3
        self._door_open = _towards(self._door_open, 2.1 if is_near else 0, 3 * seconds)
        self.ground.move(self.door, ((0, 0, self._door_open), glm.quat()), seconds)

        height = TOP if stands_on == self.lift else 0
        self._lift_height = _towards(self._lift_height, height, 2 * seconds)
        self.ground.move(self.lift, ((0, self._lift_height, 0), glm.quat()), seconds)

        if stands_on in self.planks and self.planks[stands_on] is None:
            self.planks[stands_on] = 0.0
        for key, since in list(self.planks.items()):
            if since is not None:
                self._let_fall(key, since + seconds, seconds)

    def _let_fall(self, plank: int, since: float, seconds: float) -> None:
        self.planks[plank] = since
        falling = since - HOLDS
        if falling > FALLS:
            self.ground.remove(plank)
            del self.planks[plank]
        elif falling > 0:
            self.ground.move(plank, ((0, -4.9 * falling**2, 0), glm.quat()), seconds)

    def _build(self) -> None:
        start, gap, beyond, end = DAIS
        stairs = TriangleMesh.stairs(width=4, rise=0.25, tread=0.5, steps=4)
        self._add_mesh(stairs.transformed(glm.translate(glm.vec3(start - 2, 0, 0))), "stone")
        for low, high in ((start, gap), (beyond, end)):
            middle = 0.5 * (low + high)
            self._add((high - low, 2, 4), (middle, 0, 0), colors.STONE, "stone")
        self._add((0.4, 0.7, 4), (18.5, 1.35, 0), colors.WOOD, "wood")  # to jump over

        start, end = TUNNEL
        middle, length = 0.5 * (start + end), end - start
        self._add((length, 0.6, 4), (middle, 1.5, 0), colors.STONE, "stone")
        for z in (-1.5, 1.5):
            self._add((length, 1.3, 1), (middle, 0.55, z), colors.STONE, "stone")

        for z in (-3, 3):  # beside the door
            self._add((0.6, 4, 4), (DOOR, 1.5, z), colors.STONE, "stone")
        self._add((0.6, 1, 2), (DOOR, 3.5, 0), colors.STONE, "stone")
        for x, long in ((47.5, 5), (62, 4)):
            self._add((long, TOP + 2, 6), (x, 0.5 * TOP - 1, 0), colors.STONE, "stone")

    def _add(
        self,
        size: tuple[float, float, float],
        place: tuple[float, float, float],
        color: colors.Color,
        material: str,
    ) -> int:
        box = TriangleMesh.box(size, transform=glm.translate(glm.vec3(place)))
        return self._add_mesh(box, material, color)

    def _add_mesh(
        self, mesh: TriangleMesh, material: str, color: colors.Color = colors.STONE
    ) -> int:
        key = self.ground.add(
            TriangleMesh(mesh.vertices, mesh.faces, materials=material, material_names=[material])
        )
        self.colors[key] = color
        return key


def _land() -> HeightMap:
    """Return a meadow with hills on both sides, a gravel path, and sand behind the towers."""
    z, x = np.mgrid[-24:25, -10:91]
    beside = np.maximum(abs(z) - 6.0, 0)
    heights = 0.35 * beside * (1 + 0.4 * np.sin(x / 6 + z / 9)) + 0.02 * beside**1.5
    land = HeightMap(heights, origin=(-10, 0, -24), material_names=["grass", "gravel", "sand"])
    land.materials[22:26, :] = "gravel"
    land.materials[14:34, 74:] = "sand"
    return land


def _towards(value: float, goal: float, step: float) -> float:
    return min(value + step, goal) if value < goal else max(value - step, goal)
