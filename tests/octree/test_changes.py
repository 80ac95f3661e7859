"""Objects inserted, removed and moved, against a fresh octree; bad input changes nothing."""

import pickle
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.typing import NDArray

from terrain_physics import AABB, Octree, Ray, Sphere
from tests.helpers.examples import examples
from tests.helpers.octrees import Scene, octree_of, shape_of, shapes
from tests.helpers.strategies import Array
from tests.oracles import octree as oracle

pytestmark = pytest.mark.kernels


class Changes(RuleBasedStateMachine):
    """The octree next to a dict of rows by id."""

    def __init__(self) -> None:
        super().__init__()
        self.octree = Octree([], [])
        self.rows: dict[int, Array] = {}
        self.given = 0
        self.boxes = False

    @initialize(boxes=st.booleans(), capacity=st.sampled_from([1, 3, 16]), data=st.data())
    def start(self, boxes: bool, capacity: int, data: st.DataObject) -> None:
        rows = data.draw(shapes(data.draw(st.integers(0, 12)), boxes))
        self.boxes = boxes
        self.octree = octree_of(Scene(rows, leaf_capacity=capacity))
        self.rows = dict(enumerate(rows))
        self.given = len(rows)

    @rule(data=st.data())
    def insert(self, data: st.DataObject) -> None:
        row = data.draw(shapes(1, self.boxes))[0]
        assert self.octree.insert(shape_of(row)) == self.given
        self.rows[self.given] = row
        self.given += 1

    @rule(count=st.integers(0, 8), data=st.data())
    def insert_many(self, count: int, data: st.DataObject) -> None:
        rows = data.draw(shapes(count, self.boxes))
        ids = list(range(self.given, self.given + count))
        assert self.octree.insert_many(rows).tolist() == ids
        self.rows.update(zip(ids, rows, strict=True))
        self.given += count

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        object_id = data.draw(st.sampled_from(sorted(self.rows)))
        self.octree.remove(object_id)
        del self.rows[object_id]
        assert object_id not in self.octree

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def remove_many(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.rows)), unique=True))
        self.octree.remove_many(ids)
        for object_id in ids:
            del self.rows[object_id]

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        object_id = data.draw(st.sampled_from(sorted(self.rows)))
        row = data.draw(shapes(1, self.boxes))[0]
        self.octree.move(object_id, shape_of(row))
        self.rows[object_id] = row
        assert self.octree.shape_of(object_id) == shape_of(row)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def move_many(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.rows)), unique=True))
        rows = data.draw(shapes(len(ids), self.boxes))
        self.octree.move_many(ids, rows)
        self.rows.update(zip(ids, rows, strict=True))

    @rule()
    def pickle(self) -> None:
        self.octree = pickle.loads(pickle.dumps(self.octree))

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def asked_for_what_is_near(self, data: st.DataObject) -> None:
        x, y, z = self.rows[data.draw(st.sampled_from(sorted(self.rows)))][:3]
        ids, rows = self._living()
        met = ids[oracle.meets(np.array([[x, y, z, 0.25]]), rows)[0]]
        np.testing.assert_array_equal(self.octree.query_sphere(Sphere((x, y, z), 0.25)), met)
        # From inside or on the border of something.
        inside = ids[oracle.meets(np.array([[x, y, z, 0.0]]), rows)[0]]
        hit = self.octree.raycast(Ray((x, y, z), (1, 2, 3)))
        assert hit is not None
        assert hit.object_id in inside
        assert hit.distance == pytest.approx(0.0, abs=1e-9 * (1 + np.abs(rows).max()))

    @rule()
    def asked_for_pairs(self) -> None:
        ids, rows = self._living()
        pairs = self.octree.overlapping_pairs()
        np.testing.assert_array_equal(pairs, ids[oracle.pairs(rows)])
        fresh = octree_of(Scene(rows))
        np.testing.assert_array_equal(pairs, ids[fresh.overlapping_pairs()])

    @invariant()
    def knows_its_objects(self) -> None:
        assert len(self.octree) == len(self.rows)
        assert self.octree.ids.tolist() == sorted(self.rows)

    def _living(self) -> tuple[NDArray[np.int64], Array]:
        ids = np.array(sorted(self.rows), dtype=np.int64)
        width = 6 if self.boxes else 4
        return ids, np.array([self.rows[i] for i in ids]).reshape(-1, width)


TestChanges = Changes.TestCase
TestChanges.settings = settings(examples(40), stateful_step_count=25)


def random_balls(rng: np.random.Generator, count: int) -> Array:
    return np.column_stack([rng.uniform(-1.0, 1.0, (count, 3)), rng.uniform(0.0, 0.1, count)])


