"""Proofs of edges beside the truth: what a map says of each edge, and what characters do there."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Walkability,
)
from terrain_physics._kernels.walkability.layout import DIRECTIONS, DROP
from terrain_physics._kernels.walkability.straight import way_holds
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability import making
from terrain_physics.walkability.still_ground import reading_still
from terrain_physics.walkability.walkers import walk
from tests.helpers import walking_lands as lands
from tests.helpers.drawn_grounds import AnyGround
from tests.helpers.examples import rest_is_full
from tests.helpers.pairwise import each_once

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BODIES: dict[str, Any] = {
    "capsule": CAPSULE,
    "sphere": SphereCollider(0.4, offset=(0, 0.4, 0)),
    "box": BoxCollider((0.35, 0.9, 0.35), offset=(0, 0.9, 0)),
}
LANDS: dict[str, Any] = {
    "rough": lambda: lands.rough_land(14, seed=3),
    "smooth": lambda: lands.smooth_land(10),
    "kerbs": lands.kerbs,
    "slopes": lands.slopes,
    "holes": lands.holes,
    "stairs": lands.stairs,
    "doors": lambda: lands.doors(1.05 * 0.8),
    "bridge": lands.bridge,
    "one-way deck": lands.one_way_deck,
    "high one-way deck": lambda: lands.one_way_deck(3.0),
    "one-way gate": lands.one_way_gate,
}
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}


class Compared(NamedTuple):
    """Edges between places where a character stands: what the map says, and the truth."""

    said: np.ndarray[tuple[int], np.dtype[np.uint8]]
    walked: np.ndarray[tuple[int], np.dtype[np.uint8]]


def compared(land: AnyGround, body: Any, **rules: Any) -> Compared:
    """Return all edges of a map beside those that characters walk."""
    paths = Walkability(land, body, **RULES, **rules)
    paths.update()
    places = paths._places
    starts = np.repeat(np.flatnonzero(paths.standing), DIRECTIONS)
    directions = np.tile(np.arange(DIRECTIONS), len(starts) // DIRECTIONS)
    with reading_still(queries_of(land)) as ground:
        walked, _ = walk(places, starts, directions, ground, paths._walker, None)
    return Compared(paths.edges.reshape(-1, DIRECTIONS)[starts, directions], walked)


def counted(body: str, made: list[AnyGround]) -> tuple[int, int]:
    """Return how many edges on lands are walked, and of how many the map says something else."""
    edges = [compared(land, BODIES[body]) for land in made]
    walked = sum(int((each.walked > 0).sum()) for each in edges)
    return walked, sum(int((each.said != each.walked).sum()) for each in edges)


def test_edges_are_as_characters_walk_them() -> None:
    walked, wrong = counted("capsule", [land() for land in LANDS.values()])
    assert walked > 6_000
    assert wrong == 0


@pytest.mark.parametrize("land", ["one-way deck", "high one-way deck", "one-way gate"])
def test_edges_at_one_way_parts_are_as_characters_walk_them(land: str) -> None:
    edges = compared(LANDS[land](), CAPSULE)
    assert (edges.walked > 0).sum() > 400
    assert np.array_equal(edges.said, edges.walked)


def test_a_walk_that_creeps_along_a_slope_may_come_free() -> None:
    edges = compared(lands.wavy_land(), CAPSULE)
    assert (edges.walked > 0).sum() > 400
    assert np.array_equal(edges.said, edges.walked)


def test_without_a_snap_a_body_leaves_the_ground() -> None:
    edges = compared(lands.wavy_land(), CAPSULE, snap_distance=0.0)
    assert (edges.walked == DROP).sum() > 50
    assert np.array_equal(edges.said, edges.walked)


@pytest.mark.full
@pytest.mark.parametrize("body", BODIES)
def test_edges_are_as_any_body_walks_them(body: str) -> None:
    made = [land() for land in LANDS.values()]
    made += [lands.rough_land(40, seed=seed) for seed in range(5)]
    walked, wrong = counted(body, made)
    assert walked > 30_000
    assert wrong == 0


@pytest.mark.parametrize(("land", "body"), each_once(LANDS, BODIES))
def test_a_character_stands_where_a_place_says(land: str, body: str) -> None:
    ground = LANDS[land]()
    paths = Walkability(ground, BODIES[body], **RULES)
    paths.update()
    places = paths.positions[paths.standing]
    group = CharacterGroup(ground, BODIES[body], **RULES)
    group.add_many(range(len(places)), places)
    group.update(1 / 60)
    assert group.grounded.all()
    assert len(places) > 20
    assert np.hypot(*(group.positions - places).T[[0, 2]]).max() < 1e-3


@pytest.mark.parametrize(
    ("body", "seed", "x", "z"),
    [("box", 0, 9, 5), ("box", 0, 28, 18), ("box", 4, 15, 36), ("capsule", 1, 31, 7)],
)
def test_there_is_no_place_where_a_body_slips(body: str, seed: int, x: int, z: int) -> None:
    ground = lands.rough_land(40, seed=seed)
    paths = Walkability(ground, BODIES[body], area=((x - 1, z - 1), (x + 1, z + 1)), **RULES)
    paths.update()
    places = paths.positions[paths.standing]
    group = CharacterGroup(ground, BODIES[body], **RULES)
    group.add_many(range(len(places)), places)
    for _ in range(30):
        group.update(1 / 60)
        assert group.grounded.all()
    assert np.hypot(*(group.positions - places).T[[0, 2]]).max() < 1e-3


def doubts_on(land: AnyGround, monkeypatch: pytest.MonkeyPatch) -> float:
    """Return the share of edges between places of a land that characters had to walk."""
    walked = []

    def count(places: Any, starts: Any, *rest: Any) -> Any:
        walked.append(len(starts))
        return walk(places, starts, *rest)

    monkeypatch.setattr(making, "walk", count)
    paths = Walkability(land, CAPSULE, **RULES)
    paths.update()
    return sum(walked) / (DIRECTIONS * int(paths.standing.sum()))


def test_proofs_decide_most_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doubts_on(lands.smooth_land(10), monkeypatch) == 0.0
    assert 0.0 < doubts_on(lands.rough_land(20), monkeypatch) < 0.2
    assert doubts_on(lands.doors(0.84), monkeypatch) < 0.2


def test_edges_do_not_depend_on_what_else_is_made() -> None:
    land = lands.rough_land(12, seed=2)
    at_once, in_parts = (Walkability(land, CAPSULE, **RULES) for _ in range(2))
    at_once.update()
    for x in range(0, 13, 3):
        in_parts.update(around=(x, 5), radius=4)
    in_parts.update()
    assert np.array_equal(at_once.edges, in_parts.edges)
    assert np.array_equal(at_once.heights, in_parts.heights, equal_nan=True)


class TestStraightWays:
    """Ways of any length that hold."""

    def ways(self, land: AnyGround, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (starts, ends, whether they hold) of some ways on a land."""
        paths = Walkability(land, CAPSULE, **RULES)
        paths.update()
        places = paths.positions[paths.standing]
        rng = np.random.default_rng(1)
        starts, ends = places[rng.integers(0, len(places), (2, count))]
        apart = (starts != ends)[:, [0, 2]].any(axis=1)
        starts, ends = starts[apart], ends[apart]
        with reading_still(queries_of(land)) as ground:
            rules = paths._walker.rules
            holds = [
                way_holds(ground.table, rules, 3.0, 1 / 60, tuple(start), tuple(end))
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]
        return starts, ends, np.array(holds)

    def farthest_off(self, land: AnyGround, starts: np.ndarray, ends: np.ndarray) -> float:
        """Return how far from their ends characters stop at most that walk straight on."""
        group = CharacterGroup(land, CAPSULE, **RULES)
        group.add_many(range(len(starts)), starts)
        group.update(1 / 60)
        nearest, ways = np.full(len(starts), np.inf), (ends - starts)[:, [0, 2]]
        ahead = 3.0 * ways / np.hypot(*ways.T)[:, np.newaxis]
        for _ in range(round(60 * float(np.hypot(*ways.T).max()) / 3.0) + 5):
            group.walk(*ahead.T)
            group.update(1 / 60)
            off = np.linalg.norm(group.positions - ends, axis=1)
            nearest = np.minimum(nearest, np.where(group.grounded, off, np.inf))
        return float(nearest.max())

    @pytest.mark.parametrize("land", rest_is_full(["stairs", "holes", "rough", "doors"], 2))
    def test_those_that_hold_are_walked_both_ways(self, land: str) -> None:
        ground = LANDS[land]()
        starts, ends, holds = self.ways(ground, 120)
        assert 5 < holds.sum() < len(holds)
        assert self.farthest_off(ground, starts[holds], ends[holds]) < 0.25
        assert self.farthest_off(ground, ends[holds], starts[holds]) < 0.25

    def test_all_hold_on_smooth_land(self) -> None:
        assert self.ways(lands.smooth_land(10), 50)[2].all()

    @pytest.mark.parametrize(("room", "holds"), [(0.03, False), (0.06, True)])
    def test_one_that_is_led_has_room_beside_them(self, room: float, *, holds: bool) -> None:
        wall = TriangleMesh.box((8, 2, 1), position=(5, 1, 5.5 + CAPSULE.radius + room))
        land = Ground([HeightMap(np.zeros((11, 11))), wall])
        with reading_still(queries_of(land)) as ground:
            rules = Walkability(land, CAPSULE, **RULES)._walker.rules
            ways = [((2.0, 0.0, 5.0), (8.0, 0.0, 5.0)), ((8.0, 0.0, 5.0), (2.0, 0.0, 5.0))]
            found = [way_holds(ground.table, rules, 3.0, 1 / 60, *way) for way in ways]
        assert found == [holds] * 2
