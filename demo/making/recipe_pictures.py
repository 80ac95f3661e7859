"""Draw a small picture of each recipe: ``python -m demo.making.recipe_pictures [NAME ...]``.

The code of a recipe runs; what its bodies and rays did is drawn into one picture by the demo's
software renderer: each body several times along its way.
"""

import argparse
import contextlib
import copy
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
    TiledGround,
    TriangleMesh,
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
FEW = 3  # bodies, whose ways are shown
JUMP = 1.0  # meters in one update: put there, and no way
TILES = (colors.GREEN, (150, 176, 84))
Floats = NDArray[np.float64]


class View(NamedTuple):
    """Where a recipe is seen from, about the middle of what happened; angles in degrees."""

    yaw: float = 30.0
    pitch: float = -22.0
    away: float = 1.15  # times what just fits
    section: int = 0  # the code block of the page that is drawn
    needs: tuple[int, ...] = ()  # the blocks that run before it
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


class Placed(NamedTuple):
    """A part of the ground, and where it is, as a matrix."""

    part: Any
    pose: Floats
    color: colors.Color = colors.STONE


class Witness:
    """Takes down where bodies are after each update, and what is swept or asked along rays."""

    def __init__(self) -> None:
        self.ground: Any = None
        self.ways: dict[Any, list[Any]] = {}  # shapes of each body, in order
        self.times: dict[Any, list[float]] = {}  # of these shapes, in seconds
        self.scenes: list[tuple[float, list[Placed]]] = []  # the parts of the ground, by seconds
        self.movers: list[Any] = []  # held, as another one would get the `id` of one that is gone
        self.rays: list[tuple[Any, Any]] = []  # and what they hit
        self._lands: dict[Any, HeightMap] = {}
        self._tiles: dict[tuple[int, int], Placed] = {}

    def see(self, key: Any, ground: Any, shape: Any, seconds: float = 1 / 60) -> None:
        self.ground = ground
        times = self.times.setdefault(key, [])
        times.append((times[-1] if times else 0.0) + seconds)
        self.ways.setdefault(key, []).append(shape)
        if not self.scenes or times[-1] > self.scenes[-1][0]:
            self.scenes.append((times[-1], self.parts_of(ground)))

    def parts_of(self, ground: Any) -> list[Placed]:
        """Return the parts of a ground as they are now: maps may be edited later."""
        if isinstance(ground, TiledGround):
            return [self._tile(ground, *place) for place in sorted(ground.loaded)]
        if not isinstance(ground, Ground):
            return [Placed(self._as_it_is(ground), np.eye(4))]
        return [
            Placed(self._as_it_is(part), np.array(ground.transform(key)))
            for key, part in ground.parts.items()
        ]

    def _tile(self, land: TiledGround, row: int, column: int) -> Placed:
        """Return a tile that is loaded, roughly, as a field of a chessboard."""
        if (row, column) not in self._tiles:
            tile, pose = land.tile(row, column), np.eye(4)
            assert tile is not None
            rough = HeightMap(np.asarray(tile.heights)[::4, ::4], cell_size=4).to_mesh()
            pose[:3, 3] = land.tile_size * column, 0.0, land.tile_size * row
            mesh = TriangleMesh(rough.vertices, rough.indices.reshape(-1, 3))
            self._tiles[row, column] = Placed(mesh, pose, TILES[(row + column) % 2])
        return self._tiles[row, column]

    def _as_it_is(self, part: Any) -> Any:
        if not isinstance(part, HeightMap):
            return part
        version = id(part), part.version
        if version not in self._lands:
            self._lands[version] = copy.deepcopy(part)
        return self._lands[version]

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Be told of all that moves meanwhile."""
        move, move_all = CharacterMovement.update, CharacterGroup.update
        sweep_of, contacts_of, raycast_of = Surface.sweep, Surface.contacts, Surface.raycast

        def update(mover: Any, seconds: float, *given: Any, **more: Any) -> Any:
            result = move(mover, seconds, *given, **more)
            self.movers.append(mover)
            self.see(id(mover), mover.ground, _placed(mover), seconds)
            return result

        def update_all(group: Any, seconds: float, *given: Any, **more: Any) -> Any:
            result = move_all(group, seconds, *given, **more)
            self.movers.append(group)
            for key in list(group)[:MOST_BODIES]:
                self.see((id(group), key), group.ground, _placed(group[key]), seconds)
            return result

        def sweep(ground: Any, shape: Any, *given: Any, **more: Any) -> Any:
            self.see("swept", ground, shape)
            return sweep_of(ground, shape, *given, **more)

        def contacts(ground: Any, shape: Any, *given: Any, **more: Any) -> Any:
            if isinstance(shape, OBB):
                self.see("box", ground, shape)
            return contacts_of(ground, shape, *given, **more)

        def raycast(ground: Any, ray: Any, *given: Any, **more: Any) -> Any:
            hit = raycast_of(ground, ray, *given, **more)
            self.ground = ground
            self.rays.append((ray, hit))
            return hit

        with (
            mock.patch.object(Surface, "raycast", raycast),
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
    """Return the code of one block of a recipe."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return str(found[section])


