"""What grounds of every kind refuse: the question, the bad argument, and the words."""

import inspect
import math
import operator
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    SphereCollider,
    Surface,
    TiledGround,
    TriangleMesh,
)
from tests.helpers.tiled_lands import TilesOfArrays, level

GROUNDS: dict[str, Callable[[], Any]] = {
    "map": lambda: HeightMap(np.zeros((9, 9)), border="open"),
    "mesh": lambda: TriangleMesh.box((8, 2, 8), position=(4, 0, 4)),
    "ground": lambda: Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((1, 1, 1))]),
    "tiles": lambda: TiledGround.open(TilesOfArrays(level(1, 1))),
}
each_ground = pytest.mark.parametrize("kind", GROUNDS)

DOWN, BALL, WAY = Ray((1, 9, 1), (0, -1, 0)), Sphere((1, 0, 1), 1), (0, -1, 0)
ROWS, BOX = [(1, 0, 1, 1)], AABB((0, 0, 0), (1, 1, 1))
BODY = SphereCollider(1)
HERO = CharacterMovement(HeightMap(np.zeros((2, 2))), BODY)
INF, NAN, NO_TURN = math.inf, math.nan, [np.eye(3)]

# How each question is asked rightly.
ASKS: dict[str, tuple[Any, ...]] = {
    "height_at": (1, 1),
    "normal_at": (1, 1),
    "triangles_in": (BOX,),
    "triangles_in_many": ([(0, 0, 0)], [(1, 1, 1)]),
    "raycast": (DOWN,),
    "raycast_many": ([(1, 1, 1)], [WAY]),
    "contacts": (BALL,),
    "contact_counts": (ROWS,),
    "touches": (BALL,),
    "sweep": (BALL, WAY),
    "sweep_many": (ROWS, [WAY]),
    "closest_point": ((1, 1, 1),),
    "closest_points": ([(1, 1, 1)],),
    "contains": ((1, 1, 1),),
    "signed_distance": ((1, 1, 1),),
}


class Refusal(NamedTuple):
    """A question with arguments of which one is bad."""

    question: str
    given: tuple[Any, ...]
    error: type[Exception]
    words: str
    named: dict[str, Any] = {}  # noqa: RUF012 none writes to it


