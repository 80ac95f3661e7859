"""Objects of real engines as owners, each in a process of its own, without a window.

``python -m tests.character.engines`` prints which packages are there and whether they work.
"""

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CapsuleCollider, CharacterMovement, HeightMap
from terrain_physics.surface.axes import AxesName
from tests.helpers import forks

ROOT = Path(__file__).parents[2]
FLOOR = HeightMap(np.zeros((41, 41)), origin=(-20, 0, -20))
BODY = CapsuleCollider(0.4, 1.8)
FRAME = 1 / 60

# What a point of ours is there.
THEIRS: dict[AxesName, Callable[[float, float, float], tuple[float, float, float]]] = {
    "y-up": lambda x, y, z: (x, y, z),
    "z-up": lambda x, y, z: (x, -z, y),
    "y-up-left": lambda x, y, z: (x, y, -z),
}


def goes_along(
    owner: Any,
    seen: Callable[[Any], Any],
    put: Callable[[Any, float, float, float], object],
    axes: AxesName = "y-up",
    **functions: Any,
) -> CharacterMovement:
    """Let a character fall and walk with its owner, and be put elsewhere by the game."""
    put(owner, *THEIRS[axes](1.0, 3.0, 2.0))
    hero = CharacterMovement(FLOOR, BODY, owner=owner, axes=axes, **functions)
    assert hero.position64 == (1.0, 3.0, 2.0)
    for _ in range(90):
        hero.walk(2.0, -1.0)
        hero.update(FRAME)
    assert hero.grounded
    assert np.allclose(hero.position64, (4.0, 0.9, 0.5), atol=1e-5)
    assert np.allclose(list(seen(owner)), THEIRS[axes](*hero.position64), atol=1e-5)
    put(owner, *THEIRS[axes](-5.0, 0.9, 6.0))
    hero.velocity = (0, 0, 0)
    hero.update(FRAME)
    assert np.allclose(hero.position64, (-5.0, 0.9, 6.0), atol=1e-5)
    return hero


def keeps_its_type(owner: Any, name: str, axes: AxesName = "y-up") -> None:
    """Let it go along by an attribute, which stays what it is."""
    kind = type(getattr(owner, name))

    def put(target: Any, x: float, y: float, z: float) -> None:
        setattr(target, name, kind(x, y, z))

    goes_along(owner, lambda target: getattr(target, name), put, axes)
    assert type(getattr(owner, name)) is kind


def goes_along_by_matrix(owner: Any, name: str, there: Callable[..., Any], at: Any) -> None:
    """Let an object with a matrix go along; ``at`` finds the translation in one."""
    kind = type(getattr(owner, name))
    goes_along(
        owner,
        lambda target: at(getattr(target, name)),
        lambda target, x, y, z: setattr(target, name, there(x, y, z)),
    )
    assert type(getattr(owner, name)) is kind


def refuses_boxes(owner: Any, axes: AxesName = "y-up") -> None:
    with pytest.raises(TypeError, match="a quaternion or a 3 x 3 matrix for a box"):
        CharacterMovement(FLOOR, BoxCollider((1, 1, 1)), owner=owner, axes=axes)