def test_many_small_changes():
    """Trees are merged and made anew many times; memory goes with the objects, not the changes."""
    rng = np.random.default_rng(1)
    octree = octree_of(Scene(random_balls(rng, 60), leaf_capacity=4))
    for turn in range(250):
        octree.move(int(rng.choice(octree.ids)), shape_of(random_balls(rng, 1)[0]))
        octree.remove(int(rng.choice(octree.ids)))
        assert octree.insert(shape_of(random_balls(rng, 1)[0])) == 60 + turn
        if turn % 10 == 0:
            rows = octree._forest.shapes[octree._forest.living()]
            expected = octree.ids[oracle.pairs(rows)]
            np.testing.assert_array_equal(octree.overlapping_pairs(), expected)
        else:
            octree.query_sphere(Sphere((0, 0, 0), 0.1))
    assert len(octree) == 60
    balls, _, owners, _, spans = octree._forest.arrays()
    assert len(balls) == len(owners) <= 2 * 60
    assert len(spans) <= 2 * len(owners)
    assert len(octree._forest.ids) <= 4 * 60


def test_coming_and_going_without_a_question():
    octree = Octree([], [], bounds=AABB((0, 0, 0), (1, 1, 1)))
    for turn in range(100):
        octree.remove_many(octree.insert_many(np.full((20, 4), 0.5)))
        assert octree.insert(Sphere((turn, 0, 0), 0.5)) == 21 * turn + 20
    assert len(octree._forest.ids) <= 4 * 120
    pairs = octree.overlapping_pairs()
    np.testing.assert_array_equal(pairs[:, 1] - pairs[:, 0], np.full(99, 21))


def test_few_moves_of_many_leave_most_as_it_is():
    rng = np.random.default_rng(2)
    octree = octree_of(Scene(random_balls(rng, 500)))
    before = octree._forest.arrays()[2][:400].copy()
    octree.overlapping_pairs()
    octree.move_many([3, 499], random_balls(rng, 2))
    assert len(octree._forest.arrays()[2]) == 502
    np.testing.assert_array_equal(octree._forest.arrays()[2][:400], before)


def test_an_interrupted_update_loses_nothing(monkeypatch):
    """Ctrl-C, or no memory, while the trees are brought up to date."""
    rng = np.random.default_rng(3)
    rows = random_balls(rng, 50)
    octree = octree_of(Scene(rows, leaf_capacity=2))
    octree.overlapping_pairs()
    rows[:5] = random_balls(rng, 5)
    octree.move_many(np.arange(5), rows[:5])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("terrain_physics.octree.forest.fill_slots", interrupted)
        with pytest.raises(KeyboardInterrupt):
            octree.overlapping_pairs()
    np.testing.assert_array_equal(octree.overlapping_pairs(), oracle.pairs(rows))


def test_an_insert_interrupted_after_any_call_is_made_or_not():
    """As by Ctrl-C, also while rows of removed objects are used again."""
    rows, new = (random_balls(np.random.default_rng(3), count) for count in (80, 5))
    rows[:, 3], new[:, 3] = 0.3, 0.2
    call, was_interrupted = 1, True
    while was_interrupted:
        octree = octree_of(Scene(rows, leaf_capacity=2))
        octree.overlapping_pairs()
        octree.remove_many(np.arange(40))
        left = call

        def interrupt(frame: Any, event: str, _: object) -> None:
            nonlocal left
            if frame.f_code.co_filename.endswith("forest.py") and event in {"call", "c_return"}:
                left -= 1
                if left == 0:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

        known, was_interrupted = sys.getprofile(), False
        sys.setprofile(interrupt)
        try:
            octree.insert_many(new)
        except KeyboardInterrupt:
            was_interrupted = True
        finally:
            sys.setprofile(known)
        there = rows[40:] if len(octree) == 40 else np.concatenate([rows[40:], new])
        assert len(octree) == len(there)
        pairs = oracle.pairs(there)
        assert len(pairs)
        np.testing.assert_array_equal(octree.overlapping_pairs(), pairs + 40)
        call += 1
    assert call > 10


