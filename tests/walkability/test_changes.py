"""Changes of the ground: what they touch is made anew, and then the map is as one made anew."""

import gc
import math
import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    Rewind,
    SphereCollider,
    TriangleMesh,
    Walkability,
    World,
)
from terrain_physics.recording.journal import load_motion, saved_motion
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability.making import reach_of
from tests.helpers import forks

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}
SIZE = 13

BOX_CORNERS = [(x, y, z) for x in (-1, 1) for y in (0, 0.3) for z in (-1, 1)]


def box(x: float, z: float, size: float = 1.0, height: float = 0.3) -> TriangleMesh:
    """Return a box on the ground."""
    corners = np.array([(x + size * a, b / 0.3 * height, z + size * c) for a, b, c in BOX_CORNERS])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (1, 5, 7, 3), (0, 2, 6, 4)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return TriangleMesh(corners, faces)


def land(seed: int = 1) -> HeightMap:
    """Return rough land."""
    rng = np.random.default_rng(seed)
    return HeightMap(rng.normal(0, 0.1, (SIZE, SIZE)).cumsum(axis=0))


def made(ground: Any, **options: Any) -> Walkability:
    """Return a map of all places of a ground, in an area that is always the same."""
    paths = Walkability(
        ground, CAPSULE, area=((0, 0), (SIZE - 1, SIZE - 1)), threads=1, **(RULES | options)
    )
    assert paths.update() == 0
    return paths


def same(one: Walkability, other: Walkability) -> bool:
    """Tell whether two maps are the same, bit for bit."""
    levels = min(one._places.levels, other._places.levels)
    size = levels * other._places.rows * other._places.columns
    return one._places.heights[:size].tobytes() == other._places.heights[:size].tobytes() and bool(
        (one._places.kinds[:size] == other._places.kinds[:size]).all()
    )


def anew(paths: Walkability) -> Walkability:
    """Return a map made anew over the same ground."""
    return made(
        paths.ground, mask=paths.rules.mask, material_rules=dict(paths.rules.material_rules)
    )


def changed_by(paths: Walkability, change: Callable[[], Any]) -> int:
    """Make a change; hold that an update makes the map as if anew; return how many columns."""
    change()
    marked = paths.update(around=(-1e6, 0), radius=1) or _marked(paths)
    assert paths.update() == 0
    assert same(paths, anew(paths))
    return marked


def _marked(paths: Walkability) -> int:
    everywhere = slice(0, SIZE), slice(0, SIZE)
    return int(paths._changes.edges.marked(*everywhere).sum())


def test_the_reach_is_that_of_walkers_that_lose_their_way() -> None:
    paths = Walkability(land(), CAPSULE, spacing=3.2, material_rules={"ice": {"speed": 4.0}})
    reach = reach_of(3.2, paths._walker)
    diagonal, stride = math.sqrt(0.5) * (math.sqrt(2) + 0.5 + 0.5) * 3.2, 4.0 * 3.0 / 60
    assert reach.edges >= diagonal + stride + 0.4
    assert reach.heights >= 0.4


def test_round_bodies_reach_as_far_as_the_boxes_around_them() -> None:
    bodies = CAPSULE, SphereCollider(0.4), BoxCollider((0.4, 0.9, 0.4), offset=(0, 0.9, 0))
    found = {reach_of(1.0, Walkability(land(), body)._walker) for body in bodies}
    assert len(found) == 1