def panda3d() -> None:
    from panda3d import core

    for name, value in (
        ("load-display", "p3tinydisplay"),
        ("window-type", "offscreen"),
        ("audio-library-name", "null"),
    ):
        core.loadPrcFileData("", f"{name} {value}")
    node = core.NodePath("hero")
    node.setHpr(10, 20, 30)
    goes_along(node, lambda it: it.getPos(), lambda it, *place: it.setPos(*place), "z-up")
    assert tuple(node.getHpr()) == pytest.approx((10, 20, 30), abs=1e-4)
    refuses_boxes(node, "z-up")
    scaled = core.NodePath("giant")
    scaled.setScale(1, 1, 2)  # twice as high
    hero = CharacterMovement(FLOOR, BODY, owner=scaled, axes="z-up")
    hero.teleport((0, 3, 0))
    for _ in range(90):
        hero.update(FRAME)
    assert scaled.getZ() == pytest.approx(1.8, abs=1e-5)

    turned = glm.angleAxis(0.7, glm.normalize(glm.vec3(1, 2, 3)))
    quaternion = core.LQuaternionf(turned.w, turned.x, turned.y, turned.z)  # x is w in Panda3D
    matrix = core.LMatrix3f()
    quaternion.extractToMatrix(matrix)
    for rotation in (quaternion, matrix):
        hero = CharacterMovement(FLOOR, BODY, rotation=rotation)
        assert np.allclose(np.array(hero.rotation), np.array(glm.mat3_cast(turned)), atol=1e-6)
        point = quaternion.xform(core.LVector3f(1, 2, 3))
        assert np.allclose(np.array(hero.rotation) @ (1, 2, 3), list(point), atol=1e-5)

    @dataclass
    class Node:
        transform: Any

    placed = Node(core.LMatrix4f.identMat())
    goes_along_by_matrix(
        placed,
        "transform",
        lambda *place: core.LMatrix4f.translateMat(core.LVector3f(*place)),
        lambda matrix: list(matrix.getRow3(3)),
    )

    from direct.showbase.ShowBase import ShowBase

    base = ShowBase()
    base.disableMouse()
    is_seen_from_above(base, base.camera, "z-up")


def ursina() -> None:
    import ursina as engine
    from panda3d import core

    core.loadPrcFileData("", "load-display p3tinydisplay\naudio-library-name null")
    app = engine.Ursina(window_type="offscreen", size=(64, 64))
    entity = engine.Entity(rotation=(10, 20, 30))
    keeps_its_type(entity, "position", "y-up-left")
    assert tuple(entity.rotation) == pytest.approx((10, 20, 30), abs=1e-4)
    refuses_boxes(entity, "y-up-left")
    is_seen_from_above(app, engine.camera, "y-up-left")


