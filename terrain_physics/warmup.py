"""Compiles or loads everything a game needs, ahead of time."""

import io
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from terrain_physics._kernels import _jit
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.counter.count import count_chunks
from terrain_physics._kernels.ground.contact_rows import find_on_map
from terrain_physics._kernels.surface.changes import CHANGE_SIZE
from terrain_physics._public import hinted
from terrain_physics._support.helper_process import start_helper
from terrain_physics._support.job_order import job_order
from terrain_physics._support.threads import Workers
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.counter.text import NumberReader, write_counts
from terrain_physics.counter.touching import count_touching
from terrain_physics.geometry.dispatch import intersect
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Ray, Sphere, Triangle
from terrain_physics.ground.ground import Ground
from terrain_physics.group.group import CharacterGroup
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.surface.changes import EVERYWHERE, MOST_CHANGES, ChangeLog
from terrain_physics.tiles.generated import GeneratedTiles
from terrain_physics.tiles.tiled_ground import TiledGround
from terrain_physics.walkability.walkability import Walkability

Progress = Callable[[str, int, int], None]


def _height_map() -> None:
    land = HeightMap([[0, 0], [0, 0]])
    land.triangles_in(AABB((0, 0, 0), (1, 1, 1)))
    land.height_at(0.5, 0.5)
    land.normal_at(0.5, 0.5)
    land.height_at(np.zeros(1), np.zeros(1))
    land.normal_at(np.zeros(1), np.zeros(1))
    land.to_mesh()


def _rays_and_sweeps() -> None:
    land = HeightMap([[0, 0], [0, 0]], border="open", thickness=1.0)
    land.raycast(Ray((0.2, 1, 0.2), (0.1, -1, 0)))
    land.raycast_many([(0.2, 1, 0.2)], [(0.1, -1, 0)])
    beside = HeightMap([[0, 0], [0, 0]], border="open", thickness=1.0, origin=(1, 0, 0))
    united = Ground([land, beside])
    united.raycast(Ray((0, 1, 0), (0, -1, 0)))
    ball = Sphere((0, 1, 0), 0.5)  # one kernel serves all shapes
    united.sweep(ball, (0, -1, 0)), united.sweep_many([ball], [(0, -1, 0)])
    land.closest_point((0, 1, 0))
    land.closest_points([(0, 1, 0)])
    land.contains((0, 1, 0)), land.contains([(0, 1, 0)])
    land.signed_distance((0, 1, 0)), land.signed_distance([(0, 1, 0)])


def _contacts() -> None:
    land, mesh = HeightMap([[0, 0], [0, 0]]), _small_mesh()
    sphere, capsule = Sphere((0, 0, 0), 0.5), Capsule((0, 0, 0), (0, 1, 0), 0.5)
    tile = HeightMap([[0, 0], [0, 0]], border="open", origin=(1, 0, 0))
    for ground in (land, mesh, Ground([land, mesh]), Ground([land, tile])):
        for shape in (sphere, capsule, OBB((0, 0, 0), (0.5, 0.5, 0.5))):
            shapes = [shape, shape]  # one alone has kernels of its own
            ground.contacts(shape), ground.contacts([shape])
            ground.contacts(shapes), ground.contacts(shapes, keep="deepest")
            ground.contact_counts(shapes)
        ground.triangles_in_many([(0, 0, 0)], [(1, 1, 1)])


def _character() -> None:
    # One kernel serves all bodies and all kinds of ground, one character and many.
    land, body = HeightMap([[0, 0], [0, 0]]), CapsuleCollider(0.5, 1.8)
    mover = CharacterMovement(land, body, position=(0, 0.4, 0))
    mover.walk(1, 0)
    mover.update(1 / 60)


def _more_of_characters() -> None:
    land, body = HeightMap([[0, 0], [0, 0]]), CapsuleCollider(0.5, 1.8)
    mover = CharacterMovement(land, body, position=(0, 0.4, 0))
    mover.update(1 / 60)
    land.raise_((0.5, 0.5), 1, 0.1)  # wakes a character that stands there
    mover.update(1 / 60)
    mover.resize(body)
    mover.material_rules = {0: {"speed": 0.5}}
    mover.update(1 / 60)
    mover.constraint_planes()
    group = CharacterGroup(land, body)
    group.add(0, (0, 0.4, 0))
    group.height_scan([(0, 1)])
    crowd = CharacterGroup(land, body, collide=True)
    crowd.add_many([0, 1], [(0, 0.4, 0), (0.5, 0.4, 0)])
    crowd.update(1 / 60)
    crowd.materials  # noqa: B018 it asks


def _walkability() -> None:
    paths = Walkability(HeightMap([[0, 0], [0, 0]]), CapsuleCollider(0.5, 1.8))
    paths.update()
    paths.path((0, 0), (1, 1))
    paths.field([(0, 0)])
    paths.reachable((0, 0))


