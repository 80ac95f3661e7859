"""A town on a land of tiles: lifts, doors, walls, a crowd and runners.

What is done in a frame follows from its number, a seed, and the world as it is then. So two worlds
that are equal stay so, and frames that were taken back can be played again.
"""

import functools
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp

FRAME = 1 / 60
SIDE, TILES = 64, 12
SIZE = SIDE * TILES
MIDDLE = (0.5 * SIZE, 0.0, 0.5 * SIZE)
"""Of the town: a corner of four tiles. Places of the town are told from here."""
TOWN = 45.0
"""No part of the town is farther away than this from its middle, along x or z."""
RADIUS = 70.0
"""Tiles are loaded as near as this to somebody."""

ADULT = tp.CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
CHILD = tp.CapsuleCollider(0.3, 1.2, offset=(0, 0.6, 0))
BALL = tp.SphereCollider(0.4, offset=(0, 0.4, 0))
CRATE = tp.BoxCollider((0.4, 0.5, 0.3), offset=(0, 0.5, 0))
OF_KEYS = (BALL, CHILD, CHILD, ADULT, ADULT, ADULT, ADULT, ADULT)
RUNNERS: dict[str, Any] = {"hero": ADULT, "ball": BALL, "runner": ADULT, "crate": CRATE}
"""Characters alone: the first is in town, the others run all over the land."""
GHOSTS = 8
"""Those of a group that does not collide."""


# The land


def heights_at(x: Any, z: Any) -> NDArray[np.float64]:
    """Return the height of samples: hills, and between them the nearly level ground of the town."""
    away = np.maximum(np.abs(x - MIDDLE[0]), np.abs(z - MIDDLE[2]))
    share = np.clip((away - TOWN) / 40.0, 0.0, 1.0)
    hills = 6.0 * np.sin(x / 37.0) * np.cos(z / 29.0) + np.sin(x / 5.0 + z / 7.0)
    return np.asarray(0.04 * np.sin(x) * np.cos(z / 1.3) + share**2 * hills)


def tile(row: int, column: int) -> NDArray[np.float64]:
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    return heights_at(x + column * SIDE, z + row * SIDE)


def tiles() -> tp.GeneratedTiles:
    return tp.GeneratedTiles(tile, size=(TILES, TILES), tile=SIDE, heights=(-8, 8), name="town")


def one_map() -> tp.HeightMap:
    """Return the same land as a map without tiles."""
    z, x = np.mgrid[: SIZE + 1, : SIZE + 1]
    return tp.HeightMap(heights_at(x, z), border="open")


# The town

Pose = tuple[tuple[float, float, float], float]
"""A place in the town, and a turn about +Y."""


class Block(NamedTuple):
    """A box of the town that stands still."""

    size: tuple[float, float, float]
    place: tuple[float, float, float]
    turn: float = 0.0


class Mover(NamedTuple):
    """A box of the town that moves."""

    size: tuple[float, float, float]
    pose: Callable[[float], Pose]  # at a time in seconds


def between(low: tuple[float, float, float], high: tuple[float, float, float]) -> Block:
    spans = list(zip(low, high, strict=True))
    (x, y, z), (w, h, d) = ([f(a, b) for a, b in spans] for f in (_mean, _width))
    return Block((w, h, d), (x, y, z))


def _mean(low: float, high: float) -> float:
    return 0.5 * (low + high)


def _width(low: float, high: float) -> float:
    return high - low


