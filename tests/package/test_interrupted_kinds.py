"""Each kind of call, ended by a signal handler that raises: it was made, or it was not.

Afterwards another thread gets the locks, and the call can be made again.
"""

import pytest

from tests.helpers.programs import run

pytestmark = pytest.mark.alone

# Each defines `call`; `look`, which returns what the call changes; `undo`; and maybe `at_last`.
_KINDS = {
    "character": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
hero.walk(3, 1)
start = hero.state()
call, look, undo = lambda: hero.update(1 / 60), hero.state_hash, lambda: hero.restore(start)
""",
    "settings": """
heroes = [CharacterMovement(ground, BODY, position=(9, 3, 9)), crowd[3]]
starts, calls = [hero.state() for hero in heroes], 0
small = CapsuleCollider(0.3, 1.0, offset=(0, 0.5, 0))
def call():
    hero = heroes[calls % 2]
    if calls % 3 == 0:
        hero.teleport((12, 3, 12), (1, 0, 0))
    elif calls % 3 == 1:
        hero.resize(small)
    else:
        hero.slope_limit = 0.5
def shown():
    hero = heroes[calls % 2]
    return hero.state_hash(), *hero.position, hero.collider.radius, hero.slope_limit
def undo():
    global calls
    for hero, start in zip(heroes, starts):
        hero.restore(start)
    calls = (calls + 1) % 6
known = []
for calls in range(6):
    found = [shown()]
    call()
    known.append([*found, shown()])
    heroes[calls % 2].restore(starts[calls % 2])
calls = 0
look = lambda: shown() in known[calls]
""",
    "group": """
start = crowd.state()
call, look, undo = lambda: crowd.update(1 / 60), crowd.state_hash, lambda: crowd.restore(start)
""",
    "member": """
def undo():
    if 12 in crowd:
        crowd.remove(12)
call, look = lambda: crowd.add(12, position=(5, 3, 5)), crowd.state_hash
""",
    "leaving member": """
start = crowd.state()
def call():
    crowd.remove_many([3, 7])
    crowd.state_hash()
look, undo = crowd.state_hash, lambda: crowd.restore(start)
""",
    "group restored": """
start = crowd.state()
crowd.remove_many([0, 5])
crowd.update(1 / 60)
later = crowd.state()
crowd.restore(start)
call = lambda: crowd.restore(later)
look, undo = crowd.state_hash, lambda: crowd.restore(start)
""",
    "character restored": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
start = hero.state()
hero.walk(3, 1)
hero.update(1 / 60)
later = hero.state()
hero.restore(start)
call = lambda: hero.restore(later)
look, undo = hero.state_hash, lambda: hero.restore(start)
""",
    "hero joins": """
hero = CharacterMovement(ground, BODY, position=(5, 3, 5))
start = hero.state()
def undo():
    if "hero" in crowd:
        crowd.remove("hero")
    hero.restore(start)
call = lambda: crowd.add("hero", movement=hero)
look = lambda: (crowd.state_hash(), hero.state_hash(), "hero" in crowd)
""",
    "hero leaves": """
hero = CharacterMovement(ground, BODY, position=(5, 3, 5))
crowd.add("hero", movement=hero)
def undo():
    if "hero" not in crowd:
        crowd.add("hero", movement=hero)
call = lambda: crowd.remove("hero")
look = lambda: (crowd.state_hash(), hero.state_hash(), "hero" in crowd)
""",
    "move": """
call = lambda: ground.move(1, (12, 3, 9), 1 / 60)
look, undo = poses, lambda: ground.restore(level)
""",
    "move_many": """
places = [(3.0 * k, 4.0, 9.0) for k in range(1, 4)]
call = lambda: ground.move_many([1, 2, 3], places, 1 / 60)
look, undo = poses, lambda: ground.restore(level)
""",
    "layers": """
call = lambda: ground.set_layers(2, 5)
look, undo = lambda: ground.layers_of(2), lambda: ground.restore(level)
""",
    "rewind": """
world = World(ground)
world.add("crowd", crowd)
rewind, first = Rewind(world), world.state()
rewind.save(0)
world.update(1 / 60)
second = world.state()
def undo():
    world.restore(first)
    rewind.save(0)
    world.restore(second)
call, look = lambda: rewind.save(0), lambda: [rewind.state_hash(frame) for frame in rewind.frames]
""",
    "save": """
ground.save(path)
ground.raise_((8, 8), 3, 0.5)
def undo():
    path.write_bytes(old)
old = path.read_bytes()
call, look = lambda: ground.save(path), path.read_bytes
""",
    "load": """
ground.save(path)
loaded = [None]
def call():
    loaded[0] = Ground.load(path)
def undo():
    loaded[0] = None
look = lambda: loaded[0] and loaded[0].height_at(8, 8)
""",
    "tiles": """
TiledGround.make(folder / "land.tiles", np.zeros((129, 129)), tile=64)
tiled = TiledGround.open(folder / "land.tiles", edits=folder / "land.edits")
tiled.load_now(tiled.bounds)
def call():
    tiled.raise_((8, 8), 3, 0.5)
    tiled.sync()
start = tiled.state()
look, undo = lambda: tiled.height_at(xs, zs).tobytes(), lambda: tiled.restore(start)
""",
    "tiles written anew": """
TiledGround.make(folder / "land.tiles", np.zeros((129, 129)), tile=64)
def opened():
    found = TiledGround.open(folder / "land.tiles", edits=folder / "land.edits")
    found.load_now(found.bounds)
    return found
tiled = opened()
tiled.raise_((8, 8), 3, 0.5)
def call():
    tiled.paint((8, 8), 3, 2)
    tiled.compact()
look, undo = lambda: tiled.height_at(xs, zs).tobytes(), lambda: None
def at_last():
    call()
    shown = look()
    tiled.close()
    again = opened()
    assert again.height_at(xs, zs).tobytes() == shown
""",
    "refit": """
box = TriangleMesh.box((1, 1, 1))
ground.add(box, transform=(20, 0, 20))
small = np.array(box.vertices)
def look():
    return np.array(box.vertices).tobytes(), ground.height_at(20, 20)
call, undo = lambda: box.refit(2 * small), lambda: box.refit(small)
""",
    "thing joins a world": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
world, other_world = World(ground), World(ground)
def look():
    return list(world), is_free(hero, other_world)
def undo():
    if "hero" in world:
        world.remove("hero")
call = lambda: world.add("hero", hero)
""",
    "thing leaves a world": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
world, other_world = World(ground), World(ground)
def look():
    return list(world), is_free(hero, other_world)
def undo():
    if "hero" not in world:
        world.add("hero", hero)
undo()
call = lambda: world.remove("hero")
""",
    "octree inserts": """
tree = Octree(centers, 1.0)
def undo():
    tree.remove_many(tree.ids[400:])
call = lambda: tree.insert_many(np.full((20, 4), 3.0))
look = lambda: (len(tree), tree.overlapping_pairs().tobytes() if len(tree) == 400 else 0)
""",
    "octree removes": """
tree = kept = Octree(centers, 1.0)
def undo():
    global tree
    tree = copy.deepcopy(kept)
undo()
call, look = lambda: tree.remove_many(range(20, 60)), lambda: tree.overlapping_pairs().tobytes()
""",
    "octree moves": """
tree = Octree(centers, 1.0)
places = np.column_stack([centers, np.ones(400)])
def undo():
    tree.move_many(range(400), places)
call = lambda: tree.move_many(range(400), places[:, [1, 0, 2, 3]])
look = lambda: tree.overlapping_pairs().tobytes()
""",
    "recording": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
def scene():
    return CharacterMovement(made_ground(), BODY, position=(9, 3, 9))
recording = Recording(hero)
def call():
    ground.add(TriangleMesh.box((1, 1, 1)), transform=(20, 0, 20))
    ground.move(1, (9, 0.2, 9), 1 / 60)
    recording.update(1 / 60)
def at_last():
    recording.update(1 / 60)
    assert replay(recording, scene) is None
look = undo = lambda: None
""",
    "recorded motion": """
hero = CharacterMovement(ground, BODY, position=(9, 3, 9))
def scene():
    return CharacterMovement(made_ground(), BODY, position=(9, 3, 9))
recording, calls = Recording(hero), 0
def call():
    global calls
    calls += 1
    ground.move(1, (9 + calls % 5 / 10, 0.2, 9), 1 / 60)
    ground.set_surface_velocity(1, (calls % 3, 0, 1))
    ground.move_many([3, 1], [(20, calls % 4, 20), (9, 0.2, 9)], [1 / 30, 1 / 60])
    ground.set_one_way(1, (0, 1, calls % 2))
def undo():
    if calls % 3:
        recording.update(1 / 60)
def at_last():
    recording.update(1 / 60)
    assert replay(recording, scene) is None
look = lambda: None
""",
}

_PROGRAM = """
import copy, pathlib, random, tempfile, threading, time
import numpy as np
from terrain_physics import *
from tests.helpers.interruptions import interrupt

BODY, folder = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), pathlib.Path(tempfile.mkdtemp())
path = folder / "level.ground"
def made_ground():
    boxes = [TriangleMesh.box((1, 1, 1)) for _ in range(3)]
    made = Ground([HeightMap(np.zeros((33, 33))), *boxes])
    made.set_layers(3, 7)
    return made
