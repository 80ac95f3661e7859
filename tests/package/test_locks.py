"""Signal handlers that ask, children forked at any moment, and edits by several threads at once."""

import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import Ground, HeightMap, TriangleMesh
from tests.helpers.examples import rest_is_full, times
from tests.helpers.programs import run

pytestmark = pytest.mark.alone

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
needs_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="needs timers that interrupt"
)

_SETUP = """
import os, signal, sys, threading, time
import numpy as np
from terrain_physics import *
def tile(x):
    heights = np.random.default_rng(x).uniform(0, 3, (40, 40))
    heights[:, [0, -1]] = 1.0
    return HeightMap(heights, origin=(x, 0, 0))
one, two = tile(0), tile(39)
floor = TriangleMesh([(0, -9, 0), (0, -9, 40), (80, -9, 0)], [(0, 1, 2)])
world = Ground([one, two, floor])
hero = CharacterMovement(world, SphereCollider(0.5), position=(20, 5, 20))
crowd = CharacterGroup(world, SphereCollider(0.5), threads=2)
for k in range(20):
    crowd.add(k, (2.0 + 3.0 * k, 5, 10))
def ask():
    one.height_at(3.3, 4.4)
    one.raycast(Ray((3.3, 9, 4.4), (0.1, -1, 0)))
    world.height_at(50.5, 4.4)
    world.contacts([(38.9, 1, 3, 1.5)] * 50)
    one.closest_point((3, 4, 5))
    one[3:9, 3:9]
    one.to_mesh()
def edit():
    one.raise_((20, 20), 6, 0.01)
    world.carve((39, 20), 6, 0.01)
    world.flatten((39, 20), 6, strength=0.01)
    one.smooth((20, 20), 6, 0.01)
    world.paint((39, 20), 6, 2)
    one[5, 5] = 2.0
    two.holes[3, 3] = True
    two.materials[4, 4] = 3
def update():
    hero.velocity = (1, 0, 0.5)
    hero.update(0.01)
    crowd.update(0.01)
def begin():
    CharacterMovement(world, SphereCollider(0.5), position=(20, 5, 20)).update(0.1)
    x, z = np.random.default_rng(0).uniform(1, 30, (2, 50))
    assert (world.height_at(x, z) == [world.height_at(*place) for place in zip(x, z)]).all()
# Again once there are materials and holes, which other kernels look at: numba does not let a
# handler that interrupts it as it loads one load another.
for each in (ask, edit, update, begin, ask, edit, update, begin):
    each()
"""


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile what the programs need: they have no time for that."""
    for place in (39, 100):
        run(_SETUP.replace("tile(39)", f"tile({place})"))


@needs_timers
@pytest.mark.parametrize("answers", [100, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("handled", ["ask", "edit", "update"])
def test_a_signal_handler_gets_an_answer(handled: str, answers: int) -> None:
    run(
        _SETUP
        + f"""
answers = []
def handler(*_):
    {handled}()
    answers.append(1)
    if len(answers) < {answers}:  # later ones would end the process while it ends
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001)
while len(answers) < {answers}:
    ask()
    edit()
    if handled != "update":  # an update within an update of the same body
        update()
""".replace("handled !=", f"{handled!r} !=")
    )


@needs_timers
def test_a_handler_edits_and_adds_while_its_thread_asks_and_another_edits() -> None:
    run(
        _SETUP
        + """
third, handled, over = tile(78), [], threading.Event()
def handler(*_):
    two[3, 3] = float(len(handled) % 7)
    world.remove(world.add(third))
    handled.append(1)
    signal.setitimer(signal.ITIMER_REAL, 3e-4)
def work():
    while not over.is_set():
        one[5, 5] = 1.0
        world.carve((38, 9), 3, 1e-3)
signal.signal(signal.SIGALRM, handler)
sys.setswitchinterval(1e-5)
thread = threading.Thread(target=work)
thread.start()
signal.setitimer(signal.ITIMER_REAL, 3e-4)
while len(handled) < COUNT:
    one.height_at(3, 3)
    world.height_at(50, 3)
signal.setitimer(signal.ITIMER_REAL, 0)
over.set()
thread.join()
""".replace("COUNT", str(times(500)))
    )


@needs_fork
@pytest.mark.parametrize("place", rest_is_full([39, 100]))
def test_children_forked_while_threads_work_do_not_hang(place: int) -> None:
    """On maps that are one, and on two: `python -m tests.fuzz signals_and_forks`."""
    run(
        _SETUP.replace("tile(39)", f"tile({place})")
        + """
over = threading.Event()
def work(function):
    while not over.is_set():
        function()
for function in (ask, edit, update):
    threading.Thread(target=work, args=(function,)).start()
children = []
for _ in range(COUNT):
    child = os.fork()
    if child == 0:
        signal.alarm(600)
        ask()
        edit()
        begin()
        os._exit(0)
    children.append(child)
