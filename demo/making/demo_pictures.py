"""Draw the demo's pictures for the site: ``python -m demo.making.demo_pictures [NAME ...]``.

Each is a frame of the demo itself, drawn by its software renderer at twice the size and halved.
The walk that moves comes from ``python -m demo --scene walk --record assets/demo/walk.webp``.
"""

import argparse
import tempfile
from pathlib import Path

from PIL import Image

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


def draw(name: str) -> None:
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
    parser.add_argument("names", nargs="*", default=list(PICTURES), help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
