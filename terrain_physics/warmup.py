"""Compiling, or loading, everything a game needs before it needs it."""

import io
import threading
from collections.abc import Callable

import numpy as np

from terrain_physics.character import CharacterMovement
from terrain_physics.colliders import BoxCollider, SphereCollider
from terrain_physics.contest import count_touching
from terrain_physics.contest_text import NumberReader, write_counts
from terrain_physics.heightmap import HeightMap
from terrain_physics.intersect import (
    intersect_obb_triangle,
    intersect_obb_triangle_many,
    intersect_sphere_triangle,
    intersect_sphere_triangle_many,
)
from terrain_physics.shapes import AABB, OBB, Sphere, Triangle
from terrain_physics.workers import Workers


def _height_map() -> None:
    land = HeightMap([[0, 0], [0, 0]])
    land.triangles_in(AABB((0, 0, 0), (1, 1, 1)))
    land.height_at(0.5, 0.5)
    land.normal_at(0.5, 0.5)
    land.height_at(np.zeros(1), np.zeros(1))
    land.normal_at(np.zeros(1), np.zeros(1))


def _character() -> None:
    land = HeightMap([[0, 0], [0, 0]])
    for collider in (SphereCollider(0.5), BoxCollider((0.5, 0.5, 0.5))):
        CharacterMovement(land, collider, position=(0, 0.4, 0)).update(1 / 60)


def _pairs() -> None:
    triangle = Triangle((0, 0, 0), (0, 0, 1), (1, 0, 0))
    corners = [[triangle.a64, triangle.b64, triangle.c64]]
    intersect_sphere_triangle(Sphere((0, 0, 0), 1), triangle)
    intersect_obb_triangle(OBB((0, 0, 0), (1, 1, 1)), triangle)
    intersect_sphere_triangle_many([(0, 0, 0, 1)], corners)
    intersect_obb_triangle_many([(0, 0, 0)], [(1, 1, 1)], [np.eye(3)], corners)


def _counter() -> None:
    count_touching(np.zeros((1, 9)), np.ones((1, 4)))
    with Workers(1) as workers:
        NumberReader(workers, io.BytesIO(b"0 " * 9), "text").triangles()
    write_counts(np.zeros(1, np.int64))


_JOBS = {
    "height map": _height_map,
    "character": _character,
    "shape pairs": _pairs,
    "counter": _counter,
}


def warm_up(
    progress: Callable[[str, int, int], None] | None = None, *, background: bool = False
) -> threading.Thread | None:
    """Compile all kernels now, or load them where they have been compiled before.

    The first time on a machine this takes some seconds, later a fraction of one. Without it each
    kernel is compiled when it is first needed, in the middle of a frame.

    Parameters
    ----------
    progress : callable, optional
        Called before each job, and once at the end, with what comes next ("done" at the end), how
        many jobs are done and how many there are.
    background : bool, default False
        Do it in a thread, behind a loading screen; the compiler lets other threads run.

    Returns
    -------
    threading.Thread or None
        The thread with ``background``; join it to wait.

    Examples
    --------
    >>> warm_up(lambda name, done, count: print(f"{done} of {count} {name}"))
    0 of 4 height map
    1 of 4 character
    2 of 4 shape pairs
    3 of 4 counter
    4 of 4 done
    """
    if background:
        thread = threading.Thread(target=warm_up, args=(progress,), name="warm_up", daemon=True)
        thread.start()
        return thread
    for done, (name, job) in enumerate(_JOBS.items()):
        if progress is not None:
            progress(name, done, len(_JOBS))
        job()
    if progress is not None:
        progress("done", len(_JOBS), len(_JOBS))
    return None
