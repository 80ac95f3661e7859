"""A walk through a valley with raylib: W and S walk, A and D turn, Space jumps.

``--frames N`` plays by itself, in a hidden window; ``--picture OUT.png`` keeps the last frame.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import CharacterGroup, CharacterMovement, HeightMap

from . import _valley as valley
from ._valley import Keys

try:
    import pyray as rl
except ImportError as error:
    raise SystemExit("this needs raylib: pip install raylib") from error

VERTICES = """#version 330
in vec3 vertexPosition;
in vec3 vertexNormal;
in vec4 vertexColor;
uniform mat4 mvp;
uniform mat4 matNormal;
centroid out vec3 normal;
centroid out vec4 color;

void main()
{
    normal = mat3(matNormal) * vertexNormal;
    color = vertexColor;
    gl_Position = mvp * vec4(vertexPosition, 1.0);
}
"""
PIXELS = """#version 330
centroid in vec3 normal;
centroid in vec4 color;
uniform vec4 colDiffuse;
uniform vec3 sun;
uniform vec2 strength;
out vec4 finalColor;

void main()
{
    float facing = max(dot(normalize(normal), sun), 0.0);
    finalColor = vec4(color.rgb * colDiffuse.rgb * (strength.x + strength.y * facing), 1.0);
}
"""


@dataclass
class Walker:
    """Whose character walks; the raylib way: a place and what to draw there."""

    position: Any
    color: Any


def rl_color(color: Sequence[float]) -> Any:
    return rl.Color(*(round(255 * part) for part in color), 255)


def sun_shader() -> Any:
    shader = rl.load_shader_from_memory(VERTICES, PIXELS)
    kinds = rl.ShaderUniformDataType
    for name, values, kind in (
        ("sun", valley.SUN.tolist(), kinds.SHADER_UNIFORM_VEC3),
        ("strength", [valley.SHADE, valley.LIGHT], kinds.SHADER_UNIFORM_VEC2),
    ):
        place = rl.get_shader_location(shader, name)
        rl.set_shader_value(shader, place, rl.ffi.new("float[]", values), kind)
    return shader


def owned(array: NDArray[Any], pointer: str) -> Any:
    """Return a copy of an array in memory of raylib, which frees it with the mesh."""
    memory = rl.mem_alloc(array.nbytes)
    rl.ffi.memmove(memory, np.ascontiguousarray(array), array.nbytes)
    return rl.ffi.cast(pointer, memory)


def land_mesh(land: HeightMap) -> Any:
    arrays = land.to_mesh()  # its axes are raylib's
    colors = np.round(255 * np.insert(valley.ground_colors(land), 3, 1, axis=1))
    mesh = rl.Mesh()
    mesh.vertexCount, mesh.triangleCount = len(arrays.vertices), len(arrays.indices) // 3
    mesh.vertices = owned(arrays.vertices, "float *")
    mesh.normals = owned(arrays.normals, "float *")
    mesh.colors = owned(colors.astype(np.uint8), "unsigned char *")
    mesh.indices = owned(arrays.indices.astype(np.uint16), "unsigned short *")  # up to 65,536
    is_dynamic = False  # raylib takes it by position only
    rl.upload_mesh(rl.ffi.addressof(mesh), is_dynamic)
    return mesh


def main(arguments: Sequence[str] | None = None) -> tuple[CharacterMovement, Any]:
    options = valley.read_options("raylib_game", arguments)
    rl.set_trace_log_level(rl.TraceLogLevel.LOG_WARNING)
    flags = rl.ConfigFlags.FLAG_MSAA_4X_HINT
    if options.frames is not None:
        flags |= rl.ConfigFlags.FLAG_WINDOW_HIDDEN
    rl.set_config_flags(flags)
    rl.init_window(*valley.SIZE, "A valley")
    if not rl.is_window_ready():
        raise SystemExit("raylib opens no window without a screen: xvfb-run gives it one")
    if options.frames is None:
        rl.set_target_fps(60)

    land, shader = valley.load_valley(), sun_shader()

    def model(mesh: Any) -> Any:
        drawn = rl.load_model_from_mesh(mesh)
        drawn.materials[0].shader = shader
        return drawn

    ground = model(land_mesh(land))
    ball, trunk = model(rl.gen_mesh_sphere(0.4, 16, 24)), model(rl.gen_mesh_cylinder(0.4, 1.0, 24))

    def add_character(number: int) -> tuple[CharacterMovement, Walker]:
        color = rl_color(valley.GOLD if number else valley.RED)
        walker = Walker(rl.Vector3(*valley.start_of(land, number)), color)
        character = CharacterMovement(
            land, valley.BODY, owner=walker, slope_limit=valley.SLOPE_LIMIT
        )  # starts where its owner is
        return character, walker

    hero, walker = add_character(0)
    walkers = [walker]
    crowd = CharacterGroup(land, collide=True)
    crowd.add("hero", movement=hero)
    for number, _ in enumerate(valley.BESIDE, 1):
        character, friend = add_character(number)
        crowd.add(number, movement=character)
        walkers.append(friend)
    camera = rl.Camera3D(
        (0, 0, 0), (0, 0, 0), (0, 1, 0), 47, rl.CameraProjection.CAMERA_PERSPECTIVE
    )
    yaw = 0.0  # 0 is along +Z

    def keys() -> Keys:
        key, down = rl.KeyboardKey, rl.is_key_down
        return Keys(
            down(key.KEY_W) - down(key.KEY_S),
            down(key.KEY_A) - down(key.KEY_D),
            down(key.KEY_SPACE),
        )

    def play(seconds: float, pressed: Keys) -> None:
        nonlocal yaw
        yaw += valley.TURN * pressed.turn * seconds
        speed = valley.SPEED * pressed.ahead
        valley.walk_beside(crowd, hero)
        hero.walk(speed * math.sin(yaw), speed * math.cos(yaw))
        if pressed.jump and hero.grounded:
            hero.velocity.y = math.sqrt(2 * hero.gravity * valley.JUMP)
        crowd.update(seconds)  # and all walkers go along

    def draw() -> None:
        x, y, z = hero.position
        eye_x, eye_z = x - 11 * math.sin(yaw), z - 11 * math.cos(yaw)
        eye_y = max(y + 3.5, land.height_at(eye_x, eye_z) + 1)
        camera.position, camera.target = (eye_x, eye_y, eye_z), (x, y + 2.5, z)
        rl.clear_background(rl_color(valley.SKY))
        rl.begin_mode_3d(camera)
        rl.draw_model(ground, (0, 0, 0), 1, rl.WHITE)
        for shown in walkers:
            at = shown.position
            for part, height in ((ball, 0.4), (trunk, 0.4), (ball, 1.4)):
                rl.draw_model(part, (at.x, at.y + height, at.z), 1, shown.color)
        rl.end_mode_3d()

    frame, end = 0, math.inf if options.frames is None else options.frames
    while frame < end and not rl.window_should_close():
        if options.frames is None:
            play(rl.get_frame_time(), keys())
        else:
            play(valley.FRAME, valley.walk_by_itself(frame))
        frame += 1
        rl.begin_drawing()
        draw()
        if frame == end and options.picture:
            rl.export_image(rl.load_image_from_screen(), str(options.picture))
        rl.end_drawing()
    rl.close_window()
    valley.report(hero, land, options)
    return hero, walker


if __name__ == "__main__":
    main()
