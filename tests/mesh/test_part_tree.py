"""The tree over the boxes of parts finds what a look at all boxes finds, whatever came before."""

import math

import numpy as np
import pytest

from terrain_physics._kernels.mesh.part_tree import (
    HEIGHT,
    LEFT,
    NODE_SIZE,
    NODES_ON_PATH,
    PARENT,
    RIGHT,
    ROOT,
    PartTree,
    clear,
    gap2,
    items_near,
    items_on_path,
    move_leaf,
    put_leaf,
    take_leaf,
)
from terrain_physics._kernels.tolerances import LEAF_SIZE_MARGIN
from tests.helpers.examples import times

pytestmark = pytest.mark.kernels

ROOM = 200


def vec(values):
    x, y, z = map(float, values)
    return x, y, z


class Model:
    """A tree, and the boxes that should be in it by item."""

    def __init__(self, room=ROOM):
        self.mask = 0xFFFF_FFFF
        self.boxes = np.zeros((2 * room, 6))
        self.links = np.zeros((2 * room, NODE_SIZE), np.int64)
        clear(self.links)
        self.items, self.leaves, self.moved = {}, {}, set()
        self.room, self.stack = room, np.empty(NODES_ON_PATH, np.int64)

    @property
    def tree(self):
        boxes, links = self.boxes.view(), self.links.view()
        for values in (boxes, links):
            values.setflags(write=False)
        return PartTree(boxes, links, self.mask)

    def put(self, item, lower, upper):
        tree, box = (self.boxes, self.links), (vec(lower), vec(upper))
        self.leaves[item] = put_leaf(*tree, item, 1, *box, LEAF_SIZE_MARGIN)
        self.items[item] = np.array((lower, upper), float)

    def move(self, item, lower, upper):
        leaf = self.leaves[item]
        self.leaves[item] = move_leaf(self.boxes, self.links, leaf, vec(lower), vec(upper))
        self.items[item] = np.array((lower, upper), float)
        self.moved.add(item)

    def take(self, item):
        self.moved.discard(item)
        take_leaf(self.boxes, self.links, self.leaves.pop(item))
        del self.items[item]

    def check(self):
        """Every node holds its children, is one higher than the higher one, and is balanced."""
        seen, nodes = [], [int(self.links[0, ROOT])] if self.items else []
        while nodes:
            node = nodes.pop()
            left, right = self.links[node, LEFT], self.links[node, RIGHT]
            if left == 0:
                seen.append(int(right))
                assert (self.boxes[node, :3] <= self.items[right][0]).all()
                assert (self.boxes[node, 3:] >= self.items[right][1]).all()
                assert self.links[node, HEIGHT] == 0
                continue
            heights = self.links[[left, right], HEIGHT]
            assert self.links[node, HEIGHT] == 1 + heights.max()
            assert abs(int(heights[0]) - int(heights[1])) <= 1
            for child in (left, right):
                assert self.links[child, PARENT] == node
                assert (self.boxes[node, :3] <= self.boxes[child, :3]).all()
                assert (self.boxes[node, 3:] >= self.boxes[child, 3:]).all()
                nodes.append(int(child))
        assert sorted(seen) == sorted(self.items)

    def near(self, lower, upper):
        found = np.empty(len(self.items), np.int64)
        count = items_near(self.tree, vec(lower), vec(upper), self.stack, found)
        return found[:count].tolist()

    def on_way(self, start, direction, reach, longest):
        found, entries = np.empty(len(self.items), np.int64), np.empty(len(self.items))
        way = vec(start), vec(direction), vec(reach), float(longest)
        count = items_on_path(self.tree, *way, self.stack, found, entries)
        assert (np.diff(entries[:count]) >= 0).all()
        return found[:count].tolist()


def meets(boxes, lower, upper):
    """Tell which boxes (n, 2, 3) meet another one."""
    return ((boxes[:, 0] <= upper) & (boxes[:, 1] >= lower)).all(axis=1)


def widened(model):
    """Return boxes that are larger by a thousandth of their size, and at least by a millimeter.

    Those that have moved are larger by a fifth of their size.
    """
    boxes = np.array(list(model.items.values()))
    moved = np.array([0.2 if item in model.moved else 0.0 for item in model.items])
    most = moved * np.ptp(boxes, axis=1).max(axis=1)
    margins = 1e-3 * np.maximum(1.0, np.ptp(boxes, axis=1)) + most[:, None]
    return boxes + np.array([[-1.0], [1.0]]) * margins[:, None]


def path_meets(boxes, start, direction, reach, longest):
    """Tell into which boxes another one comes on its way, by the sides that it crosses."""
    first, last = np.zeros(len(boxes)), np.full(len(boxes), longest)
    for axis in range(3):
        sides = boxes[:, :, axis] + np.array([-1.0, 1.0]) * reach[axis]
        if direction[axis] == 0.0:
            first[(start[axis] < sides[:, 0]) | (start[axis] > sides[:, 1])] = math.inf
            last[first == math.inf] = -1.0
            continue
        ends = np.sort((sides - start[axis]) / direction[axis], axis=1)
        first, last = np.maximum(first, ends[:, 0]), np.minimum(last, ends[:, 1])
    return first <= last


