"""Draw the moving picture of each recipe's page: ``python -m demo.making.recipe_loops [NAME ...]``.

The code of a recipe runs; then what its bodies did is drawn as time goes by, by the demo's software
renderer at twice the size and halved.
"""

import argparse
import bisect
import math
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from terrain_physics import Sphere

from ..picture import colors
from ..picture.frame import Camera, Frame, Tint
from ..renderers.software import SoftwareRenderer
from . import ASSETS
from .recipe_pictures import (
    FEW,
    PAGES,
    VIEWS,
    View,
    Witness,
    camera_for,
    color_of,
    fill_ground,
    fill_shape,
    fill_way,
    places_of,
    seen,
)

OUT = ASSETS / "loops"
SIZE = (480, 300)
FRAMES_A_SECOND = 12
FAR = 3000.0  # meters that one sees
DOTS = 40  # of a ray
PAUSE = 0.8  # seconds at the end
MOST_BYTES = 150_000


class Loop(NamedTuple):
    """What of a recipe is shown: from where, and from when to when, in seconds."""

    view: View
    start: float = 0.0
    end: float = math.inf
    lasts: float = 6.0  # at most, in the picture
    water: float | None = None  # how high it stands
    near: int | None = None  # so many bodies are looked at; else all


WIDE = View(25.0, -38.0)
LOOPS = {
    "ball": Loop(View(away=1.2)),
    "car": Loop(View(away=1.1), start=1.0),
    "click_to_move": Loop(View(-35.0, -42.0, 1.5)),
    "crates": Loop(View(20.0, -30.0, 3.2), end=8.0),
    "crouch": Loop(View(4.0, -12.0, 1.1)),
    "crowd": Loop(View(20.0, -40.0, 0.9, section=1), lasts=4.0),
    "door": Loop(View(30.0, -40.0, 1.7), end=1.2, lasts=2.4),
    "ghosts": Loop(View(-20.0, -40.0, 1.1)),
    "glide": Loop(View(away=0.95, deepest=math.inf), end=5.0),
    "horde": Loop(View(25.0, -38.0, 1.0), lasts=5.0),
    "ice": Loop(View(away=1.05, pitch=-30.0)),
    "learning": Loop(View(30.0, -35.0, 1.2), end=3.0, near=1),
    "level": Loop(View(-20.0, -22.0, 1.1)),
    "mantle": Loop(View(-25.0, -30.0, 1.1)),
    "moving_platforms": Loop(View(away=1.2)),
    "sprites": Loop(View(0.0, -75.0, 1.7)),
    "swim": Loop(View(20.0, -25.0, 0.9, section=1, needs=(0,)), water=4.0),
    "tiles": Loop(View(30.0, -50.0, 1.5), end=14.0),
    "../guide/loop": Loop(View(away=1.0), end=6.0),
    "../concepts/worlds": Loop(View(away=0.9)),
}
# What does not move: from where it is seen.
STILLS = {
    "draw": (View(), Camera((100.0, 27.0, 128.0), 0.0, -0.62)),
    "geotiff": (View(section=1, needs=(0,)), Camera((560.0, 260.0, 1060.0), 0.0, -0.3)),
    "rays": (View(), Camera((42.0, 14.0, 31.0), 1.38, -0.4)),
}
# Pages that show another picture: their programs have nothing to draw.
ELSEWHERE = {"loading_screen", "release", "save"}


def loop_of(name: str) -> Loop:
    """Return what is shown of a recipe."""
    return LOOPS.get(name, Loop(VIEWS.get(name, View())))


def drawn(renderer: SoftwareRenderer, frame: Frame) -> Image.Image:
    """Return a frame at half the size."""
    renderer.draw(frame)
    return Image.fromarray(renderer.read()).resize(SIZE, Image.Resampling.LANCZOS)


def still(name: str) -> Frame:
    """Return what a recipe without bodies has: its land, and its rays."""
    view, camera = STILLS[name]
    witness = seen(name, view)
    frame = Frame(camera, wireframe=name == "draw", far=FAR)
    fill_ground(frame, witness.parts_of(witness.ground))
    for ray, hit in witness.rays:
        start, way = np.array(ray.origin64), np.array(ray.direction64)
        end = start + (hit.distance if hit else 60.0) * way / np.linalg.norm(way)
        for share in np.linspace(0.0, 1.0, DOTS):
            radius = 0.4 if share in (0.0, 1.0) else 0.12
            fill_shape(frame, Sphere(start + share * (end - start), radius), colors.ORANGE)
    return frame


def filled(witness: Witness, camera: Camera, start: float, seconds: float) -> Frame:
    """Return what was there at a time: the last that was seen until then."""
    frame = Frame(camera, far=FAR)
    scene = bisect.bisect_right([begin for begin, _ in witness.scenes], seconds)
    fill_ground(frame, witness.scenes[max(scene - 1, 0)][1])
    for number, (key, way) in enumerate(witness.ways.items()):
        first = bisect.bisect_left(witness.times[key], start)
        last = bisect.bisect_right(witness.times[key], seconds)
        fill_shape(frame, way[max(last - 1, 0)], color_of(number))
        if len(witness.ways) <= FEW:
            fill_way(frame, way[first:last])
    return frame


def flooded(frame: Frame, level: float) -> Frame:
    """Let water stand over the land."""
    assert frame.land is not None
    (x0, _, z0), (x1, _, z1) = frame.land.bounds.lower64, frame.land.bounds.upper64
    a, b, c, d = ((x, level, z) for x, z in ((x0, z0), (x0, z1), (x1, z1), (x1, z0)))
    frame.tints.append(Tint(np.array([[a, b, c], [a, c, d]]), colors.rows(colors.BLUE, 2)))
    return frame


def frames(name: str) -> Iterator[Frame]:
    """Yield what is drawn of a recipe."""
    if name in STILLS:
        yield still(name)
        return
    view, start, end, lasts, water, near = loop_of(name)
    witness = seen(name, view)
    if len(witness.ways) > 1:
        witness.ways.pop("swept", None)  # what a body feels ahead
    end = min(end, max(times[-1] for times in witness.times.values()))
    count = round(min(end - start, lasts) * FRAMES_A_SECOND)
    camera = camera_for(places_of(witness, view.deepest, (start, end), near), view)
    for index in range(count + 1):
        frame = filled(witness, camera, start, start + (end - start) * index / count)
        yield frame if water is None else flooded(frame, water)


def draw(name: str) -> None:
    """Write a picture, as good as its size allows."""
    renderer = SoftwareRenderer((2 * SIZE[0], 2 * SIZE[1]), visible=False)
    first, *others = (drawn(renderer, frame) for frame in frames(name))
    renderer.close()
    durations = [round(1000 / FRAMES_A_SECOND)] * len(others) + [round(1000 * PAUSE)]
    for quality in range(70, 10, -10):
        data = BytesIO()
        first.save(
            data, "webp", save_all=True, append_images=others, loop=0, quality=quality, method=4,
            duration=durations,
        )  # fmt: skip
        if data.tell() <= MOST_BYTES:
            break
    (OUT / f"{Path(name).name}.webp").write_bytes(data.getvalue())
    print(f"{name}: {data.tell() / 1000:.0f} kB, quality {quality}, {len(durations)} frames")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    recipes = sorted({page.stem for page in PAGES.glob("*.md")} - {"index", *ELSEWHERE})
    parser.add_argument("names", nargs="*", default=recipes, help="default: all that move")
    OUT.mkdir(exist_ok=True)
    for chosen in parser.parse_args().names:
        draw(chosen)