def there_and_back(time: float, period: float) -> float:
    """Return how much of a way is gone, from 0 to 1 and back, with a rest at both ends."""
    share = min(max(2.0 * abs(2.0 * (time / period % 1.0) - 1.0) - 0.5, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def _lift(x: float, z: float, high: float, period: float) -> Callable[[float], Pose]:
    """Return the motion of a lift 0.4 m thick, whose top goes up from 0.2 m."""
    return lambda time: ((x, (high - 0.2) * there_and_back(time, period), z), 0.0)


def _ship(time: float) -> Pose:
    return (-14.0 + 5.0 * math.sin(0.6 * time), 0.5 - 0.5 * math.cos(0.9 * time), -14.0), 0.0


def _turntable(time: float) -> Pose:
    return (14.0, 0.0, -14.0), 0.5 * time


def _sliding(time: float) -> Pose:
    return (-8.0 + 2.0 * there_and_back(time, 5.0), 1.2, 0.35), 0.0


def _portcullis(time: float) -> Pose:
    return (0.0, 4.4 - 3.1 * there_and_back(time, 6.0), 0.0), 0.0


def _swinging(time: float) -> Pose:
    turn = 1.5 * math.sin(0.8 * time)
    return (5.0 + math.cos(turn), 1.3, -math.sin(turn)), turn


MOVERS: dict[str, Any] = {
    "lift": Mover((5.0, 0.4, 5.0), _lift(14.0, 14.0, 4.0, 12.0)),
    "lift under a ceiling": Mover((5.0, 0.4, 5.0), _lift(-14.0, 14.0, 3.4, 10.0)),
    "ship": Mover((6.0, 0.4, 6.0), _ship),
    "turntable": Mover((6.0, 0.4, 6.0), _turntable),
    "sliding door": Mover((2.0, 2.6, 0.2), _sliding),
    "portcullis": Mover((2.0, 2.5, 0.2), _portcullis),
    "swinging door": Mover((2.0, 2.5, 0.15), _swinging),
}

BLOCKS: dict[str, Any] = {
    "deck": Block((6.0, 0.4, 5.0), (19.6, 3.8, 14.0)),
    **{
        f"stair {k}": between((22.6 + 0.5 * k, -0.5, 12.0), (23.1 + 0.5 * k, 3.75 - 0.25 * k, 16.0))
        for k in range(15)
    },
    "ceiling": Block((7.0, 0.4, 7.0), (-14.0, 4.5, 14.0)),
    **{
        f"pillar {k}": Block((0.4, 5.0, 0.4), (-14.0 + 3.3 * x, 2.1, 14.0 + 3.3 * z))
        for k, (x, z) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1)))
    },
    **{
        f"wall {k}": between((low, -0.5, -0.2), (high, 3.0, 0.2))
        for k, (low, high) in enumerate(((-12, -7), (-5, -1), (1, 5), (7, 12)))
    },
    "jamb": between((-5.0, -0.5, 0.2), (-4.6, 3.0, 0.8)),
    "post": Block((0.4, 3.0, 0.4), (7.3, 1.0, 1.6)),
    "house": Block((5.0, 4.0, 4.0), (0.0, 1.5, 22.0), 0.5),
    "belt": Block((8.0, 0.4, 2.0), (0.0, 0.0, -22.0)),
    "end of the belt": Block((0.6, 3.0, 3.0), (4.4, 1.0, -22.0)),
}
ONE_WAY = Block((5.0, 0.2, 5.0), (0.0, 1.5, 32.0))

SPOTS = np.array(
    [
        *((x, z) for x in (-32.0, 0.0, 32.0) for z in (-38.0, 42.0)),
        *((90.0 * math.cos(k), 90.0 * math.sin(k)) for k in range(16)),
    ]
)
"""Where people dig, over and over, so that edits do not grow without end: away from all parts."""
CRATES = tuple((x, 0.4, z) for x in (-26.0, 26.0) for z in (-26.0, -20.0, 20.0, 26.0))
"""Where crates are put and taken away."""
CRATE_SIZE = (1.0, 1.0, 1.0)
GATES = np.array([(38.0 * math.cos(0.12 * k), 38.0 * math.sin(0.12 * k)) for k in range(52)])
"""Where people come to town."""
SIGHTS = np.array(
    [
        (14.0, 14.0), (-14.0, 14.0), (-14.0, -14.0), (14.0, -14.0),
        (-6.0, 1.0), (-6.0, -1.0), (0.0, 0.0), (6.0, 1.5), (6.0, -1.5),
        (-3.0, -22.0), (20.0, 14.0), (28.0, 14.0), (0.0, 32.0), (0.0, 19.0),
    ]
)  # fmt: skip
"""Where people go."""


