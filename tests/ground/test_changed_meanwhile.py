"""Grounds that change during queries: threads, signal handlers, and edits not yet followed."""

import signal

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    OBB,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics.ground.parts import GroundParts
from tests.helpers.threads import together


def box(x, y=0.0, size=1.0, **options):
    crate = TriangleMesh.box((size, size, size)).transformed(glm.translate(glm.vec3(x, y, 0)))
    return TriangleMesh(crate.vertices, crate.faces, **options)


def test_boxes_in_boxes_keep_the_tree_low():
    meshes = [TriangleMesh.box((size, size, size)) for size in 1e-3 * 1.28 ** np.arange(74)]
    ground = Ground(meshes)
    found = ground.closest_points(np.zeros((100, 3)))
    assert (found.triangle >> 40 == 0).all()
    assert (found.distance == 0.0005).all()


def test_boxes_that_graze_a_floor_touch_it_beside_another_mesh_too():
    floor = TriangleMesh([(-9, 0, -9), (-9, 0, 9), (9, 0, -9)], [(0, 1, 2)])
    ground = Ground([floor, box(5, 50)])
    rng = np.random.default_rng(0)
    touching = 0
    for _ in range(400):
        turn = glm.mat3_cast(glm.normalize(glm.quat(*rng.normal(size=4))))
        half = rng.uniform(0.1, 1, 3)
        place = np.array([-3, np.abs(np.array(turn, float)[1]) @ half, -3])
        shape = OBB(place, half, turn)
        alone = len(floor.contacts(shape))
        assert len(ground.contacts(shape)) == alone
        touching += alone
    assert touching > 50


def test_the_only_mesh_may_go_while_somebody_asks_for_the_closest_point():
    ground = Ground([HeightMap([[0, 0], [0, 0]]), box(0)], layers=[1, 2])
    queries = ground._queries.filtered(2)
    ground.remove(1)
    assert queries.closest_point((0.0, 1.0, 0.0)).triangle == -1
    found = queries.closest_points(np.zeros((3, 3)), None)
    assert found.triangle.tolist() == [-1] * 3
    assert np.isinf(found.distance).all()


@pytest.mark.alone
def test_threads_ask_while_parts_come_and_go():
    last = box(20, materials=4)
    ground = Ground([HeightMap(np.zeros((9, 9))), box(0, materials=3), last])
    rays = np.array([(0.2, 9.0, 0.1), (20.2, 9.0, 0.1), (4.2, 9.0, 4.1)])
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(4, 0.4, 4))

    def change():
        key = ground.add(box(40, materials=9))
        ground.move(key, ((60, 0, 0), glm.quat()))
        last.refit(last.vertices)
        ground.remove(key)

    def ask():
        hits = ground.raycast_many(rays, [(0, -1, 0)])
        assert hits.material.tolist() == [3, 4, 0]
        assert ground.sweep_many([(0, 5, 0, 0.5)], [(0, -9, 0)]).distance[0] == 4.0
        assert ground.closest_point((20, 5, 0)).distance == 4.5
        mover.update(1 / 60)
        assert mover.grounded

    together(change, ask)


@pytest.mark.alone
def test_threads_save_carve_and_walk_on_tiles_that_come_and_go(tmp_path):
    tiles = [HeightMap(np.zeros((9, 9)), origin=(x, 0, 0)) for x in (0, 8, 16)]
    ground = Ground(tiles[:2])
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(4, 0.4, 4))

    def change():
        ground.remove(ground.add(tiles[2]))

    def save():
        ground.save(tmp_path / "level.ground")
        assert len(Ground.load(tmp_path / "level.ground").parts) in {2, 3}

    together(change, save, lambda: ground.carve((8, 4), 2, 1e-3), lambda: mover.update(1 / 60))


@pytest.mark.alone
def test_a_group_walks_on_tiles_of_two_grounds_that_are_edited_and_come_and_go():
    tiles = [HeightMap(np.zeros((17, 17)), origin=(x, 0, 0)) for x in (0, 16, 32)]
    grounds = Ground(tiles[:2]), Ground(tiles[1::-1])
    group = CharacterGroup(grounds[0], SphereCollider(0.4))
    for k in range(50):
        group.add(k, position=(2 + 0.5 * k, 0.4, 8))
    rays = np.array([(x, 50.0, 3.0) for x in np.linspace(1, 31, 99)])

    def change():
        grounds[0].remove(grounds[0].add(tiles[2]))

    def edit():
        tiles[0][:, 5:] = 0.0
        tiles[1].holes[2, 3] ^= True
        grounds[1].carve((16, 12), 2, 1e-3)
        tiles[1].materials[4:6] = 3

    def ask():
        hits = grounds[1].raycast_many(rays, [(0, -1, 0)])
        assert (hits.distance < 60.0).all()
        assert grounds[0].height_at(16, 2) == 0.0

    together(change, edit, ask, lambda: group.update(1 / 60), seconds=1.0)


