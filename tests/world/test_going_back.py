"""What users of physics engines ask of worlds that go back, and what a renderer sees of it."""

import copy
import tracemalloc
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Rewind,
    TriangleMesh,
    World,
)
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.surface.surface import queries_of
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.world_scenes import rows_of

FRAME = 1 / 60
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


class Press:
    """A crowd that a door presses against a wall, on a lift, with a hero who is pushed along."""

    def __init__(self) -> None:
        land = HeightMap(np.zeros((33, 33)))
        sizes = (0.5, 3, 6), (1, 3, 6), (4, 0.4, 4), (1, 1, 1), (1, 1, 1)
        boxes = [TriangleMesh.box(size) for size in sizes]
        self.ground = Ground([land, *boxes])
        self.ground.move(2, (15.5, 1.5, 10))
        self.crowd = CharacterGroup(self.ground, BODY, collide=True, heads="stand", threads=1)
        places = [(11.5 + 0.9 * (k % 4), 0.02, 8.5 + 0.9 * (k // 4)) for k in range(12)]
        self.crowd.add_many(range(12), places)
        self.crowd.add("rider", (22, 0.6, 22))
        self.hero = CharacterMovement(self.ground, BODY, position=(6, 0.02, 24))
        self.world, self.frame = World(self.ground), 0
        self.world.add("hero", self.hero)
        self.world.add("crowd", self.crowd)

    def step(self, frame: int) -> None:
        """Press for a second, draw back for a second."""
        phase = min(frame % 120, 120 - frame % 120) / 60
        self.ground.move(1, (10.5 + 3.75 * phase, 1.5, 10), FRAME)
        self.ground.move(3, (22, 0.2 + 2.0 * phase, 22), FRAME)
        self.ground.move(4, (5.0 + 3.0 * phase, 0.5, 24.2), FRAME)
        self.ground.move(5, (5.2 + 3.0 * phase, 0.5, 23.0), FRAME)
        self.crowd.walk(1.5, 0.2, keys=[key for key in range(12) if key in self.crowd])
        self.hero.walk(-1.0, 0.0)
        if frame % 20 == 7:
            self.ground.carve((12 + frame % 3, 9), 2, 0.05)
        self.world.update(FRAME)

    def go(self, frames: int) -> list[str]:
        """Go on by some frames; return the hash after each."""
        hashes = []
        for _ in range(frames):
            self.step(self.frame)
            self.frame += 1
            hashes.append(self.world.state_hash())
        return hashes


def test_a_state_of_many_contacts_is_gone_on_from_as_if_never_left() -> None:
    """Asked of rapier, 966: equal as it is put back is not enough; so is all that comes after."""
    press, other = Press(), Press()
    hashes = other.go(160)
    was_squeezed = False
    for frame in range(0, 128, 16):
        state = press.world.state()
        press.go(5)
        press.world.restore(state)
        press.frame = frame
        assert press.go(30) == hashes[frame : frame + 30]
        press.world.restore(state)
        press.frame = frame
        press.go(16)
        squeezed = rows_of(press.crowd).state[:, columns.SQUEEZED_BY]
        was_squeezed = was_squeezed or bool((squeezed >= 0).any())
    assert was_squeezed


def test_a_character_that_moving_boxes_push_goes_the_same_way_again() -> None:
    """Asked of JoltPhysics, 1551: it got stuck at moving boxes, and not where it did before."""
    press = Press()
    press.go(20)
    state, ways = press.world.state(), []
    for _ in range(3):
        press.world.restore(state)
        press.frame, way = 20, []
        for _ in range(60):
            press.go(1)
            way.append(press.hero.position64)
        ways.append(way)
    assert ways[0] == ways[1] == ways[2]
    assert max(x for x, _, _ in ways[0]) - ways[0][0][0] > 0.5  # it was pushed along


def test_who_often_went_back_has_the_hash_of_one_who_never_did() -> None:
    """Asked of godot-rapier, 534: a hash of all that a rollback counts says nothing."""
    press, other = Press(), Press()
    rewind, hashes = Rewind(press.world), other.go(60)
    for frame in range(60):
        rewind.save(frame)
        press.step(frame)
        if frame >= 8:
            rewind.replay(frame - 7, frame + 1, press.step)
        assert press.world.state_hash() == hashes[frame]


def test_a_state_that_was_put_back_is_kept_as_the_same_bytes() -> None:
    """Asked of godot-rapier, 490: a load, and what is saved at once is other than what was."""
    press = Press()
    press.go(25)
    state = press.world.state()
    kept = state.to_bytes()
    press.go(10)
    press.world.restore(state)
    assert press.world.state().to_bytes() == kept


def test_a_copy_of_a_world_that_went_back_has_seen_its_ground() -> None:
    press = Press()
    press.go(25)
    state = press.world.state()
    press.go(10)
    press.world.restore(state)
    again = copy.deepcopy(press.world)
    contents = queries_of(again.ground).contents
    for thing in again.values():
        assert (rows_of(thing).state[:, columns.GROUND_VERSION] == contents).all()


def test_futures_branch_from_one_state() -> None:
    """Asked of box3d, 134: keep a world, try what may come, and take back what was tried."""
    press = Press()
    press.go(30)
    root = press.world.state()
    ends: dict[Any, set[str]] = {}
    for turn in (0, 1, 2, 1, 0, 2):
        press.world.restore(root)
        press.frame = 30
        press.ground.carve((12, 10), 2, 0.1 * turn)
        key = press.ground.add(TriangleMesh.box((1, 1, 1 + turn)))
        press.ground.move(key, (12, 0.5, 13))
        middle = press.world.state()
        for aside in range(2):  # a branch of the branch
            press.world.restore(middle)
            press.frame = 30
            press.crowd.remove(aside)
            ends.setdefault((turn, aside), set()).add(press.go(10)[-1])
    assert [len(hashes) for hashes in ends.values()] == [1] * 6
    assert len(set.union(*ends.values())) == 6
    press.world.restore(root)
    assert list(press.ground.parts) == list(range(6))
    assert press.world.state_hash() == _after(30)


def _after(frames: int) -> str:
    press = Press()
    press.go(frames)
    return press.world.state_hash()


@pytest.mark.parametrize("count", [100, 1_000])
def test_a_state_holds_what_changes(count: int) -> None:
    """Asked of rapier, 991: nothing of the ground is in it that no edit has changed."""
    sizes = []
    for size in (33, 513):
        boxes = [TriangleMesh.sphere(1.0) for _ in range(2 if size == 33 else 20)]
        ground = Ground([HeightMap(np.zeros((size, size))), *boxes])
        group = CharacterGroup(ground, BODY, threads=1)
        group.add_many(range(count), [(1 + k % 20, 0, 1 + k % 19) for k in range(count)])
        world = World(ground)
        world.add("group", group)
        world.update(FRAME)
        sizes.append(world.state().nbytes)
    assert sizes[1] <= sizes[0] + 64_000
    assert sizes[0] <= 1_400 * count + 16_000


def test_a_ring_takes_no_memory_once_it_is_full() -> None:
    """Asked of rapier, 991: a state of each frame, of which nearly all are never needed."""
    press = Press()
    rewind = Rewind(press.world, frames=8)
    for frame in range(40):
        rewind.save(frame)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for frame in range(40, 140):
        rewind.save(frame)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now - before < 10_000
    assert peak - before < 30_000


def test_what_came_later_goes_and_what_went_comes_back() -> None:
    """Asked of lightyear, 1619: colliders that come after the registration, sleepers, clocks."""
    press = Press()
    press.go(30)
    world = press.world
    asleep = CharacterMovement(press.ground, BODY, position=(28, 0, 4))
    world.add("asleep", asleep)
    for _ in range(20):
        press.go(1)
        world.clock.steps(0.013)
    state, alpha, frame = world.state(), world.clock.alpha, press.frame
    expected = press.go(20)

    world.remove("asleep")
    late = CharacterMovement(press.ground, BODY, position=(28, 0, 9))
    world.add("late", late)
    world.clock.steps(0.005)
    press.ground.remove(2)
    press.crowd.remove("rider")
    press.go(5)

    world.restore(state)
    press.frame = frame
    assert list(world) == ["hero", "crowd", "asleep"]
    assert world["asleep"] is asleep
    assert world.clock.alpha == alpha
    assert "rider" in press.crowd
    assert rows_of(asleep).state[0, columns.UNDISTURBED] == 1.0  # it sleeps on
    assert press.go(20) == expected


def test_a_renderer_that_follows_changes_shows_the_same_map() -> None:
    """After a thousand edits and restores, by the regions of `changes_since` alone."""
    draws = Draws(5)
    land = HeightMap(
        np.asarray(draws.uniform(0, 1, 41, 57), dtype=np.float32),
        materials=0, material_names=["grass", "rock"],
    )  # fmt: skip
    ground = Ground([land, TriangleMesh.box((1, 1, 1))])
    world = World(ground)
    states, shown = [world.state()], _Picture(land)
    edits = restores = 0
    for turn in range(times(1000)):
        if draws.chance(0.3):
            world.restore(draws.one_of(states))
            restores += 1
        else:
            _edit(draws, ground, land)
            edits += 1
        if draws.chance(0.1):
            states = [*states[-5:], world.state()]
        if draws.chance(0.5) or turn % 50 == 0:
            shown.follow()
            shown.check()
    shown.follow()
    shown.check()
    assert min(edits, restores) > times(1000) / 5


def _edit(draws: Draws, ground: Ground, land: HeightMap) -> None:
    place, radius = draws.uniform(0, 40, 2), draws.uniform(0.5, 4)
    row, column = draws.below(36), draws.below(50)
    kind = draws.below(8)
    if kind == 0:
        ground.carve(place, radius, 0.2)
    elif kind == 1:
        land.raise_(place, radius, 0.3)
    elif kind == 2:
        land.smooth(place, radius)
    elif kind == 3:
        land.paint(place, radius, draws.one_of(("grass", "rock")))
    elif kind == 4:
        land.holes[row : row + 2, column : column + 3] = draws.chance(0.5)
    elif kind == 5:
        land[row : row + 3, column : column + 2] = draws.uniform(0, 1, 3, 2)
    elif kind == 6:
        land.flatten(place, radius, 0.5, flat=0.3)
    else:
        land.materials[row : row + 4, column] = draws.below(2)


class _Picture:
    """What a renderer holds of a map: samples and cells, brought up to date by regions."""

    def __init__(self, land: HeightMap) -> None:
        self.land, self.version = land, land.version
        self.heights = np.array(land.heights)
        self.holes, self.materials = np.array(land.holes), np.array(land.materials)

    def follow(self) -> None:
        version = self.land.version
        for region in self.land.changes_since(self.version):
            rows = slice(region.row_start, region.row_stop)
            columns_ = slice(region.column_start, region.column_stop)
            self.holes[rows, columns_] = self.land.holes[rows, columns_]
            self.materials[rows, columns_] = self.land.materials[rows, columns_]
            samples = (
                slice(region.row_start, region.row_stop + 1),
                slice(region.column_start, region.column_stop + 1),
            )
            self.heights[samples] = self.land.heights[samples]
        self.version = version

    def check(self) -> None:
        assert self.heights.tobytes() == np.array(self.land.heights).tobytes()
        assert (self.holes == np.array(self.land.holes)).all()
        assert (self.materials == np.array(self.land.materials)).all()
