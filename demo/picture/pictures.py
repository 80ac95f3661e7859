"""Pictures and recordings: files made of what was drawn."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pygame
from numpy.typing import NDArray

FRAMES_A_SECOND = 20
_WEBP_QUALITY = 50
NEEDS_PILLOW = 'recording needs Pillow: pip install -e ".[demo]"'

Pixels = NDArray[np.uint8]


def save_picture(pixels: Pixels, path: str | os.PathLike[str]) -> None:
    """Write a picture, (height, width, 3), as a .png file."""
    height, width, _ = pixels.shape
    data = np.ascontiguousarray(pixels).tobytes()
    pygame.image.save(pygame.image.frombuffer(data, (width, height), "RGB"), os.fspath(path))


def save_screenshot(pixels: Pixels) -> str:
    """Write a picture into the working directory; return a line that says so."""
    stamp = time.strftime("%Y-%m-%d_%H%M%S")
    path = Path(f"terrain_physics_{stamp}.png")
    number = 1
    while path.exists():
        number += 1
        path = Path(f"terrain_physics_{stamp}_{number}.png")
    try:
        save_picture(pixels, path)
    except (OSError, pygame.error) as error:
        return f"no screenshot: {error}"
    return f"saved {path}"


class AnimatedPicture:
    """An animated picture, 20 frames a second; written when it is closed."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from PIL import Image

        self._image = Image
        self._path = Path(path)
        self._frames: list[Image.Image] = []

    def add(self, pixels: Pixels) -> None:
        """Take in a frame."""
        image = self._image.fromarray(pixels)
        if self._path.suffix.lower() == ".gif":
            image = image.quantize(128, dither=self._image.Dither.NONE)
        self._frames.append(image)

    def close(self) -> None:
        """Write the file."""
        if not self._frames:
            return
        first, *others = self._frames
        times = [round(1000 * (at + 1) / FRAMES_A_SECOND) for at in range(len(self._frames))]
        lengths = [after - before for before, after in zip([0, *times], times, strict=False)]
        options: dict[str, Any] = {"duration": lengths, "loop": 0}
        if self._path.suffix.lower() == ".webp":
            options |= {"quality": _WEBP_QUALITY, "method": 4}
        first.save(self._path, save_all=True, append_images=others, **options)
