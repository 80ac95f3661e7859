"""A still picture of a scene, shown until there is a better one."""

from contextlib import suppress
from pathlib import Path

import pygame

from ..scenery.assets import ASSETS

GROUND = (16, 22, 32)


class Still:
    """The first frame of a scene as a file has it, or nothing but a ground."""

    def __init__(self, name: str, folder: Path = ASSETS / "demo" / "stills") -> None:
        self._picture: pygame.Surface | None = None
        with suppress(OSError, pygame.error):  # no such file, or none that this pygame reads
            self._picture = pygame.image.load(folder / f"{name}.webp")
        self._fitted: pygame.Surface | None = None

    def fitted(self, size: tuple[int, int]) -> pygame.Surface:
        """Return the picture so that it covers a window; what is too much at two sides is cut."""
        if self._fitted is None or self._fitted.get_size() != size:
            self._fitted = pygame.Surface(size)
            self._fitted.fill(GROUND)
            if self._picture is not None:
                width, height = self._picture.get_size()
                scale = max(size[0] / width, size[1] / height)
                large = (max(round(width * scale), 1), max(round(height * scale), 1))
                picture = pygame.transform.smoothscale(self._picture, large)
                self._fitted.blit(picture, picture.get_rect(center=self._fitted.get_rect().center))
        return self._fitted