def seen(name: str, view: View) -> Witness:
    """Run a recipe in a folder of its own and return what happened."""
    witness, before = Witness(), Path.cwd()
    names: dict[str, Any] = {"__name__": name}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("assets").symlink_to(ASSETS)
            with contextlib.redirect_stdout(io.StringIO()):
                for section in view.needs:
                    exec(code_of(name, section), names)  # noqa: S102 our own page
                with witness.watching():
                    exec(code_of(name, view.section), names)  # noqa: S102
        finally:
            os.chdir(before)
    if witness.ground is None:  # nothing moves on it
        witness.ground = names["land"]
    return witness


def _middle(shape: Any) -> Floats:
    return np.array(shape.center64 if not isinstance(shape, Capsule) else shape.a64)


def fill(frame: Frame, witness: Witness, deepest: float) -> Floats:
    """Add ground and bodies to a frame; return the places that it is to show."""
    fill_ground(frame, witness.parts_of(witness.ground))
    for number, way in enumerate(witness.ways.values()):
        many = len(witness.ways) > FEW
        chosen = [len(way) - 1] if many else np.linspace(0, len(way) - 1, POSES).astype(int)
        for index in chosen:
            fill_shape(frame, way[index], color_of(number))
        if not many:
            fill_way(frame, way)
    return places_of(witness, deepest)


def places_of(
    witness: Witness,
    deepest: float,
    during: tuple[float, float] = (0.0, math.inf),
    most: int | None = None,
) -> Floats:
    """Return where the first bodies were in some seconds, while they were in the picture."""
    shown = []
    for key, way in list(witness.ways.items())[:most]:
        path, times = np.array([_middle(shape) for shape in way]), np.array(witness.times[key])
        shown.append(
            path[(path[:, 1] > path[0, 1] - deepest) & (times >= during[0]) & (times <= during[1])]
        )
    return np.concatenate(shown)


def color_of(number: int) -> colors.Color:
    """Return the color of a body."""
    return colors.PEOPLE[(number + 1) % len(colors.PEOPLE)]


def fill_way(frame: Frame, way: list[Any]) -> None:
    """Add the way of a body as a line."""
    path = np.array([_middle(shape) for shape in way]).reshape(-1, 3)
    ends = np.stack([path[:-1], path[1:]], axis=1)
    ends = ends[np.linalg.norm(path[1:] - path[:-1], axis=1) < JUMP]
    if len(ends) > 0:
        frame.lines.append(Lines(ends, colors.rows(colors.WHITE, len(ends))))


def fill_shape(frame: Frame, shape: Any, color: colors.Color) -> None:
    """Add a body."""
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


def fill_ground(frame: Frame, parts: list[Placed]) -> None:
    """Add a map as land, all else as meshes."""
    for part, pose, color in parts:
        if isinstance(part, HeightMap) and frame.land is None:
            frame.land = part
        elif isinstance(part, HeightMap):
            arrays = part.to_mesh()
            triangles = arrays.indices.reshape(-1, 3).astype(np.int64)
            frame.meshes.append(Mesh(arrays.vertices.astype(float), triangles, colors.GREEN))
        else:
            vertices = np.array(part.vertices) @ pose[:3, :3].T + pose[:3, 3]
            frame.meshes.append(Mesh(vertices, np.array(part.faces), color))


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