def is_seen_from_above(base: Any, camera: Any, axes: AxesName) -> None:
    """Render a map's mesh with the engine's own culling: red from above, not there from below."""
    from panda3d import core

    arrays = FLOOR.to_mesh(axes=axes)
    data = core.GeomVertexData("floor", core.GeomVertexFormat.getV3(), core.Geom.UHStatic)
    writer = core.GeomVertexWriter(data, "vertex")
    for vertex in arrays.vertices.tolist():
        writer.addData3(*vertex)
    triangles = core.GeomTriangles(core.Geom.UHStatic)
    for corners in arrays.indices.reshape(-1, 3).tolist():
        triangles.addVertices(*corners)
    geometry = core.Geom(data)
    geometry.addPrimitive(triangles)
    node = core.GeomNode("floor")
    node.addGeom(geometry)
    floor = base.render.attachNewNode(node)
    floor.setColor(1, 0, 0, 1)
    base.setBackgroundColor(0, 0, 1)
    for height, color in ((8.0, (1, 0, 0)), (-8.0, (0, 0, 1))):
        camera.setPos(*THEIRS[axes](0.1, height, 0.3))
        camera.lookAt(base.render, core.Point3(0, 0, 0))
        base.graphicsEngine.renderFrame()
        base.graphicsEngine.renderFrame()
        picture = core.PNMImage()
        base.win.getScreenshot(picture)
        middle = picture.getXel(picture.getXSize() // 2, picture.getYSize() // 2)
        assert tuple(middle) == pytest.approx(color, abs=0.05)


def pyglet() -> None:
    import pyglet as engine

    engine.options["headless"] = True
    from pyglet.math import Mat4, Quaternion, Vec3

    @dataclass
    class Node:
        position: Any

    keeps_its_type(Node(Vec3(0, 0, 0)), "position")

    @dataclass
    class Shown:
        matrix: Any

    goes_along_by_matrix(
        Shown(Mat4()),
        "matrix",
        lambda *place: Mat4.from_translation(Vec3(*place)),
        lambda m: m[12:15],
    )
    turned = Quaternion(0.8, 0, 0.6, 0)
    assert CharacterMovement(FLOOR, BODY, rotation=turned).rotation[0][2] == pytest.approx(-0.96)

    picture = engine.image.SolidColorImagePattern().create_image(4, 4)
    sprite = engine.sprite.Sprite(picture)
    sprite.rotation = 30.0

    def put(it: Any, *place: float) -> None:
        it.position = place

    goes_along(sprite, lambda it: it.position, put, "z-up")
    refuses_boxes(sprite)


def arcade() -> None:
    os.environ["ARCADE_HEADLESS"] = "True"
    import arcade as engine

    sprite = engine.SpriteSolidColor(4, 4, center_x=3.0, center_y=5.0)
    hero = CharacterMovement(FLOOR, BODY, owner=sprite, axes="z-up")  # seen from above, y up
    assert hero.position64 == pytest.approx((3.0, 0.9, -5.0))
    for _ in range(60):
        hero.walk(1.0, -2.0)
        hero.update(FRAME)
    assert sprite.position == pytest.approx((4.0, 7.0), abs=1e-5)
    sprite.center_x = -2.0
    hero.velocity = (0, 0, 0)
    hero.update(FRAME)
    assert hero.position64 == pytest.approx((-2.0, 0.9, -7.0), abs=1e-5)
    refuses_boxes(sprite)


def pygame() -> None:
    import pygame as engine

    class Hero(engine.sprite.Sprite):
        def __init__(self, position: Any) -> None:
            super().__init__()
            self.position, self.rect = position, engine.Rect(0, 0, 32, 32)

    keeps_its_type(Hero(engine.Vector3()), "position")
    flat = Hero(engine.Vector2(3, 5))
    hero = CharacterMovement(FLOOR, BODY, owner=flat)  # seen from above, y down
    hero.walk(0, 6)
    hero.update(FRAME)
    assert type(flat.position) is engine.Vector2
    assert tuple(flat.position) == pytest.approx((3.0, 5.1), abs=1e-6)

    sprite: Any = engine.sprite.Sprite()
    sprite.rect = engine.Rect(0, 0, 32, 32)
    with pytest.raises(TypeError, match="Its rect is in pixels: write= can put it there"):
        CharacterMovement(FLOOR, BODY, owner=sprite)

    def show(it: Any, place: tuple[float, float, float]) -> None:
        it.rect.center = 32 * place[0], 32 * place[2]

    hero = CharacterMovement(FLOOR, BODY, position=(3, 0.9, 5), owner=sprite, write=show)
    assert sprite.rect.center == (96, 160)
    for _ in range(60):
        hero.walk(0.25, 0)
        hero.update(FRAME)
    assert hero.position64 == pytest.approx((3.25, 0.9, 5.0), abs=1e-5)  # not by whole pixels
    assert sprite.rect.center == (104, 160)


def raylib() -> None:
    import pyray as engine

    def seen(it: Any) -> tuple[float, float, float]:
        return it.position.x, it.position.y, it.position.z

    def put(it: Any, *place: float) -> None:
        it.position = engine.Vector3(*place)

    up = engine.Vector3(0, 1, 0)
    goes_along(engine.Camera3D(up, up, up, 60, 0), seen, put)

    @dataclass
    class Node:
        position: Any

    goes_along(Node(engine.Vector3(0, 0, 0)), seen, put)

    def write(it: Any, x: float, y: float, z: float) -> None:
        it.x, it.y, it.z = x, y, z

    goes_along(engine.Vector3(0, 0, 0), lambda it: (it.x, it.y, it.z), write)

    def put_matrix(it: Any, *place: float) -> None:
        it.transform = engine.matrix_translate(*place)

    model = engine.Model()
    goes_along(model, lambda it: (it.transform.m12, it.transform.m13, it.transform.m14), put_matrix)


def moderngl_window() -> None:
    from moderngl_window.scene import Node

    node = Node(name="hero", matrix=glm.mat4())
    goes_along_by_matrix(
        node, "matrix", lambda *place: glm.translate(glm.vec3(*place)), lambda m: m[3].xyz
    )


def pyrr() -> None:
    import pyrr as library

    @dataclass
    class Node:
        position: Any = None
        transform: Any = None
        rotation: Any = None

    def vector(*place: float) -> Any:
        return library.Vector3(place)

    node = Node(vector(0, 0, 0), rotation=library.Quaternion())
    goes_along(
        node, lambda it: it.position, lambda it, *place: setattr(it, "position", vector(*place))
    )
    assert type(node.position) is library.Vector3
    goes_along_by_matrix(
        Node(transform=library.Matrix44.identity(dtype=float)),
        "transform",
        lambda *place: library.Matrix44.from_translation(place),
        lambda matrix: matrix[3, :3],
    )
    with pytest.raises(ValueError, match="a translation belongs in the last column"):
        CharacterMovement(
            FLOOR, BODY, owner=Node(transform=library.matrix44.create_from_translation((1, 2, 3)))
        )
    matrix, quaternion = library.Matrix33.from_quaternion, library.Quaternion.from_z_rotation(0.3)
    drawn = np.array(library.Matrix44.from_quaternion(quaternion)).T  # as OpenGL takes its bytes
    for rotation in (matrix(quaternion), library.Matrix44.from_quaternion(quaternion).matrix33):
        hero = CharacterMovement(FLOOR, BODY, rotation=rotation)
        assert np.allclose(np.array(hero.rotation), drawn[:3, :3])


def esper() -> None:
    import esper as library

    @dataclass
    class Position:
        x: float = 0.0
        y: float = 0.0
        z: float = 0.0

    def put(it: Position, x: float, y: float, z: float) -> None:
        it.x, it.y, it.z = x, y, z

    entity = library.create_entity(Position())
    component = library.component_for_entity(entity, Position)
    goes_along(component, lambda it: (it.x, it.y, it.z), put)

    def read(number: int) -> Position:
        return library.component_for_entity(number, Position)  # type: ignore[no-any-return]

    def write(number: int, place: tuple[float, float, float]) -> None:
        put(read(number), *place)

    goes_along(
        entity,
        lambda it: (read(it).x, read(it).y, read(it).z),
        lambda it, *place: write(it, place),
        read=read,
        write=write,
    )


NOT_HERE = 77
"""The exit status of a process whose engine cannot be imported."""

ENGINES: dict[str, tuple[str, Callable[[], None]]] = {
    "ursina": ("ursina", ursina),
    "panda3d": ("panda3d", panda3d),
    "pyglet": ("pyglet", pyglet),
    "arcade": ("arcade", arcade),
    "pygame": ("pygame", pygame),
    "pyray": ("raylib", raylib),
    "moderngl_window": ("moderngl-window", moderngl_window),
    "pyrr": ("pyrr", pyrr),
    "esper": ("esper", esper),
}
"""By modules: the package to install, and what tries it."""


def run(module: str, folder: Any) -> forks.Done:
    """Try one engine in a process of its own, which looks for its files in an empty folder."""
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    environment = os.environ | quiet | {"PYTHONPATH": str(ROOT)}
    return forks.run("-m", "tests.character.engines", module, env=environment, cwd=folder)


def main() -> None:
    """Print what works, as rows of a table."""
    for module, (package, _) in ENGINES.items():
        if importlib.util.find_spec(module) is None:
            sys.stdout.write(f"| {package} | | not installed |\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = run(module, folder)
        result = "works" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
        sys.stdout.write(f"| {package} | {importlib.metadata.version(package)} | {result} |\n")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        try:
            ENGINES[sys.argv[1]][1]()
        except ImportError as error:  # as of a library of the system that an engine needs
            sys.stderr.write(f"{error}\n")
            sys.exit(NOT_HERE)