GONE = "no object has the id 1"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda t: t.remove(1), KeyError, GONE),
        (lambda t: t.remove(9), KeyError, "no object has the id 9"),
        (lambda t: t.remove(-1), KeyError, "no object has the id -1"),
        (lambda t: t.shape_of(2**70), KeyError, "no object has the id 1180591620717411303424"),
        (lambda t: t.remove("0"), TypeError, "object_id must be a whole number"),
        (lambda t: t.remove_many([0, 1]), KeyError, GONE),
        (lambda t: t.remove_many([0, 0]), ValueError, "all different, got 0 twice"),
        (lambda t: t.remove_many([0.0]), TypeError, "object_ids must be whole numbers"),
        (lambda t: t.remove_many([-4]), KeyError, "no object has the id -4"),
        (
            lambda t: t.remove_many(np.array([0, 2**64 - 1], np.uint64)),
            KeyError,
            "no object has the id 18446744073709551615",
        ),
        (
            lambda t: t.remove_many(np.ma.array([0, 2], mask=[False, True])),
            ValueError,
            r"object_ids must be unmasked, got a masked number at \[1\]",
        ),
        (lambda t: t.shape_of(1), KeyError, GONE),
        (lambda t: t.move(1, Sphere((0, 0, 0), 1)), KeyError, GONE),
        (lambda t: t.move(0, AABB((0, 0, 0), (1, 1, 1))), TypeError, "shape must be a Sphere"),
        (lambda t: t.move(0, Sphere((1e101, 0, 0), 1)), ValueError, "within 1e\\+100 of 0"),
        (lambda t: t.move_many([0, 1], [(0, 0, 0, 1)] * 2), KeyError, GONE),
        (lambda t: t.move_many([0], [(0, 0, 0, 1)] * 2), ValueError, "equally many, got 1 and 2"),
        (lambda t: t.move_many([0], [(0, 0, 0, -1)]), ValueError, r"got -1.0 in shapes\[0\]"),
        (lambda t: t.insert(Ray((0, 0, 0), (1, 0, 0))), TypeError, "shape must be a Sphere"),
        (lambda t: t.insert_many([(0, 0, np.nan, 1)]), ValueError, "shapes must be finite"),
        (lambda t: t.insert_many([(0, 0, 1)]), ValueError, r"shape \(n, 4\)"),
        (lambda t: t.query_sphere(AABB((0, 0, 0), (1, 1, 1))), TypeError, "must be a Sphere"),
        (lambda t: t.query_aabb(Sphere((0, 0, 0), 1)), TypeError, "must be an AABB"),
        (lambda t: t.query_spheres_many([(0, 0, 0, -2)]), ValueError, "radius must be >= 0"),
        (lambda t: t.query_aabbs_many([(0, 0, 0)], [(1, -1, 0)]), ValueError, "got 0.0 > -1.0"),
        (lambda t: t.query_aabbs_many([(0, 0, 0)], []), ValueError, "equally many"),
        (lambda t: t.raycast(Sphere((0, 0, 0), 1)), TypeError, "ray must be a Ray"),
        (lambda t: t.raycast(Ray((1e101, 0, 0), (1, 0, 0))), ValueError, "ray must be within"),
        (lambda t: t.raycast(Ray((0, 0, 0), (1, 0, 0)), -1), ValueError, "max_distance"),
        (lambda t: t.raycast(Ray((0, 0, 0), (1, 0, 0)), np.nan), ValueError, "max_distance"),
        (lambda t: t.raycast_many([(0, 0, 0)], [(0, 0, 0)]), ValueError, "must not be zero"),
        (lambda t: t.raycast_many([(0, 0, 0)] * 2, np.eye(3)), ValueError, "same number of rows"),
        (lambda _: Octree([(0, 0, 0)], [1, 2]), ValueError, "equally many, got 1 and 2"),
        (lambda _: Octree([(0, 0, 0)] * 2, [1, -1]), ValueError, r"got -1.0 in radii\[1\]"),
        (lambda _: Octree([(0, 0, 1e101)], 1), ValueError, "centers must be within"),
        (lambda _: Octree([(0, 0, 0)], 1e101), ValueError, "radii must be within"),
        (lambda _: Octree([(0, 0)], 1), ValueError, r"shape \(n, 3\)"),
        (
            lambda _: Octree([(0, 0, 0)], 1, bounds=3),  # type: ignore[arg-type]
            TypeError,
            "bounds must be an AABB",
        ),
        (
            lambda _: Octree([], [], bounds=AABB((0, 0, 0), (1, 1e101, 1))),
            ValueError,
            r"bounds must be within 1e\+100 of 0, got 1e\+101",
        ),
        (lambda _: Octree([], [], max_depth=1001), ValueError, "max_depth must be from 0 to 1000"),
        (lambda _: Octree([], [], leaf_capacity=0), ValueError, "leaf_capacity must be from 1"),
        (lambda _: Octree.from_aabbs([(0, 2, 0)], [(1, 1, 1)]), ValueError, "got 2.0 > 1.0"),
    ],
)
def test_bad_input_changes_nothing(call, kind, message):
    octree = octree_of(Scene(np.array([[0, 0, 0, 1], [1, 0, 0, 1], [2, 0, 0, 1]], dtype=float)))
    octree.remove(1)
    with pytest.raises(kind, match=message):
        call(octree)
    assert octree.ids.tolist() == [0, 2]
    assert octree.overlapping_pairs().tolist() == [[0, 2]]
    assert octree.insert(Sphere((9, 9, 9), 1)) == 3


def test_balls_that_reach_beyond_the_farthest_place():
    octree = Octree([(1e100, 0, 0), (-1e100, 0, 0), (0, 0, 0)], [1e100, 1e99, 1e98])
    assert octree.overlapping_pairs().tolist() == [[0, 2]]
    assert octree.bounds.upper64[0] == 2e100