def there(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return where a place of the town is in the world."""
    return (MIDDLE[0] + x, MIDDLE[1] + y, MIDDLE[2] + z)


def matrix(pose: Pose) -> NDArray[np.float64]:
    """Return the transform of a pose."""
    found, (sine, cosine) = np.eye(4), (math.sin(pose[1]), math.cos(pose[1]))
    found[0, 0] = found[2, 2] = cosine
    found[0, 2], found[2, 0] = sine, -sine
    found[:3, 3] = there(*pose[0])
    return found


def build(ground: tp.Ground) -> None:
    """Put all parts of the town on a ground."""
    for name, mover in MOVERS.items():
        ground.add(tp.TriangleMesh.box(mover.size), transform=matrix(mover.pose(0.0)), name=name)
    for name, block in BLOCKS.items():
        mesh = tp.TriangleMesh.box(block.size, solid=name == "house")
        ground.add(mesh, transform=matrix((block.place, block.turn)), name=name)
    ground.set_surface_velocity("belt", (1.5, 0.0, 0.0))
    mesh = tp.TriangleMesh.box(ONE_WAY.size)
    ground.add(mesh, transform=matrix((ONE_WAY.place, 0.0)), name="one-way deck")
    ground.set_one_way("one-way deck", (0, 1, 0))


def people(ground: tp.Ground, count: int, threads: int) -> tp.World:
    """Return a world with a crowd of so many, and all others."""
    world = tp.World(ground)
    crowd = tp.CharacterGroup(ground, ADULT, collide=True, threads=threads, leave="none")
    side = math.ceil(math.sqrt(count))
    for key in range(count):
        x, z = 1.2 * (key % side - 0.5 * side), -36.0 + 1.2 * (key // side) - 0.6 * side
        crowd.add(key, there(x, 1.0, z - 10.0), collider=OF_KEYS[key % len(OF_KEYS)])
    world.add("crowd", crowd)
    for number, (name, body) in enumerate(RUNNERS.items()):
        place = there(3.0 * number, 1.0, 10.0)
        given: dict[str, Any] = {"position": place}
        if name == "hero":
            given = {"owner": owner(place)}
        world.add(name, tp.CharacterMovement(ground, body, seed=number, **given))
    on_ice = {1: {"friction": 0.1, "speed": 1.5}}
    ghosts = tp.CharacterGroup(ground, BALL, threads=1, material_rules=on_ice)
    ghosts.add_many(range(GHOSTS), [there(2.0 * key, 1.0, -30.0) for key in range(GHOSTS)])
    world.add("ghosts", ghosts)
    return world


def owner(place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    """Return an object of the game that owns a character."""
    return SimpleNamespace(position=place)


# A frame


class Plan(NamedTuple):
    """What is done in a minute."""

    seed: int
    people: int  # of the crowd
    every: int  # frames from one edit, arrival and so on to the next
    late: float = 0.0  # seconds by which lifts and doors are wrong, where inputs are guessed

    def guessed(self) -> "Plan":
        """Return what is done by somebody who does not know the inputs yet."""
        return self._replace(seed=self.seed + (1 << 40), late=0.15)


def play(world: tp.World, frame: int, plan: Plan) -> dict[Any, Any]:
    """Play a frame; return the results of all characters and groups."""
    ground: Any = world.ground
    time = frame * FRAME + plan.late
    poses = [matrix(mover.pose(time)) for mover in MOVERS.values()]
    ground.move_many(list(MOVERS), np.array(poses), FRAME)
    if frame % plan.every == 0:
        rng = np.random.default_rng((plan.seed, frame))
        for deed in (_dig, _come_and_go, _put_crates, _leap):
            deed(world, rng, plan)
    _steer(world, frame, plan)
    if isinstance(ground, tp.TiledGround):
        ground.keep_near([world[key] for key in world], RADIUS)
        ground.load_some()
    world.extra = b"%d" % frame
    return world.update(FRAME)


def _steer(world: tp.World, frame: int, plan: Plan) -> None:
    crowd: Any = world["crowd"]
    goals, speeds = _wishes(plan.seed, frame // 400, plan.people)
    keys = np.fromiter(crowd, dtype=np.int64, count=len(crowd))
    crowd.walk(*_towards(crowd.positions, goals[keys], speeds[keys]))
    ghosts: Any = world["ghosts"]
    goals, speeds = _wishes(plan.seed + 1, frame // 400, GHOSTS)
    ghosts.walk(*_towards(ghosts.positions, goals, speeds))
    goals, speeds = _ways(plan.seed, frame // 1000)
    alone: list[Any] = [world[name] for name in RUNNERS]
    places = np.array([one.position64 for one in alone])
    for one, vx, vz in zip(alone, *_towards(places, goals, speeds), strict=True):
        one.walk(vx, vz)


@functools.lru_cache(maxsize=8)
def _ways(seed: int, turn: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where those alone want to go for a while, and how fast."""
    rng = np.random.default_rng((seed, 2, turn))
    goals = rng.uniform(-320.0, 320.0, (len(RUNNERS), 2))
    goals[0] = rng.choice(SIGHTS)
    return goals + MIDDLE[::2], np.array([3.0, 14.0, 14.0, 14.0])


@functools.lru_cache(maxsize=8)
def _wishes(seed: int, turn: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where people want to go for a while, and how fast: most to what there is in town."""
    rng = np.random.default_rng((seed, 1, turn))
    goals = SIGHTS[rng.integers(len(SIGHTS), size=count)] + rng.uniform(-2.0, 2.0, (count, 2))
    kind = rng.uniform(size=count)
    goals = np.where((kind < 0.35)[:, None], rng.uniform(-34.0, 34.0, (count, 2)), goals)
    goals = np.where((kind < 0.12)[:, None], rng.uniform(-150.0, 150.0, (count, 2)), goals)
    return goals + MIDDLE[::2], rng.uniform(1.0, 5.0, count)


def _towards(places: Any, goals: Any, speeds: Any) -> tuple[Any, Any]:
    """Return velocities towards goals; who is near stands still."""
    ahead = goals - places[:, [0, 2]]
    size = np.sqrt((ahead * ahead).sum(axis=1))
    ahead *= (speeds * (size > 0.5) / np.maximum(size, 0.5))[:, None]
    return ahead[:, 0], ahead[:, 1]


def _dig(world: tp.World, rng: np.random.Generator, _plan: Plan) -> None:
    """Edit the land somewhere; what has become deep is filled up, what is high is taken down."""
    ground: Any = world.ground
    x, z = SPOTS[rng.integers(len(SPOTS))] + MIDDLE[::2]
    was = float(heights_at(x, z))
    grown, kind = float(ground.height_at(x, z)) - was, rng.integers(6)
    size = rng.uniform(2.0, 5.0)
    if abs(grown) > 2.5:
        ground.flatten((x, z), 6.0, was, flat=5.0)
    elif kind < 2:
        ground.carve((x, z), size, rng.uniform(0.2, 1.5))
    elif kind < 4:
        ground.raise_((x, z), size, rng.uniform(0.2, 1.5))
    elif kind == 4:
        ground.flatten((x, z), size, was + rng.uniform(-1.0, 1.0), flat=size)
    else:
        ground.smooth((x, z), size)
        ground.paint((x, z), size, int(rng.integers(2)))


def _come_and_go(world: tp.World, rng: np.random.Generator, plan: Plan) -> None:
    """Let somebody of the crowd go, and those come again who are away, where there is room."""
    crowd: Any = world["crowd"]
    crowd.remove(list(crowd)[rng.integers(len(crowd))])
    for key in range(plan.people):
        if key not in crowd:
            x, z = GATES[rng.integers(len(GATES))] + MIDDLE[::2]
            if _is_free(world, x, z):
                place = (x, float(world.ground.height_at(x, z)) + 0.5, z)
                crowd.add(key, place, collider=OF_KEYS[key % len(OF_KEYS)])


def _put_crates(world: tp.World, rng: np.random.Generator, _plan: Plan) -> None:
    """Take a crate away, or put one where nobody is."""
    ground: Any = world.ground
    x, y, z = CRATES[rng.integers(len(CRATES))]
    if (name := f"crate at {x:g}, {z:g}") in ground.part_names.values():
        ground.remove(name)
    elif _is_free(world, MIDDLE[0] + x, MIDDLE[2] + z):
        mesh = tp.TriangleMesh.box(CRATE_SIZE, solid=bool(rng.integers(2)))
        ground.add(mesh, transform=matrix(((x, y, z), rng.uniform(0.0, 1.0))), name=name)


def _leap(world: tp.World, rng: np.random.Generator, _plan: Plan) -> None:
    crowd: Any = world["crowd"]
    keys = list(crowd)
    for row in rng.integers(len(keys), size=3):
        crowd[keys[row]].jump(rng.uniform(0.3, 1.5))


def _is_free(world: tp.World, x: float, z: float) -> bool:
    """Whether nobody is within 2 m of a place."""
    return all(math.hypot(px - x, pz - z) > 2.0 for _, (px, _, pz), _ in bodies(world))


# Who is where


def bodies(world: tp.World) -> Iterator[tuple[Any, tuple[float, float, float], Any]]:
    """Give the name, the position and the body of each character."""
    for key in world:
        thing: Any = world[key]
        if isinstance(thing, tp.CharacterGroup):
            places = thing.positions.tolist()
            for (name, member), place in zip(thing.items(), places, strict=True):
                yield (key, name), place, member.collider
        else:
            yield key, thing.position64, thing.collider


def boxes(ground: tp.Ground) -> Iterator[tuple[str, bool, NDArray[np.float64], Any]]:
    """Give name, whether it moves, size and transform of each box but the one-way deck."""
    sizes = {name: block.size for name, block in (MOVERS | BLOCKS).items()}
    for key, name in ground.part_names.items():
        if name != "one-way deck":
            size = np.array(sizes.get(name, CRATE_SIZE))
            yield name, name in MOVERS, size, ground.transform(key)