class TestEdits:
    def test_of_heights_touch_what_is_near(self) -> None:
        ground = land()
        paths = made(ground)

        def edit() -> None:
            ground[6, 6] += 1

        assert 9 < changed_by(paths, edit) < SIZE * SIZE / 1.5
        assert changed_by(paths, lambda: None) == 0

    def test_of_holes_and_thickness(self) -> None:
        ground = land()
        paths = made(ground)

        def dig() -> None:
            ground.holes[5:8, 6] = True

        assert changed_by(paths, dig) == SIZE * SIZE  # the first hole makes the ground a crust

        def fill() -> None:
            ground.holes[5, 6] = False

        assert changed_by(paths, fill) < SIZE * SIZE
        assert changed_by(paths, lambda: setattr(ground, "thickness", 0.5)) == SIZE * SIZE

    def test_of_materials_count_only_for_those_with_rules(self) -> None:
        ground = HeightMap(np.zeros((SIZE, SIZE)), material_names=["grass", "mud"])
        ruled = made(ground, material_rules={"mud": {"speed": 0.1}})
        paths = made(ground)

        def paint() -> None:
            ground.materials[5:8, 5:8] = 1

        repaints = paths._changes.repaints
        assert changed_by(paths, paint) == 0
        assert paths._changes.repaints > repaints
        assert changed_by(ruled, lambda: None) > 9
        assert (ruled.edges == 0).sum() > (paths.edges == 0).sum()  # mud is too slow to cross

    def test_a_refit_counts_where_the_mesh_was_and_is(self) -> None:
        mesh = box(3, 3)
        paths = made(Ground([land(), mesh]))
        marked = changed_by(paths, lambda: mesh.refit(mesh.vertices + np.array([6, 0, 5])))
        assert 20 < marked < SIZE * SIZE

    def test_of_a_mesh_by_itself(self) -> None:
        floor = TriangleMesh(
            [(0, 0, 0), (0, 0, 12), (12, 0, 0), (12, 0, 12)], [(0, 1, 2), (1, 3, 2)]
        )
        paths = made(floor)
        assert paths.standing[0, 6, 6]
        changed_by(paths, lambda: floor.refit(floor.vertices + np.array([0, 1, 0])))
        assert paths.heights[0, 6, 6] == pytest.approx(1)


class TestParts:
    def test_come_and_go_and_change(self) -> None:
        ground = Ground([land(), box(3, 3)])
        paths = made(ground)
        key = ground.add(box(9, 9))
        assert 9 < changed_by(paths, lambda: None) < SIZE * SIZE
        changes: list[Callable[[], Any]] = [
            lambda: ground.move(key, (-2, 0, 0)),
            lambda: ground.replace(key, box(8, 4, 0.5)),
            lambda: ground.set_layers(key, 2),
            lambda: ground.set_one_way(key, (0, 1, 0)),
            lambda: ground.set_surface_velocity(key, (0.2, 0, 0)),
            lambda: ground.remove(key),
        ]
        for change in changes:
            assert 9 < changed_by(paths, change) < SIZE * SIZE
        ground.remove(ground.add(box(5, 5)))
        assert changed_by(paths, lambda: None) == 0

    def test_layers_that_the_mask_leaves_out_do_not_matter(self) -> None:
        ground = Ground([land(), box(3, 3)], layers=[1, 2])
        paths = made(ground, mask=1)
        assert changed_by(paths, lambda: ground.move(1, (3, 0, 0))) == 0
        assert changed_by(paths, lambda: ground.set_layers(1, 3)) > 9
        assert changed_by(paths, lambda: ground.set_layers(1, 2)) > 9

    def test_maps_that_come_and_go(self) -> None:
        half = SIZE // 2
        west = HeightMap(np.zeros((SIZE, half + 1)))
        east = HeightMap(np.ones((SIZE, half + 1)) * 0.2, origin=(half, 0, 0))
        ground = Ground(west)
        paths = made(ground)
        key = ground.add(east)
        assert changed_by(paths, lambda: None) == SIZE * SIZE  # a single map went on at its border
        east[3, 0] = 0.9  # shared
        assert changed_by(paths, lambda: None) > 0
        changed_by(paths, lambda: ground.remove(key))

    def test_a_first_mesh_brings_levels(self) -> None:
        ground = Ground([land()])
        paths = made(ground)
        assert paths.shape == (1, SIZE, SIZE)
        path: Any = paths.path((1, 1), (3, 1), nearest=True)
        before = _arrays(paths)
        ground.add(box(6, 6), transform=(500, 0, 500))
        changed_by(paths, lambda: None)
        for array, now in zip(before, _arrays(paths), strict=True):
            np.testing.assert_array_equal(array[0], now[0])  # what a game reads in mid-game stays
        assert paths.shape == (3, SIZE, SIZE)
        assert path._places is paths._places  # it sees what is made later


