"""`count_touching` against exact fractions, and the definition of a touch at its limits."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.math import space_curve
from terrain_physics.counter import counter
from terrain_physics.counter.touching import count_touching
from tests.counter import data_sets
from tests.helpers.examples import examples
from tests.oracles import counter as oracle

TRIANGLE = [0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 4.0]


@pytest.mark.kernels
@pytest.mark.parametrize("name", data_sets.SMALL)
def test_counts_are_those_of_exact_arithmetic(name):
    triangles, spheres = data_sets.SMALL[name](np.random.default_rng(7), 40, 25)
    assert count_touching(triangles, spheres).tolist() == oracle.count(triangles, spheres)


@pytest.mark.long
@pytest.mark.parametrize("name", data_sets.SMALL)
@pytest.mark.parametrize("seed", range(60))
def test_counts_are_those_of_exact_arithmetic_with_many_seeds(name, seed):
    rng = np.random.default_rng([seed, 1])
    triangles, spheres = data_sets.SMALL[name](
        rng, int(rng.integers(3, 90)), int(rng.integers(4, 40))
    )
    assert count_touching(triangles, spheres).tolist() == oracle.count(triangles, spheres)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("sphere", "expected"),
    [
        ((1.0, 1.0, 1.0, 1.0), 1),  # tangent to the face
        ((1.0, 1.0, 1.0 + 0.9e-10, 1.0), 1),
        ((1.0, 1.0, 1.0 + 1.1e-10, 1.0), 0),
        ((2.0, 1.0, 0.0, -2.0), 1),  # tangent to an edge
        ((2.0, 1.0, 0.0, -2.0 - 1.1e-10), 0),
        ((3.0, -1.0, -2.0, -2.0), 1),  # through a corner, from outside
        ((5.0, 0.0, 3.0, 0.0), 1),  # through a corner, the rest within
        ((5.0 + 0.9e-10, 0.0, 3.0, 0.0), 1),
        ((5.0 + 1.1e-10, 0.0, 3.0, 0.0), 0),
        ((100.0, 0.0, 0.0, 0.0), 0),  # wholly within
        ((0.0, 1.0, 0.0, 1.0), 1),  # a point on the face
        ((0.0, 1.0, 1e-9, 1.0), 0),
        ((1.0, 5.0, 0.0, 5.0), 0),
    ],
)
def test_touching_counts_and_tolerance_is_on_the_distance(sphere, expected):
    assert count_touching([TRIANGLE], [sphere]).tolist() == [expected]


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("corners", "inside", "beside"),
    [
        (((1, 1, 1), (1, 1, 1), (1, 1, 1)), (2, 3, 1, 1), (1.5, 3, 1, 1)),
        (((0, 0, 0), (4, 0, 0), (2, 0, 0)), (1, 3, 1, 0), (1, 3, 1.5, 0)),
        (((0, 0, 0), (0, 0, 0), (4, 0, 0)), (1, 3, 1, 0), (1, 3, 1.5, 0)),
        (((2, 0, 0), (4, 0, 0), (0, 0, 0)), (1, 5, 0, 0), (1, 5.5, 0, 0)),
    ],
)
def test_a_triangle_without_area_is_a_segment_or_a_point(corners, inside, beside):
    assert count_touching([corners], [inside, beside]).tolist() == [1, 0]


def _exact_distance(square):
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def _random_triangle(rng, kind):
    corners = rng.uniform(-1.0, 1.0, (3, 3))
    if kind == "needle":
        corners[2] = (
            corners[0] + (corners[1] - corners[0]) * rng.uniform() + rng.normal(size=3) * 1e-6
        )
    elif kind == "segment":
        corners[2] = corners[0]
    return corners * 10.0 ** rng.uniform(-3.0, 4.0)


@pytest.mark.kernels
@pytest.mark.parametrize("kind", ["plain", "needle", "segment"])
@pytest.mark.parametrize("end", ["nearest", "farthest"])
def test_the_definition_is_exact_to_8_ulp(kind, end):
    rng = np.random.default_rng(11)
    asked = {True: 0, False: 0}
    for _ in range(60):
        shift = rng.uniform(-1e6, 1e6, 3) * rng.integers(0, 2)
        corners = _random_triangle(rng, kind) + shift
        center = corners.mean(axis=0) + rng.normal(size=3) * 10.0 ** rng.uniform(-3.0, 4.0)
        nearest, farthest = oracle.square_distances(
            oracle.exact(corners.ravel()), oracle.exact(center)
        )
        limit = _exact_distance(nearest if end == "nearest" else farthest)
        tie = limit - oracle.TOLERANCE if end == "nearest" else limit + oracle.TOLERANCE
        if tie <= 0:
            continue
        a, b, c = (tuple(corner) for corner in corners.tolist())
        for ulps in (-1000, -40, -9, 9, 40, 1000):
            radius = float(tie) + ulps * math.ulp(float(tie))
            beyond = abs(Fraction(radius) - tie) > 8 * Fraction(math.ulp(float(tie)))
            if beyond and radius >= 0:
                expected = (Fraction(radius) > tie) == (end == "nearest")
                if end == "farthest" or Fraction(radius) ** 2 <= farthest:
                    assert touches(a, b, c, tuple(center.tolist()), radius) == expected
                    asked[expected] += 1
    assert min(asked.values()) > 50


@pytest.mark.kernels
@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 9), max_size=20),
    st.lists(st.tuples(st.integers(0, 7), *[st.integers(-4, 4)] * 3), max_size=6),
    st.sampled_from([1.0, 0.1, 1e-3, 1e-9, 3e-11, 1e5, 2.0**300, 2.0**-300]),
)
@examples(60)
def test_small_whole_numbers_at_any_scale(triangles, spheres, unit):
    triangles = np.reshape(np.array(triangles, dtype=np.float64) * unit, (-1, 9))
    spheres = np.reshape(np.array(spheres, dtype=np.float64) * unit, (-1, 4))
    assert count_touching(triangles, spheres).tolist() == oracle.count(triangles, spheres)


def _count_by_definition(triangles, spheres):
    corners = [tuple(map(tuple, triangle)) for triangle in triangles.reshape(-1, 3, 3).tolist()]
    return [
        sum(touches(a, b, c, (x, y, z), radius) for a, b, c in corners)
        for radius, x, y, z in spheres.tolist()
    ]


@pytest.mark.parametrize("make", [data_sets.uniform_large, data_sets.clustered_large])
@pytest.mark.parametrize("radius", [50.0, 1000.0])
def test_many_blocks_agree_with_the_definition(make, radius):
    triangles, spheres = make(9000, radius)
    counts = count_touching(triangles, spheres)
    some = np.random.default_rng(3).integers(len(spheres), size=15)
    assert counts[some].tolist() == _count_by_definition(triangles, spheres[some])
    assert counts.sum() > 1000


@pytest.mark.parametrize("threads", [1, 2, 3, 8, None])
def test_any_number_of_threads_counts_the_same(threads):
    triangles, spheres = data_sets.clustered_large(30_000, 100.0)
    expected = count_touching(triangles, spheres, threads=1)
    assert np.array_equal(count_touching(triangles, spheres, threads=threads), expected)
    assert expected.any()


def test_order_does_not_matter_and_the_input_is_left_alone():
    rng = np.random.default_rng(5)
    triangles, spheres = data_sets.uniform_large(3000, 300.0)
    kept = triangles.copy(), spheres.copy()
    counts = count_touching(triangles, spheres)
    assert np.array_equal(triangles, kept[0])
    assert np.array_equal(spheres, kept[1])
    shuffled = rng.permutation(len(triangles))
    rows = rng.permutation(len(spheres))
    assert np.array_equal(count_touching(triangles[shuffled], spheres[rows]), counts[rows])
    corners = triangles.reshape(-1, 3, 3)[:, [2, 1, 0]]
    assert np.array_equal(count_touching(corners, spheres), counts)


def test_spheres_taken_in_blocks_give_the_same(monkeypatch):
    triangles, spheres = data_sets.uniform_large(2000, 300.0)
    expected = count_touching(triangles, spheres)
    monkeypatch.setattr(counter, "SPHERES_AT_ONCE", 300)
    assert np.array_equal(count_touching(triangles, spheres), expected)
    assert expected.any()
    spheres[1234, 0] = -1.0
    with pytest.raises(ValueError, match=r"spheres\[1234\]"):
        count_touching(triangles, spheres)


@pytest.mark.kernels
@pytest.mark.parametrize("triangles", [[], np.empty((0, 9)), np.empty((0, 3, 3)), [TRIANGLE]])
@pytest.mark.parametrize("spheres", [[], np.empty((0, 4)), [(1, 1, 1, 1), (2, 0, 0, 0)]])
def test_none_of_either_is_fine(triangles, spheres):
    counts = count_touching(triangles, spheres)
    assert counts.dtype == np.int64
    assert counts.tolist() == ([len(triangles)] * len(spheres))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, ">f8"])
def test_any_real_type_and_layout_is_read(dtype):
    triangles = np.asfortranarray(np.array([TRIANGLE, TRIANGLE]).reshape(2, 3, 3).astype(dtype))
    spheres = np.array([[2, 1, 1, 1], [5, 5, 5, 5], [9, 9, 9, 9]], dtype=dtype)[::2]
    triangles.flags.writeable = False
    assert count_touching(triangles, spheres).tolist() == [2, 0]
    assert (
        len(getattr(space_curve.column_bounds, "signatures", [0])) == 1
    )  # compiled once for all of them


@pytest.mark.parametrize("extreme", [2.0**500, 2.0**1000, 2.0**1023])
@pytest.mark.kernels
def test_no_finite_number_is_too_large(extreme):
    triangles = [
        [0, 0, 0, extreme, 0, 0, 0, 0, extreme],
        [-extreme, 0, 0, 0, extreme, 0, 0, -extreme, 0],
    ]
    spheres = [
        [extreme / 4, extreme / 4, extreme / 4, extreme / 4],
        [extreme / 8, 0, 0, extreme / 2],
    ]
    assert count_touching(triangles, spheres).tolist() == oracle.count(triangles, spheres)


@pytest.mark.parametrize(
    ("triangles", "spheres", "message"),
    [
        ([[1, 2, 3]], [], r"triangles must have shape \(n, 9\) or \(n, 3, 3\), got \(1, 3\)"),
        ([TRIANGLE], [[1, 2, 3]], r"spheres must have shape \(q, 4\), got \(1, 3\)"),
        ([TRIANGLE, [math.nan] * 9], [], r"triangles\[1\] must be finite, got \[nan"),
        ([[*TRIANGLE[:8], math.inf]], [[1] * 4], r"triangles\[0\] must be finite"),
        ([TRIANGLE], [[1] * 4, [1, 2, -math.inf, 3]], r"spheres\[1\] must be finite, got .*-inf"),
        ([TRIANGLE], [[1] * 4, [-2, 0, 0, 0]], r"spheres\[1\] must have a radius >= 0, got -2\.0"),
        ([], [[-2, 0, 0, 0]], r"spheres\[0\] must have a radius >= 0, got -2\.0"),
        ([TRIANGLE, [0.0]], [], "triangles must be an array of numbers with rows of one length"),
    ],
)
def test_bad_arrays_are_refused_by_name_row_rule_and_value(triangles, spheres, message):
    with pytest.raises(ValueError, match=message):
        count_touching(triangles, spheres)


@pytest.mark.parametrize("bad", [[["a"] * 9], [[1j] * 9], [[None] * 9]])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises(TypeError, match="triangles must hold real numbers"):
        count_touching(bad, [])


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_bad_threads_are_refused(threads):
    with pytest.raises(ValueError, match="threads must be None or an integer >= 1, got"):
        count_touching([], [], threads=threads)
