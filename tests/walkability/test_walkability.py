"""Walkability: what it takes and refuses, what it shows, and updates of all and of some."""

import math
import pickle
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    CharacterRules,
    Ground,
    HeightMap,
    SphereCollider,
    Walkability,
)
from terrain_physics.walkability.update import Update

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def hills(size: int = 9, seed: int = 1) -> HeightMap:
    """Return rough land."""
    rng = np.random.default_rng(seed)
    return HeightMap(rng.normal(0, 0.3, (size, size)).cumsum(axis=0))


def made(ground: Any, **options: Any) -> Walkability:
    """Return a map of all places."""
    paths = Walkability(ground, options.pop("collider", CAPSULE), **options)
    assert paths.update() == 0
    return paths


def same(one: Walkability, other: Walkability) -> bool:
    """Tell whether two maps are the same, bit for bit."""
    return one.heights.tobytes() == other.heights.tobytes() and bool(
        (one.edges == other.edges).all()
    )


class TestWhatItIs:
    def test_a_flat_floor_is_walked_everywhere(self) -> None:
        paths = made(HeightMap(np.zeros((5, 4))))
        assert paths.shape == (1, 5, 4)
        assert paths.standing.all()
        assert np.allclose(paths.heights, 0, atol=1e-5)
        inside = paths.edges[0, 1:-1, 1:-1]
        assert (inside == 1).all()
        assert paths.edges[0, 0, 0].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]
        assert paths.edges[0, -1, -1].tolist() == [0, 0, 0, 0, 1, 1, 1, 0]

    def test_places_are_on_multiples_of_the_spacing_in_the_area(self) -> None:
        floor = HeightMap(np.zeros((9, 9)), origin=(-4, 0, -4))
        area = (-1.2, 0.9), (1.6, 2.0)
        paths = made(floor, spacing=0.5, area=area)
        assert paths.positions[0, 0, 0, ::2].tolist() == [-1.0, 1.0]
        assert paths.positions[0, -1, -1, ::2].tolist() == [1.5, 2.0]
        assert paths.shape == (1, 3, 6)

    def test_outside_of_the_ground_nobody_stands(self) -> None:
        paths = made(HeightMap(np.zeros((4, 4)), border="open"), area=((1, 1), (6, 2)))
        assert paths.standing.tolist() == [[[True, True, True, False, False, False]] * 2]
        assert paths.edges[0, 0, 2, 0] == 0

    def test_a_new_map_is_empty(self) -> None:
        paths = Walkability(hills(), CAPSULE)
        assert not paths.standing.any()
        assert not paths.edges.any()

    def test_it_has_the_rules_of_a_hero(self) -> None:
        floor = HeightMap(np.zeros((3, 3)))
        hero = CharacterMovement(floor, CAPSULE, slope_limit=0.9, mass=60)
        paths = Walkability(floor, CAPSULE, rules=hero.rules, step_offset=0.4)
        assert paths.rules == hero.rules.replace(step_offset=0.4)
        assert paths.ground is floor
        assert paths.collider is CAPSULE
        assert (paths.spacing, paths.speed, paths.max_drop) == (1.0, 3.0, 2.0)
        assert paths.rates == (60.0,)
        assert paths.threads is None
        assert paths.moving_parts == ()
        assert "1 x 3 x 3 places of 1 m" in repr(paths)

    def test_arrays_are_read_only(self) -> None:
        paths = made(HeightMap(np.zeros((3, 3))))
        for name in ("heights", "standing", "positions", "edges"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(paths, name)[...] = 0
        with pytest.raises(AttributeError):
            paths.spacing = 2  # type: ignore[misc]
        with pytest.raises(AttributeError, match="did you mean spacing"):
            paths.spacng = 2  # type: ignore[attr-defined]


class TestSomePlaces:
    def test_those_near_come_first(self) -> None:
        paths = Walkability(HeightMap(np.zeros((9, 9))), CAPSULE)
        assert paths.update(around=(4, 4), radius=1) == 0
        made_now: Any = paths.edges[0].any(axis=-1)
        assert made_now.sum() == 5
        assert made_now[4, 4]
        assert made_now[3, 4]

    def test_a_position_or_an_owner_of_one_serves(self) -> None:
        floor = HeightMap(np.zeros((9, 9)))
        hero = CharacterMovement(floor, CAPSULE, position=(4, 0, 2))
        for around in ((4, 2), (4, 0, 2), glm.vec3(4, 0, 2), hero):
            paths = Walkability(floor, CAPSULE)
            paths.update(around=around, radius=0.5)
            assert np.argwhere(paths.edges.any(axis=-1)).tolist() == [[0, 2, 4]]

    @pytest.mark.parametrize("around", [None, (3, 5)])
    def test_a_budget_ends_it_and_the_rest_comes_later(self, around: Any) -> None:
        land = hills()
        whole, paths = made(land), Walkability(land, CAPSULE)
        radius = None if around is None else 99
        left, steps = math.prod(paths.shape), 0
        while left > 0:
            before = left
            left = paths.update(around=around, radius=radius, budget=0)
            assert left < before
            _leads_to_places(paths)
            steps += 1
        assert steps > 5
        assert same(paths, whole)

    def test_a_circle_may_be_of_any_size(self) -> None:
        paths = Walkability(HeightMap(np.zeros((9, 9))), CAPSULE)
        assert paths.update(around=(4, 4), radius=1e200) == 0
        assert paths.standing.all()

    def test_a_budget_is_spent_row_by_row(self) -> None:
        paths = Walkability(HeightMap(np.zeros((40, 40))), CAPSULE)
        left = paths.update(budget=0)
        assert 0 < 1600 - left <= 128
        assert not paths.standing[0, 9:].any()  # no more is looked at, however large the map is

    def test_none_near(self) -> None:
        paths = Walkability(hills(), CAPSULE)
        assert paths.update(around=(100, 100), radius=5) == 0
        assert not paths.edges.any()


def _leads_to_places(paths: Walkability) -> None:
    """Hold that no edge leads from or to a place where nobody can stand."""
    standing, edges = paths.standing[0], paths.edges[0]
    steps = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
    for row, column, direction in np.argwhere(edges).tolist():
        rows, columns = steps[direction]
        assert standing[row, column]
        assert standing[row + rows, column + columns]


class TestThreads:
    def test_the_bits_are_the_same(self) -> None:
        land = hills(13)
        assert same(made(land, threads=1), made(land, threads=4))


class TestCopies:
    def test_a_pickle_and_a_deep_copy_have_a_ground_of_their_own(self) -> None:
        land = hills()
        paths = Walkability(land, CAPSULE, slope_limit=0.8, speed=2)
        paths.update(around=(4, 4), radius=3)
        for other in (pickle.loads(pickle.dumps(paths)), deepcopy(paths)):
            assert other.ground is not land
            assert same(other, paths)
            assert other.update() == 0
            assert same(other, made(land, slope_limit=0.8, speed=2))
            own: Any = other.ground
            own[4, 4] = 3
            assert other.update() == 0
            assert not same(other, made(land, slope_limit=0.8, speed=2))
        assert paths.update(around=(4, 4), radius=3) == 0

    def test_a_copy_while_an_update_goes_on_has_yet_to_make_what_that_makes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        paths, make, copies = Walkability(hills(), CAPSULE), Update.make, []

        def copy_first(update: Update, *details: Any) -> None:
            copies.append(pickle.dumps(paths))
            make(update, *details)

        monkeypatch.setattr(Update, "make", copy_first)
        assert paths.update() == 0
        monkeypatch.undo()
        other = pickle.loads(copies[0])
        assert not same(other, paths)
        assert other.update() == 0
        assert same(other, paths)

    def test_a_path_is_copied_with_its_map(self) -> None:
        paths = made(HeightMap(np.zeros((9, 9))))
        for both in (pickle.loads(pickle.dumps((paths, paths.path((1, 1), (7, 7))))),):
            other, path = both
            assert path._places is other._places is not paths._places

    def test_a_shallow_copy_is_of_the_same_ground(self) -> None:
        land = hills()
        paths = made(land)
        other = copy(paths)
        assert other.ground is land
        land[4, 4] = 3
        before = paths.heights.tobytes()
        assert other.update() == 0
        assert paths.heights.tobytes() == before
        assert paths.update() == 0
        assert same(other, paths)


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"spacing": 0}, ValueError, "spacing must be finite and > 0"),
            ({"spacing": math.nan}, ValueError, "spacing must be"),
            (
                {"spacing": 3.3},
                ValueError,
                "spacing must be at most 8 radii of the collider, 3.2 m",
            ),
            ({"spacing": "1"}, TypeError, "spacing"),
            ({"speed": 0}, ValueError, "speed must be finite and > 0"),
            ({"speed": math.inf}, ValueError, "speed must be"),
            ({"speed": 31}, ValueError, "speed must be at most 30 spacings a second, 30 m/s"),
            ({"speed": 0.09}, ValueError, "speed must be at least 0.1 spacings a second, 0.1 m/s"),
            ({"max_drop": -1}, ValueError, "max_drop must be"),
            ({"max_drop": math.nan}, ValueError, "max_drop must be"),
            ({"rates": 60}, TypeError, "rates must be iterable"),
            ({"rates": ()}, ValueError, "rates must be one or more numbers, got none"),
            ({"rates": (4, 60)}, ValueError, "rates must be from 5 to 1000, got 4"),
            ({"rates": (60, 1001)}, ValueError, "rates must be from 5 to 1000, got 1001"),
            ({"rates": (60, "144")}, TypeError, "rates must be"),
            ({"rates": (60, 20)}, ValueError, "rates must be sorted, each once"),
            ({"rates": (20, 20)}, ValueError, "rates must be sorted, each once"),
            ({"area": 5}, ValueError, "area must"),
            ({"area": ((0, 0), (math.nan, 1))}, ValueError, "area must be finite"),
            ({"area": ((2, 0), (1, 1))}, ValueError, "area must be the lower and the upper corner"),
            (
                {"area": ((0.1, 0), (0.9, 5))},
                ValueError,
                "area must hold a multiple of the spacing",
            ),
            ({"area": ((0, 0), (1e4, 1e4))}, ValueError, "places must be at most 64000000, got"),
            ({"area": ((0, 0), (1e39, 1))}, ValueError, "area must be below"),
            ({"threads": 0}, ValueError, "threads must be"),
            ({"rules": 3}, TypeError, "rules must be"),
            ({"slope_limit": 45}, ValueError, "slope_limit must be .* use math.radians"),
            ({"max_slope": 1}, TypeError, "did you mean"),
            ({"collider": 0.4}, TypeError, "collider must be"),
            ({"ground": 3}, TypeError, "ground must be"),
        ],
    )
    def test_it_is_refused(
        self, options: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        own: dict[str, Any] = {"ground": HeightMap(np.zeros((5, 5))), "collider": CAPSULE} | options
        with pytest.raises(error, match=message):
            Walkability(own.pop("ground"), own.pop("collider"), **own)

    def test_too_many_places_say_what_would_do(self) -> None:
        floor = HeightMap(np.zeros((3, 3)))
        with pytest.raises(
            ValueError, match=r"a spacing of 1.25 m would do, or an area of 8000 x 8"
        ):
            Walkability(floor, CAPSULE, area=((0, 0), (9999, 9999)))

    def test_tiny_spacings_say_what_would_do(self) -> None:
        floor = HeightMap(np.zeros((3, 3)))
        with pytest.raises(ValueError, match=r"spacing of 0.00025 m .* area of 0.008 x 0.008 m"):
            Walkability(floor, CAPSULE, spacing=1e-6, speed=1e-5)

    def test_the_radius_of_each_body_bounds_the_spacing(self) -> None:
        floor = HeightMap(np.zeros((9, 9)))
        for body in (SphereCollider(0.3), BoxCollider((0.3, 0.9, 0.5)), CapsuleCollider(0.3, 1.8)):
            assert Walkability(floor, body, spacing=2.4).spacing == 2.4
            with pytest.raises(ValueError, match=r"8 radii of the collider, 2.4 m, got 2.5"):
                Walkability(floor, body, spacing=2.5)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"around": (1, 1)}, "around must come with radius"),
            ({"radius": 1}, "around must come with radius"),
            ({"around": (1, math.nan), "radius": 1}, "around must be"),
            ({"around": (1, 1), "radius": -1}, "radius must be"),
            ({"around": (1, 1), "radius": math.nan}, "radius must be"),
            ({"budget": -0.1}, "budget must be"),
            ({"budget": math.nan}, "budget must be"),
        ],
    )
    def test_an_update_refuses_it(self, options: dict[str, Any], message: str) -> None:
        paths = Walkability(HeightMap(np.zeros((4, 4))), CAPSULE)
        with pytest.raises(ValueError, match=message):
            paths.update(**options)
        assert not paths.standing.any()

    def test_an_update_inside_an_update_is_refused(self) -> None:
        paths = Walkability(HeightMap(np.zeros((4, 4))), CAPSULE)
        with paths._updating, pytest.raises(RuntimeError, match="inside another one"):
            paths.update()
        assert paths.update() == 0

    def test_rules_by_name_replace_those_of_a_value(self) -> None:
        rules = CharacterRules(step_offset=0.1, mass=20)
        paths = Walkability(Ground(hills()), CAPSULE, rules=rules, step_offset=0.2)
        assert (paths.rules.step_offset, paths.rules.mass) == (0.2, 20)