def _arrays(paths: Walkability) -> list[np.ndarray[Any, Any]]:
    """Return all arrays that are in the shape of a map."""
    field, reached = paths.field((1, 1), nearest=True), paths.reachable(paths.nearest((1, 1)))
    assert field.direction.shape == (*paths.shape, 2)
    seen = [paths.heights, paths.standing, paths.positions, paths.edges, paths.labels]
    return [*seen, reached, field.distance]


class TestMovingParts:
    def test_are_left_out_once_they_move(self) -> None:
        ground = Ground([land(), box(6, 6, 1.0, 2.0)])
        paths = made(ground)
        alone = made(Ground([land(), box(6, 6)], layers=[1, 0]))
        assert [*paths.moving_parts] == []
        assert not same(paths, alone)
        assert changed_by(paths, lambda: ground.move(1, (0, 0.1, 0), 1 / 60)) > 9
        assert [*paths.moving_parts] == [1]
        assert same(paths, alone)
        assert changed_by(paths, lambda: ground.move(1, (1, 0.1, 0), 1 / 60)) == 0
        assert changed_by(paths, lambda: ground.move(1, (5, 0, 0))) == 0

    def test_conveyors_and_one_way_parts_that_stand_still_stay(self) -> None:
        ground = Ground([land(), box(6, 6)])
        ground.set_surface_velocity(1, (0.1, 0, 0))
        ground.set_one_way(1, (0, 1, 0))
        paths = made(ground)
        assert [*paths.moving_parts] == []
        assert not same(paths, made(Ground([land(), box(6, 6)], layers=[1, 0])))
        other = ground.add(box(2, 9))
        ground.move(other, (0, 1, 0), 1 / 60)
        assert changed_by(paths, lambda: None) == 0
        assert [*paths.moving_parts] == [other]


class TestRestores:
    def test_of_a_ground_and_of_a_world(self) -> None:
        ground = Ground([land(), box(3, 3)])
        world = World(ground)
        world.add("heroes", CharacterGroup(ground, CAPSULE))
        paths = made(ground)
        first, kept = world.state(), paths.heights.tobytes()
        terrain: Any = ground.parts[0]
        key = ground.add(box(9, 9))
        terrain[6, 6] += 1
        ground.move(1, (2, 0, 3))
        changed_by(paths, lambda: None)
        changed_by(paths, lambda: world.restore(first))
        assert key not in ground.parts
        assert paths.heights.tobytes() == kept

    def test_of_a_rewind(self) -> None:
        ground = Ground([land(), box(3, 3)])
        rewind = Rewind(World(ground))
        paths = made(ground)
        rewind.save(0)
        kept = paths.heights.tobytes()
        ground.move(1, (5, 0, 0), 1 / 60)
        rewind.world.update(1 / 60)
        changed_by(paths, lambda: None)
        assert [*paths.moving_parts] == [1]
        changed_by(paths, lambda: rewind.restore(0))
        assert [*paths.moving_parts] == []
        assert paths.heights.tobytes() == kept

    def test_of_the_motion_of_a_replay(self) -> None:
        ground = Ground([land(), box(3, 3)])
        paths, motion = made(ground), saved_motion(ground)
        ground.move(1, (5, 0, 0))
        changed_by(paths, lambda: None)
        assert changed_by(paths, lambda: load_motion(ground, motion)) > 9