REFUSALS = [
    # Places
    Refusal("closest_point", ((0, INF, 0),), ValueError, r"point\.y must be finite"),
    Refusal("contains", ((1.0, "a", 0.0),), TypeError, "points must be three numbers"),
    Refusal("contains", ((1, 2),), ValueError, "points"),
    Refusal("signed_distance", ((1, 2, NAN),), ValueError, "points"),
    Refusal("signed_distance", ([(1, 2, 3), (1, 2)],), ValueError, "points"),
    Refusal("contains", ("abc",), TypeError, "points"),
    # Boxes
    Refusal("triangles_in", (3,), TypeError, "aabb must be an AABB, got 3"),
    Refusal("triangles_in", (None,), TypeError, "aabb must be an AABB, got "),
    Refusal("triangles_in", (((0, 0, 0), (1, 1, 1)),), TypeError, "aabb must be an AABB, got "),
    Refusal("triangles_in", (BOX,), ValueError, "^margin must be .*, got -0.1", {"margin": -0.1}),
    Refusal("triangles_in", (BOX,), ValueError, "^margin must be .*, got nan", {"margin": NAN}),
    Refusal("triangles_in", (BOX,), TypeError, "^margin must be .*, got '1'", {"margin": "1"}),
    Refusal(
        "triangles_in_many", ([(0, 0, 0), (0, 1, 0)], [(1, 1, 1), (1, 0, 1)]), ValueError,
        r"lowers must be <= uppers, got 1\.0 > 0\.0 in row 1",
    ),
    # Rays
    Refusal("raycast", (), TypeError, r"ray must be a Ray, or an origin with a direction: rayc"),
    Refusal("raycast", ((1, 9, 1),), TypeError, r"ray must be a Ray, or an .* got \(1, 9, 1\)"),
    Refusal("raycast", ((1, 9, 1), 5.0), TypeError, "direction must be three numbers, got 5.0"),
    Refusal("raycast", ((1, 9, 1), (0, 0, 0)), ValueError, "direction must not be zero"),
    Refusal("raycast", ((1, 9), WAY), ValueError, "origin must be three numbers, got 2"),
    Refusal("raycast", ((1, 9, 1), WAY, -1), ValueError, "max_distance must be from 0 to inf"),
    Refusal("raycast", ((1, 9, 1), WAY, 9, 1), TypeError, "mask must be given by name: mask=1"),
    Refusal("raycast", (DOWN, 9, 1), TypeError, "mask must be given by name: mask=1"),
    Refusal("raycast", (DOWN, WAY), TypeError, r"a Ray has its direction, got another one: \(0, -"),
    Refusal("raycast", (DOWN,), TypeError, "give a Ray or an origin, not both", {"origin": (1, 2)}),
    Refusal("raycast", (DOWN, NAN), ValueError, "max_distance must be from 0 to inf, got nan"),
    Refusal("raycast_many", ([(0, 1)], [WAY]), ValueError, "origins must have shape"),
    Refusal(
        "raycast_many", (np.zeros((9, 3)), np.ones((9, 3)) * (np.arange(9) % 4 != 3)[:, None]),
        ValueError, r"directions\[3\] must not be zero, got \(0.0, 0.0, 0.0\)",
    ),
    Refusal("raycast_many", (np.zeros((2, 3)), np.ones((3, 3))), ValueError, "number of rows"),
    Refusal("raycast_many", ([(0, INF, 0)], [WAY]), ValueError, "origins must be finite"),
    Refusal("raycast_many", ([(0, 0, 0)], [WAY], -1), ValueError, "max_distance must be"),
    # Shapes
    Refusal("contacts", (BALL,), ValueError, "keep must be one of 'all', 'd", {"keep": "first"}),
    Refusal("contacts", ([BALL, BOX],), TypeError, r"one kind, got Sphere and, at \[1\], AABB"),
    Refusal("contacts", ([BALL, BALL, 7],), TypeError, r"one kind, got Sphere and, at \[2\], 7"),
    Refusal("contacts", ([Boxes([WAY], [(1, 1, 1)]), BOX],), TypeError, "shapes must"),
    Refusal("contacts", ([*ROWS, (0, 0, 0, -1)],), ValueError, r"must be >= 0, got -1.0 in shapes"),
    Refusal("contacts", ([(0, 0, 0)],), ValueError, r"shapes must have shape \(n, 4\), got \(1, 3"),
    Refusal("contacts", ([(0, NAN, 0, 1)],), ValueError, "shapes must be finite"),
    Refusal("contacts", (None,), TypeError, "shapes must be a Sphere, .* or rows .*, got None"),
    Refusal("contacts", (BODY,), TypeError, r"its shape is what its transformed\(glm\.translate"),
    Refusal("touches", (BODY,), TypeError, "got SphereCollider.*; its shape is what its transf"),
    Refusal("contact_counts", ([BODY],), TypeError, "got SphereCollider.*; its shape is what its"),
    Refusal("contacts", (HERO,), TypeError, r"its shape is collider\.transformed\("),
    Refusal("contacts", (BALL,), TypeError, "out must be a ContactBuffer, got ", {"out": True}),
    Refusal("contacts", (ROWS,), TypeError, "out must be a ContactBuffer, ", {"out": np.zeros(9)}),
    Refusal("contact_counts", ([(0,) * 7],), ValueError, r"are given as Capsules\(rows\)"),
    # Motions
    Refusal("sweep", (DOWN, WAY), TypeError, "shape must be a Sphere, Capsule, OBB or AABB"),
    Refusal("sweep", (HERO, WAY), TypeError, r"its shape is collider\.transformed\("),
    Refusal("sweep", (BALL, (0, NAN, 0)), ValueError, r"motion\.y must be"),
    Refusal("sweep", (BALL,), TypeError, "motion must be three numbers, got None"),
    Refusal("sweep", (BALL,), TypeError, "direction must be three nu", {"max_distance": 5}),
    Refusal("sweep", (BALL,), TypeError, r"direction needs max_distance: ", {"direction": WAY}),
    Refusal("sweep", (BALL, WAY), ValueError, "max_distance must be fin", {"max_distance": INF}),
    Refusal("sweep", (BALL, (0, 0, 0)), ValueError, "must not be zero", {"max_distance": 1}),
    Refusal(
        "sweep", (BALL, WAY), TypeError, "not both", {"direction": WAY, "max_distance": 1}
    ),
    Refusal("sweep_many", ([(0, 0, 0, -1)], [WAY]), ValueError, "radius must be >= 0"),
    Refusal("sweep_many", (np.ones((2, 4)), np.ones((3, 3))), ValueError, "shapes has 2, m"),
    Refusal("sweep_many", ([BALL, OBB(WAY, (1, 1, 1))], [WAY]), TypeError, r"one kind, got Sph"),
    Refusal("sweep_many", (np.ones((2, 3)), [WAY]), ValueError, r"have shape \(n, 4\), got \(2, 3"),
]  # fmt: skip


