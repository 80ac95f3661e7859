"""States of grounds: each can be gone back to, in any order, bit for bit."""

import copy
import gc
import pickle
import random
import signal
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    GroundState,
    HeightMap,
    Ray,
    Sphere,
    SphereCollider,
    TriangleMesh,
    World,
)
from terrain_physics.ground.ground import parts_of
from terrain_physics.surface.surface import queries_of


def rough(seed: int, count: int = 17, **options: Any) -> HeightMap:
    noise = np.random.default_rng(seed).standard_normal((count, count))
    return HeightMap(0.1 * noise, cell_size=2, **options)


def two_tiles(seed: int) -> list[HeightMap]:
    west = rough(seed)
    heights = west.heights
    east = np.concatenate([heights[:, -1:], heights[:, 1:]], axis=1)
    return [west, HeightMap(east, cell_size=2, origin=(32, 0, 0))]


def crate() -> TriangleMesh:
    return TriangleMesh.box((2, 1, 2))


def map_content(land: HeightMap) -> list[Any]:
    arrays = land.heights, np.array(land.holes), np.array(land.materials)
    return [*(values.tobytes() for values in arrays), land.thickness, land.border]


def content(ground: Any) -> list[Any]:
    """Return all that a state promises to bring back, as plain values."""
    xs = np.linspace(0.3, 60, 25)
    found: list[Any] = [ground.height_at(xs, (7 * xs) % 31).tobytes()]
    if isinstance(ground, HeightMap):
        return [*found, *map_content(ground)]
    if isinstance(ground, TriangleMesh):
        return [*found, ground.vertices.tobytes()]
    for key, part in ground.parts.items():
        inner = map_content(part) if isinstance(part, HeightMap) else [part.vertices.tobytes()]
        found += [key, ground.layers_of(key), ground.transform(key).tobytes(), *inner]
    return [*found, dict(ground.part_names), parts_of(ground).meshes.movers.saved()]


