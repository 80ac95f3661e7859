"""Dig, raise and make holes; balls and boxes follow the ground."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider

from ..picture import colors
from ..picture.frame import Camera
from ..scenery.inputs import Controls, Floats3
from ..scenery.scene import Scene
from .building import arena, hills

REACH, DEPTH = 3.5, 0.25
HERO = 16.0  # from the middle, behind all that lies there
MATERIALS = ("grass", "earth")


class Digging(Scene):
    name = "digging"
    title = "Dig, raise and pierce the ground"
    task = "The left mouse button digs, with {run} it raises the ground, and {hole} makes a hole."
    takes_land = True
    view_distance = 15.0
    tools: ClassVar[Mapping[str, str]] = {"left": "dig", "run left": "heap", "hole": "hole"}

    def build(self) -> None:
        self.land = self._own_land()
        self._saved: tuple[int, tuple[NDArray[Any], ...]] | None = None
        x, z = self.middle = self._center(self.land)
        for index in range(4 if self.small else 36):
            ring, angle = 6.0 + 2.5 * (index % 4), index * 2.4
            px, pz = x + ring * math.cos(angle), z + ring * math.sin(angle)
            place = (px, self.land.height_at(px, pz) + 1.0, pz)
            if index % 4 == 3:
                self.put(BoxCollider((0.5, 0.5, 0.5)), place, colors.GOLD, ground_friction=2.0)
            else:
                color = colors.BALLS[index % len(colors.BALLS)]
                radius = 0.35 + 0.1 * (index % 3)
                self.put(SphereCollider(radius), place, color, ground_friction=1.0)
        self.player = self.enter((x, self.land.height_at(x, z + HERO) + 0.2, z + HERO))
        height = self.land.height_at(x, z + 20.0)
        self.home = Camera((x, height + 9.0, z + 21.0), yaw=0.0, pitch=-0.4)

    def drive(self) -> None:
        tool, place = self.controls.tool, self.controls.place
        if tool and place is not None and self.land is not None:
            self._work(self.land, tool, place)
        self.bodies.keep(lambda body: body.place[1] > -200.0 or body.name == "player")

    def _work(self, land: HeightMap, tool: str, place: Floats3) -> None:
        if tool == "hole":
            land.holes[self._cells(land, place, 1)] = True
            return
        if tool == "dig":
            land.carve(place, REACH, DEPTH)
        else:
            land.raise_(place, REACH, DEPTH)
        land.materials[self._cells(land, place, 2)] = MATERIALS.index("earth")

    @staticmethod
    def _cells(land: HeightMap, place: Floats3, around: int) -> tuple[slice, slice]:
        cell_x, cell_z = land.cell_size
        column = int((place[0] - land.origin64[0]) // cell_x)
        row = int((place[2] - land.origin64[2]) // cell_z)
        return _around(row, around), _around(column, around)

    def script(self) -> Controls:
        """Dig along a ring; half-way through make a hole in its middle."""
        x, z = self.middle
        angle = self.steps / 60.0
        tool, px, pz = "dig", x + 5.0 * math.cos(angle), z + 5.0 * math.sin(angle)
        if 300 <= self.steps < 312:
            tool, px, pz = "hole", x + (self.steps - 306) / 3.0, z
        elif self.steps % 12 == 3:
            side = 1.0 if self.steps % 24 == 3 else -1.0
            tool, px, pz = "heap", x + side * (12.0 + 4.0 * math.sin(5.0 * angle)), z - 9.0
        elif self.steps % 6:
            tool = ""
        assert self.land is not None
        place = (px, float(np.nan_to_num(self.land.height_at(px, pz))), pz)
        return Controls(tool=tool, place=place if tool else None, yaw=0.3, pitch=-0.34)

    # Ground that changes is part of the state

    def more_state(self) -> Any:
        land = self.land
        assert land is not None
        if self._saved is None or self._saved[0] != land.version:
            arrays = (land.heights.copy(), np.array(land.holes), np.array(land.materials))
            self._saved = (land.version, arrays)
        return self._saved

    def restore(self, state: tuple[Any, ...]) -> None:
        self._saved = version, arrays = state[-1]
        assert self.land is not None
        if self.land.version != version:
            self.land = self._land_again(self.land, arrays, version)
            for body, *_ in state[1][1]:
                turn = body.mover.rotation
                body.mover = CharacterMovement(self.land, body.collider, rotation=turn)
        super().restore(state)

    @staticmethod
    def _land_again(land: HeightMap, arrays: tuple[Any, ...], version: int) -> HeightMap:
        """Return ground of an earlier version, with the number it had: bodies remember it."""
        heights, holes, materials = arrays
        again = HeightMap(
            heights,
            cell_size=land.cell_size,
            height_scale=land.height_scale,
            origin=land.origin64,
            border=land.border,
            holes=holes if holes.any() else None,
            materials=materials,
            material_names=MATERIALS,
        )
        while again.version < version:
            again[0, 0] = again[0, 0]
        return again

    def more_digest(self) -> bytes:
        _, arrays = self.more_state()
        return b"".join(values.tobytes() for values in arrays)

    def menu(self) -> list[str]:
        assert self.land is not None
        holes = int(np.array(self.land.holes).sum())
        return [f"{self.land.version} edits, {holes} cells without ground"]

    def _own_land(self) -> HeightMap:
        """Return a copy of the given land, or land of our own."""
        given = self.given_land
        if given is not None:
            return HeightMap(
                given.heights,
                cell_size=given.cell_size,
                height_scale=given.height_scale,
                origin=given.origin64,
                border=given.border,
                material_names=MATERIALS,
            )
        if self.small:
            land = arena(self.random, size=65, flat=24.0)
            return HeightMap(land.heights, origin=land.origin64, material_names=MATERIALS)
        size = 257
        rough = arena(self.random, size=size, flat=30.0)
        heights = rough.heights + 1.2 * hills(self.random, (size, size), widest=24)
        return HeightMap(heights, origin=rough.origin64, material_names=MATERIALS)

    @staticmethod
    def _center(land: HeightMap) -> tuple[float, float]:
        (rows, columns), (cell_x, cell_z) = land.cell_count, land.cell_size
        x, _, z = land.origin64
        return x + 0.5 * columns * cell_x, z + 0.5 * rows * cell_z


def _around(index: int, cells: int) -> slice:
    return slice(max(index - cells, 0), max(index + cells + 1, 0))