@each_ground
@pytest.mark.parametrize("row", REFUSALS, ids=lambda row: f"{row.question}: {row.words}")
def test_a_bad_argument_is_named(kind: str, row: Refusal) -> None:
    with pytest.raises(row.error, match=row.words):
        getattr(GROUNDS[kind](), row.question)(*row.given, **row.named)


PLACES: list[tuple[Any, Any, type[Exception], str]] = [
    (NAN, 0.0, ValueError, "x must be finite, got nan"),
    (0.0, INF, ValueError, "z must be finite, got inf"),
    (10**400, 0, ValueError, "x must be a finite number, got 1000"),
    (np.float32("nan"), 0, ValueError, "x must be finite, got nan"),
    ([0, 1], [0, NAN], ValueError, "z must be finite, got nan at [1]"),
    ([1e308, 1e308, INF], 0, ValueError, "x must be finite, got inf at [2]"),
    ("1", 0, TypeError, "x must hold real numbers, got dtype <U1"),
    (None, 0, TypeError, "x must hold real numbers, got dtype object"),
    (0, 1j, TypeError, "z must hold real numbers, got dtype complex128"),
    ([0, 1], [[1, 2], [3]], ValueError, "z must be an array of numbers with rows of one"),
    ([0, 1], [0, 1, 2], ValueError, "x and z must have shapes that fit, got (2,) and (3,)"),
]


@each_ground
@pytest.mark.parametrize("question", ["height_at", "normal_at"])
def test_places_are_refused(kind: str, question: str) -> None:
    ask: Any = getattr(GROUNDS[kind](), question)
    for x, z, error, words in PLACES:
        with pytest.raises(error, match=re.escape(words)):
            ask(x, z)
    with pytest.raises(TypeError, match=r"by \(x, z\), without a height, .* got a third .*: 2.5"):
        ask(1, 7, 2.5)
    for third in (0, 1, 9, 0xFFFF_FFFF, "9"):  # none of these is a mask
        with pytest.raises(TypeError, match=r"asked for by \(x, z\), without a height"):
            ask(1, 2, third)


OTHERS = [
    ("mask", -1, ValueError, "must be from 0 to 4294967295, got -1"),
    ("mask", 1 << 32, ValueError, "must be from 0 to 4294967295, got 4294967296"),
    ("mask", 1.0, TypeError, "must be a whole number, got 1.0"),
    ("mask", None, TypeError, "must be a whole number, got None"),
    ("threads", 0, ValueError, "must be None or an integer >= 1, got 0"),
    ("threads", 1.5, ValueError, "must be None or an integer >= 1, got 1.5"),
    ("max_results", -1, ValueError, "must be from 0 to .*, got -1"),
    ("max_results", 2.5, TypeError, "must be a whole number"),
]


@each_ground
@pytest.mark.parametrize(("name", "value", "error", "words"), OTHERS)
def test_options_of_all_questions(kind: str, name: str, value: Any, error: Any, words: str) -> None:
    ground = GROUNDS[kind]()
    methods = {name: ask for name, ask in vars(Surface).items() if inspect.isfunction(ask)}
    takers = [
        own for own, ask in methods.items()
        if name in inspect.signature(ask).parameters and not own.startswith("_")
    ]  # fmt: skip
    assert {*takers} <= {*ASKS}
    forms = [("height_at", ([1], 1)), ("contacts", (ROWS,)), *ASKS.items()]
    for own, given in forms:
        if own not in takers:
            continue
        with pytest.raises(error, match=f"^{name} {words}"):
            operator.methodcaller(own, *given, **{name: value})(ground)