def _small_mesh() -> TriangleMesh:
    return TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [(0, 1, 2)], materials=[1])


def _mesh() -> None:
    mesh = _small_mesh()
    mesh.triangles_in(AABB((0, 0, 0), (1, 1, 1)))
    mesh.height_at(0.2, 0.2)
    mesh.height_at(np.zeros(1), np.zeros(1))
    mesh.raycast(Ray((0.2, 1, 0.2), (0, -1, 0)))
    mesh.raycast_many([(0.2, 1, 0.2)], [(0, -1, 0)])
    mesh.sweep(Sphere((0, 1, 0), 0.5), (0, -1, 0))
    for shape in (
        Sphere((0, 1, 0), 0.5),
        Capsule((0, 1, 0), (0, 2, 0), 0.5),
        OBB((0, 1, 0), (1, 1, 1)),
    ):
        mesh.contacts(shape)
    mesh.refit(mesh.vertices)


def _ground() -> None:
    # In addition to the queries of its parts: parts that come and go, and owners of triangles. Maps
    # that are together larger than a block.
    tiles = [HeightMap([[0] * 9] * 9, origin=(x, 0, 0)) for x in (0, 8)]
    ground = Ground([*tiles, _small_mesh()])
    ground.raise_((4, 4), 1, 0.1)
    spheres = np.array([(0.2, 0, 0.2, 0.5), (9.2, 0, 0.2, 0.5)])
    ground.raycast(Ray((0.2, 1, 0.2), (0, -1, 0)))
    ground.contacts(Sphere((0.2, 0, 0.2), 0.5))
    ground.contacts(spheres)
    key = ground.add(_small_mesh())
    ground.move(key, np.eye(4), 1 / 60)
    ground.remove(key)
    log = ChangeLog(0)  # of a ground that has changed so often that changes are merged
    log.add(np.zeros((MOST_CHANGES, CHANGE_SIZE)))
    log.note(1, *EVERYWHERE)


def _tiles() -> None:
    # In addition to a ground and a character: tiles that come and go, and edits over several.
    level = np.zeros((65, 65))
    tiles = GeneratedTiles(
        lambda _row, _column: level, size=(2, 2), tile=64, heights=(0, 0), name="warm up"
    )
    with TiledGround.open(tiles) as land:
        hero = CharacterMovement(land, CapsuleCollider(0.5, 1.8), position=(64, 0.4, 64))
        land.keep_near([hero], radius=10)
        land.load_some()
        hero.update(1 / 60)
        crowd = CharacterGroup(land, CapsuleCollider(0.5, 1.8), collide=True)
        crowd.add_many([0, 1], [(64, 9, 64), (64.5, 9, 64)])
        crowd.update(1 / 60)
        land.raise_((64, 64), 2, 0.1)
        land.set_heights(3, 3, np.zeros((2, 2)))
        land.height_at(1.0, 1.0), land.raycast(Ray((64, 1, 64), (0, -1, 0)))
        land.sweep(Sphere((64, 2, 64), 0.5), (0, -2, 0)), land.contacts(Sphere((64, 0, 64), 0.5))
        land.closest_point((64, 1, 64))
        land.keep_near([], radius=10)
        land.load_some()


def _pairs() -> None:
    triangle = Triangle((0, 0, 0), (0, 0, 1), (1, 0, 0))
    sphere, box = Sphere((0, 0, 0), 1), OBB((0, 0, 0), (1, 1, 1))
    capsule = Capsule((0, 0, 0), (0, 1, 0), 1)
    for first, second in (
        (sphere, triangle),
        (box, triangle),
        (capsule, triangle),
        (sphere, sphere),
        (box, sphere),
        (box, box),
        (capsule, sphere),
        (capsule, box),
        (capsule, capsule),
    ):
        intersect(first, second)


def _counter() -> None:
    count_touching(np.zeros((1, 9)), np.ones((1, 4)))
    NumberReader(Workers(1), io.BytesIO(b"0 " * 9), "text").triangles()
    write_counts(np.zeros(1, np.int64))


_JOBS = {
    "height map": _height_map,
    "rays and sweeps": _rays_and_sweeps,
    "contacts": _contacts,
    "mesh": _mesh,
    "ground": _ground,
    "tiles": _tiles,
    "shape pairs": _pairs,
    "counter": _counter,
    "walkability": _walkability,
    "more of characters": _more_of_characters,
    "character": _character,  # the longest: processes that go backwards begin with it
}