@pytest.mark.alone
def test_no_two_parts_get_one_key():
    ground = Ground([box(0)])
    keys: list[int] = []
    together(*[lambda: keys.append(ground.add(box(0)))] * 3, seconds=0.2)
    assert len(set(keys)) == len(keys) == len(ground.parts) - 1


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that interrupt")
def test_a_handler_finds_a_mesh_that_is_being_moved_to_where_it_is():
    ground = Ground([box(0), box(50)])
    seen = [ground.height_at(0.2, 0.1)]  # what it needs is compiled then
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(ground.height_at(0.2, 0.1)))
    try:
        while len(seen) < 200:
            signal.setitimer(signal.ITIMER_REAL, 2e-4)
            for _ in range(10):
                ground.move(0, ((0, 0, 0), glm.quat()))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert set(seen) == {0.5}


def test_a_tile_that_takes_the_place_of_another_within_a_frame():
    tiles = [HeightMap(np.full((9, 9), y), origin=(x, 0, 0)) for x, y in ((0, 0), (8, 0), (0, -3))]
    ground = Ground(tiles[:2])
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(2, 0.5, 2))
    for _ in range(30):
        mover.update(1 / 60)
    ground.remove(0)
    ground.add(tiles[2])
    for _ in range(90):
        mover.update(1 / 60)
    assert mover.position.y == -2.5
    assert ground.part_of(mover.ground_report().triangle)[0] == 2


def test_an_edit_of_a_shared_border_is_followed_before_maps_come_and_go():
    tiles = [HeightMap(np.zeros((5, 5)), origin=(x, 0, 0)) for x in (0, 4, 50)]
    ground = Ground(tiles[:2])
    tiles[0][2, 4] = 5
    ground.add(tiles[2])
    assert tiles[1][2, 0] == 5.0


def test_maps_that_get_thicker_wake_those_in_them():
    thick = HeightMap(np.zeros((7, 7)), thickness=9)
    # Its border does not go on, so that it was nowhere else.
    thin = HeightMap(np.zeros((7, 7)), origin=(6, 0, 0), thickness=1, border="open")
    far = HeightMap(np.zeros((7, 7)), origin=(50, 0, 0), thickness=9)
    floor = TriangleMesh([(0, -5, 0), (0, -5, 6), (6, -5, 0)], [(0, 1, 2)])
    ground = Ground([thick, thin, far, floor])  # under the first two there is room
    mover = CharacterMovement(ground, SphereCollider(0.4), position=(2, -4.6, 2))
    for _ in range(5):
        mover.update(1 / 60)
    assert mover.grounded
    assert mover.position64 == (2.0, -4.6, 2.0)
    ground.remove(1)
    for _ in range(30):
        mover.update(1 / 60)
    assert mover.position.y == pytest.approx(0.4)


def test_a_mesh_far_away_is_welded_as_one_made_there():
    near = TriangleMesh(
        [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1 + 1e-12, 0, 0), (1, 0, 1), (1e-12, 0, 1)],
        [(0, 1, 2), (3, 5, 4)],
    )
    ground = Ground([near, box(-50)])
    ground.move(0, ((1e6, 0, 0), glm.quat()))
    made = TriangleMesh(near.vertices + np.array((1e6, 0, 0)), near.faces)
    fresh = Ground([made, box(-50)])
    rng = np.random.default_rng(3)
    balls = rng.uniform((1e6 - 1, 1, -1, 0.3), (1e6 + 2, 1, 2, 0.3), (200, 4))
    motions = rng.uniform((-1, -1.5, -1), (1, -1.5, 1), (200, 3))
    found, expected = (on.sweep_many(balls, motions) for on in (ground, fresh))
    for values, others in zip(found, expected, strict=True):
        np.testing.assert_array_equal(values, others)


@pytest.mark.parametrize("change", ["add", "remove", "move", "set_layers"])
def test_a_handler_changes_no_parts_while_its_thread_does(change, monkeypatch):
    ground = Ground([box(0), box(20)])
    work = {
        "add": lambda: ground.add(box(40)),
        "remove": lambda: ground.remove(1),
        "move": lambda: ground.move(0, ((0, 0, 0), glm.quat())),
        "set_layers": lambda: ground.set_layers(0, 3),
    }
    refused = []

    def interrupted(*arguments, **options):
        with pytest.raises(RuntimeError, match="parts must not be changed by a signal handler"):
            work[change]()
        refused.append(ground.height_at(0.2, 0.1))
        settle(*arguments, **options)

    settle = GroundParts._settle
    monkeypatch.setattr(GroundParts, "_settle", interrupted)
    ground.add(box(60))
    assert refused[0] == 0.5
    monkeypatch.undo()
    work[change]()
    assert len(ground.parts) == 3 + (change == "add") - (change == "remove")