class Story:
    """Random edits of a ground, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311 no secret
        kind = self.draw.choice(["map", "mesh", "ground", "tiles"])
        self.ground: Any
        if kind == "map":
            self.ground = rough(seed)
        elif kind == "mesh":
            self.ground = TriangleMesh.sphere(4, position=(9, 0, 9))
        else:
            maps = two_tiles(seed) if kind == "tiles" else [rough(seed)]
            self.ground = Ground([*maps, crate()])
            self.ground.move(len(maps), (5, 2, 5))
        self.spare = [crate() for _ in range(3)]

    def edit(self) -> None:
        ground = self.ground
        if isinstance(ground, TriangleMesh):
            ground.refit(ground.vertices * self.draw.uniform(0.9, 1.1))
            return
        maps = [ground] if isinstance(ground, HeightMap) else list(ground.parts.values())
        maps = [part for part in maps if isinstance(part, HeightMap)]
        if isinstance(ground, Ground) and (self.draw.random() < 0.4 or not maps):
            self._change_parts(ground)
        elif self.draw.random() < 0.3:
            self._edit_cells(self.draw.choice(maps))
        else:
            spot = self.draw.uniform(0, 60), self.draw.uniform(0, 32)
            how = self.draw.choice([ground.carve, ground.raise_])
            how(spot, self.draw.uniform(0.5, 9), self.draw.uniform(0.1, 2))

    def _edit_cells(self, land: HeightMap) -> None:
        row = self.draw.randrange(15)
        what = self.draw.randrange(3)
        if what == 0:
            land.holes[row : row + 2, row] = self.draw.random() < 0.6
        elif what == 1:
            land.materials[row, row : row + 2] = self.draw.randrange(4)
        else:
            land.thickness = self.draw.choice([1.0, 2.0, 5.0])

    def _change_parts(self, ground: Ground) -> None:
        keys = list(ground.parts)
        meshes = [key for key in keys if isinstance(ground.parts[key], TriangleMesh)]
        what = self.draw.randrange(8)
        if what == 0:
            name = self.draw.choice([None, f"crate {self.draw.random()}"])
            pose = (5, 1, self.draw.uniform(0, 30)), np.eye(3), self.draw.choice([0.5, 1, 2])
            mesh: Any = self.draw.choice(self.spare)
            ground.add(mesh, transform=pose, layers=self.draw.choice([1, 2]), name=name)
        elif what == 1 and len(keys) > 1:
            ground.remove(self.draw.choice(keys))
        elif what == 2:
            ground.set_layers(self.draw.choice(keys), self.draw.choice([1, 2, 3]))
        elif what == 3 and meshes:
            mesh = ground.parts[self.draw.choice(meshes)]
            mesh.refit(mesh.vertices * self.draw.uniform(0.9, 1.1))
        elif what == 4 and meshes:
            ground.set_one_way(self.draw.choice(meshes), self.draw.choice([None, (0, 1, 0)]))
        elif what == 5 and meshes:
            ground.set_surface_velocity(self.draw.choice(meshes), (self.draw.random(), 0, 1))
        elif what == 6 and meshes:
            ground.replace(self.draw.choice(meshes), self.draw.choice(self.spare))
        elif meshes:
            place = self.draw.uniform(0, 30), self.draw.uniform(0, 3), 5
            ground.move(self.draw.choice(meshes), place, self.draw.choice([None, 1 / 60]))


def go_back_and_forth(seed: int, steps: int) -> int:
    """Edit, keep and restore at random; return how often a state was gone back to."""
    story, kept, count = Story(seed), list[tuple[GroundState, list[Any]]](), 0
    for _ in range(steps):
        version, draw = story.ground.version, story.draw.random()
        if draw < 0.5:
            story.edit()
        elif draw < 0.7 or not kept:
            kept.append((story.ground.state(), content(story.ground)))
        else:
            state, then = story.draw.choice(kept)
            story.ground.restore(state)
            assert content(story.ground) == then
            count += 1
            if story.draw.random() < 0.4:
                kept.remove(story.draw.choice(kept))
        assert story.ground.version >= version
    return count


def carve_one_alone(ground: Any) -> None:
    """Edit a map at its seam while the other one is gone."""
    ground.remove(1)
    ground.carve((38, 2), 7.5, 0.9)


def carve_on_other_layers(ground: Any) -> None:
    """Edit a map at its seam while the other one is on other layers."""
    ground.set_layers(1, 2)
    ground.parts[0].carve((30, 2), 7.5, 0.9)


@pytest.mark.parametrize("part_them", [carve_one_alone, carve_on_other_layers])
def test_maps_that_were_one_come_back_with_samples_of_their_own(part_them: Any) -> None:
    ground = Ground(two_tiles(130))
    kept = [(ground.state(), content(ground))]
    ground.carve((36, 7), 7.3, 1.7)
    part_them(ground)
    kept.append((ground.state(), content(ground)))
    for state, then in kept * 2:
        ground.restore(state)
        assert content(ground) == then


def test_maps_that_a_restore_parts_are_two_from_then_on() -> None:
    """They were made one by an edit; other layers and back united them."""
    land = HeightMap(np.zeros((5, 5)))
    ground = Ground([land, HeightMap(np.full((5, 5), 0.5), origin=(4, 0, 0))])
    apart = ground.state()
    land[:, -1] = 0.5
    ground.set_layers(0, 2)
    ground.set_layers(0, 1)
    ground.restore(apart)
    land.raise_((1, 1), radius=1, height=1)
    fresh = Ground([copy.deepcopy(part) for part in ground.parts.values()])
    ball = Sphere((4, 0.3, 2), 0.4)
    assert len(ground.contacts(ball)) == len(fresh.contacts(ball)) > 0
    for ray in (Ray((3, 0.2, 2.3), (1, 0, 0)), Ray((1, 9, 1), (0, -1, 0))):
        assert ground.raycast(ray) == fresh.raycast(ray) is not None


@pytest.mark.parametrize("seed", range(12))
def test_any_order(seed: int) -> None:
    assert go_back_and_forth(seed, 60) > 0


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 400))
def test_any_order_at_length(seed: int) -> None:
    assert go_back_and_forth(seed, 120) > 0


def test_renderer_that_follows_changes_alone() -> None:
    draw, land = random.Random(5), rough(1, 33)  # noqa: S311 no secret
    shown, seen, states = land.heights.copy(), land.version, [land.state()]
    for _ in range(1000):
        if draw.random() < 0.6:
            land.raise_((draw.uniform(0, 64), draw.uniform(0, 64)), 3, draw.uniform(-1, 1))
        elif draw.random() < 0.5:
            states = [*states[-5:], land.state()]
        else:
            land.restore(draw.choice(states))
        if draw.random() < 0.3:
            for row_0, row_1, column_0, column_1 in land.changes_since(seen):
                place = slice(row_0, row_1 + 1), slice(column_0, column_1 + 1)
                shown[place] = land.heights[place]
            seen = land.version
            assert np.array_equal(shown, land.heights)


def test_equal_inputs_give_equal_keys() -> None:
    ground = Ground([rough(0)])
    before = ground.state()
    first = ground.add(crate(), name="lift")
    ground.restore(before)
    assert list(ground.parts) == [0]
    assert ground.add(crate(), name="lift") == first


def test_part_in_the_middle_comes_back_under_its_key() -> None:
    land, one, two = rough(0), crate(), crate()
    ground = Ground([land, one, two])
    ground.move(2, (20, 1, 20), 1 / 60)
    before, then = ground.state(), content(ground)
    ground.remove(1)
    ground.remove(0)
    ground.restore(before)
    assert content(ground) == then
    assert [*ground.parts.values()] == [land, one, two]
    ground.remove(1)
    assert list(ground.parts) == [0, 2]


def test_a_key_given_anew_to_the_same_mesh_goes_back_to_its_place() -> None:
    shared = crate()
    ground = Ground([rough(0), shared])
    before = ground.state()
    key = ground.add(shared, transform=((20, 3, 20), np.eye(3), 0.5), name="small")
    small, told = ground.state(), content(ground)
    ground.restore(before)
    assert ground.add(shared, transform=((20, 3, 20), np.eye(3), 2), name="large") == key
    large, told_of_large = ground.state(), content(ground)
    for state, known, top in [(small, told, 3.25), (large, told_of_large, 4)]:
        ground.restore(state)
        assert content(ground) == known  # its name, too
        hit = ground.raycast((20, 9, 20), (0, -1, 0))
        assert hit is not None
        assert hit.point.y == top


def test_the_sign_of_a_zero_comes_back() -> None:
    ground = Ground([rough(0), crate()])
    ground.move(1, (5, 0, 5))
    before, then = ground.state(), ground.transform(1).tobytes()
    turned = ground.transform(1)
    turned[0, 1] = -0.0
    ground.move(1, turned)
    assert ground.transform(1).tobytes() != then
    ground.restore(before)
    assert ground.transform(1).tobytes() == then


def test_last_map_goes() -> None:
    lands = two_tiles(0)
    ground = Ground([*lands, crate()])
    for key in (0, 1):
        ground.remove(key)
    assert ground.height_at(0, 0) == 0.5


def test_sleeper_does_not_look_again_after_both_went_back() -> None:
    ground = Ground([rough(0), crate()])
    hero = CharacterMovement(ground, SphereCollider(0.5), position=(9, 2, 9))
    for _ in range(60):
        hero.update(1 / 60)
    before, contents = ground.state(), queries_of(ground).contents
    ground.carve((30, 30), 3, 1)
    version = ground.version
    ground.restore(before)
    assert ground.version > version
    assert queries_of(ground).contents == contents
    ground.carve((30, 30), 3, 1)
    assert queries_of(ground).contents == ground.version


def test_character_not_put_back_falls_where_ground_is_gone() -> None:
    land = HeightMap(np.zeros((9, 9)), cell_size=2)
    before = land.state()
    land.raise_((8, 8), 4, 2)
    hero = CharacterMovement(land, SphereCollider(0.5), position=(8, 3, 8))
    for _ in range(90):
        hero.update(1 / 60)
    assert hero.grounded
    land.restore(before)
    for _ in range(90):
        hero.update(1 / 60)
    assert hero.position.y == 0.5


def test_edits_are_kept_only_for_states() -> None:
    land = HeightMap(np.zeros((129, 129)))
    land.carve((60, 60), 5, 1)
    history = land._kept().history
    first = land.state()
    for k in range(40):
        land.carve((60 + k, 60), 5, 1)
    assert first.nbytes == 0
    last = land.state()
    assert 0 < last.nbytes < 3 * land.heights.nbytes
    del first
    gc.collect()
    land.carve((60, 60), 5, 1)
    land.state()
    assert last.nbytes == 0
    del last
    land.carve((60, 60), 5, 1)
    assert history.mark().nbytes == 0


def test_parts_that_came_and_went_are_not_kept_for_ever() -> None:
    ground = Ground([rough(0)])
    ground.state()
    gone = []
    for number in range(5):
        tile = rough(number, origin=(100 * number + 100, 0, 0))
        ground.remove(ground.add(tile))
        gone.append(weakref.ref(tile._storage))
        del tile
    gc.collect()
    assert not any(known() for known in gone)


def test_many_states_dropped_in_the_middle() -> None:
    land = HeightMap(np.zeros((65, 65)))
    first, then = land.state(), content(land)
    ring: list[GroundState] = []
    for k in range(300):
        land.carve((k % 60, 30), 4, 0.1)
        ring = [*ring[-7:], land.state()]
    node, length = ring[-1]._kept.mark.node, 1
    while node.parent is not None:
        node, length = node.parent, length + 1
    assert length < 12
    land.restore(first)
    assert content(land) == then


def test_long_question_keeps_its_ground() -> None:
    land = rough(0)
    before = land.state()
    land.carve((9, 9), 5, 1)
    with queries_of(land).reading() as arrays:
        heights = land.height_at(9, 9)
        table = arrays.table.copy()
        land.restore(before)
        assert np.array_equal(arrays.table, table)
    assert land.height_at(9, 9) > heights


def test_map_and_mesh_of_several_grounds() -> None:
    land, crate_of_both = HeightMap(np.zeros((33, 33))), crate()
    one = Ground([land, crate_of_both])
    beside = HeightMap(np.zeros((33, 33)), origin=(32, 0, 0))
    two, draw = Ground([beside, land]), random.Random(3)  # noqa: S311 no secret
    values: Any = lambda part: part.vertices if part is crate_of_both else part.heights  # noqa: E731
    owned: Any = {one: (land, crate_of_both), two: (beside, land), land: (land,)}
    kept: list[Any] = []
    for _ in range(300):
        ground, what = draw.choice([*owned]), draw.random()
        if what < 0.4:
            ground.carve((draw.uniform(0, 60), draw.uniform(0, 30)), 4, 0.2)
        elif what < 0.5:
            crate_of_both.refit(crate_of_both.vertices * draw.uniform(0.9, 1.1))
        elif what < 0.75 or not kept:
            state = ground.state()
            then = [values(part).tobytes() for part in owned[ground]]
            kept = [*kept[-8:], (ground, state, then)]
        else:
            ground, state, then = draw.choice(kept)
            ground.restore(state)
            assert [values(part).tobytes() for part in owned[ground]] == then


def test_each_edit_is_kept_once_by_each_ground() -> None:
    land, box = HeightMap(np.zeros((33, 33))), crate()
    one, two = Ground([land, box]), Ground([land, box])
    before = one.state()
    land.carve((16, 16), 5, 1)
    box.refit(box.vertices * 2)
    after, beside = one.state(), two.state()
    one.restore(before)
    assert beside is not two.state()
    assert two.state().nbytes - beside.nbytes == after.nbytes - before.nbytes


@pytest.mark.parametrize("line", range(1, 400, 9))
def test_interrupted_anywhere_nothing_has_changed(line: int) -> None:
    """The restore is interrupted at one of its lines, as by Ctrl-C; a later one is not."""
    lands = two_tiles(2)
    ground = Ground([*lands, crate()])
    before, low = ground.state(), content(ground)
    ground.raise_((32, 16), 9, 3)
    lands[0].thickness = 5.0
    lands[0].holes[3, 3] = True
    ground.move(2, (9, 1, 9), 1 / 60)
    ground.add(crate())
    after, high, left = ground.state(), content(ground), line

    def interrupt(frame: Any, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename.endswith(("history.py", "undo.py", "heightmap/storage.py")):
            left -= event == "line"
            if left == 0:
                left = 10**9
                raise KeyboardInterrupt
        return interrupt

    known = sys.gettrace()
    sys.settrace(interrupt)
    try:
        ground.restore(before)
        is_back = True
    except KeyboardInterrupt:
        is_back = False
    finally:
        sys.settrace(known)
    assert content(ground) == (low if is_back else high)
    for state, then in ((before, low), (after, high), (before, low)):
        ground.restore(state)
        assert content(ground) == then


def test_other_threads_see_all_or_nothing() -> None:
    lands = two_tiles(3)
    ground = Ground(lands)
    low = ground.state()
    ground.raise_((32, 16), 12, 5)
    high = ground.state()
    seams = {0.0}
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            heights = ground.height_at([31.9999, 32.0001], [16.0, 16.0])
            seams.add(round(float(heights[1] - heights[0]), 2))

    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(60):
        ground.restore(low)
        ground.restore(high)
    stop.set()
    watcher.join()
    assert seams == {0.0}


def test_bad_states() -> None:
    land, other = rough(0), rough(1)
    state = land.state()
    for make in (pickle.dumps, GroundState.__reduce__):
        with pytest.raises(TypeError, match="must stay in its process"):
            make(state)
    with pytest.raises(TypeError, match="state must be a GroundState, got 3"):
        land.restore(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="state must be of this ground"):
        other.restore(state)
    with pytest.raises(ValueError, match="state must be of this ground"):
        copy.deepcopy(land).restore(state)
    with pytest.raises(TypeError, match="must be made by the state"):
        GroundState()
    assert copy.deepcopy(state) is state


def test_same_state_while_nothing_changes() -> None:
    ground = Ground([rough(0)])
    state = ground.state()
    assert ground.state() is state
    ground.carve((3, 3), 2, 1)
    assert ground.state() is not state


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_refused_inside_an_update() -> None:
    ground = Ground([rough(0, 65)])
    before = ground.state()
    ground.carve((30, 30), 9, 1)
    after = content(ground)
    errors: list[str] = []

    def handle(*_: object) -> None:
        try:
            ground.restore(before)
        except RuntimeError as error:
            errors.append(str(error))

    queries = queries_of(ground)
    old = signal.signal(signal.SIGALRM, handle)
    try:
        with queries.reading():
            signal.raise_signal(signal.SIGALRM)
        with queries.lock:
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert len(errors) == 2
    assert "restore must not be called inside" in errors[0]
    assert content(ground) == after


class Sprite:
    """An owner that puts the ground back whenever it is moved."""

    def __init__(self, ground: Any) -> None:
        self.ground, self.state, self.errors = ground, ground.state(), list[str]()
        self._position = 5.0, 2.0, 5.0

    @property
    def position(self) -> Any:
        return self._position

    @position.setter
    def position(self, place: Any) -> None:
        self._position = place
        try:
            self.ground.restore(self.state)
        except RuntimeError as error:
            self.errors.append(str(error))


@pytest.mark.parametrize("ground", [rough(0), Ground([rough(0)])], ids=["map", "ground"])
def test_refused_between_two_characters_of_a_world(ground: Any) -> None:
    world, sprite = World(ground), Sprite(ground)
    body = SphereCollider(0.5)
    world.add("one", CharacterMovement(ground, body, owner=sprite))
    world.add("two", CharacterMovement(ground, body, position=(9, 2, 9)))
    ground.carve((20, 20), 3, 1)
    version, sprite.errors = ground.version, []
    world.update(1 / 60)
    assert sprite.errors
    assert "inside an update" in sprite.errors[0]
    assert ground.version == version


def test_group_of_threads_while_the_ground_goes_back() -> None:
    ground = Ground([rough(0, 33), crate()])
    group = CharacterGroup(ground, SphereCollider(0.4), threads=2)
    places = [(2 + k % 28, 3, 2 + k // 28) for k in range(300)]
    group.add_many(range(300), places)
    low, done = ground.state(), threading.Event()

    def edit() -> None:
        while not done.is_set():
            ground.raise_((30, 30), 6, 0.5)
            ground.restore(low)

    editor = threading.Thread(target=edit)
    editor.start()
    for _ in range(30):
        group.update(1 / 60)
    done.set()
    editor.join()
    assert np.isfinite(group.positions).all()
