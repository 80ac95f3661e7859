"""A renderer that draws nothing but counts what it is given."""

from typing import Any

import numpy as np
import pygame

from demo.app import App
from demo.picture.frame import Frame
from demo.scenery.scenes import make_scene
from demo.simulation import Simulation

SIZE = (640, 360)


class Counting:
    """Takes frames and panels, and remembers the last of them."""

    name = "counting"
    card_seconds = None

    def __init__(self, size=SIZE) -> None:
        self.size = size
        self.scale = 1.0
        self.drawn = self.overlaid = self.presented = self.prepared = 0
        self.last: Frame | None = None
        self.versions: list[object] = []
        self.scales: list[float] = []
        self._panel = pygame.Surface(size, pygame.SRCALPHA)
        self.closed = False

    def prepare(self, frame: Frame) -> None:  # noqa: ARG002
        self.prepared += 1

    def draw(self, frame: Frame) -> None:
        self.drawn += 1
        self.last = frame
        self.scales.append(self.scale)

    def overlay(
        self,
        panel: pygame.Surface,
        boxes: object = None,  # noqa: ARG002
        version: object = None,
    ) -> None:
        assert panel.get_size() == self.size
        self.overlaid += 1
        self.versions.append(version)
        self._panel = panel.copy()

    @property
    def panel(self) -> np.ndarray:
        """The opacity of each pixel of the last panel, by column and row."""
        return pygame.surfarray.array_alpha(self._panel)

    def present(self) -> None:
        self.presented += 1

    def read(self) -> np.ndarray:
        pixels = np.zeros((self.size[1], self.size[0], 3), dtype=np.uint8)
        pixels[:, :, 1] = self.drawn * 27 % 256
        return pixels

    def resize(self, size) -> None:
        self.size = size

    def close(self) -> None:
        self.closed = True


def open_app(name: str = "slopes", **options: Any) -> Any:
    """Return the demo in a small scene, without a window."""
    app = App(
        Simulation(make_scene(name, 1, small=True)),
        Counting(),
        SIZE,
        change_scene=lambda other: make_scene(other, 1, small=True),
        **options,
    )
    app.frame(1 / 60, [])
    return app


def key(name: str, *, down: bool = True) -> pygame.event.Event:
    kind = pygame.KEYDOWN if down else pygame.KEYUP
    return pygame.event.Event(kind, key=getattr(pygame, f"K_{name}"))


def press(app: Any, *names: str, frames: int = 1) -> None:
    """Press keys, hold them for some frames, let go."""
    app.frame(1 / 60, [key(name) for name in names])
    for _ in range(frames - 1):
        app.frame(1 / 60, [])
    app.frame(1 / 60, [key(name, down=False) for name in names])


def click(app: Any, place: tuple[int, int], button: int = 1, frames: int = 1) -> None:
    """Press a mouse button somewhere, hold it, let go."""
    move = pygame.event.Event(pygame.MOUSEMOTION, pos=place, rel=(0, 0), buttons=(0, 0, 0))
    down = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=button, pos=place)
    app.frame(1 / 60, [move, down])
    for _ in range(frames - 1):
        app.frame(1 / 60, [])
    app.frame(1 / 60, [pygame.event.Event(pygame.MOUSEBUTTONUP, button=button, pos=place)])
