"""What the tests call is compiled before they start, by several processes and nothing twice.

That is what Python calls of the library (``signatures.txt``), and what draws the demo's pictures.
"""

import importlib.util
import os
import sys
import traceback

from terrain_physics import warm_up
from terrain_physics._kernels import _jit, _native


def compile_all(processes: int) -> None:
    """Compile all that is not on disk yet; with machine code that is the demo's pictures alone."""
    if _native.IS_PLAIN_WANTED:
        return
    if not hasattr(os, "fork"):
        warm_up(processes=processes)
    elif _jit.HAS_NUMBA and importlib.util.find_spec("terrain_physics._build"):
        _compile_library_and_pictures(processes)
    elif (child := os.fork()) == 0:
        try:
            draw_pictures()
        except BaseException:  # the tests that draw tell more
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(0)
    else:
        os.waitpid(child, 0)


def _compile_library_and_pictures(processes: int) -> None:
    from terrain_physics._build import signatures
    from tests.helpers import together

    lines = signatures.read()

    def do(task: int) -> None:
        if task == len(lines):  # the last: one process begins with it
            draw_pictures()
            return
        kernel, types = signatures.load(lines[task])
        if not kernel._cache.file(types, kernel.targetctx.codegen()).exists():
            kernel.compile(types)

    together.do_all(len(lines) + 1, do, processes)


def draw_pictures() -> None:
    """Draw each kind of ground and body, small, if that was never done here."""
    if not all(map(importlib.util.find_spec, ("numba", "pygame"))):
        return
    os.environ |= {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    from demo.renderers.edges import smooth_edges
    from demo.renderers.overlays import draw_lines
    from demo.renderers.software import SoftwareRenderer
    from terrain_physics._kernels import _cache
    from tests.demo.frames import bodies_on, hills, island, with_overlays

    if _cache.is_cached(smooth_edges) and _cache.is_cached(draw_lines):
        return
    land = hills(33)
    with_lines = with_overlays(bodies_on(land, 16.0, 16.0), 16.0, 16.0)
    with_lines.grid, with_lines.labels = True, []
    renderer = SoftwareRenderer((64, 64), visible=False, threads=1)
    for frame in (bodies_on(land, 16.0, 16.0), island()[1], with_lines):
        renderer.draw(frame)
    renderer.close()
