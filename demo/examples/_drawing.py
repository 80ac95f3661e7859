"""What the examples draw with: a ground and its parts, by the demo's renderer, into a file."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap

from ..picture.frame import Camera, Color, Frame, Mesh

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
SIZE = (960, 540)


def frame_of(ground: Ground, colors: Mapping[int, Color], camera: Camera) -> Frame:
    """Return a picture to be drawn: a ground with one map, and its meshes where they are now."""
    frame = Frame(camera)
    for key, part in ground.parts.items():
        if isinstance(part, HeightMap):
            frame.land = part
        else:
            pose = ground.transform(key)
            places = part.vertices @ pose[:3, :3].T + pose[:3, 3]
            frame.meshes.append(Mesh(places, part.faces.astype(np.int64), colors[key]))
    return frame


def save_frame(frame: Frame, file: Path) -> None:
    """Draw a frame at twice the size, and write it as a .png file of `SIZE`."""
    pygame = import_pygame()
    from ..renderers import open_renderer

    pygame.font.init()
    renderer = open_renderer("software", (2 * SIZE[0], 2 * SIZE[1]), visible=False)
    renderer.draw(frame)
    save_pixels(renderer.read(), file)
    renderer.close()


def save_pixels(pixels: NDArray[np.uint8], file: Path) -> None:
    """Write a picture (height, width, 3), scaled to `SIZE`, as a .png file."""
    pygame = import_pygame()
    picture = pygame.surfarray.make_surface(np.swapaxes(pixels, 0, 1))
    pygame.image.save(pygame.transform.smoothscale(picture, SIZE), str(file))
    print(f"drawn to {file}")


def import_pygame() -> ModuleType:
    """Return pygame, or say what to install."""
    try:
        import pygame
    except ImportError:
        raise SystemExit("this needs pygame: pip install 'terrain-physics[demo]'") from None
    return pygame
