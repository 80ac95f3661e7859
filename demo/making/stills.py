"""Draw what is shown while a scene is loaded: ``python -m demo.making.stills [NAME ...]``.

Each is the first frame of its scene, drawn by the software renderer at twice the size and halved.
"""

import argparse

from PIL import Image

from ..renderers.software import SoftwareRenderer
from ..scenery.names import SCENES
from ..scenery.scenes import make_scene
from ..starting.rehearsal import first_frame
from . import ASSETS

OUT = ASSETS / "demo" / "stills"
SIZE = (960, 540)


def draw(name: str) -> None:
    scene = make_scene(name)
    frame = first_frame(scene)
    renderer = SoftwareRenderer((2 * SIZE[0], 2 * SIZE[1]), visible=False)
    renderer.draw(frame)
    small = Image.fromarray(renderer.read()).resize(SIZE, Image.Resampling.LANCZOS)
    renderer.close()
    OUT.mkdir(parents=True, exist_ok=True)
    small.save(OUT / f"{name}.webp", quality=60, method=6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SCENES), help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
