"""A walk through a valley with Panda3D: W and S walk, A and D turn, Space jumps.

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
    from direct.actor.Actor import Actor
    from direct.showbase.ShowBase import ShowBase
    from panda3d import core
except ImportError as error:
    raise SystemExit("this needs Panda3D: pip install panda3d") from error

AXES = Axes("z-up")  # Panda3D's
MODEL_SCALE = 0.0024  # a panda of 550 units is 1.3 m high
WITHOUT_WINDOW = """
window-type offscreen
load-display p3headlessgl
aux-display p3tinydisplay
audio-library-name null
"""


def show_land(base: Any, land: HeightMap) -> None:
    """Put a height map into the scene: its arrays go into Panda3D's as they are."""
    arrays = land.to_mesh(axes=AXES)
    layout = core.GeomVertexFormat.getV3n3c4()
    data = core.GeomVertexData("land", layout, core.Geom.UHStatic)
    data.uncleanSetNumRows(len(arrays.vertices))
    colors = np.round(255 * valley.ground_colors(land)).astype(np.uint8)
    rows = np.zeros(len(colors), [("place", "3f4"), ("normal", "3f4"), ("color", "4u1")])
    rows["place"], rows["normal"] = arrays.vertices, arrays.normals
    rows["color"] = np.column_stack([colors, np.full(len(colors), 255)])
    memoryview(data.modifyArray(0)).cast("B")[:] = rows.tobytes()

    triangles = core.GeomTriangles(core.Geom.UHStatic)
    triangles.setIndexType(core.Geom.NTUint32)
    triangles.modifyVertices().uncleanSetNumRows(len(arrays.indices))
    memoryview(triangles.modifyVertices()).cast("B")[:] = arrays.indices.tobytes()
    geometry = core.Geom(data)
    geometry.addPrimitive(triangles)
    node = core.GeomNode("land")
    node.addGeom(geometry)
    base.render.attachNewNode(node)


def add_light(base: Any) -> None:
    """Let the sun shine, and the sky a little."""
    for light, strength in (
        (core.AmbientLight("sky"), valley.SHADE),
        (core.DirectionalLight("sun"), valley.LIGHT),
    ):
        light.setColor((strength, strength, strength, 1))
        node = base.render.attachNewNode(light)
        node.setPos(*AXES.to_game(valley.SUN))
        node.lookAt(0, 0, 0)
        base.render.setLight(node)


def add_panda(base: Any, land: HeightMap, number: int) -> tuple[CharacterMovement, Any]:
    """Return a character and its node, with a panda that walks."""
    node = base.render.attachNewNode(f"panda {number}")
    panda = Actor("models/panda-model", {"walk": "models/panda-walk4"})
    panda.setScale(MODEL_SCALE)
    panda.setH(180)  # the model looks back
    panda.loop("walk")
    panda.reparentTo(node)
    node.setPythonTag("actor", panda)  # who is forgotten stands still
    node.setH(180)  # it looks along the library's +Z
    if number:
        panda.setColorScale(*valley.GOLD, 1)
    character = CharacterMovement(
        land, valley.BODY, owner=node, axes=AXES, slope_limit=valley.SLOPE_LIMIT
    )
    character.teleport(valley.start_of(land, number))
    return character, node


def main(arguments: Sequence[str] | None = None) -> tuple[CharacterMovement, Any]:
    options = valley.read_options("panda3d_game", arguments)
    core.loadPrcFileData("", f"win-size {valley.SIZE[0]} {valley.SIZE[1]}")
    clock = core.ClockObject.getGlobalClock()
    if options.frames is not None:
        core.loadPrcFileData("", WITHOUT_WINDOW)
        clock.setMode(core.ClockObject.MNonRealTime)
        clock.setDt(valley.FRAME)
    base = ShowBase()
    base.disableMouse()
    base.setBackgroundColor(*valley.SKY, 1)
    base.camLens.setFov(75)

    land = valley.load_valley()
    show_land(base, land)
    add_light(base)
    hero, node = add_panda(base, land, 0)
    crowd = CharacterGroup(land, collide=True)
    crowd.add("hero", movement=hero)
    for number, _ in enumerate(valley.BESIDE, 1):
        crowd.add(number, movement=add_panda(base, land, number)[0])

    def is_down(key: str) -> bool:
        return bool(base.mouseWatcherNode.isButtonDown(key))

    def keys() -> Keys:
        return Keys(is_down("w") - is_down("s"), is_down("a") - is_down("d"), is_down("space"))

    def play(seconds: float, pressed: Keys) -> None:
        node.setH(node.getH() + math.degrees(valley.TURN * pressed.turn * seconds))
        ahead = core.Vec3.forward() * pressed.ahead * valley.SPEED
        heading = AXES.from_game(base.render.getRelativeVector(node, ahead))
        valley.walk_beside(crowd, hero)
        hero.walk(heading.x, heading.z)
        if pressed.jump and hero.grounded:
            hero.velocity.y = math.sqrt(2 * hero.gravity * valley.JUMP)
        crowd.update(seconds)  # and all nodes go along

        base.camera.setPos(node, core.Vec3.back() * 11 + core.Vec3.up() * 3.5)
        eye = AXES.from_game(base.camera.getPos())
        base.camera.setZ(max(eye.y, land.height_at(eye.x, eye.z) + 1))
        base.camera.lookAt(node.getPos() + core.Vec3(0, 0, 2.5))

    if options.frames is None:

        def play_on(task: Any) -> Any:
            play(clock.getDt(), keys())
            return task.cont

        base.taskMgr.add(play_on, "play")
        base.run()
    for frame in range(options.frames or 0):
        play(valley.FRAME, valley.walk_by_itself(frame))
        base.taskMgr.step()
    if options.picture:
        base.win.saveScreenshot(core.Filename.fromOsSpecific(str(options.picture)))
    valley.report(hero, land, options)
    return hero, node


if __name__ == "__main__":
    main()
