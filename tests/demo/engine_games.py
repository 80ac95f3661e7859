"""The games of real engines, each played to its end in a process of its own, without a window."""

import importlib
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from demo.examples import _valley as valley
from terrain_physics.surface.axes import AxesName
from tests.character.engines import NOT_HERE, THEIRS

FRAMES = 150


class Game(NamedTuple):
    """The engine of an example, and where the object that owns its hero is."""

    module: str
    package: str
    axes: AxesName
    place: Callable[[Any], Any]
    needs_screen: bool = False


GAMES = {
    "panda3d_game": Game("panda3d", "panda3d", "z-up", lambda node: node.getPos()),
    "pyglet_game": Game("pyglet", "pyglet", "y-up", lambda model: model.matrix[12:15]),
    "raylib_game": Game(
        "pyray",
        "raylib",
        "y-up",
        lambda it: (it.position.x, it.position.y, it.position.z),
        needs_screen=True,
    ),
    "ursina_game": Game("ursina", "ursina", "y-up-left", lambda entity: entity.position),
}


def play(name: str, picture: Path) -> None:
    """Play a game to its end, and check where its hero is and what it shows."""
    game = GAMES[name]
    example = importlib.import_module(f"demo.examples.{name}")
    hero, owner = example.main(["--frames", str(FRAMES), "--picture", str(picture)])
    x, y, z = hero.position64
    assert hero.grounded
    assert math.isclose(
        math.dist((x, z), valley.START), FRAMES * valley.FRAME * valley.SPEED, rel_tol=0.05
    )
    lift = valley.BODY.radius * (1 / hero.ground.normal_at(x, z).y - 1)  # of a ball, on a slope
    assert math.isclose(y, hero.ground.height_at(x, z) + lift, abs_tol=0.01)
    assert np.allclose(list(game.place(owner)), THEIRS[game.axes](x, y, z), atol=1e-4)
    shows_the_valley(picture)


def shows_the_valley(picture: Path) -> None:
    """Look for sky above, grass below and the hero in the middle."""
    with Image.open(picture) as image:
        pixels = np.array(image.convert("RGB"), dtype=float)
    assert pixels.shape == (valley.SIZE[1], valley.SIZE[0], 3)
    assert np.allclose(pixels[5, -5], 255 * np.array(valley.SKY), atol=3)
    assert is_green(pixels[-100:, ::20]).mean() > 0.95
    hero = ~is_green(pixels[330:390, 465:495])
    assert hero.mean() > 0.9
    assert is_green(pixels[330:390, [400, 550]]).mean() > 0.9


def is_green(pixels: Any) -> Any:
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    return (green > 1.1 * red) & (green > 1.3 * blue)


if __name__ == "__main__":
    try:
        importlib.import_module(GAMES[sys.argv[1]].module)
        play(sys.argv[1], Path(sys.argv[2]))
    except ImportError as error:  # as of a library of the system that an engine needs
        sys.stderr.write(f"{error}\n")
        sys.exit(NOT_HERE)