class TestWatching:
    def test_a_map_that_is_gone_is_not_told(self) -> None:
        ground = Ground([land(), box(3, 3)])
        paths = made(ground)
        changes = ref(paths._changes)
        del paths
        gc.collect()
        assert changes() is None
        terrain: Any = ground.parts[0]
        terrain[3, 3] = 1
        ground.move(1, (1, 0, 0))

    def test_an_edit_while_places_are_made_counts_in_the_next_update(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ground = land()
        paths = made(ground)
        ground[3, 3] += 1
        before = Walkability._make

        def make(self: Walkability, update: Any) -> None:
            update.begin()
            ground[9, 9] += 1
            self._changes.put_back()
            before(self, update)

        with monkeypatch.context() as patched:
            patched.setattr(Walkability, "_make", make)
            paths.update()
        paths.update()
        assert paths.update() == 0
        assert same(paths, anew(paths))

    def test_edits_updates_and_reads_in_threads(self) -> None:
        ground = land()
        paths = made(ground)
        errors: list[BaseException] = []

        def edit() -> None:
            rng = np.random.default_rng(5)
            for _ in range(20):
                row, column = rng.integers(0, SIZE, 2).tolist()
                ground[row, column] += 0.2

        def update() -> None:
            for _ in range(10):
                paths.update(budget=0.001)

        def read() -> None:
            for _ in range(10):
                assert paths.edges.shape == (1, SIZE, SIZE, 8)
                assert paths.standing.shape == paths.heights.shape

        def run(work: Callable[[], None]) -> None:
            try:
                work()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(work,)) for work in (edit, update, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert paths.update() == 0
        assert same(paths, anew(paths))

    @pytest.mark.skipif(not forks.CAN_FORK, reason="this system does not fork")
    def test_a_child_that_is_forked_in_an_update_goes_on(self) -> None:
        done = forks.run("-c", FORKED)
        assert (done.returncode, done.stdout.split()) == (0, ["0"]), done.stderr

    def test_what_numpy_loads_in_an_update_is_loaded_with_the_first_ground(self) -> None:
        """A child that is forked while a thread loads a module would wait for ever."""
        make = "from terrain_physics import *; HeightMap([[0, 0], [0, 0]])"
        loaded = forks.printed("-c", f"import sys; {make}; print('numpy.ma' in sys.modules)")
        assert loaded.strip() == "True"


FORKED = """
import os, threading
import numpy as np
from terrain_physics import HeightMap, SphereCollider, Walkability

land = HeightMap(np.zeros((60, 60)))
paths = Walkability(land, SphereCollider(0.4))
worker = threading.Thread(target=paths.update)
worker.start()
child = os.fork()
if child == 0:
    land[30, 30] = 9
    done = paths.update() == 0 and paths.standing[0, 5, 5] and not paths.edges[0, 30, 29].any()
    os._exit(0 if done else 1)
worker.join()
print(os.waitpid(child, 0)[1])
"""


class TestRandomChanges:
    @pytest.mark.parametrize(
        ("seed", "count"), [(1, 12), pytest.param(2, 100, marks=pytest.mark.full)]
    )
    def test_the_map_is_as_one_made_anew(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        ground = Ground([land(), box(3, 3)])
        paths, states = made(ground), [ground.state()]
        for _ in range(count):
            _change(ground, rng, states)
            budget = None if rng.random() < 0.7 else 0.0005
            paths.update(budget=budget)
        while paths.update(budget=0.001) > 0:
            pass
        assert same(paths, anew(paths))
        assert queries_of(ground) is paths._queries


def _change(ground: Ground, rng: np.random.Generator, states: list[Any]) -> None:
    """Change a ground in one of all ways."""
    terrain: Any = ground.parts[0]
    meshes = [key for key in ground.parts if key > 0]
    row, column = rng.integers(0, SIZE - 1, 2).tolist()
    key = int(rng.choice(meshes)) if meshes else -1
    what = int(rng.integers(0, 11))
    if what < 3:
        terrain[row, column] += float(rng.normal(0, 0.4))
    elif what == 3:
        terrain.holes[row, column] = bool(rng.random() < 0.5)
    elif what == 4 or not meshes:
        ground.add(box(row, column, 0.7, float(rng.uniform(0.2, 2))))
    elif what == 5:
        ground.remove(key)
    elif what == 6:
        ground.move(key, (row - 6, 0, column - 6), None if rng.random() < 0.7 else 1 / 60)
    elif what == 7:
        ground.set_layers(key, int(rng.integers(0, 2)))
    elif what == 8:
        ground.replace(key, box(row, column))
    elif what == 9:
        states.append(ground.state())
    else:
        ground.restore(states[int(rng.integers(0, len(states)))])
