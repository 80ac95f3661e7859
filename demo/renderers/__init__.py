"""Renderers: a `Frame` in, a picture out. OpenGL where there is a driver, else the processor."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ..picture.frame import Frame

if TYPE_CHECKING:  # kernels are compiled ahead of time where there is no pygame
    import pygame

KINDS = ("auto", "gl", "software")


class Renderer(Protocol):
    """Draws frames, into a window or unseen."""

    name: str
    size: tuple[int, int]
    # The share of its width and height that the picture is drawn at, then enlarged: 0.5 to 1.
    # Labels and overlays keep the window's resolution.
    scale: float

    @property
    def card_seconds(self) -> float | None:
        """What an earlier picture took the graphics card; None where the processor draws."""

    def prepare(self, frame: Frame) -> None:
        """Compile what drawing such a frame needs; in any thread, nothing is drawn."""

    def draw(self, frame: Frame) -> None:
        """Draw a frame; nothing is shown yet."""

    def overlay(
        self,
        panel: "pygame.Surface",
        boxes: "Sequence[pygame.Rect] | None" = None,
        version: int | None = None,
    ) -> None:
        """Lay a picture with transparency over what was drawn, from the upper left corner.

        There is nothing on it outside of ``boxes``, if they are given; they do not overlap. It is
        the same picture as long as ``version`` is the same number.
        """

    def present(self) -> None:
        """Show what was drawn, if there is a window."""

    def read(self) -> NDArray[np.uint8]:
        """Return what was drawn, (height, width, 3)."""

    def resize(self, size: tuple[int, int]) -> None:
        """Draw at another size from now on."""

    def close(self) -> None:
        """Give everything back."""


def likely_kind(kind: str) -> str:
    """Return "software" where "auto" will end there, without a window; in any thread."""
    if kind != "auto":
        return kind
    try:
        from .gl import emulated_driver

        driver = emulated_driver()
    except Exception:  # a window may have what an unseen context lacks
        return kind
    if driver:
        _tell_no_opengl(f"{driver} has no graphics card")
        return "software"
    return kind


def open_renderer(kind: str, size: tuple[int, int], *, visible: bool) -> Renderer:
    """Return a renderer, "gl", "software" or what works best; with a window if ``visible``.

    Without an OpenGL driver it is the software renderer, and one line on stderr says why.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind != "software":
        try:
            from .gl import GLRenderer

            renderer = GLRenderer(size, visible=visible)
            if kind == "gl" or not renderer.is_emulated:
                return renderer
            reason = f"{renderer.driver} has no graphics card"
            renderer.close()
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
        _tell_no_opengl(reason)
    from .software import SoftwareRenderer

    return SoftwareRenderer(size, visible=visible)


def _tell_no_opengl(reason: str) -> None:
    print(f"no OpenGL ({reason}): drawing in software", file=sys.stderr)