FAR: list[tuple[str, str, Callable[[float], tuple[Any, ...]]]] = [
    ("point", "closest_point", lambda far: ((0, -far, 0),)),
    ("points", "closest_points", lambda far: ([(0, 0, 0), (far, 0, 0)],)),
    ("points", "contains", lambda far: ((far, 0, 0),)),
    ("points", "signed_distance", lambda far: ([(0, far, 0)],)),
    ("x", "height_at", lambda far: (far, 0.0)),
    ("z", "height_at", lambda far: (0, -far)),
    ("z", "normal_at", lambda far: (0.0, far)),
    ("x", "height_at", lambda far: ([1, far], 2)),
    ("z", "normal_at", lambda far: (0, [0, far, far])),
    ("ray", "raycast", lambda far: (Ray((0, 0, far), (0, 1, 0)),)),
    ("ray", "raycast", lambda far: ((0, 0, far), (0, 1, 0))),
    ("origins", "raycast_many", lambda far: ([(0, far, 0)], [(0, 1, 0)])),
    ("shapes", "contacts", lambda far: (Sphere((far, 0, 0), 1),)),
    ("shapes", "contacts", lambda far: (Sphere((1, 0, 1), far),)),
    ("shapes", "contacts", lambda far: ([(1, far, 1, 1)],)),
    ("shapes", "contacts", lambda far: (AABB((-far, 0, 0), (far, 1, 1)),)),
    ("rows", "contacts", lambda far: (Capsules([(0, 0, 0, far, 0, 0, 1)]),)),
    ("shapes", "touches", lambda far: (Sphere((far, 0, 0), 1),)),
    ("shapes", "contact_counts", lambda far: (OBB((0, 0, 0), (1, far, 1)),)),
    ("shape", "sweep", lambda far: (AABB((0, 0, 0), (3 * far, 1, 1)), WAY)),
    ("motion", "sweep", lambda far: (BALL, (0, -far, 0))),
    ("shapes", "sweep_many", lambda far: ([(0, far, 0, 1)], [WAY])),
    ("motions", "sweep_many", lambda far: (ROWS, [(0, far, 0)])),
]


@each_ground
def test_what_is_too_far_off_is_refused(kind: str) -> None:
    ground = GROUNDS[kind]()
    for far in (1e38, 1e71, 1e154, 1e300):
        for name, question, give in FAR:
            with pytest.raises(ValueError, match=rf"^{name} must be below 1e\+38 m, got "):
                getattr(ground, question)(*give(far))
        with pytest.raises(ValueError, match=r"^motion must be below 1e\+38 m, got "):
            ground.sweep(BALL, WAY, max_distance=far)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e20, 1e30, 9e37])
@each_ground
def test_what_is_nearly_too_far_off_has_finite_answers(kind: str, far: float) -> None:
    ground = GROUNDS[kind]()
    if kind != "tiles":
        assert ground.closest_point((0, far, 0)).distance == pytest.approx(far)
    boxes = [AABB((-far, -1, -far), (far, 1, far)), OBB((1, 0, 1), (far, far, far))]
    for shape in [*boxes, Sphere((1, 0, 1), far), Capsule((1, 0, 1), (1, far, 1), 1)]:
        hit = ground.sweep(shape, (0, -far, 0))
        if hit is not None:
            assert np.isfinite([hit.fraction, hit.distance, *hit.point, *hit.normal]).all()
        try:
            found = ground.contacts(shape)
        except ValueError as error:
            assert "at most 100 million cells" in str(error)  # noqa: PT017 of some grounds only
        else:
            assert np.isfinite(found.penetration).all()
            assert np.isfinite(found.normal).all()


@each_ground
def test_as_many_results_as_allowed_are_given_and_one_more_is_refused(kind: str) -> None:
    ground, corners = GROUNDS[kind](), ([(1, -2, 1), (2, -2, 2)], [(3, 2, 3), (4, 2, 4)])
    shapes = (
        Sphere((0, 0, 4), 1.5), [(0, 0, 4, 1.5), (1, 1, 5, 0.5)],
        Capsules([(0, 0, 4, 0, 1, 4, 0.5)]), Boxes([(0, 0, 4)], [(1, 1, 1)], NO_TURN),
    )  # fmt: skip
    calls: list[tuple[str, Callable[..., Any]]] = [
        ("contacts", partial(ground.contacts, own, keep=keep))
        for own in shapes
        for keep in ("all", "deepest")
    ]
    calls.append(("triangles", lambda **most: ground.triangles_in_many(*corners, **most)[1]))
    for what, call in calls:
        count = len(call())
        assert len(call(max_results=count)) == count > 0
        words = f"{what} must be at most max_results = {count - 1}, got more"
        with pytest.raises(ValueError, match=re.escape(words)):
            call(max_results=count - 1)


