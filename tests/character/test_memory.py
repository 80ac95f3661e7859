"""An update gives back all the memory that it takes."""

import gc
import pickle
import tracemalloc
from pathlib import Path

import pytest

from tests.behaviour import lands
from tests.behaviour.drive import FRAME, character
from tests.helpers.extras import library

ROOT = Path(__file__).parents[2]

numba = library("numba", "jit")
runtime = library("numba.core.runtime", "jit")
memory = library("numba.core.runtime._nrt_python", "jit")


def grounds():
    floor = ((-9.0, -1.0, -9.0), (0.0, 0.0, 9.0))
    yield "floor", lands.boxes(floor)
    yield "wall", lands.boxes(floor, ((0.0, -1.0, -9.0), (3.0, 3.0, 9.0)))
    yield "stairs", lands.stairs_map(0.2, 0.3, 60)
    bars = [((-0.2, 0.05 * k, -0.2), (2.0, 0.05 * k + 0.02, 0.2)) for k in range(60)]
    yield "many triangles", lands.boxes(floor, *bars)
    yield "gully", lands.folded(2.0, 2.0, gutter=0.1)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python frees by itself")
@pytest.mark.parametrize(("name", "ground"), list(grounds()))
def test_updates_free_what_they_take(name, ground):
    memory.memsys_enable_stats()
    at = {"stairs": (4.0, 0.9, 4.0), "gully": (20.0, 4.0, 20.0)}.get(name, (-1.0, 0.9, 0.0))
    mover = character(ground, "capsule", at)
    mover.update(FRAME)  # loads kernels
    gc.collect()
    gc.disable()  # it may free arrays of earlier tests
    try:
        before = runtime.rtsys.get_allocation_stats()
        for _ in range(120):
            mover.velocity.x = 3.0
            mover.update(FRAME)
        after = runtime.rtsys.get_allocation_stats()
    finally:
        gc.enable()
    taken, freed = after.alloc - before.alloc, after.free - before.free
    assert taken == freed > 0


def test_what_vectors_tell_is_freed():
    """PyGLM's `to_tuple` never frees the numbers: nothing of the library or the demo calls it."""
    mover = character(lands.boxes(((-9.0, -1.0, -9.0), (9.0, 0.0, 9.0))), "capsule", (0, 0.9, 0))

    def play(frames):
        for frame in range(frames):
            mover.velocity.x = 0.1 * (frame % 3)
            mover.position = mover.position
            mover.update(FRAME)
            pickle.dumps((mover, mover.ground_report()))

        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    play(20)
    tracemalloc.start(1)
    try:
        before = play(20)
        growth = play(500) - before
        assert growth < 60_000  # pickles keep some; a leak of six vectors a frame takes 170_000
    finally:
        tracemalloc.stop()


def test_no_source_asks_vectors_for_what_is_never_freed():
    files = [file for name in ("terrain_physics", "demo") for file in (ROOT / name).rglob("*.py")]
    assert len(files) > 500
    found = [file.name for file in files if ".to_tuple(" in file.read_text(encoding="utf-8")]
    assert not found
