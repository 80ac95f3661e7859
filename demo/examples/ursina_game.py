"""A walk through a valley with ursina: W and S walk, A and D turn, Space jumps.

``--frames N`` plays by itself, without a window; ``--picture OUT.png`` keeps the last frame.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from terrain_physics import Axes, CharacterGroup, CharacterMovement, HeightMap

from . import _valley as valley
from ._valley import Keys

try:
    import ursina
    from panda3d import core
except ImportError as error:
    raise SystemExit("this needs ursina: pip install ursina") from error

from ursina.models.procedural.capsule import Capsule
from ursina.shaders import basic_lighting_shader

AXES = Axes("y-up-left")  # ursina's
WITHOUT_WINDOW = """
load-display p3headlessgl
aux-display p3tinydisplay
audio-library-name null
"""


def show_land(land: HeightMap) -> None:
    """Put a height map into the scene: ursina takes its arrays as they are."""
    arrays = land.to_mesh(axes=AXES)
    colors = valley.sunlit_colors(land)
    mesh = ursina.Mesh(
        vertices=arrays.vertices.ravel(),
        triangles=arrays.indices,
        normals=arrays.normals.ravel(),
        colors=np.insert(colors, 3, 1, axis=1).ravel(),  # opaque
    )
    ursina.Entity(model=mesh)


def add_character(land: HeightMap, number: int) -> tuple[CharacterMovement, Any]:
    """Return a character and its entity."""
    entity = ursina.Entity(rotation_y=180)  # it looks along the library's +Z
    ursina.Entity(
        parent=entity,  # whose `forward` is not scaled
        model=Capsule(),  # 2 m high and 1 m wide, and stands on its position
        scale=(0.8, 0.9, 0.8),
        color=ursina.Color(*(valley.GOLD if number else valley.RED), 1),
        shader=basic_lighting_shader,
    )
    character = CharacterMovement(
        land, valley.BODY, owner=entity, axes=AXES, slope_limit=valley.SLOPE_LIMIT
    )
    character.teleport(valley.start_of(land, number))
    return character, entity


def keys() -> Keys:
    held = ursina.held_keys
    return Keys(held["w"] - held["s"], held["a"] - held["d"], bool(held["space"]))


def main(arguments: Sequence[str] | None = None) -> tuple[CharacterMovement, Any]:
    options = valley.read_options("ursina_game", arguments)
    if options.frames is None:
        app = ursina.Ursina(title="A valley", size=valley.SIZE, borderless=False)
    else:
        core.loadPrcFileData("", WITHOUT_WINDOW)
        app = ursina.Ursina(window_type="offscreen", size=valley.SIZE)
    ursina.window.color = ursina.Color(*valley.SKY, 1)
    ursina.camera.fov = 75

    land = valley.load_valley()
    show_land(land)
    hero, entity = add_character(land, 0)
    crowd = CharacterGroup(land, collide=True)
    crowd.add("hero", movement=hero)
    for number, _ in enumerate(valley.BESIDE, 1):
        crowd.add(number, movement=add_character(land, number)[0])

    def play(seconds: float, pressed: Keys) -> None:
        entity.rotation_y -= math.degrees(valley.TURN * pressed.turn * seconds)
        heading = AXES.from_game(entity.forward * pressed.ahead * valley.SPEED)
        valley.walk_beside(crowd, hero)
        hero.walk(heading.x, heading.z)
        if pressed.jump and hero.grounded:
            hero.velocity.y = math.sqrt(2 * hero.gravity * valley.JUMP)
        crowd.update(seconds)  # and all entities go along

        eye = entity.position + entity.back * 11 + ursina.Vec3(0, 3.5, 0)
        below = AXES.from_game(eye)
        eye.y = max(eye.y, land.height_at(below.x, below.z) + 1)
        ursina.camera.position = eye
        ursina.camera.look_at(entity.position + ursina.Vec3(0, 2.5, 0), up=ursina.Vec3(0, 1, 0))

    if options.frames is None:
        ursina.Entity(update=lambda: play(ursina.time.dt, keys()))
        app.run()
    for frame in range(options.frames or 0):
        play(valley.FRAME, valley.walk_by_itself(frame))
        app.step()
    if options.picture:
        app.win.saveScreenshot(core.Filename.fromOsSpecific(str(options.picture)))
    valley.report(hero, land, options)
    return hero, entity


if __name__ == "__main__":
    main()
