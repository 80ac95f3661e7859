"""The octree: pairs, objects nearby, the first hit of a ray, and how few comparisons they take."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import AABB, Octree, Ray, Sphere
from tests.helpers.examples import examples
from tests.helpers.octrees import Scene, octree_of, scenes, shape_of
from tests.helpers.strategies import Array
from tests.oracles import octree as oracle

pytestmark = pytest.mark.kernels

PUBLISHED = np.array([[0, 0, 0, 0.9], [-0.5, -0.5, -0.5, 0.1], [0.1, 0.2, 0.3, 0.3]])


def balls(centers: Array, radius: object) -> Scene:
    radii = np.broadcast_to(np.asarray(radius, dtype=float), len(centers))
    return Scene(np.column_stack([centers, radii]))


def test_published_example():
    octree = octree_of(Scene(PUBLISHED))
    np.testing.assert_array_equal(octree.overlapping_pairs(), [[0, 1], [0, 2]])


@given(scene=scenes())
@examples(100)
def test_pairs(scene):
    octree = octree_of(scene)
    pairs = octree.overlapping_pairs()
    np.testing.assert_array_equal(pairs, oracle.pairs(scene.shapes))
    assert pairs.dtype == np.int64
    assert pairs.shape[1] == 2
    assert len(pairs) <= octree.count_pair_tests() <= len(octree) * (len(octree) - 1) // 2


@pytest.mark.parametrize("leaf_capacity", [1, 16])
def test_what_touches_is_met_on_each_side_of_each_axis(leaf_capacity):
    """Cubes that fill a space, all in trees of several levels, and what touches the outermost."""
    lower = np.stack(np.meshgrid(*[np.arange(5.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    cubes = np.concatenate([lower, lower + 1.0], axis=1)
    octree = octree_of(Scene(cubes, leaf_capacity=leaf_capacity))
    np.testing.assert_array_equal(octree.overlapping_pairs(), oracle.pairs(cubes))
    ways = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    beside = np.concatenate([1.5 + 3.5 * ways, 3.5 + 3.5 * ways], axis=1)
    balls = np.column_stack([2.5 + 3.5 * ways, np.linalg.norm(ways, axis=1)])
    for rows in (beside, balls):
        expected = oracle.meets(rows, cubes)
        assert (expected.sum(axis=1) > 0).sum() >= 7
        ask = octree.query_aabbs_many if rows is beside else octree.query_spheres_many
        _, ids = ask(*((rows[:, :3], rows[:, 3:]) if rows is beside else (rows,)))
        np.testing.assert_array_equal(ids, np.nonzero(expected)[1])
    spheres = np.column_stack([lower, np.full(len(lower), 0.5)])
    octree = octree_of(Scene(spheres, leaf_capacity=leaf_capacity))
    np.testing.assert_array_equal(octree.overlapping_pairs(), oracle.pairs(spheres))


@given(scene=scenes(), queries=scenes(most=8), near=st.booleans())
@examples(100)
def test_queries(scene, queries, near):
    """Many at once and one by one; near: around the objects themselves."""
    rows = queries.shapes.copy()
    if near and len(scene.shapes) > 0:
        corners = 1 if rows.shape[1] == 4 else 2
        targets = scene.shapes[np.arange(len(rows)) % len(scene.shapes), :3]
        rows[:, : 3 * corners] += np.tile(targets - rows[:, :3], corners)
    octree = octree_of(scene)
    if rows.shape[1] == 4:
        offsets, ids = octree.query_spheres_many(rows)
    else:
        offsets, ids = octree.query_aabbs_many(rows[:, :3], rows[:, 3:])
    expected = oracle.meets(rows, scene.shapes)
    np.testing.assert_array_equal(offsets, np.append(0, expected.sum(axis=1).cumsum()))
    np.testing.assert_array_equal(ids, np.nonzero(expected)[1])
    for row, want in zip(rows, expected, strict=True):
        query = shape_of(row)
        if isinstance(query, Sphere):
            found = octree.query_sphere(query)
        else:
            found = octree.query_aabb(query)
        np.testing.assert_array_equal(found, np.flatnonzero(want))


def rays_at(shapes: Array, seed: int, axis: int | None) -> tuple[Array, Array]:
    """Return rays from all around through objects; with an axis, parallel to it."""
    rng = np.random.default_rng(seed)
    middles = shapes[:, :3] if shapes.shape[1] == 4 else 0.5 * shapes[:, :3] + 0.5 * shapes[:, 3:]
    size = float(np.ptp(middles, axis=0).max()) or 1.0
    targets = middles[rng.integers(len(shapes), size=6)]
    if axis is None:
        offsets = rng.normal(0.0, size, (6, 3))
    else:
        offsets = size * np.tile(np.eye(3)[axis], (6, 1))
    return targets - offsets, offsets


@given(scene=scenes(most=10), seed=st.integers(0, 2**32 - 1), axis=st.sampled_from([None, 0, 1, 2]))
@examples(60)
def test_rays_as_if_each_object_were_alone(scene, seed, axis):
    """The very same distance, of the lowest id, whatever the tree looks like."""
    shapes = scene.shapes
    if len(shapes) == 0:
        assert octree_of(scene).raycast(Ray((0, 0, 0), (1, 0, 0))) is None
        return
    origins, directions = rays_at(shapes, seed, axis)
    distances, ids = octree_of(scene).raycast_many(origins, directions)
    alone = np.array(
        [octree_of(Scene(row[None])).raycast_many(origins, directions)[0] for row in shapes]
    )
    alone[np.isnan(alone)] = np.inf
    nearest = alone.argmin(axis=0)
    missed = np.isinf(alone.min(axis=0))
    np.testing.assert_array_equal(ids, np.where(missed, -1, nearest))
    np.testing.assert_array_equal(distances, np.where(missed, np.nan, alone.min(axis=0)))


@given(
    seed=st.integers(0, 2**32 - 1),
    axis=st.sampled_from([None, 0, 1, 2]),
    boxes=st.booleans(),
)
@examples(40)
def test_rays_against_oracle(seed, axis, boxes):
    """No farther than what is surely met, no nearer than what may be."""
    rng = np.random.default_rng(seed)
    centers, sizes = rng.uniform(-1.0, 1.0, (20, 3)), rng.uniform(0.01, 0.4, (20, 1))

    def grown(by: float) -> Array:
        parts = [centers - sizes - by, centers + sizes + by] if boxes else [centers, sizes + by]
        return np.concatenate(parts, axis=1)

    octree = octree_of(Scene(grown(0.0), leaf_capacity=3))
    origins, directions = rays_at(grown(0.0), seed, axis)
    for origin, direction in zip(origins, directions, strict=True):
        unit = direction / np.linalg.norm(direction)
        surely = oracle.ray_distances(origin, unit, grown(-1e-9)).min()
        may_be = oracle.ray_distances(origin, unit, grown(1e-9))
        hit = octree.raycast(Ray(origin, direction))
        if hit is None:
            assert surely == np.inf
        else:
            assert may_be.min() - 1e-9 <= hit.distance <= surely + 1e-9
            assert may_be[hit.object_id] < np.inf
            assert octree.raycast(Ray(origin, direction), hit.distance) == hit
            if hit.distance > 0.0:
                assert octree.raycast(Ray(origin, direction), 0.999 * hit.distance) is None


def test_equally_near_the_lowest_id():
    octree = Octree([(5, 0, 0), (3, 0, 0), (3, 0, 0), (11, 0, 0)], [1, 1, 1, 9])
    assert octree.raycast(Ray((1, 0, 0), (2, 0, 0))) == (1.0, 1)
    octree.remove(1)
    assert octree.raycast(Ray((1, 0, 0), (2, 0, 0)), 1.0) == (1.0, 2)
    assert octree.raycast(Ray((3, 0, 0), (0, 1, 0))) == (0.0, 2)
    distances, ids = octree.raycast_many([(1, 0, 0), (0, 0, 50)], [(2, 0, 0), (0, 0, 1e-300)])
    np.testing.assert_array_equal(distances, [1.0, np.nan])
    np.testing.assert_array_equal(ids, [2, -1])


def test_ray_through_cells_within_cells():
    """Seventy deep; in each cell the ray enters another one waits for it farther on."""
    sizes = 2.0 ** -np.arange(70.0)
    octree = octree_of(balls(sizes[:, None] * np.ones(3), 0.25 * sizes)._replace(leaf_capacity=1))
    distances, ids = octree.raycast_many([(0, 0, 0), (2, 2, 2)], [(1, 1, 1)])
    np.testing.assert_array_equal(ids, [69, -1])
    assert distances[0] == pytest.approx((3**0.5 - 0.25) * sizes[69])


@pytest.mark.parametrize("count", [0, 1])
def test_few(count):
    for octree in (
        Octree(np.zeros((count, 3)), 1.0),
        Octree.from_aabbs(np.zeros((count, 3)), np.ones((count, 3))),
    ):
        assert len(octree) == count
        assert octree.overlapping_pairs().shape == (0, 2)
        assert octree.query_sphere(Sphere((0, 0, 0), 0)).tolist() == list(range(count))
        assert octree.query_spheres_many(np.empty((0, 4)))[0].tolist() == [0]
        assert (octree.raycast(Ray((0.5, 0.5, 0.5), (1, 0, 0))) is None) == (count == 0)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1.0, 1e12, 1e99])
def test_touching_by_the_stated_rule(size):
    """Also where squares vanish: the rule then says that they touch."""
    shapes = size * np.array([[0, 0, 0, 1], [2, 0, 0, 1], [4, 0, 0, 0.5], [0, 3, 4, 4]])
    expected = [[0, 1], [0, 3]] if size > 1e-160 else None
    pairs = octree_of(Scene(shapes, leaf_capacity=1)).overlapping_pairs()
    np.testing.assert_array_equal(pairs, oracle.pairs(shapes))
    assert expected is None or [0, 1] in pairs.tolist()


@pytest.mark.parametrize("boxes", [False, True])
def test_all_sizes_together(boxes):
    """From a micrometer to a thousand kilometers, in one tree."""
    rng = np.random.default_rng(4)
    sizes = 10.0 ** rng.uniform(-6.0, 6.0, (120, 1))
    centers = rng.normal(size=(120, 3)) * 10.0 ** rng.uniform(-6.0, 6.0, (120, 1))
    parts = [centers - sizes, centers + sizes] if boxes else [centers, sizes]
    scene = Scene(np.concatenate(parts, axis=1), leaf_capacity=2)
    pairs = octree_of(scene).overlapping_pairs()
    np.testing.assert_array_equal(pairs, oracle.pairs(scene.shapes))
    assert len(pairs) > 1000


def line(count: int, axes: tuple[float, float, float]) -> Array:
    return np.random.default_rng(5).uniform(-1.0, 1.0, (count, 3)) * axes


@pytest.mark.parametrize("axes", [(0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 1, 0)])
def test_straddling_costs_nothing(axes):
    """On planes where the cells part: as few comparisons as elsewhere, far from quadratic."""
    dimensions = sum(axes)
    for count in (300, 1200):
        radius = 0.7 * count ** (-1 / dimensions)
        octree = octree_of(balls(line(count, axes), radius))
        aside = octree_of(balls(line(count, axes) + 0.377, radius))
        tests, found = octree.count_pair_tests(), len(octree.overlapping_pairs())
        assert tests < 60 * count + 4 * found
        assert tests < 1.5 * aside.count_pair_tests()
        assert octree.bounds.lower.x < 0 or axes[0] == 0


def test_small_among_large():
    """A hundredth of the objects is a hundredfold larger; each small one meets few of them."""
    rng = np.random.default_rng(6)
    radii = np.where(np.arange(1000) % 100 == 0, 0.2, 0.002)
    octree = octree_of(balls(rng.uniform(-1.0, 1.0, (1000, 3)), radii))
    assert octree.count_pair_tests() < 20 * 1000


def test_long_thin_boxes():
    """Planks side by side, each as long as the world: size alone would not part them."""
    lowers = np.column_stack([np.arange(400) * 1.5, np.zeros(400), np.zeros(400)])
    octree = Octree.from_aabbs(lowers, lowers + np.array([1.0, 0.1, 600.0]))
    assert octree.count_pair_tests() < 20 * 400
    assert len(octree.overlapping_pairs()) == 0


def test_all_in_one_point():
    """More pairs than there is room for at first: quadratic in what is found only."""
    octree = octree_of(balls(np.full((180, 3), 0.3), np.arange(180.0)))
    first, second = np.triu_indices(180, 1)
    np.testing.assert_array_equal(octree.overlapping_pairs(), np.column_stack([first, second]))
    np.testing.assert_array_equal(octree.query_sphere(Sphere((0.3, 0.3, 0.3), 0)), np.arange(180))


@given(scene=scenes(most=25), seed=st.integers(0, 2**32 - 1))
@examples(50)
def test_order_and_options_do_not_matter(scene, seed):
    order = np.random.default_rng(seed).permutation(len(scene.shapes))
    other = scene._replace(shapes=scene.shapes[order], leaf_capacity=2, max_depth=30, bounds=None)
    pairs = np.sort(order[octree_of(other).overlapping_pairs()], axis=1)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    np.testing.assert_array_equal(pairs, octree_of(scene).overlapping_pairs())


@pytest.mark.parametrize("boxes", [False, True])
def test_pickling_keeps_ids(boxes):
    scene = Scene(PUBLISHED if not boxes else np.repeat(PUBLISHED[:, :1], 6, axis=1))
    octree = octree_of(scene)
    octree.remove_many([0, 2])
    copy = pickle.loads(pickle.dumps(octree))
    assert copy.ids.tolist() == [1]
    assert copy.shape_of(1) == octree.shape_of(1)
    assert copy.insert(octree.shape_of(1)) == 3
    assert copy.overlapping_pairs().tolist() == [[1, 3]]
    assert (copy.bounds, copy.max_depth, copy.leaf_capacity) == (octree.bounds, 100, 16)
    assert len(octree) == 1


def test_threads_that_ask_at_once():
    """Right after a change, when the trees are brought up to date by the first of them."""
    rng = np.random.default_rng(7)
    octree = octree_of(balls(rng.uniform(-1.0, 1.0, (300, 3)), 0.1))
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            rows = np.column_stack([rng.uniform(-1.0, 1.0, (300, 3)), np.full(300, 0.1)])
            octree.move_many(np.arange(300), rows)
            answers = list(pool.map(lambda _: octree.overlapping_pairs(), range(4)))
            for pairs in answers:
                np.testing.assert_array_equal(pairs, oracle.pairs(rows))


def test_answers_are_the_callers():
    octree = octree_of(Scene(PUBLISHED))
    for answer in (
        octree.ids,
        octree.overlapping_pairs(),
        octree.query_sphere(Sphere((0, 0, 0), 9)),
    ):
        answer[:] = 77
    np.testing.assert_array_equal(octree.overlapping_pairs(), [[0, 1], [0, 2]])
    assert octree.ids.tolist() == [0, 1, 2]


def test_shown():
    octree = octree_of(Scene(PUBLISHED))
    assert repr(octree) == "<Octree: 3 spheres>"
    assert repr(Octree.from_aabbs([], [])) == "<Octree: 0 boxes>"
    assert octree.bounds == AABB((-0.9, -0.9, -0.9), (0.9, 0.9, 0.9))
    assert 2 in octree
    assert [object_id for object_id in (3, -1, 1.5, "0") if object_id in octree] == []
    assert octree.shape_of(2) == Sphere((0.1, 0.2, 0.3), 0.3)