def test_shapes_over_too_many_cells_are_refused_where_there_is_ground() -> None:
    endless, edge = HeightMap(np.zeros((3, 3))), HeightMap(np.zeros((3, 3)), border="open")
    rows = [(0, 0, 0, 1), (0, 0, 0, 5001)]
    for ground in (endless, Ground([endless])):
        for keep in ("all", "deepest"):
            with pytest.raises(ValueError, match="at most 100 million cells, got shape 1"):
                ground.contacts(rows, keep=keep)
        with pytest.raises(ValueError, match="at most 100 million cells, got shape 1"):
            ground.contact_counts(rows)
        with pytest.raises(ValueError, match="at most 100 million cells, got shape 0"):
            ground.contacts(Sphere((0, 0, 0), 1e37))
        with pytest.raises(ValueError, match="at most 100 million cells, got box 0"):
            ground.triangles_in_many([(0, 0, 0)], [(1e5, 1, 1e5)])
        assert len(ground.contacts([(0, 1e6, 0, 9e5)])) == 0
    beside = [8, 10, 16, 20]  # the sides in whose plane the centers are
    assert edge.contacts(rows).triangle[[4, 5, 6, 7, 16, 17, 18, 19]].tolist() == 2 * beside


# Nothing asked, nothing there


@each_ground
def test_no_questions_have_no_answers(kind: str) -> None:
    ground, none = GROUNDS[kind](), np.empty((0, 3))
    shapes: list[Any] = [np.empty((0, 4)), []]
    points: list[Any] = [none, []]
    for empty in shapes:
        assert len(ground.contacts(empty)) == len(ground.contacts(empty, keep="deepest")) == 0
        assert ground.contact_counts(empty).shape == ground.touches(empty).shape == (0,)
        assert ground.sweep_many(empty, none).fraction.shape == (0,)
        assert len(ground.sweep_many(empty, [WAY]).normal) == 0
    for places in points:
        assert ground.raycast_many(places, [WAY]).point.shape == (0, 3)
        assert [len(part) for part in ground.raycast_many(places, places)] == [0] * 5
        assert ground.closest_points(places).distance.shape == (0,)
        assert ground.contains(places).shape == ground.signed_distance(places).shape == (0,)
        offsets, ids = ground.triangles_in_many(places, places)
        assert (offsets.tolist(), ids.tolist()) == ([0], [])
    assert ground.height_at([], []).shape == (0,)
    assert ground.normal_at([], []).shape == (0, 3)


@each_ground
def test_far_above_and_by_a_mask_that_meets_nothing_there_is_nothing(kind: str) -> None:
    ground = GROUNDS[kind]()
    assert len(ground.contacts([(0, 99, 0, 1)], keep="deepest")) == 0
    assert ground.contact_counts([(0, 99, 0, 1)]).tolist() == [0]
    assert len(ground.triangles_in(AABB((0, 90, 0), (1, 91, 1)))) == 0
    nothing: dict[str, Any] = {"mask": 6}
    assert math.isnan(ground.height_at(1, 1, **nothing))
    assert np.isnan(ground.normal_at([1], [1], **nothing)).all()
    assert ground.raycast(DOWN, **nothing) is ground.sweep(BALL, WAY, **nothing) is None
    assert ground.raycast_many([(1, 9, 1)], [WAY], **nothing).triangle.tolist() == [-1]
    assert np.isnan(ground.sweep_many(ROWS, [(0, -9, 0)], **nothing).fraction).all()
    assert ground.closest_point((1, 1, 1), **nothing).distance == INF
    assert np.isnan(ground.closest_points([(1, 1, 1)], **nothing).point).all()
    assert len(ground.contacts(BALL, **nothing)) == len(ground.contacts(ROWS, **nothing)) == 0
    assert not ground.contact_counts(ROWS, **nothing).any()
    assert not ground.touches(BALL, **nothing)
    assert not ground.contains((1, -0.5, 1), **nothing)
    assert ground.signed_distance((1, -0.5, 1), **nothing) == INF
    assert len(ground.triangles_in(BOX, **nothing)) == 0
    assert len(ground.triangles_in_many([(0, 0, 0)], [(1, 1, 1)], **nothing)[1]) == 0
