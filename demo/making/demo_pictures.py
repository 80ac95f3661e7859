"""Draw the demo's pictures for the site: ``python -m demo.making.demo_pictures [NAME ...]``.

Each is a frame of the demo itself, drawn by its software renderer at twice the size and halved.
The walk that moves comes from ``python -m demo --scene walk --record assets/demo/walk.webp``.
"""

import argparse
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pygame
from PIL import Image

from ..panel.loading import Report, wait_with_bar
from ..panel.still import Still
from ..running.command_line import main as demo
from . import ASSETS

OUT = ASSETS / "demo"
SIZE = (960, 540)

# Name: scene, frames of 1/60 s, views; with the panel where the name says so.
PICTURES = {
    "scene_reference": ("reference", 105, ""),
    "scene_walk": ("walk", 95, ""),
    "scene_slopes": ("slopes", 62, ""),
    "scene_stairs": ("stairs", 150, ""),
    "scene_edges": ("edges", 130, ""),
    "scene_crowd": ("crowd", 250, ""),
    "scene_digging": ("digging", 420, ""),
    "scene_counter": ("counter", 150, ""),
    "scene_lift": ("lift", 453, ""),
    "scene_doorway": ("doorway", 540, ""),
    "scene_paths": ("paths", 220, ""),
    "scene_world": ("world", 330, ""),
    "panel": ("stairs", 170, "boxes"),
    "view_candidates": ("reference", 260, "candidates"),
    "view_contacts": ("slopes", 62, "contacts,boxes,normals"),
    "view_wireframe": ("walk", 95, "wireframe"),
    "view_planes": ("stairs", 150, "planes"),
    "view_blocks": ("reference", 200, "blocks"),
}


class Kept:
    """A screen that keeps what is laid on it."""

    size = SIZE

    def __init__(self) -> None:
        self.shown = threading.Event()
        self.panel = pygame.Surface(SIZE)

    def overlay(self, panel: pygame.Surface, boxes: Sequence[pygame.Rect] | None = None) -> None:
        """Keep a picture."""
        del boxes
        self.panel = panel.copy()

    def present(self) -> None:
        """Let the work end that is waited for."""
        self.shown.set()

    def resize(self, size: tuple[int, int]) -> None:
        """Stay as large as it is."""


def draw_loading() -> None:
    """Draw what is seen while a scene is loaded."""
    pygame.display.init()
    pygame.font.init()
    kept = Kept()
    report = Report("Compiling the physics", ("once: the next start takes a second",), 0.6)
    wait_with_bar(kept, kept.shown.wait, Still("walk"), lambda: report)
    pixels = pygame.surfarray.array3d(kept.panel).swapaxes(0, 1)
    Image.fromarray(pixels).save(OUT / "loading.webp", quality=84, method=6)


def draw(name: str) -> None:
    if name == "loading":
        draw_loading()
        return
    scene, frames, views = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.png"
        arguments = ["--scene", scene, "--frames", str(frames), "--views", views]
        arguments += ["--size", f"{2 * SIZE[0]}x{2 * SIZE[1]}", "--renderer", "software"]
        arguments += ["--screenshot", str(large)]
        if name == "panel":
            arguments.append("--panel")
        if demo(arguments) != 0:
            raise SystemExit(1)
        with Image.open(large) as image:
            small = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    small.save(OUT / f"{name}.webp", quality=84, method=6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*PICTURES, "loading"], help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
