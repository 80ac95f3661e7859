"""The shadows of bodies and meshes: a map of how far towards the sun they reach."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .bodies import AROUND, CENTER, cast_bodies
from .compiled import compiled
from .faces import Faces
from .raster import DEPTH_ALONE, fill_triangle

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Share = Callable[[Callable[[int], None], range], None]

RESOLUTION = 1024
REACH = 90.0
"""Shadows are cast within this distance of the camera, in meters."""
FINEST = 0.02
_BAND = 128
_NOTHING = -1e30


def sun_axes(to_sun: Floats) -> Floats:
    """Return the rows across, up and towards the sun, (3, 3)."""
    side = np.array([0.0, 0.0, 1.0]) if abs(to_sun[1]) > 0.99 else np.array([0.0, 1.0, 0.0])
    across = np.cross(side, to_sun)
    across /= np.linalg.norm(across)
    return np.stack([across, np.cross(to_sun, across), to_sun])


def shadow_frame(
    bodies: Floats, vertices: Floats, to_sun: Floats, eye: Floats
) -> tuple[Floats, int]:
    """Return 12 numbers of the map of shadows, and its size: 1 if nothing casts.

    Rows across, up and towards the sun (9), the map's lower corner (2), texels per meter.

    The map covers what casts near the camera, no more; its size and place move in jumps, or the
    edges of shadows would crawl.
    """
    axes = sun_axes(to_sun)
    places = np.concatenate([bodies[:, CENTER : CENTER + 3], vertices])
    radii = np.concatenate([bodies[:, AROUND], np.zeros(len(vertices))])[:, np.newaxis]
    middle = axes[:2] @ eye
    seen = places @ axes[:2].T
    near = (
        np.all(np.abs(seen - middle) <= REACH + radii, axis=1) if len(seen) else np.zeros(0, bool)
    )
    if not near.any():
        return np.array([*axes.ravel(), 0.0, 0.0, 1.0]), 1
    low = np.maximum((seen - radii)[near].min(axis=0), middle - REACH)
    high = np.minimum((seen + radii)[near].max(axis=0), middle + REACH)
    wanted = max(float((high - low).max()) * 1.02, 0.5)
    wide = 1.25 ** math.ceil(math.log(wanted, 1.25))
    count = min(RESOLUTION, max(64, math.ceil(wide / FINEST)))
    texel = wide / (count - 8)
    corner = np.floor(low / texel) * texel - 4.0 * texel
    return np.array([*axes.ravel(), *corner, 1.0 / texel]), count


def cast_shadows(
    bodies: Floats, meshes: Faces, to_sun: Floats, eye: Floats, share: Share
) -> tuple[Singles, Floats]:
    """Return the map of shadows and where it lies: see `shadow_frame`."""
    sun, count = shadow_frame(bodies, meshes.vertices, to_sun, eye)
    cast = np.full((count, count), _NOTHING, dtype=np.float32)
    if count == 1:
        return cast, sun
    seen = meshes.vertices @ sun[:9].reshape(3, 3).T
    seen[:, :2] = (seen[:, :2] - sun[9:11]) * sun[11]
    words = np.empty((1, 1), dtype=np.uint32)  # none are written

    def band(first: int) -> None:
        last = min(first + _BAND, count)
        _cast_faces(seen, meshes.faces, first, last, cast, words)
        cast_bodies(bodies, sun, first, last, cast)

    share(band, range(0, count, _BAND))
    return cast, sun


@compiled
def _cast_faces(
    seen: Floats, faces: NDArray[np.int64], top: int, bottom: int, cast: Singles,
    words: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Fill rows of the shadow map with faces; ``seen``: texel x and y, height towards the sun."""
    for k in range(faces.shape[0]):
        a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
        fill_triangle(
            seen[a, 0], seen[a, 1], seen[a, 2], seen[b, 0], seen[b, 1], seen[b, 2],
            seen[c, 0], seen[c, 1], seen[c, 2], DEPTH_ALONE, top, bottom,
            cast, words,
        )  # fmt: skip
