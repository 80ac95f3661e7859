"""The ground on the graphics card: textures that follow edits, and patches drawn from them."""

from collections.abc import Mapping
from concurrent.futures import Executor

import moderngl
import numpy as np
from numpy.typing import NDArray

from ..picture.frame import Frame
from . import look
from .following import GroundLook
from .ground import LitGround, Part
from .patches import SIDE, visible_patches

HEIGHTS, CELLS, LIT, DETAIL, CLOUDS, CAST, PANEL = range(7)
"""Where textures are bound."""


class GLGround:
    """One height map at a time."""

    def __init__(
        self,
        context: moderngl.Context,
        program: moderngl.Program,
        pool: Executor,
        *,
        anisotropy: float,
        waits: bool,
    ) -> None:
        self._context, self._program = context, program
        self._anisotropy = anisotropy
        self._look = GroundLook(pool, waits=waits)
        self._textures: list[moderngl.Texture] = []
        self._places = context.buffer(reserve=12 * 1024, dynamic=True)
        self._patches = context.vertex_array(
            program, [(self._places, "3f/i", "patch_place")], skip_errors=True
        )
        size = look.NOISE_SIZE
        self._detail = context.texture((size, size), 1, look.detail().tobytes(), alignment=1)
        self._detail.build_mipmaps()
        self._detail.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        self._clouds = context.texture((size, size), 1, look.clouds().tobytes(), dtype="f4")
        self._clouds.filter = (moderngl.LINEAR, moderngl.LINEAR)

    @property
    def look(self) -> LitGround | None:
        """The look of the land that is drawn."""
        return self._look.ground

    def follow(self, frame: Frame) -> LitGround | None:
        """Take over the frame's land, and its edits."""
        parts, ground = self._look.follow(frame), self.look
        if ground is None:
            return None
        if parts is None:
            self._upload(ground)
        for part in parts or ():
            self._refresh(ground, part)
        return ground

    def close(self) -> None:
        """Give back what makes looks; the rest is the context's."""
        self._look.close()

    def draw(self, frame: Frame, size: tuple[int, int], eye: NDArray[np.float64]) -> None:
        """Draw the patches in sight."""
        self._detail.use(DETAIL)
        self._clouds.use(CLOUDS)
        ground = self.look
        if ground is None:
            return
        patches = visible_patches(ground, frame.camera, size)[:, :3].astype("f4")
        if not len(patches):
            return
        self._places.orphan(patches.nbytes)
        self._places.write(patches.tobytes())
        for unit, texture in enumerate(self._textures):
            texture.use(unit)
        corner = np.array([ground.x0, 0.0, ground.z0]) - eye
        values = {
            "corner": tuple(corner),
            "cell": (ground.cell_x, ground.cell_z),
            "extends": ground.extends,
            "texels_per_cell": float(ground.texels_per_cell),
            "detail_corner": tuple(np.mod(eye, look.DETAIL_METERS)),
            "lines": 2 if frame.wireframe else 1 if frame.grid else 0,
            "heights": HEIGHTS, "cells": CELLS, "lit": LIT, "detail": DETAIL,
        }  # fmt: skip
        set_uniforms(self._program, values)
        quads = (SIDE - 1) * (SIDE - 1)
        self._patches.render(moderngl.TRIANGLES, vertices=6 * quads, instances=len(patches))

    def _upload(self, ground: LitGround) -> None:
        for texture in self._textures:
            texture.release()
        rows, columns = ground.heights.shape
        heights = self._context.texture((columns, rows), 1, ground.heights.tobytes(), dtype="f4")
        cells = self._context.texture(
            (columns - 1, rows - 1), 1, _cell_bytes(ground), alignment=1, dtype="u1"
        )
        height, width = ground.texels[0].shape
        lit = self._context.texture((width, height), 4, ground.texels[0].tobytes())
        for exact in (heights, cells):
            exact.filter = (moderngl.NEAREST, moderngl.NEAREST)
        lit.repeat_x = lit.repeat_y = False
        lit.build_mipmaps()
        lit.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        lit.anisotropy = self._anisotropy
        self._textures = [heights, cells, lit]

    def _refresh(self, ground: LitGround, part: Part) -> None:
        """Bring the samples that changed to the card again."""
        heights, cells, lit = self._textures
        (r0, r1), (c0, c1) = part
        heights.write(ground.heights[r0:r1, c0:c1].tobytes(), (c0, r0, c1 - c0, r1 - r0))
        cells.write(_cell_bytes(ground), alignment=1)
        (r0, r1), (c0, c1) = ground.texel_spans(part)
        lit.write(ground.texels[0][r0:r1, c0:c1].tobytes(), (c0, r0, c1 - c0, r1 - r0))
        lit.build_mipmaps()


def _cell_bytes(ground: LitGround) -> bytes:
    return (ground.solid | ground.flipped << 1).tobytes()


def set_uniforms(program: moderngl.Program, values: Mapping[str, object]) -> None:
    """Set what the program has of these; compilers drop what has no effect."""
    for name, value in values.items():
        if name in program:
            uniform = program[name]
            if isinstance(uniform, moderngl.Uniform):
                uniform.value = value
