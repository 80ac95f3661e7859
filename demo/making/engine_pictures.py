"""Draw what games of engines show, for the site: ``python -m demo.making.engine_pictures [NAME]``.

Each is the last frame of the example itself. It needs the extra ``engines``, and raylib a screen:
``xvfb-run`` gives it one.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from . import ASSETS

OUT = ASSETS / "examples"
NAMES = ("ursina_game", "panda3d_game", "pyglet_game", "raylib_game")
FRAMES, SIZE = 150, (640, 360)


def draw(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "end.png"
        command = [sys.executable, "-m", f"demo.examples.{name}", "--frames", str(FRAMES)]
        subprocess.run([*command, "--picture", str(file)], check=True)  # noqa: S603 our own program
        with Image.open(file) as large:
            small = large.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    small.save(OUT / f"{name}.webp", quality=84, method=6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
