"""Questions to a map of a real ground: labels, the nearest place, paths, fields, costs, a graph."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
    Walkability,
)
from terrain_physics.walkability.ways.questions import Kept

CAPSULE = CapsuleCollider(0.3, 1.8, offset=(0, 0.9, 0))


def made(ground: Any, **options: Any) -> Walkability:
    paths = Walkability(ground, CAPSULE, **options)
    assert paths.update() == 0
    return paths


def walled() -> Walkability:
    """A floor of 9 m, cut in two by a high wall with a door."""
    heights = np.zeros((9, 9))
    heights[4, :6] = 6.0
    return made(HeightMap(heights))


def box(sizes: tuple[float, float, float], center: tuple[float, float, float]) -> TriangleMesh:
    mesh = TriangleMesh.box(sizes)
    return TriangleMesh(np.asarray(mesh.vertices) + np.array(center), mesh.faces)


def terrace() -> Walkability:
    """A plateau, 1.5 m above a floor: one only drops from it."""
    return made(Ground([HeightMap(np.zeros((10, 10))), box((4.4, 1.5, 9), (2.2, 0.75, 4.5))]))


def muddy(**options: Any) -> tuple[HeightMap, Walkability]:
    """A floor of 20 m with a square of mud in its middle."""
    materials = np.zeros((20, 20), dtype=np.uint8)
    materials[3:, 8:12] = 1
    floor = HeightMap(
        np.zeros((21, 21)), materials=materials, material_names=["grass", "mud", "road"]
    )
    return floor, made(floor, **options)


class TestPaths:
    def test_on_a_floor_a_path_is_straight(self) -> None:
        paths = made(HeightMap(np.zeros((17, 17))))
        path = paths.path((1, 2), (14, 7))
        assert path is not None
        assert path.kinds == ("walk",)
        assert path.length == pytest.approx(math.hypot(13, 5))
        assert path.points[:, [0, 2]].tolist() == [[1, 2], [14, 7]]

    def test_a_one_way_part_far_away_bends_no_path(self) -> None:
        ground = Ground([HeightMap(np.zeros((16, 16)))])
        key = ground.add(TriangleMesh.box((2, 0.2, 2)), transform=(500, 1, 500))
        ground.set_one_way(key, (0, 1, 0))
        paths = Walkability(ground, CAPSULE, area=((0, 0), (15, 15)))
        paths.update()
        path = paths.path((1, 2), (14, 7))
        assert path is not None
        assert path.points[:, [0, 2]].tolist() == [[1, 2], [14, 7]]

    def test_a_path_goes_through_the_door(self) -> None:
        paths = walled()
        path = paths.path((1, 1), (1, 7))
        assert path is not None
        assert set(path.kinds) == {"walk"}
        crossed = [x for x, _, z in path.points.tolist() if 3 <= z <= 5]
        assert min(crossed) >= 6
        assert path.length <= float(paths.field((1, 7)).distance[0, 1, 1]) + 1e-9

    def test_start_and_goal_on_one_place_are_a_path_of_one_point(self) -> None:
        path = walled().path((1.2, 1), (0.9, 1.3))
        assert path is not None
        assert (len(path.points), path.kinds, path.length) == (1, (), 0.0)

    def test_without_a_way_there_is_none(self) -> None:
        heights = np.zeros((9, 9))
        heights[4] = 6.0
        paths = made(HeightMap(heights))
        assert paths.path((1, 1), (1, 7)) is None
        assert math.isinf(paths.field((1, 7)).distance[0, 1, 1])
        assert len(np.unique(paths.labels[paths.standing])) >= 2

    def test_drops_are_never_pulled_over(self) -> None:
        paths = terrace()
        path = paths.path((1, 1.5, 2), (8, 0, 4))
        assert path is not None
        assert path.kinds.count("drop") == 1
        k = path.kinds.index("drop")
        leg = path.points[k + 1] - path.points[k]
        assert math.hypot(leg[0], leg[2]) <= math.sqrt(2) + 1e-9
        assert leg[1] == pytest.approx(-1.5, abs=0.01)
        assert len(path.kinds) <= 5
        assert paths.path((8, 0, 4), (1, 1.5, 2)) is None

    def test_answers_do_not_depend_on_earlier_ones(self) -> None:
        paths = walled()
        first = paths.path((1, 1), (2, 7))
        for k in range(20):
            paths.path((k % 9, k % 3), (8 - k % 5, 8), nearest=True)
        again = paths.path((1, 1), (2, 7))
        assert first is not None
        assert again is not None
        assert first.points.tolist() == again.points.tolist()

    def test_a_hero_and_a_vector_are_starts(self) -> None:
        paths = walled()
        hero = CharacterMovement(paths.ground, CAPSULE, position=(1, 0, 1))
        of_hero, of_vector = (paths.path(s, (3, 1)) for s in (hero, glm.vec3(1, 0.5, 1)))
        assert of_hero is not None
        assert of_vector is not None
        assert of_hero.points.tolist() == of_vector.points.tolist()


def counted_looks(
    monkeypatch: pytest.MonkeyPatch, then: Callable[[int], None] = lambda _count: None
) -> list[int]:
    """Return a list that grows with each look at the materials of a map, and call a function."""
    looks: list[int] = []
    look = Kept.find_materials

    def counted(kept: Kept, *given: Any) -> Any:
        found = look(kept, *given)
        looks.append(len(found))
        then(len(looks))
        return found

    monkeypatch.setattr(Kept, "find_materials", counted)
    return looks


class TestCosts:
    def test_a_path_goes_round_what_costs_more(self) -> None:
        _, paths = muddy()
        straight, around = (paths.path((4, 10), (16, 10), cost=c) for c in (None, {"mud": 9}))
        assert straight is not None
        assert around is not None
        assert straight.kinds == ("walk",)
        assert around.length > straight.length + 3
        assert around.points[:, 2].min() < 3.5
        # No piece of it leads over mud: pulling does not take back what the cost was for.
        for a, b in zip(around.points[:-1], around.points[1:], strict=True):
            line = np.linspace(a, b, 60)
            inside = (line[:, 0] > 8.1) & (line[:, 0] < 11.9) & (line[:, 2] > 3.6)
            assert not inside.any()

    def test_lengths_count_by_the_mean_of_both_ends(self) -> None:
        _, paths = muddy()
        free, dear = (paths.field((4, 10), cost=c).distance for c in (None, {"mud": 1.5}))
        assert free[0, 10, 16] == pytest.approx(12.0, abs=1e-5)
        # The material of a place on the border is that of the cell that the ray finds.
        assert free[0, 10, 16] + 1.5 <= dear[0, 10, 16] <= free[0, 10, 16] + 2.5

    def test_costs_of_one_change_nothing(self) -> None:
        _, paths = muddy()
        same, free = paths.field((4, 10), cost={"mud": 1, "road": 1}), paths.field((4, 10))
        assert np.array_equal(same.distance, free.distance)

    def test_paint_and_edits_count_at_once(self) -> None:
        floor, paths = muddy()
        assert paths.field((4, 10), cost={"mud": 9}).distance[0, 10, 16] > 13
        floor.paint((10, 10), 30, "road")
        assert paths.field((4, 10), cost={"mud": 9}).distance[0, 10, 16] == pytest.approx(
            12, abs=1e-5
        )
        floor.paint((10, 10), 30, "mud")
        floor.carve((4, 4), 2, 0.3)
        paths.update()
        far = paths.field((4, 10), cost={"mud": 9}).distance
        assert far[0, 10, 16] == pytest.approx(9 * 12, abs=1e-4)
        new = made(floor)
        assert np.array_equal(new.field((4, 10), cost={"mud": 9}).distance, far)

    def test_a_place_that_has_come_to_another_level_has_its_own_material(self) -> None:
        floor = HeightMap(np.zeros((9, 9)), material_names=["grass", "mud"])
        deck = TriangleMesh.box((6, 0.2, 6), material_names=["mud"])
        ground = Ground([floor])
        ground.add(deck, transform=(4, 3, 4))
        paths, cost, goal = made(ground), {"mud": 9}, (2, 3.1, 4)
        assert paths.field(goal, cost=cost).distance[1, 4, 6] == pytest.approx(9 * 4, abs=1e-4)
        floor.holes[2:7, 2:7] = True  # the deck is the lowest there
        paths.update()
        far = paths.field(goal, cost=cost).distance
        assert far[0, 4, 6] == pytest.approx(9 * 4, abs=1e-4)
        assert np.array_equal(made(ground).field(goal, cost=cost).distance, far)

    def test_unknown_materials_are_refused(self) -> None:
        _, paths = muddy()
        with pytest.raises(ValueError, match="must be one of 'grass', 'mud', 'road', got 'mudd'"):
            paths.path((4, 10), (16, 10), cost={"mudd": 2})
        with pytest.raises(ValueError, match=r"cost\['mud'\] must be from 1 to 1000, got 0.2"):
            paths.field((4, 10), cost={"mud": 0.2})

    def test_materials_are_looked_at_again_only_after_a_change(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        floor, paths = muddy()
        looks = counted_looks(monkeypatch)
        for _ in range(3):
            paths.path((1, 10), (19, 10), cost={"mud": 5})
            paths.field((19, 10), cost={"mud": 2})
        assert len(looks) == 1
        floor[3, 3] = 1.0
        paths.update()
        paths.path((1, 10), (19, 10), cost={"mud": 5})
        assert len(looks) == 2

    def test_levels_that_come_while_it_looks_are_seen(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ground = Ground([muddy()[0]])
        paths = made(ground)

        def grow(count: int) -> None:
            if count == 1:
                ground.add(box((2, 0.1, 2), (3, 0.05, 3)))
                paths.update()

        looks = counted_looks(monkeypatch, grow)
        path = paths.path((1, 10), (19, 10), cost={"mud": 5})
        assert len(looks) == 2
        assert path is not None
        assert path.length > 19


class TestFields:
    def test_goals_are_one_or_many(self) -> None:
        paths = walled()
        one, many = paths.field((2, 7)), paths.field([(2, 7), (2, 1)])
        assert one.distance[0, 7, 2] == many.distance[0, 7, 2] == many.distance[0, 1, 2] == 0
        assert one.distance[0, 1, 2] > 8
        assert np.array_equal(paths.field(np.array([[2.0, 7.0]])).distance, one.distance)
        assert np.array_equal(paths.field(glm.vec3(2, 0, 7)).distance, one.distance)
        assert one.distance.shape == paths.shape
        assert one.direction[0, 1, 2].tolist() != [0.0, 0.0]

    def test_it_is_the_distance_of_the_graph(self) -> None:
        paths = walled()
        graph = paths.to_graph()
        ends = np.repeat(np.arange(len(graph.points)), np.diff(graph.indptr))
        far = paths.field((2, 7)).distance[paths.standing]
        # Bellman: no edge leads to a shorter way, and one of each place is on the shortest.
        through = graph.lengths + far[graph.indices]
        assert (far[ends] <= through).all()
        least = np.full(len(far), math.inf)
        np.minimum.at(least, ends, through)
        apart = far > 0
        assert np.array_equal(far[apart], least[apart])


class TestPlaces:
    def test_labels_are_read_only_and_follow_the_map(self) -> None:
        heights = np.zeros((9, 9))
        floor = HeightMap(heights)
        paths = made(floor)
        before = paths.labels
        assert (before == 1).all()
        assert not before.flags.writeable
        floor[4, :] = np.full(9, 6.0)
        paths.update()
        assert paths.labels[0, 1, 1] == 1 < paths.labels[0, 7, 1]
        assert (paths.labels == 0).tolist() == (~paths.standing).tolist()
        assert (before == 1).all()

    def test_labels_at_a_point_are_those_of_the_nearest_places(self) -> None:
        floor = HeightMap(np.zeros((9, 9)), origin=(-4, 0, 2))
        ground = Ground([floor, box((3, 0.25, 3), (0, 3, 6))])
        paths = made(ground)
        for x, z in ((0.4, 5.6), (-4, 2), (-4.49, 10.49), (3.6, 6.5)):
            row, column = round(z - 2 + 1e-9), round(x + 4 + 1e-9)
            assert paths.labels_at(x, z).tolist() == paths.labels[:, row, column].tolist()
        assert paths.labels_at(0, 6).tolist() == [1, 2, 0]
        for x, z in ((-4.51, 6), (4.51, 6), (0, 1.49), (0, 1e300), (-1.7e308, 0)):
            assert paths.labels_at(x, z).tolist() == [0, 0, 0]

    @pytest.mark.parametrize(("name", "value"), [("x", math.nan), ("z", math.inf), ("x", "1")])
    def test_labels_at_no_point_are_refused(self, name: str, value: Any) -> None:
        with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
            walled().labels_at(**({"x": 0, "z": 0} | {name: value}))

    def test_reachable_places_include_drops(self) -> None:
        paths = terrace()
        above, below = paths.reachable((1, 1.5, 2)), paths.reachable((8, 0, 4))
        high = paths.heights > 1
        assert high.sum() > 20
        assert above[high].all()
        assert (above & ~high).sum() > 20
        assert not (below & high).any()
        assert set(np.unique(paths.labels[high])).isdisjoint(np.unique(paths.labels[below]))

    def test_the_nearest_place_is_where_one_stands(self) -> None:
        paths = walled()
        assert paths.nearest((2.2, 1.4)) == glm.vec3(*paths.positions[0, 1, 2].tolist())
        assert paths.nearest((-50, 3)) is not None
        assert Walkability(HeightMap(np.zeros((3, 3))), CAPSULE).nearest((1, 1)) is None

    def test_levels_are_told_apart_by_height(self) -> None:
        floor = HeightMap(np.zeros((9, 9)))
        paths = made(Ground([floor, box((3, 0.25, 3), (4, 3, 4))]))
        high = paths.nearest((4, 3.1, 4))
        assert high is not None
        assert high.y == pytest.approx(3.125, abs=0.01)
        path = paths.path((4, 3.2, 4), (5, 3.2, 3))
        assert path is not None
        assert path.points[:, 1].min() > 3
        low = paths.nearest((4, 0.2, 4))
        assert low is not None
        assert low.y == pytest.approx(0, abs=0.01)


class TestRefused:
    def test_a_goal_where_nothing_stands_names_the_nearest_place(self) -> None:
        paths = walled()
        with pytest.raises(
            ValueError, match=r"goal must be at most 1 m from .*nearest place is \("
        ):
            paths.path((1, 1), (30, 30))
        with pytest.raises(ValueError, match=r"goals\[1\] must be at most 1 m"):
            paths.field([(1, 1), (30, 30)])
        path = paths.path((1, 1), (30, 30), nearest=True)
        assert path is not None
        assert path.points[-1, [0, 2]].tolist() == [8, 8]

    def test_however_far_a_goal_is_the_nearest_place_is_found(self) -> None:
        paths = made(HeightMap(np.zeros((9, 9))))
        assert paths.nearest((1e300, 3)) == paths.nearest((8, 3))
        assert paths.nearest((2, -1e308)) == paths.nearest((2, 0))
        path = paths.path((1, 1), (-1e308, 5), nearest=True)
        assert path is not None
        assert path.points[-1, [0, 2]].tolist() == [0, 5]

    def test_a_start_far_from_all_places(self) -> None:
        paths = walled()
        with pytest.raises(ValueError, match="start must be at most 2 m from"):
            paths.path((-9, 1), (1, 1))
        with pytest.raises(ValueError, match="start must be at most 2 m from"):
            paths.reachable((1, 40, 1))

    def test_an_empty_map_says_how_it_is_filled(self) -> None:
        paths = Walkability(HeightMap(np.zeros((5, 5))), CAPSULE)
        with pytest.raises(ValueError, match=r"has no such place \(update\(\) makes places\)"):
            paths.path((1, 1), (2, 2))

    @pytest.mark.parametrize(
        ("ask", "error"),
        [
            (lambda p: p.path((math.nan, 1), (1, 1)), "start must be"),
            (lambda p: p.path((1, 1), (1, math.inf)), "goal must be"),
            (lambda p: p.path("here", (1, 1)), "start must be"),
            (lambda p: p.field([]), "goals must be at least one point"),
            (lambda p: p.field(5), "goals must be points or positions, got 5"),
            (lambda p: p.field([(1, 1), (math.nan, 1)]), r"goals\[1\] must be"),
            (lambda p: p.nearest((1, 2, 3, 4)), "position must be"),
            (lambda p: p.reachable(None), "start must be"),
            (lambda p: p.path((1, 1), (2, 2), cost=3), "cost must be a mapping"),
            (lambda p: p.path((1, 1), (2, 2), nearest="yes"), "nearest must be a bool, got 'yes'"),
            (lambda p: p.field((1, 1), nearest=2), "nearest must be a bool, got 2"),
            (lambda p: p.path((1e300, 1), (2, 2)), r"start must be at most .*1e\+300"),
            (lambda p: p.path((1, 1), (2, -1e308, 2)), r"goal must be at most .*-1e\+308"),
        ],
    )
    def test_what_is_no_position(self, ask: Any, error: str) -> None:
        with pytest.raises((TypeError, ValueError), match=error):
            ask(walled())
