"""Draw the README's moving pictures: ``python -m demo.making.moving_pictures [NAME ...]``.

Each is a scene of the demo seen from a camera of its own, drawn by the software renderer at twice
the size and halved.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import NamedTuple

import numpy as np
from PIL import Image

from terrain_physics import HeightMap

from ..picture.frame import Camera, Frame
from ..playground.building import arena
from ..playground.digging import MATERIALS
from ..playground.doorway import Doorway
from ..playground.lift import Lift
from ..playground.throng import Throng, scattered
from ..renderers.software import SoftwareRenderer
from ..scenery.inputs import STEP, STEPS_A_SECOND
from ..scenery.scene import Scene
from . import ASSETS

OUT = ASSETS / "demo"
SIZE = (400, 300)
FRAMES_A_SECOND = 10
MOST_BYTES = 400_000
PEOPLE, SPACING = 180, 1.5
PIT_EVERY, PIT_RADIUS, PIT_DEPTH = 1.1, 4.2, 2.6  # seconds, meters


class Pitted(Throng):
    """People who stroll about a square; the ground is dug away below them, and raised."""

    name = "pitted"
    title = "Dig below a crowd"

    def build(self) -> None:
        flat = arena(self.random, size=129, flat=30.0)
        self.land = HeightMap(flat.heights, origin=flat.origin64, material_names=MATERIALS)
        self.gather(scattered(self.random, PEOPLE, SPACING), (0.0, 30.0))
        self.headings = self.random.uniform(0.0, math.tau, PEOPLE)

    def lead(self) -> None:
        away = np.linalg.norm(self.people, axis=1)
        inward = np.arctan2(-self.people[:, 1], -self.people[:, 0])
        self.headings = np.where(away > 11.0, inward, self.headings + 0.004)
        self.group.walk(
            1.6 * np.cos(self.headings), 1.6 * np.sin(self.headings), keys=range(PEOPLE)
        )
        if self.steps % round(PIT_EVERY * STEPS_A_SECOND) == STEPS_A_SECOND // 2:
            self._dig(self.steps // round(PIT_EVERY * STEPS_A_SECOND))

    def _dig(self, number: int) -> None:
        """Make a pit, and every third time a hill."""
        assert self.land is not None
        angle, away = 2.4 * number, 3.0 + 1.3 * (number % 4)
        place = (away * math.cos(angle), away * math.sin(angle))
        rise = PIT_DEPTH if number % 3 == 2 else -PIT_DEPTH
        self.land.raise_(place, PIT_RADIUS, rise)
        x, _, z = self.land.origin64
        column, row = round(place[0] - x), round(place[1] - z)
        self.land.materials[row - 3 : row + 3, column - 3 : column + 3] = MATERIALS.index("earth")


class Moving(NamedTuple):
    """A moving picture: a scene, from when and how many seconds long, and where it is seen from."""

    scene: Callable[[], Scene]
    start: float
    seconds: float
    camera: Camera


def looking_at(place: tuple[float, float, float], away: float, yaw: float, pitch: float) -> Camera:
    """Return a camera that looks at a place. It stands still, or the file would be far larger."""
    level = away * math.cos(pitch)
    x, z = place[0] + level * math.sin(yaw), place[2] + level * math.cos(yaw)
    return Camera((x, place[1] - away * math.sin(pitch), z), yaw=yaw, pitch=pitch)


PICTURES = {
    "dig_below_a_crowd": Moving(
        lambda: Pitted(4), 0.3, 4.4, looking_at((0.0, 0.0, 0.0), 18.5, 0.3, -0.6)
    ),
    "through_a_door": Moving(
        lambda: Doorway(0), 4.0, 5.0, looking_at((0.0, 0.0, 0.5), 20.0, 0.3, -0.75)
    ),
    "ship_and_lifts": Moving(
        lambda: Lift(0), 3.0, 6.0, looking_at((-4.0, 2.0, -11.0), 26.0, 0.1, -0.36)
    ),
}


def frames(moving: Moving) -> Iterator[Image.Image]:
    """Yield the frames, drawn at twice the size and halved."""
    scene = moving.scene()
    renderer = SoftwareRenderer((2 * SIZE[0], 2 * SIZE[1]), visible=False)
    count = round(moving.seconds * FRAMES_A_SECOND)
    for index in range(count):
        seconds = moving.start + index / FRAMES_A_SECOND
        while scene.steps * STEP < seconds:
            scene.step(STEP, scene.script())
        frame = Frame(moving.camera)
        scene.fill(frame, 1.0)
        renderer.draw(frame)
        yield Image.fromarray(renderer.read()).resize(SIZE, Image.Resampling.LANCZOS)
    renderer.close()


def draw(name: str) -> None:
    """Write a picture, as good as its size allows."""
    first, *others = frames(PICTURES[name])
    for quality in range(50, 10, -10):
        data = BytesIO()
        first.save(
            data, "webp", save_all=True, append_images=others, loop=0, quality=quality, method=4,
            duration=round(1000 / FRAMES_A_SECOND),
        )  # fmt: skip
        if data.tell() <= MOST_BYTES:
            break
    (OUT / f"{name}.webp").write_bytes(data.getvalue())
    print(f"{name}: {data.tell() / 1000:.0f} kB, quality {quality}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PICTURES), help="default: all")
    for chosen in parser.parse_args().names:
        draw(chosen)
