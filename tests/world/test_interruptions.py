"""Worlds while threads, signals and forks come in between."""

import os
import signal
import threading
from collections.abc import Callable

import pytest

from terrain_physics import HeightMap, Rewind, World
from tests.helpers.programs import run

pytestmark = pytest.mark.alone

_SETUP = """
import os, signal, threading, time
from tests.world.scenes import scene
from terrain_physics import Rewind
one, twin = scene(), scene()
rewind, frame = Rewind(one.world), 0
def step():
    global frame
    rewind.save(frame)
    one.play(frame)
    frame += 1
step()
one.world.state_hash()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_children_forked_in_an_update_have_a_whole_world():
    run(
        _SETUP
        + """
over = threading.Event()
def work():
    while not over.is_set():
        step()
thread = threading.Thread(target=work)
thread.start()
children = []
for _ in range(8):
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        signal.alarm(600)
        one.world.update(1 / 60)
        one.world.restore(one.world.state())
        rewind.restore(rewind.frames[0])
        os._exit(0)
    children.append(child)
over.set()
thread.join()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
"""
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_a_handler_is_refused_or_is_between_two_frames():
    run(
        _SETUP
        + """
def play(each, frame):
    each.ground.move(1, (0, 1 + frame % 50 / 50, 0), 1 / 60)
    if frame % 40 == 25:
        each.ground.carve((5, 5), radius=3, depth=0.2)
    # An interrupted write counts as one of the game, in float32: so these are exact there.
    each.walker.walk(frame % 8 / 4 - 1, 2)
    each.crowd.walk(1, frame % 16 / 8 - 1, keys=["ada", 7])
    each.world.update(1 / 60)
done, refused = [], []
twin.play(0)
def handle(*_):
    try:
        done.append(one.world.state_hash())
        one.world.restore(one.world.state())
    except RuntimeError as error:
        refused.append(str(error))
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0011)
while frame < 150 or not (done and refused):
    play(one, frame)
    play(twin, frame)
    frame += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert one.world.state_hash() == twin.world.state_hash()
assert all("must" in text and "inside" in text for text in refused)
"""
    )


_INTERRUPTED = """
import random, sys, tempfile, pathlib
from terrain_physics import CharacterMovement, HeightMap, Rewind, SphereCollider, World
from tests.helpers.interruptions import interrupt
floor = HeightMap([[0, 0], [0, 0]], cell_size=60)
world = World(floor)
world.add("hero", CharacterMovement(floor, SphereCollider(0.5), position=(9, 5, 9)))
rewind, path = Rewind(world), pathlib.Path(tempfile.mkdtemp()) / "game.world"
calls = (
    lambda: world.update(1 / 60), world.state, world.hashes, world.state_hash,
    lambda: rewind.save(1), lambda: world.save(path),
)
for call in calls:
    call()
rng = random.Random(1)
sys.unraisablehook = lambda _: None  # a handler that came in a finalizer
for _ in range(COUNT):
    interrupt(rng.choice(calls), rng.uniform(1e-5, 4e-4), again=True)
    world.update(0)
"""


@pytest.mark.parametrize("count", [200, pytest.param(60_000, marks=pytest.mark.full)])
def test_a_handler_that_raises_leaves_a_world_free(count):
    run(_INTERRUPTED.replace("COUNT", str(count)))


_RESTORED = """
import random
from tests.helpers.interruptions import interrupt
from tests.world.scenes import scene
from terrain_physics import Rewind
own = scene()
world, rewind = own.world, Rewind(own.world)
rewind.save(0)
for frame in range(5):
    own.play(frame)
start = world.state()
after = world.state_hash()
rewind.restore(0)
before, first = world.state_hash(), world.state()
assert before != after
rng = random.Random(1)
for number in range(COUNT):
    restore = (lambda: world.restore(start), lambda: rewind.restore(0))[number % 2]
    interrupt(restore, rng.uniform(1e-5, 6e-4))
    assert world.state_hash() in (before, after)
    world.restore((start, first)[number % 2])
    assert world.state_hash() == (after, before)[number % 2]
"""


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.full)])
def test_an_interrupted_restore_is_made_or_not(count):
    run(_RESTORED.replace("COUNT", str(count)))


@pytest.mark.parametrize("call", ["update", "state", "state_hash", "hashes", "rewind"])
def test_another_thread_is_refused_at_once(call):
    world = World(HeightMap([[0, 0], [0, 0]]))
    rewind = Rewind(world)
    calls: dict[str, Callable[[], object]] = {
        "update": lambda: world.update(0),
        "rewind": lambda: rewind.save(1),
    }
    asked = calls.get(call) or getattr(world, call)
    refused = []

    def other():
        try:
            asked()
        except RuntimeError as error:
            refused.append(str(error))

    def inside():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(600)
        other()

    world._contents.turns.do("save", inside)
    assert len(refused) == 2
    assert all("must wait until save of this world has returned" in text for text in refused)
