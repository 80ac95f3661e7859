"""Draw a small picture of each recipe: ``python -m demo.making.recipe_pictures [NAME ...]``.

The code of a recipe runs; what its bodies and rays did is drawn into one picture by the demo's
software renderer: each body several times along its way.
"""

import argparse
import contextlib
import io
import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from terrain_physics import (
    OBB,
    Capsule,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Sphere,
)
from terrain_physics.surface.surface import Surface

from ..picture import colors
from ..picture.frame import Balls, Camera, Crates, Frame, Lines, Mesh, Pills
from ..renderers.software import SoftwareRenderer
from . import ASSETS

OUT = ASSETS / "recipes"
PAGES = ASSETS.parent / "demo" / "docs" / "cookbook"
SIZE = (240, 150)
MOST_BODIES, POSES = 40, 7
Floats = NDArray[np.float64]


class View(NamedTuple):
    """Where a recipe is seen from, about the middle of what happened; angles in degrees."""

    yaw: float = 30.0
    pitch: float = -22.0
    away: float = 1.15  # times what just fits
    section: int = 0  # the code block of the page that is drawn
    deepest: float = 4.0  # meters; who falls farther has left the picture


VIEWS = {
    "sprites": View(0.0, -75.0),
    "crowd": View(20.0, -40.0, 0.6),
    "triggers": View(section=1, away=0.8),
    "save": View(yaw=-60.0),
    "ladder": View(yaw=-50.0),
    "glide": View(away=0.6, deepest=math.inf),
    "ball": View(away=0.7),
    "one_way": View(yaw=40.0, pitch=8.0),
    "moving_platforms": View(away=1.5),
    "rays": View(section=2),
    "click_to_move": View(20.0, -42.0, 1.5),
    "horde": View(25.0, -38.0, 1.0),
}

# Recipes without bodies show a picture that there is already, and which part of it.
INSTEAD = {
    "geotiff": "examples/geodata.webp",
    "loading_screen": "demo/scene_slopes.webp",
    "draw": "examples/moderngl_terrain.webp",
    "release": "demo/scene_walk.webp",
    "tiles": "demo/scene_world.webp",
    "crates": "demo/scene_reference.webp",
    "learning": "demo/scene_stairs.webp",
}


class Witness:
    """Takes down where bodies are after each update, and what is swept or asked along rays."""

    def __init__(self) -> None:
        self.ground: Any = None
        self.ways: dict[Any, list[Any]] = {}  # shapes of each body, in order

    def see(self, key: Any, ground: Any, shape: Any) -> None:
        self.ground = ground
        self.ways.setdefault(key, []).append(shape)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Be told of all that moves meanwhile."""
        move, move_all = CharacterMovement.update, CharacterGroup.update
        sweep_of, contacts_of = Surface.sweep, Surface.contacts

        def update(mover: Any, *given: Any, **more: Any) -> Any:
            result = move(mover, *given, **more)
            self.see(id(mover), mover.ground, _placed(mover))
            return result

        def update_all(group: Any, *given: Any, **more: Any) -> Any:
            result = move_all(group, *given, **more)
            for key in list(group)[:MOST_BODIES]:
                self.see((id(group), key), group.ground, _placed(group[key]))
            return result

        def sweep(ground: Any, shape: Any, *given: Any, **more: Any) -> Any:
            self.see("swept", ground, shape)
            return sweep_of(ground, shape, *given, **more)

        def contacts(ground: Any, shape: Any, *given: Any, **more: Any) -> Any:
            if isinstance(shape, OBB):
                self.see("box", ground, shape)
            return contacts_of(ground, shape, *given, **more)

        with (
            mock.patch.object(CharacterMovement, "update", update),
            mock.patch.object(CharacterGroup, "update", update_all),
            mock.patch.object(Surface, "sweep", sweep),
            mock.patch.object(Surface, "contacts", contacts),
        ):
            yield


def _placed(mover: Any) -> Any:
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(mover.rotation.to_list()).T
    matrix[:3, 3] = mover.position64
    return mover.collider.transformed(matrix)


def code_of(name: str, section: int) -> str:
    """Return the code of a recipe up to one of its blocks."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return str(found[min(section, len(found) - 1)])


