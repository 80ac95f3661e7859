"""Maps of where a character can walk: places, edges, parts, ways to goals, and changes of them."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.helpers.draws import Draws, Floats
from tests.helpers.walking_lands import bridge, holes, kerbs, one_way_deck, one_way_gate

Groups = dict[str, Callable[[], Iterator[Any]]]

SIDE = 16  # meters
BODIES: tuple[Any, ...] = (
    tp.CapsuleCollider(0.4, 1.8, offset=(0.0, 0.9, 0.0)),
    tp.SphereCollider(0.35, offset=(0.0, 0.35, 0.0)),
    tp.BoxCollider((0.3, 0.8, 0.3), offset=(0.0, 0.8, 0.0)),
)
RULES: tuple[dict[str, Any], ...] = (
    {"slope_limit": 0.75, "step_offset": 0.35},
    {"slope_limit": 0.5, "keep_off_ledges": True},
    {"slope_limit": 1.0, "step_offset": 0.25, "ground_rule": "sum", "slope_speed": "surface"},
)
NAMES = ("grass", "mud", "road")


def _smooth() -> tp.HeightMap:
    """Return hills of parabolas, with materials."""
    x = np.arange(SIDE + 1.0)
    across = x % 10.0 * (10.0 - x % 10.0) / 16.0
    materials = np.floor(Draws(1).uniform(0.0, 3.0, SIDE, SIDE)).astype(np.uint8)
    materials[:, 4:8] = 1
    return tp.HeightMap(
        across[:, None] + 0.5 * across[None], materials=materials, material_names=NAMES
    )


def _rough(seed: int = 2) -> tp.HeightMap:
    """Return slopes of all kinds, with terraces between them."""
    draws = Draws(seed)
    heights = draws.uniform(0.0, 0.9, SIDE + 1, SIDE + 1).cumsum(axis=0) / 2.0
    heights += draws.uniform(0.0, 0.7, SIDE + 1, SIDE + 1)
    heights[:, SIDE // 2 :] = np.floor(heights[:, SIDE // 2 :] / 0.5) * 0.5
    return tp.HeightMap(heights, border="open")


def _drop() -> tp.Ground:
    """Return level land with a terrace from which one only drops, and a deck over a part of it."""
    ground = tp.Ground([tp.HeightMap(np.zeros((10, 10)))])
    ground.add(tp.TriangleMesh.box((4.0, 1.5, 9.0)), transform=(2.0, 0.75, 4.5))
    ground.add(tp.TriangleMesh.box((3.0, 0.25, 5.0)), transform=(5.5, 3.5, 4.5))
    return ground


def _ramps() -> tp.Ground:
    """Return rough land with boxes, a flight of stairs, and a ramp to a second floor."""
    draws = Draws(3)
    ground = tp.Ground([tp.HeightMap(draws.uniform(0.0, 0.25, 11, 11))])
    ground.add(tp.TriangleMesh.stairs(3.0, 0.25, 0.5, 6), transform=(3.0, 0.0, 2.0))
    ground.add(tp.TriangleMesh.box((5.0, 0.25, 4.0)), transform=(3.0, 1.5, 7.0))
    ramp = [(5.5, 1.6, 5.5), (5.5, 1.6, 8.5), (9.5, 0.0, 5.5), (9.5, 0.0, 8.5)]
    ground.add(tp.TriangleMesh(ramp, [(0, 1, 2), (1, 3, 2)]))
    for _ in range(2):
        x, z = draws.uniform((6.0, 1.0), (9.0, 4.0), 2).tolist()
        size = draws.uniform(0.2, 1.5, 3)
        ground.add(tp.TriangleMesh.box(size), transform=(x, 0.4 * size[1], z))
    return ground


# Lands, and which body and rules each is walked with.
LANDS: tuple[tuple[Callable[[], Any], int], ...] = (
    (_smooth, 0), (_smooth, 4), (_rough, 1), (_drop, 2), (_ramps, 3), (kerbs, 1), (holes, 8),
    (bridge, 1), (one_way_deck, 5), (one_way_gate, 0),
)  # fmt: skip


def _map_of(ground: Any, which: int, **options: Any) -> tp.Walkability:
    """Return a map of all places for one of several characters."""
    paths = tp.Walkability(
        ground, BODIES[which % 3], threads=1 + which % 2, **RULES[which // 3] | options
    )
    assert paths.update() == 0
    return paths


@cache
def _made(number: int) -> tp.Walkability:
    """Return the map of a land, with its own spacing and speed."""
    make, which = LANDS[number]
    spacing, speed = (1.0, 0.75)[which // 4 % 2], (3.0, 5.0)[which % 2]
    return _map_of(make(), which, spacing=spacing, speed=speed)


def _arrays(paths: tp.Walkability) -> Iterator[Any]:
    yield paths.shape, paths.heights, paths.edges, paths.labels, paths.moving_parts


def _maps() -> Iterator[Any]:
    """Give the places, edges and parts of each land, and the graph of them."""
    for number in range(len(LANDS)):
        paths = _made(number)
        yield from _arrays(paths)
        yield paths.positions, paths.to_graph()


def _somewhere(draws: Draws, paths: tp.Walkability, count: int) -> Floats:
    """Return places on a map."""
    standing = paths.positions[paths.standing]
    return standing[[draws.below(len(standing)) for _ in range(count)]]


def _ways() -> Iterator[Any]:
    """Give fields, shortest paths, what is reachable, and the nearest places."""
    for number in (0, 1, 2, 3, 7, 9):
        paths, draws = _made(number), Draws(70_000 + number)
        for cost in (None, {"mud": 4.0, "road": 1.5} if number < 2 else {0: 2.0}):
            for count in (1, 3):
                yield paths.field(_somewhere(draws, paths, count), cost=cost)
            for start, goal in zip(*(_somewhere(draws, paths, 12) for _ in range(2)), strict=True):
                yield paths.path(start, goal, cost=cost)
        yield paths.path((1.0, 1.0), (50.0, 3.0), nearest=True)
        for place in _somewhere(draws, paths, 4):
            yield paths.reachable(place)
        for x, y, z in draws.mixed(-3.0, SIDE + 3.0, 30, 3).tolist():
            yield paths.nearest((x, z)), paths.nearest((x, y, z))


def _change(ground: tp.Ground, draws: Draws, states: list[Any]) -> None:
    """Change a ground in one of several ways."""
    keys = [key for key in ground.parts if key > 0]
    x, z = draws.uniform(0.5, 6.5, 2).tolist()
    what, key = draws.below(10), draws.one_of(keys)
    if what < 2:
        ground.carve((x, z), draws.uniform(0.5, 3.0), depth=draws.uniform(-0.5, 0.75))
    elif what == 2:
        land: Any = ground.parts[0]
        land.holes[int(z), int(x)] = draws.chance(0.6)
    elif what == 3:
        ground.add(tp.TriangleMesh.box(draws.uniform(0.3, 2.0, 3)), transform=(x, 0.25, z))
    elif what == 4 and len(keys) > 3:
        ground.remove(key)
    elif what == 5:
        ground.move(key, (x, 0.5, z), draws.one_of((None, None, 1 / 60)))
    elif what == 6:
        ground.set_layers(key, draws.one_of((0, 1)))
    elif what == 7:
        mesh: Any = ground.parts[key]
        mesh.refit(mesh.vertices + draws.uniform(-0.2, 0.2, 3))
    elif what == 8:
        states.append(ground.state())
    elif states:
        ground.restore(draws.one_of(states))
    else:
        ground.set_one_way(key, (0.0, 1.0, 0.0))


def _yard() -> tp.Ground:
    """Return a small rough floor with two boxes and a step."""
    draws = Draws(4)
    ground = tp.Ground([tp.HeightMap(draws.uniform(0.0, 0.2, 8, 8))])
    for size, x, z in (((2.0, 0.25, 2.0), 1.5, 2.0), ((1.0, 2.0, 3.0), 5.0, 5.5)):
        ground.add(tp.TriangleMesh.box(size), transform=(x, 0.5 * size[1], z))
    ground.add(tp.TriangleMesh.box((2.0, 0.25, 1.0)), transform=(5.0, 0.25, 1.5))
    return ground


def _changed_maps() -> Iterator[Any]:
    """Give maps after changes of the ground, made anew near to a point first, and then all."""
    for which in (0, 4):
        draws, states = Draws(80_000 + which), list[Any]()
        ground = _yard()
        paths = _map_of(ground, which)
        for _ in range(5):
            for _ in range(2):
                _change(ground, draws, states)
            around, radius = draws.uniform(0.0, 7.0, 2), draws.uniform(0.0, 3.0)
            yield paths.update(around=around, radius=radius)
            yield from _arrays(paths)
            yield paths.update()
            yield from _arrays(paths)
            yield paths.field(_somewhere(draws, paths, 2))


GROUPS: Groups = {
    "walkable places and edges": _maps,
    "ways on walkable places": _ways,
    "walkable places after changes": _changed_maps,
}
