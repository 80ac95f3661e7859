"""A walk through a valley with pyglet: W and S walk, A and D turn, Space jumps.

``--frames N`` plays by itself, without a window; ``--picture OUT.png`` keeps the last frame.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from terrain_physics import CharacterGroup, CharacterMovement, MeshArrays

from . import _valley as valley
from ._valley import Keys

try:
    import pyglet
except ImportError as error:
    raise SystemExit("this needs pyglet: pip install pyglet") from error

from pyglet.math import Mat4, Vec3  # the rest opens a window when it is imported

# Where pyglet's own shader has a lamp at the eye, the sun shines.
IN_THE_SUN = """#version 330 core
in vec4 color_0;
in vec3 normal;
in vec3 position;
out vec4 final_color;

uniform WindowBlock { mat4 projection; mat4 view; } window;
uniform vec3 sun;
uniform vec2 strength;

void main()
{
    float facing = max(dot(normalize(normal), mat3(window.view) * sun), 0.0);
    final_color = vec4(color_0.rgb * (strength.x + strength.y * facing), 1.0);
}
"""


def sunlit_program() -> Any:
    """Return the program that draws everything."""
    program = pyglet.graphics.shader.ShaderProgram(
        pyglet.graphics.shader.Shader(pyglet.model.MaterialGroup.default_vert_src, "vertex"),
        pyglet.graphics.shader.Shader(IN_THE_SUN, "fragment"),
    )
    program["sun"], program["strength"] = tuple(valley.SUN), (valley.SHADE, valley.LIGHT)
    return program


def add_model(
    batch: Any, program: Any, name: str, arrays: MeshArrays, colors: valley.Colors
) -> Any:
    """Return triangles with a matrix, which puts them into the world."""
    # Models whose materials are equal would share a matrix.
    group = pyglet.model.MaterialGroup(pyglet.model.SimpleMaterial(name), program)
    triangles = program.vertex_list_indexed(
        len(arrays.vertices),
        pyglet.gl.GL_TRIANGLES,
        arrays.indices.tolist(),
        batch,
        group,
        POSITION=("f", arrays.vertices.ravel()),
        NORMAL=("f", arrays.normals.ravel()),
        COLOR_0=("f", np.insert(colors, 3, 1, axis=1).ravel()),  # opaque
    )
    return pyglet.model.Model([triangles], [group], batch)


def capsule() -> MeshArrays:
    """Return a body 1.8 m high and 0.8 m wide that stands on its position."""
    rise, turn = np.meshgrid(np.linspace(-0.5, 0.5, 17), np.linspace(0, 2, 33), indexing="ij")
    rise, turn = np.pi * rise, np.pi * turn
    normals = [np.cos(rise) * np.sin(turn), np.sin(rise), np.cos(rise) * np.cos(turn)]
    rows = np.stack(normals, axis=-1).reshape(-1, 3).astype(np.float32)
    middle = np.where(rows[:, 1:2] > 0, np.float32(1.4), np.float32(0.4))
    corner = np.arange(16 * 33).reshape(16, 33)[:, :-1]  # of two triangles, the lower left one
    pairs = np.stack([corner + k for k in (0, 1, 34, 0, 34, 33)], axis=-1)
    up = np.eye(3, dtype=np.float32)[1]
    return MeshArrays(0.4 * rows + middle * up, rows, pairs.ravel().astype(np.uint32))


def main(arguments: Sequence[str] | None = None) -> tuple[CharacterMovement, Any]:
    options = valley.read_options("pyglet_game", arguments)
    pyglet.options["headless"] = options.frames is not None
    colors = pyglet.gl.Config(
        red_size=8, green_size=8, blue_size=8, depth_size=24, double_buffer=True
    )  # without a window pyglet would take 16 bits
    window = pyglet.window.Window(*valley.SIZE, caption="A valley", config=colors)
    pyglet.gl.glClearColor(*valley.SKY, 1)
    pyglet.gl.glEnable(pyglet.gl.GL_DEPTH_TEST)
    pyglet.gl.glEnable(pyglet.gl.GL_CULL_FACE)
    key = pyglet.window.key
    pressed = key.KeyStateHandler()
    window.push_handlers(pressed)

    land = valley.load_valley()
    batch, program = pyglet.graphics.Batch(), sunlit_program()
    add_model(batch, program, "land", land.to_mesh(), valley.ground_colors(land))

    def add_character(number: int) -> tuple[CharacterMovement, Any]:
        arrays, color = capsule(), valley.GOLD if number else valley.RED
        colors = np.tile(np.array(color, np.float32), (len(arrays.vertices), 1))
        model = add_model(batch, program, f"character {number}", arrays, colors)
        character = CharacterMovement(
            land, valley.BODY, owner=model, slope_limit=valley.SLOPE_LIMIT
        )  # by its matrix; pyglet's axes are ours
        character.teleport(valley.start_of(land, number))
        return character, model

    hero, model = add_character(0)
    crowd = CharacterGroup(land, collide=True)
    crowd.add("hero", movement=hero)
    for number, _ in enumerate(valley.BESIDE, 1):
        crowd.add(number, movement=add_character(number)[0])
    yaw = 0.0  # 0 is along +Z

    def keys() -> Keys:
        return Keys(
            pressed[key.W] - pressed[key.S], pressed[key.A] - pressed[key.D], pressed[key.SPACE]
        )

    def play(seconds: float, by: Keys) -> None:
        nonlocal yaw
        yaw += valley.TURN * by.turn * seconds
        speed = valley.SPEED * by.ahead
        valley.walk_beside(crowd, hero)
        hero.walk(speed * math.sin(yaw), speed * math.cos(yaw))
        if by.jump and hero.grounded:
            hero.velocity.y = math.sqrt(2 * hero.gravity * valley.JUMP)
        crowd.update(seconds)  # and all models go along

    def draw() -> None:
        x, y, z = hero.position
        eye_x, eye_z = x - 11 * math.sin(yaw), z - 11 * math.cos(yaw)
        eye = Vec3(eye_x, max(y + 3.5, land.height_at(eye_x, eye_z) + 1), eye_z)
        window.projection = Mat4.perspective_projection(window.aspect_ratio, 0.1, 500, 47)
        window.view = Mat4.look_at(eye, Vec3(x, y + 2.5, z), Vec3(0, 1, 0))
        window.clear()
        batch.draw()

    if options.frames is None:
        pyglet.clock.schedule(lambda seconds: play(seconds, keys()))
        window.push_handlers(on_draw=draw)
        pyglet.app.run()
    for frame in range(options.frames or 0):
        play(valley.FRAME, valley.walk_by_itself(frame))
        draw()
        window.flip()
    if options.picture:
        draw()
        pyglet.image.get_buffer_manager().get_color_buffer().save(str(options.picture))
    valley.report(hero, land, options)
    return hero, model


if __name__ == "__main__":
    main()