over.set()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * COUNT
""".replace("COUNT", str(times(200)))
    )


@needs_fork
@pytest.mark.full
def test_children_forked_while_kernels_are_compiled_do_not_hang() -> None:
    run(
        """
import os, signal, tempfile, time
with tempfile.TemporaryDirectory() as folder:
    os.environ["TERRAIN_PHYSICS_CACHE_DIR"] = folder
    from terrain_physics import HeightMap, warm_up
    from terrain_physics._locks import _made
    land = HeightMap([[0, 1], [2, 3]])
    land.height_at(0.5, 0.5)
    warm_up(background=True)
    for _ in range(3):
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            signal.alarm(600)
            land.normal_at(0.5, 0.5)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
os._exit(0)
""",
        own=True,
    )


def at_once(*functions: Callable[[], Any]) -> None:
    """Call functions in threads of their own, and wait for them."""
    ready = threading.Barrier(len(functions))

    def call(function: Callable[[], Any]) -> None:
        ready.wait()
        function()

    threads = [threading.Thread(target=call, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_no_edit_of_two_threads_is_lost() -> None:
    land = HeightMap(np.zeros((300, 300)))
    tiles = [HeightMap(np.zeros((30, 30)), origin=(x, 0, 0)) for x in (0, 29)]
    world = Ground([*tiles, TriangleMesh([(0, -9, 0), (0, -9, 9), (9, -9, 0)], [(0, 1, 2)])])

    def heap() -> None:
        for _ in range(100):
            land.raise_((150, 150), 140, 1.0)
            world.raise_((29, 15), 10, 1.0)

    def level() -> None:
        for _ in range(100):  # what is heaped is in the square around, not in the disc
            land.flatten((119, 119), 40, 7.0)
            land.smooth((181, 119), 40)
            world.flatten((21, 7), 10, flat=5)
            world.smooth((37, 23), 10)

    at_once(heap, heap, level)
    assert land.height_at(150, 150) == 200.0
    assert world.height_at(29, 15) == 200.0
    assert tiles[0].height_at(29, 15) == tiles[1].height_at(29, 15) == 200.0


@pytest.mark.parametrize("several", [False, True])
def test_what_several_threads_paint_is_painted(several: bool) -> None:
    tiles = [HeightMap(np.zeros((21, 11)), origin=(x, 0, 0)) for x in (0, 10)]
    land: Any = Ground(tiles) if several else HeightMap(np.zeros((21, 21)))

    def paint(material: int) -> None:
        for cell in range(material, 400, 2):
            land.paint((cell % 20 + 0.5, cell // 20 + 0.5), 0.75, 1 + material)

    at_once(partial(paint, 0), partial(paint, 1))
    painted = np.hstack([tile.materials for tile in (tiles if several else [land])])
    assert (painted == 1 + np.arange(400).reshape(20, 20) % 2).all()


def test_what_is_read_is_of_one_moment() -> None:
    land = HeightMap(np.zeros((400, 400)))
    different: list[NDArray[Any]] = []

    def edit() -> None:
        for k in range(times(500)):
            land[:] = float(k)
            land.materials = np.full(land.cell_count, k % 256)

    def read() -> None:
        for _ in range(times(100)):
            surface = land.to_mesh().vertices[:, 1]
            different.extend(map(np.unique, (land[:], np.array(land), land.materials[:], surface)))

    at_once(edit, read)
    assert {len(values) for values in different} == {1}


@pytest.mark.parametrize("comes", ["sweep()", "raise KeyboardInterrupt"])
def test_who_comes_while_a_mesh_is_made_ready_for_sweeps(comes: str) -> None:
    """The first sweep finds the adjacency of triangles; a query at that time read nothing."""
    run(
        _SETUP
        + f"""
from terrain_physics.mesh.table import MeshTable
rng = np.random.default_rng(2)
turn = np.eye(4)
crates = []
for turn[0, 3] in (4.0, 6.0, 9.0):
    crates.append(TriangleMesh.box((2, 2, 2)).transformed(turn))
world = Ground([one, *crates])
balls = np.column_stack([rng.uniform((0, 0, 0), (12, 4, 8), (500, 3)), np.full(500, 0.5)])
ways = rng.normal(0, 3, (500, 3))
sweep = lambda: world.sweep_many(balls, ways)
found = MeshTable.neighbors
come = []
def interrupted(table):
    neighbors = found(table)
    if not come:
        come.append(1)
        {comes}
    return neighbors
MeshTable.neighbors = interrupted
try:
    hits = sweep()
except KeyboardInterrupt:
    hits = sweep()
world = Ground([one, *crates])
assert come and all(map(np.array_equal, hits, sweep(), [True] * len(hits)))
"""
    )