@hinted
def warm_up(
    progress: Progress | None = None,
    *,
    background: bool = False,
    processes: int = 1,
    only: Sequence[str] | None = None,
) -> threading.Thread | None:
    """Compile what a game needs now, or load it if it was compiled before.

    That covers height maps, meshes, grounds of several parts and of tiles, characters, groups and
    where they can walk, pairs of shapes, and the counter; not octrees, crossing meshes and
    enclosing spheres.
    With a wheel that holds machine code there is nothing to compile. Elsewhere the first time on a
    machine takes about a minute, later a second or two. Without it each kernel is compiled when it
    is first needed, in the middle of a frame.

    Parameters
    ----------
    progress : callable, optional
        Called before each job, and once at the end, with the name of the next job ("done" at the
        end), how many jobs are done and how many there are.
    background : bool, default False
        Do it in a thread, for example behind a loading screen. Another process compiles, with a low
        priority, so that frames are not delayed; the thread waits and then loads. In a frozen
        program the thread compiles.
    processes : int, default 1
        How many processes compile. They share the machine code by the cache on disk.
    only : sequence of str, optional
        Names of the jobs to do, in this order: those that ``progress`` is told. A game whose player
        is to walk before all is compiled calls ``warm_up(only=["character"])`` first, and
        ``warm_up(background=True)`` once it runs.

    Returns
    -------
    threading.Thread or None
        With ``background``, the thread; join it to wait.

    Raises
    ------
    ValueError
        If ``only`` names no job, or one that is unknown.

    Examples
    --------
    >>> warm_up(lambda name, done, count: print(f"{done} of {count} {name}"))
    0 of 11 height map
    1 of 11 rays and sweeps
    2 of 11 contacts
    3 of 11 mesh
    4 of 11 ground
    5 of 11 tiles
    6 of 11 shape pairs
    7 of 11 counter
    8 of 11 walkability
    9 of 11 more of characters
    10 of 11 character
    11 of 11 done
    """
    names = _checked_names(only)
    if background:
        thread = threading.Thread(
            target=_compile_elsewhere,
            args=(progress, processes, names),
            name="warm_up",
            daemon=True,
        )
        thread.start()
        return thread
    with ExitStack() as helpers:
        if processes > 1 and _can_be_helped():
            for number in range(1, processes):
                helpers.enter_context(_start(number, processes, names))
        run_jobs(progress, names=names)
    return None


def _checked_names(only: Sequence[str] | None) -> list[str]:
    if only is None:
        return list(_JOBS)
    names = [only] if isinstance(only, str) else list(only)
    if not names:
        raise ValueError("only must name a job, got none")
    for name in names:
        if name not in _JOBS:
            raise ValueError(f"only must be of {', '.join(_JOBS)}, got {name!r}")
    return names


def run_jobs(
    progress: Progress | None = None,
    number: int = 0,
    processes: int = 1,
    names: Sequence[str] | None = None,
) -> None:
    """Do jobs; processes go in different orders, and load what others have compiled."""
    jobs = list(_JOBS) if names is None else names
    with _jit.collecting_rarely():
        for done, place in enumerate(job_order(len(jobs), number, processes)):
            if progress is not None:
                progress(jobs[place], done, len(jobs))
            _JOBS[jobs[place]]()
    if progress is not None:
        progress("done", len(jobs), len(jobs))


def _compile_elsewhere(progress: Progress | None, processes: int, names: Sequence[str]) -> None:
    """Have other processes compile, report the progress of the first one, and load the result."""
    if not _can_be_helped():
        run_jobs(progress, names=names)
        return
    with ExitStack() as helpers:
        first, *_ = [
            helpers.enter_context(_start(number, processes, names, gives_way=True))
            for number in range(processes)
        ]
        for line in first.stdout or ():
            name, done, count = line.split("\t")
            if progress is not None and int(done) < int(count):
                progress(name, int(done), int(count))
    run_jobs(names=names)
    if progress is not None:
        progress("done", len(names), len(names))


def _can_be_helped() -> bool:
    """Tell whether another process of Python can compile anything for this one."""
    if not _jit.HAS_NUMBA:
        return False
    from terrain_physics._kernels import _cache  # which loads numba

    is_shared = _cache.cache_folder() is not None and not _cache.why_refused()
    largest = (update_characters, count_chunks, find_on_map)
    is_done = all(_jit.is_cached(kernel) for kernel in largest)
    is_python = Path(sys.executable or "").stem.startswith("python")  # not a game or an editor
    return is_shared and is_python and not is_done and not getattr(sys, "frozen", False)


def _start(
    number: int, processes: int, names: Sequence[str], *, gives_way: bool = False
) -> subprocess.Popen[str]:
    """Start a process that does jobs, and prints which one it begins if it is the first."""
    code = (
        "from terrain_physics import warmup; "
        "tell = lambda *job: print(*job, sep='\\t', flush=True); "
        f"warmup.run_jobs(tell, {number}, {processes}, {list(names)!r})"
    )
    output = subprocess.PIPE if number == 0 else subprocess.DEVNULL
    return start_helper(code, gives_way=gives_way, output=output)
