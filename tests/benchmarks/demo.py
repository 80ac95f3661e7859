"""Frames per second of the demo's renderers at 1280 x 720, and where the time goes."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from demo.frame import Frame
from demo.scenes import load_land
from terrain_physics import HeightMap
from tests.benchmarks.timing import median_seconds, print_table
from tests.demo_frames import bodies_on, hills

PARTS = {
    "choose patches": ("visible_patches", "patch_vertices"),
    "cast shadows": ("cast_shadows",),
    "fill the ground": ("fill_ground",),
    "draw faces and bodies": ("fill_faces", "draw_bodies"),
    "shade": ("shade",),
    "smooth edges": ("smooth_edges",),
}


def _frames(size: tuple[int, int]) -> dict[str, Frame]:
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
def _timed(module: Any) -> Iterator[dict[str, float]]:
    """Add up the processor time of a renderer's parts, over all threads."""
    spent = dict.fromkeys(PARTS, 0.0)
    kept = {name: getattr(module, name) for names in PARTS.values() for name in names}

    def around(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*args)
            finally:
                spent[part] += time.thread_time() - start

        return call

    for part, names in PARTS.items():
        for name in names:
            setattr(module, name, around(part, kept[name]))
    try:
        yield spent
    finally:
        for name, function in kept.items():
            setattr(module, name, function)


def _draw(renderer: Any, frame: Frame, *, wait: bool) -> None:
    renderer.draw(frame)
    if wait:
        renderer.context.finish()


def software(size: tuple[int, int], repeats: int) -> None:
    from demo.renderers import software as module

    renderer = module.SoftwareRenderer(size, visible=False)
    frames = _frames(size)
    for name, frame in frames.items():
        # One after the other: a renderer holds one map at a time.
        seconds = median_seconds({name: partial(renderer.draw, frame)}, repeats)[name]
        with _timed(module) as spent:
            for _ in range(repeats):
                renderer.draw(frame)
        rows = [("frames a second", f"{1.0 / seconds:6.1f}")]
        rows += [(part, f"{1e3 * used / repeats:6.1f} ms") for part, used in spent.items()]
        title = f"Software, {size[0]} x {size[1]}, {renderer.threads} threads, {name}"
        print_table(f"{title}; parts summed over threads", rows)
    renderer.close()


def opengl(size: tuple[int, int], repeats: int) -> None:
    try:
        from demo.renderers.gl import GLRenderer

        renderer = GLRenderer(size, visible=False)
    except Exception as error:
        print(f"\nOpenGL: not run ({error})")
        return
    rows = []
    for name, frame in _frames(size).items():
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
        print("\nDemo: not run (no pygame)")
        return
    size, repeats = ((160, 90), 1) if smoke else ((1280, 720), 20)
    software(size, repeats)
    opengl(size, 1 if smoke else 5)


if __name__ == "__main__":
    main()
