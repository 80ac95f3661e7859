"""The demo at 1280 x 720: frames per second of both renderers, and where the time goes."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from demo.picture.frame import Frame
from demo.resolution import Resolution
from demo.scenery.names import SCENES
from demo.scenery.scenes import load_land, make_scene
from demo.simulation import Simulation
from terrain_physics import HeightMap
from tests.benchmarks.timing import median_seconds, print_table
from tests.demo.frames import bodies_on, hills

PARTS = {
    "choose patches": ("visible_patches", "patch_vertices"),
    "cast shadows": ("cast_shadows",),
    "fill the ground": ("fill_ground", "mark_ground"),
    "draw faces and bodies": (
        "see_points",
        "fill_faces",
        "pack_bodies",
        "place_bodies",
        "draw_bodies",
    ),
    "shade": ("shade",),
    "smooth edges": ("smooth_edges",),
    "overlays": ("frame_lines", "draw_tints", "draw_lines"),
    "labels": ("draw_labels",),
}
THREADS = (1, 2)


def _frames() -> dict[str, Frame]:
    small, land = hills(129), load_land()
    tiled = np.tile(np.asarray(land.heights)[:512, :512], (2, 2))
    large = HeightMap(np.pad(tiled, (0, 1), mode="edge"), height_scale=land.height_scale)
    return {
        "129 x 129 samples, bare": Frame(bodies_on(small, 64.0, 64.0).camera, small),
        "129 x 129 samples, 100 balls, 33 boxes": bodies_on(small, 64.0, 64.0, count=100),
        "513 x 513 samples": bodies_on(land, 200.0, 300.0, count=30),
        "1025 x 1025 samples": bodies_on(large, 500.0, 500.0, count=30),
    }


@contextmanager
def _timed(parts: Mapping[str, Sequence[tuple[Any, str]]]) -> Iterator[dict[str, float]]:
    """Add up the processor time of parts, each some functions of modules, classes or objects.

    It is right for what calls them in one thread. A function that runs in another one counts there.
    """
    spent = dict.fromkeys(parts, 0.0)
    kept = [
        (owner, name, getattr(owner, name)) for pairs in parts.values() for owner, name in pairs
    ]

    def around(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                spent[part] += time.thread_time() - start

        return call

    for part, pairs in parts.items():
        for owner, name in pairs:
            setattr(owner, name, around(part, getattr(owner, name)))
    try:
        yield spent
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def _draw(renderer: Any, frame: Frame, *, wait: bool) -> None:
    renderer.draw(frame)
    if wait:
        renderer.context.finish()


def _renderer_parts() -> dict[str, list[tuple[Any, str]]]:
    from demo.renderers import software as module

    return {part: [(module, name) for name in names] for part, names in PARTS.items()}


def software(size: tuple[int, int], repeats: int) -> None:
    from demo.renderers.software import SoftwareRenderer

    renderers = {n: SoftwareRenderer(size, visible=False, threads=n) for n in THREADS}
    for name, frame in _frames().items():
        calls: dict[str, Callable[[], object]] = {
            str(n): partial(renderer.draw, frame) for n, renderer in renderers.items()
        }
        seconds = median_seconds(calls, repeats)
        rows = [
            (f"{n} threads", f"{1e3 * used:6.1f} ms, {1.0 / used:5.1f} frames a second")
            for n, used in seconds.items()
        ]
        with _timed(_renderer_parts()) as spent:
            for _ in range(repeats):
                renderers[1].draw(frame)
        rows += [(f"  {part}", f"{1e3 * used / repeats:6.1f} ms") for part, used in spent.items()]
        print_table(f"Software, {size[0]} x {size[1]}, {name}; parts on one thread", rows)
    for renderer in renderers.values():
        renderer.close()


def _app(name: str, size: tuple[int, int], threads: int) -> Any:
    """Return the demo as it plays a scene by itself, in a window that nobody sees."""
    from demo.app import App
    from demo.renderers.software import SoftwareRenderer

    simulation = Simulation(make_scene(name, 0))
    simulation.source = simulation.scene.script
    renderer = SoftwareRenderer(size, visible=True, threads=threads)
    return App(simulation, renderer, size, scripted=True)


def _scene_parts(app: Any) -> dict[str, list[tuple[Any, str]]]:
    from demo import app as module

    return {
        "physics": [(app.simulation, "advance")],
        "gather the frame": [(app.scene, "fill"), (module, "fill_views")],
        "follow edits": [(app.renderer, "_follow")],
        **_renderer_parts(),
        "panel": [(app.panel, "draw"), (app.renderer, "overlay")],
        "present": [(app.renderer, "present")],
    }


def _frames_of(app: Any, repeats: int) -> tuple[float, float]:
    """Return the median milliseconds of processor and of clock that frames take."""
    busy, walls = [], []
    for _ in range(repeats):
        start, wall = time.process_time(), time.perf_counter()
        app.frame(1 / 60, [])
        busy.append(1e3 * (time.process_time() - start))
        walls.append(1e3 * (time.perf_counter() - wall))
    return statistics.median(busy), statistics.median(walls)


def scenes(names: Sequence[str], size: tuple[int, int], repeats: int) -> None:
    """Whole frames as the demo does them: two steps, picture and panel."""
    for name in names:
        rows = []
        for threads in THREADS:
            app = _app(name, size, threads)
            _frames_of(app, repeats)
            for scale in (1.0, 0.6):
                app.resolution = Resolution(scale)
                with _timed(_scene_parts(app)) as spent:
                    busy, wall = _frames_of(app, repeats)
                if threads == 1 and scale == 1.0:
                    rows += [(p, f"{1e3 * used / repeats:6.1f} ms") for p, used in spent.items()]
                what = f"{threads} threads, picture {scale:.0%}"
                rows.append((what, f"{busy:6.1f} ms of processors, {1e3 / wall:6.1f} a second"))
            app.renderer.close()
        print_table(f"A frame of the scene {name}, {size[0]} x {size[1]}, software", rows)


def opengl(size: tuple[int, int], repeats: int) -> None:
    try:
        from demo.renderers.gl import GLRenderer

        renderer = GLRenderer(size, visible=False)
    except Exception as error:
        print(f"\nOpenGL: not run ({error})")
        return
    rows = []
    for name, frame in _frames().items():
        call = partial(_draw, renderer, frame, wait=True)
        seconds = median_seconds({name: call}, repeats)[name]
        rows.append((name, f"{1.0 / seconds:6.1f} frames a second"))
    print_table(f"OpenGL, {size[0]} x {size[1]}, {renderer.driver}", rows)
    renderer.close()


def main(*, smoke: bool = False) -> None:
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame  # noqa: F401 the renderers draw with it
    except ImportError:
        print("\nThe demo: not run (no pygame)")
        return
    size, repeats = ((160, 90), 1) if smoke else ((1280, 720), 30)
    software(size, repeats)
    scenes(SCENES[:1] if smoke else SCENES, size, repeats)
    opengl(size, 1 if smoke else 5)


if __name__ == "__main__":
    main()