ground = made_ground()
level, (xs, zs) = ground.state(), np.meshgrid(np.arange(17.0), np.arange(17.0))
crowd = CharacterGroup(ground, BODY, collide=True)
for number in range(12):
    crowd.add(number, position=(9 + number % 4, 3, 9 + number // 4))
crowd.walk(2, 1)
at_last = lambda: None
centers = np.random.default_rng(1).uniform(0, 50, (400, 3))
def is_free(thing, other_world):
    try:
        other_world.add("it", thing)
    except ValueError:
        return False
    other_world.remove("it")
    return True
poses = lambda: [str(ground.transform(key)) for key in (1, 2, 3)]
KIND
before = look()
begun = time.perf_counter()
call()
length = time.perf_counter() - begun
after = look()
undo()
begun = time.perf_counter()
call()
length = min(length, time.perf_counter() - begun)
undo()
assert look() == before
rng = random.Random(1)
def other():
    ground.height_at(1, 1)
    ground.set_layers(3, 7)
for number in range(COUNT):
    interrupt(call, rng.uniform(1e-5, 1.2 * length + 2e-5))
    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    thread.join(600)
    assert not thread.is_alive()
    now = look()
    assert now in (before, after), now
    undo()
    assert look() == before
at_last()
"""


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", _KINDS)
def test_an_interrupted_call_was_made_or_was_not(kind, count):
    run(_PROGRAM.replace("KIND", _KINDS[kind]).replace("COUNT", str(count)))


@pytest.mark.parametrize("kind", ["group", "member", "recorded motion", "save"])
def test_so_it_is_where_a_thread_interrupts(kind):
    """As on Windows, which has no timers that send signals."""
    without = "import signal\nvars(signal).pop('setitimer', None)\n"
    run(without + _PROGRAM.replace("KIND", _KINDS[kind]).replace("COUNT", "40"))
