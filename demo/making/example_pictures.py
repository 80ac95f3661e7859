"""Draw the examples' pictures for the site: ``python -m demo.making.example_pictures [NAME ...]``.

Each is what the example itself draws with ``--picture``.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from . import ASSETS

OUT = ASSETS / "examples"
NAMES = (
    "third_person_game", "strategy_game", "bouncing_ball", "netplay", "geodata",
    "moderngl_terrain", "cluster_flood",
)  # fmt: skip


def draw(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        command = [sys.executable, "-m", f"demo.examples.{name}", "--picture", str(file)]
        command += ["--headless", "--seconds", "20", "--speed", "5"] if name == "netplay" else []
        subprocess.run(command, check=True)  # noqa: S603 our own program
        with Image.open(file) as picture:
            picture.convert("RGB").save(OUT / f"{name}.webp", quality=84, method=6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
