"""Does once all that a scene does when it is played, so that no frame has to compile.

Another process that does so fills the cache on disk, from which the game loads. Parts are what such
a process is started for; each is one call of `rehearse`.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from terrain_physics import warmup
from terrain_physics._kernels import _jit

from ..camera_rig import CameraRig
from ..picture.frame import Frame
from ..renderers import Renderer
from ..renderers.ground import LitGround
from ..renderers.patches import visible_patches
from ..renderers.software import SoftwareRenderer
from ..scenery.inputs import STEP, Controls
from ..scenery.names import SCENES, VIEW_NAMES
from ..scenery.scene import Scene
from ..scenery.scenes import make_scene
from ..scenery.views import fill_views
from .compiling import told_of_functions

Tell = Callable[[str], None]
PARTS = ("walking", "drawing", "rest")
DONE = "done"
_SMALL = (64, 64)


def rehearse(part: str, name: str, kind: str, tell: Tell) -> None:
    """Do a part for a scene and a kind of renderer.

    It tells functions that were compiled; the rest tells how much of it is done, and what is next.
    """
    with _jit.collecting_rarely():
        if part == "rest":
            _rest(name, kind, tell)
            return
        with told_of_functions(tell):
            if part == "walking":
                warmup.run_jobs(names=["character"])
                play(make_scene(name))
            else:
                scene = make_scene(name)
                draw(scene, kind)
                look(scene)


def _rest(name: str, kind: str, tell: Tell) -> None:
    scenes = [name, *(other for other in SCENES if other != name)]
    count = len(scenes) + 1
    for done, scene in enumerate(scenes):
        tell(f"{done / count}\t{scene}")
        everything(make_scene(scene, small=True), kind)
    tell(f"{len(scenes) / count}\tqueries")
    warmup.run_jobs()


def everything(scene: Scene, kind: str) -> None:
    """Do all that can be done in a scene; it goes on in it."""
    play(scene)
    draw(scene, kind)
    look(scene)
    for view in VIEW_NAMES:
        draw(scene, kind, view)


def play(scene: Scene) -> None:
    """Step a scene by its script, and do to it what players do."""
    for _ in range(3):
        scene.step(STEP, scene.script())
    place = scene.script().place
    for tool in ("", *scene.tools.values()):
        scene.step(STEP, Controls(tool=tool, place=place if tool else None))
    scene.step(STEP, Controls(throw=True))
    scene.step(STEP, Controls(drop=True))
    scene.restore(scene.state())
    scene.state_hash()


def see(name: str, kind: str, views: Sequence[str]) -> None:
    """Look at a scene, and draw it with some views; the scene is not the one that is played.

    The work may go on while the game does, when nobody waits for it.
    """
    scene = make_scene(name, small=True)
    play(scene)  # views show what happened
    draw(scene, kind, *views)
    look(scene)


def look(scene: Scene) -> None:
    """Look at a scene as the mouse does."""
    eye = CameraRig(scene).placed(scene, 1.0).position
    scene.pick(eye, (0.0, -1.0, 0.0))
    scene.point(eye, (0.0, -1.0, 0.0))


def draw(scene: Scene, kind: str, *views: str) -> None:
    """Draw a scene small and unseen, as a kind of renderer does."""
    frame = first_frame(scene)
    fill_views(frame, scene, views)
    if kind == "software":
        renderer = SoftwareRenderer(_SMALL, visible=False, threads=1)
        renderer.prepare(frame)
        renderer.close()
    elif frame.land is not None:  # all else is compiled by the driver
        with ThreadPoolExecutor(1) as pool:
            visible_patches(LitGround(frame.land, frame.sun, pool), frame.camera, _SMALL)


def first_frame(scene: Scene) -> Frame:
    """Return what a window shows first of a scene."""
    frame = Frame(CameraRig(scene).placed(scene, 1.0))
    scene.fill(frame, 1.0)
    return frame


def ready(scene: Scene, renderer: Renderer) -> None:
    """Load what the first frame of a scene needs; nothing happens in it."""
    renderer.prepare(first_frame(scene))


def main(part: str, name: str, kind: str) -> None:
    """Do a part in a process of its own, which prints what it tells."""

    def tell(line: str) -> None:
        print(line, flush=True)

    try:
        rehearse(part, name, kind, tell)
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}")
        sys.exit(1)
    tell(DONE)
