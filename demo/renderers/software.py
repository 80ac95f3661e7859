"""The renderer that needs no graphics driver: a z-buffer in bands of rows, each a thread's task.

A band is the same whichever thread draws it, so any number of threads gives the same picture.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pygame
from numpy.typing import NDArray

from ..picture import camera as cameras
from ..picture.frame import Frame
from ..picture.scaling import LEAST_PIXELS, LEAST_SCALE, checked_scale, scaled
from . import look
from .bodies import draw_bodies, pack_bodies, place_bodies
from .edges import REACH, smooth_edges
from .enlarge import Taps, enlarge, find_taps
from .faces import Faces, FrameFaces
from .following import GroundLook
from .ground import LitGround
from .hero import mark_hidden
from .labels import draw_labels
from .outlines import frame_lines
from .overlays import draw_lines, draw_tints
from .patches import SIDE, patch_vertices, visible_patches
from .raster import FACE, fill_faces, fill_ground, mark_ground, see_points
from .shade import shade
from .sun import cast_shadows

Floats = NDArray[np.float64]
Words = NDArray[np.uint32]

BAND = 48
"""Rows of a band: few enough for the nearer caches, and that threads end together."""
LINE_WIDTH = 1.6


class _View(NamedTuple):
    """Where the camera is, its axes by rows, focal length and middle of the picture in pixels."""

    eye: Floats
    axes: Floats
    lens: Floats


class Buffers(NamedTuple):
    """What is drawn into, each (height, width): 1 / depth, what is seen there, colors."""

    depth: NDArray[np.float32]
    surface: Words
    rough: Words  # colors before edges are smoothed
    scratch: NDArray[np.float32]
    marks: Words
    pixels: Words

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        height, width = self.pixels.shape
        return width, height


class SoftwareRenderer:
    """Draws with the processor alone."""

    name = "software"
    card_seconds = None

    def __init__(self, size: tuple[int, int], *, visible: bool, threads: int | None = None) -> None:
        self.visible = visible
        self.threads = threads or _processors()
        self._pool = ThreadPoolExecutor(self.threads)
        self._look = GroundLook(self._pool, waits=not visible)
        self._frame_faces = FrameFaces()
        self._grain, self._grain_levels = _grain()
        self._scale = 1.0
        self._taps: tuple[Taps, Taps] | None = None
        self.resize(size)

    @property
    def scale(self) -> float:
        """The share of the picture's width and height that is drawn, then enlarged: 0.5 to 1."""
        return self._scale

    @scale.setter
    def scale(self, share: float) -> None:
        if share != self._scale:
            self._scale = checked_scale(share)
            self._make_buffers()

    def resize(self, size: tuple[int, int]) -> None:
        """Draw at another size from now on."""
        self.size = width, height = max(int(size[0]), LEAST_PIXELS), max(int(size[1]), LEAST_PIXELS)
        if self.visible:
            self._window = pygame.display.set_mode(self.size, pygame.RESIZABLE)
        self._pixels: Words = np.zeros((height, width), dtype=np.uint32)
        # The picture is these pixels, without their fourth byte, which stays zero.
        self._picture = pygame.image.frombuffer(self._pixels.data, self.size, "BGRA")
        self._picture.set_alpha(None)
        self._make_buffers()

    def prepare(self, frame: Frame) -> None:
        """Compile what drawing such a frame needs; in any thread, nothing is drawn."""
        small = SoftwareRenderer((64, 64), visible=False, threads=1)
        small._look.ground = self._follow(frame)
        small.scale = LEAST_SCALE  # all that is needed at full size, and more
        small.draw(frame)
        small.close()

    def draw(self, frame: Frame) -> None:
        """Draw a frame; nothing is shown yet."""
        camera, (width, height) = frame.camera, self._buffers.size
        view = _View(
            np.array(camera.position, dtype=np.float64),
            cameras.basis(camera),
            np.array([cameras.focal_length(camera, (width, height)), 0.5 * width, 0.5 * height]),
        )
        ground = self._follow(frame)
        meshes = self._frame_faces.follow(frame, ground)
        self._draw_solids(frame, ground, meshes, view)
        self._draw_overlays(frame, meshes, view)
        mark_hidden(frame, self._buffers.depth, self._buffers.pixels)
        self._enlarge()
        draw_labels(self._picture, frame)

    def overlay(
        self,
        panel: pygame.Surface,
        boxes: Sequence[pygame.Rect] | None = None,
        version: int | None = None,  # noqa: ARG002 nothing is kept of it
    ) -> None:
        """Lay a picture with transparency over what was drawn, from the upper left corner."""
        for box in [panel.get_rect()] if boxes is None else boxes:
            self._picture.blit(panel, box, box)

    def present(self) -> None:
        """Show what was drawn, if there is a window."""
        if self.visible:
            self._window.blit(self._picture, (0, 0))
            pygame.display.flip()

    def read(self) -> NDArray[np.uint8]:
        """Return what was drawn, (height, width, 3)."""
        return np.ascontiguousarray(pygame.surfarray.array3d(self._picture).swapaxes(0, 1))

    def close(self) -> None:
        """Give everything back."""
        self._look.close()
        self._pool.shutdown()

    def _make_buffers(self) -> None:
        """Make what is drawn into; at full size its pixels are the picture's."""
        width, height = scaled(self.size, self._scale)
        pixels, self._taps = self._pixels, None
        if (width, height) != self.size:
            pixels = np.zeros((height, width), dtype=np.uint32)
            self._taps = find_taps(width, self.size[0]), find_taps(height, self.size[1])
        self._buffers = Buffers(
            depth=np.zeros((height, width), dtype=np.float32),
            surface=np.zeros((height, width), dtype=np.uint32),
            rough=np.zeros((height, width), dtype=np.uint32),
            scratch=np.zeros((height, width), dtype=np.float32),
            marks=np.zeros((height, width), dtype=np.uint32),
            pixels=pixels,
        )

    def _enlarge(self) -> None:
        """Bring what was drawn to the picture, if it was drawn smaller."""
        if self._taps is None:
            return
        across, down = self._taps
        pairs, columns = pairs_of(self._buffers.pixels), self._buffers.size[0]

        def band(top: int) -> None:
            bottom = min(top + 2 * BAND, self.size[1])
            enlarge(pairs, columns, across, down, top, bottom, self._pixels)

        self._share(band, range(0, self.size[1], 2 * BAND))

    def _follow(self, frame: Frame) -> LitGround | None:
        """Return the look of the frame's land, up to date."""
        self._look.follow(frame)
        return self._look.ground

    def _draw_solids(
        self, frame: Frame, ground: LitGround | None, meshes: Faces, view: _View
    ) -> None:
        """Draw ground, faces, bodies and sky, band by band while it is in the nearer caches."""
        bodies = pack_bodies(frame)
        if frame.wireframe:
            bodies = bodies[:0]
        places = np.empty((len(bodies), 5))
        place_bodies(bodies, *view, places)
        to_sun = np.array(look.unit(frame.sun))
        cast, sun = cast_shadows(bodies, meshes, to_sun, view.eye, self._share)
        patches, spans, seen = self._see_ground(frame, ground, view)
        corners = np.empty((len(meshes.vertices), 4))
        see_points(meshes.vertices, *view, corners)
        colors = meshes.colors(wireframe=frame.wireframe)
        solid, flipped, shadows, place, far, pairs, levels = _arrays_of(ground)
        ends = 0 if ground is not None and ground.extends else 1
        lines = 2 if frame.wireframe else 1 if frame.grid else 0
        buffers = self._buffers
        depth, surface, height = buffers.depth, buffers.surface, buffers.size[1]

        def band(top: int) -> None:
            bottom = min(top + BAND, height)
            depth[top:bottom] = 0.0
            fill_ground(
                patches, spans, seen, solid, flipped, view.lens, top, bottom, depth, surface
            )
            mark_ground(depth, surface, top, bottom)
            fill_faces(corners, meshes.faces, view.lens, 0, FACE, top, bottom, depth, surface)
            draw_bodies(
                bodies, places, *view, to_sun, shadows, place, cast, sun, top, bottom, depth,
                surface,
            )  # fmt: skip
            shade(
                depth, surface, top, bottom, *view, sun, cast, pairs_of(cast), place, far, pairs,
                levels, self._grain, self._grain_levels, look.clouds(), colors, flipped, lines,
                ends, buffers.rough,
            )  # fmt: skip
            smooth(top + REACH if top else 0, bottom - REACH if bottom < height else height)

        def seam(top: int) -> None:
            smooth(top - REACH, min(top + REACH, height))

        def smooth(first: int, last: int) -> None:
            smooth_edges(depth, surface, buffers.rough, first, last, buffers.pixels)

        self._share(band, range(0, height, BAND))
        self._share(seam, range(BAND, height, BAND))

    def _see_ground(self, frame: Frame, ground: LitGround | None, view: _View) -> tuple[Any, ...]:
        """Return the ground's patches in sight, where they lie across, and their vertices."""
        if ground is None:
            return np.empty((0, 4), dtype=np.int64), np.empty((0, 2)), np.empty((0, 4))
        patches = visible_patches(ground, frame.camera, self._buffers.size)
        seen = np.empty((len(patches), SIDE, SIDE, 4))
        spans = np.empty((len(patches), 2))
        extends = 1.0 if ground.extends else 0.0
        part = max(-(-len(patches) // 4), 1)

        def some(first: int) -> None:
            chosen = slice(first, first + part)
            patch_vertices(
                patches[chosen], ground.heights, ground.place, *view, extends,
                seen[chosen], spans[chosen],
            )  # fmt: skip

        self._share(some, range(0, len(patches), part))
        return patches, spans, seen.reshape(-1, 4)

    def _draw_overlays(self, frame: Frame, meshes: Faces, view: _View) -> None:
        """Draw what lies over the picture."""
        buffers, height = self._buffers, self._buffers.size[1]
        width = LINE_WIDTH * height / self.size[1]
        ends, colors = frame_lines(frame, meshes)
        shades = np.concatenate(
            [np.empty((0, 4))]
            + [
                np.column_stack([tint.colors, np.full(len(tint.colors), tint.opacity)])
                for tint in frame.tints
            ]
        )
        places = [np.asarray(tint.corners, np.float64).reshape(-1, 3) for tint in frame.tints]
        corners = np.empty((3 * len(shades), 4))
        see_points(np.concatenate([np.empty((0, 3)), *places]), *view, corners)

        def overlay(top: int) -> None:
            bottom = min(top + BAND, height)
            draw_tints(
                corners, shades, view.lens, 0, 1, top, bottom, buffers.depth, buffers.scratch,
                buffers.marks, buffers.pixels,
            )  # fmt: skip
            draw_lines(ends, colors, *view, width, top, bottom, buffers.depth, buffers.pixels)

        if len(ends) or len(shades):
            self._share(overlay, range(0, height, BAND))

    def _share(self, task: Callable[[int], None], starts: range) -> None:
        """Run tasks here and in the other threads; each takes the next when it is done with one.

        Nobody is waited for who has not begun.
        """
        left = iter(starts)

        def work() -> None:
            for start in left:
                task(start)

        helpers = [self._pool.submit(work) for _ in range(self.threads - 1)]
        work()
        for helper in helpers:
            if not helper.cancel():
                helper.result()


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _grain() -> tuple[Words, NDArray[np.int32]]:
    """Return the fine noise and its halves, one after the other, and where each begins.

    A word holds a place's byte, then those to the right, below, and below to the right.
    """
    words, starts, values = [], [0], look.detail().astype(np.uint32)
    while values.shape[0] > 8:
        right, below = np.roll(values, -1, axis=1), np.roll(values, -1, axis=0)
        across = np.roll(right, -1, axis=0)
        words.append((values | right << 8 | below << 16 | across << 24).ravel())
        starts.append(starts[-1] + values.size)
        sums = values[::2, ::2] + values[1::2, ::2] + values[::2, 1::2] + values[1::2, 1::2]
        values = (sums + 2) // 4
    return np.concatenate(words), np.array(starts, dtype=np.int32)


def pairs_of(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return each of some 32 bits with the next ones above them; nothing is copied of a map.

    Of one number or two a copy is made with more: one pair or none would be contiguous, and for
    such arrays all loops would be compiled once more.
    """
    if values.size < 3:
        values = np.resize(values, 3)
    return np.ndarray((values.size - 1,), dtype=np.uint64, buffer=values.data, strides=(4,))


def _arrays_of(ground: LitGround | None) -> tuple[Any, ...]:
    """Return what the loops read of the ground, or of none."""
    if ground is not None:
        return (
            ground.solid, ground.flipped, ground.shadows, ground.place, ground.far,
            pairs_of(ground.flat_texels), ground.levels,
        )  # fmt: skip
    cell = np.zeros((1, 1), dtype=np.uint8)
    place = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    return (
        cell, cell, np.full((2, 2), -1e30, dtype=np.float32), place, look.view_distance(200.0),
        pairs_of(np.zeros(4, dtype=np.uint32)), np.array([0, 2, 2], dtype=np.int32),
    )  # fmt: skip