def drawn_box(rng, kind):
    center = rng.uniform(-50, 50, 3)
    size = rng.uniform(0, 5, 3)
    if kind == "flat":
        size[rng.integers(3)] = 0.0
    elif kind == "points":
        size[:] = 0.0
    elif kind == "one place":
        center[:], size[:] = 1.0, 2.0
    elif kind == "huge and tiny":
        size *= 10.0 ** rng.integers(-9, 7)
    elif kind == "far":
        center += 1e7
    elif kind == "lattice":
        center, size = np.round(center / 10) * 10, np.full(3, 5.0)
    return center - size, center + size


KINDS = ("any", "flat", "points", "one place", "huge and tiny", "far", "lattice")


@pytest.mark.parametrize("kind", KINDS)
def test_found_is_what_a_look_at_all_finds(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    model, free = Model(60), list(range(60))
    shift = 1e7 if kind == "far" else 0.0
    for _ in range(times(400)):
        if free and rng.random() < 0.55:
            item = free.pop(int(rng.integers(len(free))))
            model.put(item, *drawn_box(rng, kind))
        elif model.items:
            item = int(rng.choice(list(model.items)))
            model.take(item)
            free.append(item)
        for item in rng.choice([*model.items], size=min(len(model.items), 3)).tolist():
            lower, upper = model.items[item]  # goes a little way, or far; or it grows and shrinks
            step = rng.normal(size=3) * (upper - lower) * rng.choice([0.01, 0.1, 3.0])
            size = (upper - lower) * rng.choice([0.4, 1.0, 1.0, 2.0])
            model.move(item, lower + step, lower + step + size)
        model.check()
        if not model.items:
            assert model.near((-1e9,) * 3, (1e9,) * 3) == []
            assert model.on_way((0, 0, 0), (0, 1, 0), (0, 0, 0), math.inf) == []
            continue
        some = model.items[int(rng.choice(list(model.items)))]
        lower = some[0] if rng.random() < 0.3 else rng.uniform(-50, 50, 3) + shift
        upper = lower + rng.uniform(0, 20, 3) * (rng.random() < 0.8)
        found = model.near(lower, upper)
        assert found == sorted(found)
        items, boxes = np.array(list(model.items)), np.array(list(model.items.values()))
        assert set(items[meets(boxes, lower, upper)]) <= set(found)
        grown = items[meets(widened(model), lower, upper)]
        assert set(found) <= set(grown) or len(model.items) == 1
        start = (
            some[int(rng.integers(2))] if rng.random() < 0.3 else rng.uniform(-60, 60, 3) + shift
        )
        direction = rng.normal(size=3)
        direction[rng.random(3) < 0.3] = 0.0
        reach, longest = (
            rng.uniform(0, 3, 3) * (rng.random() < 0.5),
            rng.choice([0.0, 7.0, math.inf]),
        )
        if not direction.any():
            continue
        direction /= np.linalg.norm(direction)
        way = model.on_way(start, direction, reach, longest)
        assert set(items[path_meets(boxes, start, direction, reach, longest)]) <= set(way)
        assert len(set(way)) == len(way)


def test_nearest_boxes_are_never_told_too_far():
    rng = np.random.default_rng(9)
    boxes = np.array([np.concatenate(drawn_box(rng, "any")) for _ in range(300)])
    points = rng.uniform(-60, 60, (300, 3))
    for k, point in enumerate(points):
        gap = np.maximum(np.maximum(boxes[k, :3] - point, point - boxes[k, 3:]), 0.0)
        told = gap2(boxes, k, vec(point))
        assert told <= float(gap @ gap)
        assert told >= float(gap @ gap) * (1 - 1e-9)


@pytest.mark.parametrize("order", ["ascending", "descending", "inwards"])
def test_the_tree_stays_low_whatever_the_order(order):
    count = 3_000
    model, places = Model(count), np.arange(count)
    if order == "descending":
        places = places[::-1]
    elif order == "inwards":
        places = np.stack([places[: count // 2], places[::-1][: count // 2]], axis=1).ravel()
    for place in places.tolist():
        model.put(place, (2.0 * place, 0, 0), (2.0 * place + 1, 1, 1))
    model.check()
    assert model.links[model.links[0, ROOT], HEIGHT] <= 1.45 * math.log2(count) + 2
    assert model.near((100.5, 0, 0), (106.5, 1, 1)) == [50, 51, 52, 53]
    assert model.on_way((-9, 0.5, 0.5), (1, 0, 0), (0, 0, 0), 25.5) == list(range(9))


def test_short_moves_leave_the_tree_as_it_is():
    model = Model(30)
    for place in range(30):
        model.put(place, (3.0 * place, 0, 0), (3.0 * place + 1, 1, 1))
    changes = 0
    for step in range(1, 101):
        before = model.boxes.tobytes(), model.links.tobytes()
        model.move(9, (27.0 + 0.01 * step, 0, 0), (28.0 + 0.01 * step, 1, 1))
        changes += (model.boxes.tobytes(), model.links.tobytes()) != before
        model.check()
    assert changes <= 25