def seen(name: str, view: View) -> Witness:
    """Run a recipe in a folder of its own and return what happened."""
    witness, before = Witness(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("assets").symlink_to(ASSETS)
            with witness.watching(), contextlib.redirect_stdout(io.StringIO()):
                exec(code_of(name, view.section), {"__name__": name})  # noqa: S102 our own page
        finally:
            os.chdir(before)
    return witness


def _middle(shape: Any) -> Floats:
    return np.array(shape.center64 if not isinstance(shape, Capsule) else shape.a64)


def fill(frame: Frame, witness: Witness, deepest: float) -> Floats:
    """Add ground and bodies to a frame; return the places that it is to show."""
    _fill_ground(frame, witness.ground)
    places = []
    for number, way in enumerate(witness.ways.values()):
        color = colors.PEOPLE[(number + 1) % len(colors.PEOPLE)]
        path = np.array([_middle(shape) for shape in way])
        places.append(path[path[:, 1] > path[0, 1] - deepest])
        many = len(witness.ways) > 3
        chosen = [len(way) - 1] if many else np.linspace(0, len(way) - 1, POSES).astype(int)
        for index in chosen:
            _fill_shape(frame, way[index], color)
        if not many and len(path) > 1:
            ends = np.stack([path[:-1], path[1:]], axis=1)
            frame.lines.append(Lines(ends, colors.rows(colors.WHITE, len(ends))))
    return np.concatenate(places)


def _fill_shape(frame: Frame, shape: Any, color: colors.Color) -> None:
    row = colors.rows(color, 1)
    if isinstance(shape, Sphere):
        center, radius = np.array([shape.center64]), np.array([shape.radius])
        frame.balls.append(Balls(center, radius, np.eye(3)[np.newaxis], row))
    elif isinstance(shape, OBB):
        turn = np.array(shape.rotation64).reshape(1, 3, 3)
        center, half = np.array([shape.center64]), np.array([shape.half_extents64])
        frame.boxes.append(Crates(center, half, turn, row))
    else:
        ends = np.array([shape.a64]), np.array([shape.b64])
        frame.capsules.append(Pills(*ends, np.array([shape.radius]), row))


def _fill_ground(frame: Frame, ground: Any) -> None:
    """Add a map as land, all else as meshes."""
    parts = ground.parts if isinstance(ground, Ground) else {0: ground}
    for key, part in parts.items():
        if isinstance(part, HeightMap) and frame.land is None:
            frame.land = part
            continue
        if isinstance(part, HeightMap):
            arrays = part.to_mesh()
            triangles = arrays.indices.reshape(-1, 3).astype(np.int64)
            frame.meshes.append(Mesh(arrays.vertices.astype(float), triangles, colors.GREEN))
            continue
        vertices = np.array(part.vertices)
        if isinstance(ground, Ground):
            pose = ground.transform(key)
            vertices = vertices @ pose[:3, :3].T + pose[:3, 3]
        frame.meshes.append(Mesh(vertices, np.array(part.faces), colors.STONE))


def camera_for(places: Floats, view: View) -> Camera:
    """Return a camera that sees all places, from the side on which they go from left to right."""
    low, high = places.min(axis=0) - 1.0, places.max(axis=0) + 1.0
    middle, size = 0.5 * (low + high), high - low
    turn = math.radians(view.yaw) + (0.5 * math.pi if size[2] > size[0] else 0.0)
    pitch = math.radians(view.pitch)
    width = abs(size[0] * math.cos(turn)) + abs(size[2] * math.sin(turn))
    away = view.away * max(0.9 * size[1] + 0.4 * width, 0.62 * width) + 2.5
    level = away * math.cos(pitch)
    x, z = middle[0] + level * math.sin(turn), middle[2] + level * math.cos(turn)
    return Camera((x, middle[1] - away * math.sin(pitch), z), yaw=turn, pitch=pitch)


def picture(name: str) -> Image.Image:
    """Return the picture of a recipe, drawn at four times the size."""
    if name in INSTEAD:
        with Image.open(ASSETS / INSTEAD[name]) as instead:
            return instead.convert("RGB")
    view, frame = VIEWS.get(name, View()), Frame(Camera())
    places = fill(frame, seen(name, view), view.deepest)
    frame.camera = camera_for(places, view)
    renderer = SoftwareRenderer((4 * SIZE[0], 4 * SIZE[1]), visible=False)
    renderer.draw(frame)
    pixels = renderer.read()
    renderer.close()
    return Image.fromarray(pixels)


def fitted(image: Image.Image) -> Image.Image:
    """Return the middle of a picture, as small as all are."""
    width, height = image.size
    wide = min(width, round(height * SIZE[0] / SIZE[1]))
    high = min(height, round(width * SIZE[1] / SIZE[0]))
    left, top = (width - wide) // 2, (height - high) // 2
    part = image.crop((left, top, left + wide, top + high))
    return part.resize(SIZE, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    recipes = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "index")
    parser.add_argument("names", nargs="*", default=recipes, help="default: all")
    OUT.mkdir(exist_ok=True)
    for chosen in parser.parse_args().names:
        fitted(picture(chosen)).save(OUT / f"{chosen}.webp", quality=80, method=6)
