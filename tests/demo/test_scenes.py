"""Scenes of the demo: the same again for the same seed, and back and forth without a difference."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demo.camera_rig import CameraRig
from demo.making.demo_pictures import OUT, PICTURES
from demo.picture.colors import ORANGE, RED
from demo.picture.frame import Camera, Frame
from demo.playground import edges, paths, world
from demo.playground.doorway import POST
from demo.playground.lift import DOOR, FLOOR, LEDGE, LIFT, LYING, PLANKS, TOP
from demo.scenery import mountains
from demo.scenery.inputs import STEP, Controls, Rules, from_plain, looking, to_plain
from demo.scenery.names import SCENES, VIEW_NAMES
from demo.scenery.pick import NOTHING
from demo.scenery.player import RADIUS, RUN
from demo.scenery.scenes import make_scene, scene_class
from demo.scenery.tile_map import OUTSIDE
from demo.scenery.views import candidates_of, contacts_of, fill_views
from demo.scenery.window import PAUSE
from demo.simulation import Simulation
from terrain_physics import HeightMap
from tests.helpers.examples import rest_is_full, times
from tests.helpers.tiled_lands import settle

FRAMES = 120
ROOT = Path(__file__).parents[2]


def make(name: str, seed: int = 0, **options: Any) -> Any:
    return make_scene(name, seed, **options)


def run(name: str, seed: int, steps: int) -> Any:
    scene = make(name, seed, small=True)
    for _ in range(steps):
        scene.step(STEP, scene.script())
    return scene


def drawn(scene, views: Sequence[str] = ()) -> Frame:
    frame = Frame(scene.home)
    scene.fill(frame, 0.5)
    fill_views(frame, scene, views)
    return frame


def all_numbers(frame: Frame) -> bytes:
    """Return everything in a frame that can be drawn, as bytes."""
    parts = []
    for group in (*frame.balls, *frame.boxes, *frame.capsules, *frame.lines, *frame.tints):
        parts += [np.asarray(values).tobytes() for values in vars(group).values()]
    parts += [repr((label.text, label.place)).encode() for label in frame.labels]
    return b"".join(parts)


@pytest.mark.parametrize("name", SCENES)
def test_each_scene_has_a_picture(name: str) -> None:
    picture = f"scene_{name}"
    assert PICTURES[picture][0] == name
    assert (OUT / f"{picture}.webp").is_file()


@pytest.mark.parametrize("name", SCENES)
def test_same_seed_same_run(name: str) -> None:
    steps = times(FRAMES)
    first, second, other = run(name, 3, steps), run(name, 3, steps), run(name, 4, steps)
    assert first.steps == steps
    assert first.state_hash() == second.state_hash()
    assert first.state_hash() != other.state_hash()
    assert all_numbers(drawn(first)) == all_numbers(drawn(second))
    first.start(4)  # begins anew, as if nothing had been
    assert first.steps == 0
    assert first.state_hash() == make(name, 4, small=True).state_hash()


@pytest.mark.parametrize("name", SCENES)
def test_restore_goes_on_as_the_first_time(name: str) -> None:
    scene = run(name, 3, 30)
    held, before = scene.state(), scene.state_hash()
    inputs, hashes = [], []
    for step in range(times(60)):
        controls = scene.script() if step != 7 else Controls(throw=True, drop=True, pitch=-0.2)
        inputs.append(controls)
        scene.step(STEP, controls)
        hashes.append(scene.state_hash())
    assert len(set(hashes)) == times(60)
    scene.restore(held)
    assert scene.state_hash() == before
    for controls, expected in zip(inputs, hashes, strict=True):
        scene.step(STEP, controls)
        assert scene.state_hash() == expected


def test_a_path_is_bounded_and_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demo.scenery.scene.TRAIL_LONGEST", 20)
    scene = run("stairs", 0, 40)
    held, before = scene.state(), list(scene.trail)
    assert len(before) == 14
    for _ in range(30):
        scene.step(STEP, scene.script())
    assert len(scene.trail) == 20
    assert list(scene.trail)[:10] == before[4:]
    scene.restore(held)
    assert list(scene.trail) == before[4:]
    for _ in range(300):
        scene.step(STEP, scene.script())
    scene.restore(held)
    assert not scene.trail


@pytest.mark.parametrize("name", SCENES)
def test_frame_is_well_formed(name: str) -> None:
    frame = drawn(run(name, 0, 30), VIEW_NAMES)
    bodies = [*frame.balls, *frame.boxes, *frame.capsules, *frame.lines, *frame.tints]
    assert bodies
    for group in bodies:
        sizes = {len(values) for values in vars(group).values() if isinstance(values, np.ndarray)}
        assert len(sizes) == 1
        for values in vars(group).values():
            assert np.isfinite(values).all()
    for mesh in frame.meshes:
        assert 0 <= mesh.faces.min()
        assert mesh.faces.max() < len(mesh.vertices)


@pytest.mark.parametrize("steps", [FRAMES, pytest.param(4 * FRAMES, marks=pytest.mark.full)])
def test_nobody_falls_out_of_the_world(steps: int) -> None:
    for name in SCENES:
        scene = run(name, 1, steps)
        for body in scene.bodies:
            if name != "digging":
                assert body.place[1] > -5.0, (name, body.name)


def test_interpolation_is_between_two_steps() -> None:
    scene = run("walk", 0, 60)
    body = scene.player.body
    assert body.before != body.place
    ends = []
    for alpha in (0.0, 1.0):
        frame = Frame(scene.home)
        scene.bodies.fill(frame, alpha)
        ends.append(frame.balls[0].centers)
    frame = Frame(scene.home)
    scene.bodies.fill(frame, 0.5)
    np.testing.assert_allclose(frame.balls[0].centers, 0.5 * (ends[0] + ends[1]), atol=1e-12)


def test_slopes_stand_up_to_the_limit() -> None:
    scene = run("slopes", 0, 90)
    standing = {body.name: body.result.grounded for body in scene.bodies if "deg" in body.name}
    assert standing == {"10 degrees": True, "40 degrees": True, "70 degrees": False}
    steep = Controls(rules=Rules(slope_limit=np.radians(5.0)))
    for _ in range(90):
        scene.step(STEP, steep)
    assert not next(body for body in scene.bodies if body.name == "40 degrees").result.grounded


def test_stairs_are_climbed_up_to_the_offset() -> None:
    scene = make("stairs", 0, small=True)
    tops = {body.name: 0.0 for body in scene.bodies if "steps" in body.name}
    for _ in range(600):
        scene.step(STEP, Controls())
        for body in scene.bodies:
            if body.name in tops:
                tops[body.name] = max(tops[body.name], body.place[1])
    assert [name for name, top in tops.items() if top > 2.0] == [
        "0.1 m steps",
        "0.2 m steps",
        "0.3 m steps",
        "0.4 m steps",
    ]
    assert tops["0.5 m steps"] < 0.1


def test_edges_trip_only_whom_they_should() -> None:
    scene = run("edges", 0, 380)
    handled, naive = scene.bumps[0], scene.bumps[1]
    assert handled == 0
    assert naive > 0
    assert abs(scene.bodies[0].speed - 8.0) < 1e-6


def test_edges_shows_its_lanes_on_the_triangles_of_the_ground() -> None:
    scene = run("edges", 0, 1)
    frame = Frame(Camera())
    scene.fill(frame, 0.5)
    (track,) = frame.tints
    middles = track.corners.mean(axis=1)
    heights = scene.land.height_at(middles[:, 0], middles[:, 2])
    assert np.abs(heights - middles[:, 1]).max() < 1e-5
    for (z, ridged, _), lane in zip(edges.LANES, scene.lanes, strict=True):
        own = np.floor(middles[:, 2]) == np.floor(z)
        colors = np.unique(track.colors[own & (np.abs(middles[:, 0]) < 16)], axis=0)
        assert len(colors) == 1 + ridged
        assert lane.place[2] == pytest.approx(z, abs=0.1)


def test_counter_counts_what_is_lit() -> None:
    scene = run("counter", 0, 10)
    lit = scene._touched()
    assert lit.sum() <= scene.counts.sum()
    assert (lit.sum() > 0) == (scene.counts.sum() > 0)
    assert any("touches" in line for line in scene.menu())


def test_digging_changes_the_ground_and_back() -> None:
    scene = make("digging", 0, small=True)
    held, place = scene.state(), (0.0, 0.0, 0.0)
    before = scene.land.height_at(0.0, 0.0)
    scene.step(STEP, Controls(tool="dig", place=place))
    assert scene.land.height_at(0.0, 0.0) < before
    scene.step(STEP, Controls(tool="heap", place=place))
    assert scene.land.height_at(0.0, 0.0) == pytest.approx(before, abs=1e-6)
    scene.step(STEP, Controls(tool="hole", place=place))
    assert np.isnan(scene.land.height_at(0.0, 0.0))
    assert "material earth" in scene.pick((2.5, 5.0, 0.5), (0.0, -1.0, 0.0)).figures
    scene.restore(held)
    assert scene.land.height_at(0.0, 0.0) == before
    assert scene.land.version == 0


@pytest.mark.parametrize("is_crossed", rest_is_full([False, True]))
def test_lift_takes_the_player_up_and_the_bridge_falls_behind(*, is_crossed: bool) -> None:
    scene = make("lift", 0, small=True)
    hero, soft = scene.player.body, scene.machines[0]
    for _ in range(400):
        scene.step(STEP, scene.script())
    assert hero.mover.ground_report().part == soft.key
    assert scene.menu()[0] == "on the soft lift"
    rises = hero.mover.world_velocity.y
    assert rises > 2.0
    assert scene.menu()[2] == f"world velocity (0.0, {rises:.1f}, 0.0) m/s"
    if not is_crossed:
        return
    for _ in range(450):
        scene.step(STEP, scene.script())
    assert scene.menu()[0] == "on a plank"
    for _ in range(450):
        scene.step(STEP, scene.script())
    x, y, _ = hero.place
    assert (x, y) == pytest.approx((15.0, TOP), abs=0.1)
    places = [scene.ground.transform(key)[:3, 3] for key in scene.planks]
    tops = [scene.ground.height_at(x, z) for x, _, z in places]
    assert tops == pytest.approx([LYING] * PLANKS)


@pytest.fixture(scope="module")
def at_the_door() -> list[Any]:
    """Return what is told of a player in the door, the thrown and the jumper, step by step."""
    scene = make("lift", 0, small=True)
    hero, thrown, jumper = scene.player.body, scene.people["passenger"], scene.people["jumper"]
    hero.mover.teleport((DOOR[0], 0.0, DOOR[1] + 0.4))
    told = []
    for _ in range(510):
        scene.step(STEP, Controls())
        squeezed = [one.depth for one in hero.result.squeezed]
        told.append(
            (squeezed, scene.menu()[3], thrown.result.just_left, thrown.place[1], jumper.place[1])
        )
    return told


def test_the_abrupt_lift_throws_and_the_ledge_lets_through_from_below(at_the_door: Any) -> None:
    _, _, flights, thrown, heights = zip(*at_the_door[:500], strict=True)
    assert min(thrown) > FLOOR - 0.01
    assert sum(flights) == 1  # at the top: a body that is pulled down falls with the lift
    assert heights[140] == 0.0
    assert heights[400] == pytest.approx(LEDGE[1])  # it jumped up through it
    assert heights[499] == 0.0  # and let itself fall


def test_the_door_squeezes_and_the_panel_tells(at_the_door: Any) -> None:
    assert at_the_door[149][1] == "squeezed by nothing"
    squeezed, line, *_ = at_the_door[269]
    assert line == f"squeezed by the door, {squeezed[0]:.2f} m"
    assert not at_the_door[509][0]


def test_machines_are_drawn_where_they_are() -> None:
    scene = run("lift", 0, 330)
    frames = []
    for alpha in (0.0, 0.5, 1.0):
        frame = Frame(scene.home)
        scene.machines[0].fill(frame, scene.ground, alpha)
        frames.append(frame.meshes[0].vertices)
    x, z = LIFT
    assert frames[2][:, 1].max() == pytest.approx(scene.ground.height_at(x, z), abs=1e-12)
    assert frames[2][:, 1].max() > frames[0][:, 1].max() + 0.01
    np.testing.assert_allclose(frames[1], 0.5 * (frames[0] + frames[2]), atol=1e-12)
    turn = scene.ground.transform(scene.machines[2].key)
    crate = next(body for body in scene.bodies if body.name == "crate")
    np.testing.assert_allclose(crate.turn, turn[:3, :3], atol=0.01)
    found = scene.pick((x + 1.0, 30.0, z), (0.0, -1.0, 0.0))
    assert found.figures.startswith("part 2, mesh triangle ")
    assert found.words.startswith("The soft lift, level, ")


def gaps(scene: Any) -> np.ndarray:
    """Return how far apart any two of a throng are, less what they need."""
    places = scene.group.positions[:, ::2]
    apart = np.linalg.norm(places[:, np.newaxis] - places, axis=2)
    return np.asarray(apart[np.triu_indices(len(places), 1)] - 2.0 * RADIUS)


def test_the_crowd_comes_to_the_player_who_pushes_through() -> None:
    scene = make("crowd", 0, small=True)
    assert gaps(scene).min() > 0.0

    def near() -> int:
        x, _, z = scene.hero.place
        return int((np.linalg.norm(scene.people - (x, z), axis=1) < 3.0).sum())

    assert near() < 10
    start = scene.hero.place
    for _ in range(600):
        scene.step(STEP, Controls())
    assert near() > 30
    assert np.linalg.norm(np.subtract(scene.hero.place, start)) > 0.01  # they push too
    _, _, z = scene.hero.place
    for _ in range(120):
        scene.step(STEP, Controls(forward=1.0, run=True))
    assert 0.3 < (z - scene.hero.place[2]) / RUN < 0.95  # until he is through
    for _ in range(120):
        scene.step(STEP, Controls(forward=1.0, run=True))
    assert near() < 10


def test_a_throng_takes_the_rules_of_the_sliders() -> None:
    scene = run("crowd", 0, 30)
    held = scene.state()
    scene.step(STEP, Controls(rules=Rules(step_offset=0.1, slope_limit=0.5)))
    assert set(scene.group.rules("step_offset")) == {0.1}
    assert scene.hero.mover.slope_limit == 0.5
    scene.restore(held)
    assert set(scene.group.rules("step_offset")) == {0.4}


def test_a_throng_is_picked_and_near_with_the_player() -> None:
    scene = run("doorway", 0, 30)
    x, y, z = scene.hero.place
    assert " player: " in scene.pick((x, y + 5.0, z), (0.0, -1.0, 0.0)).figures
    x, z = scene.people[17]
    assert " of the crowd: 17: " in scene.pick((x, 5.0, z), (0.0, -1.0, 0.0)).figures
    first, second = scene.nearest(scene.hero.place, 2)
    assert first is scene.hero
    assert second.name.startswith("of the crowd: ")


@pytest.mark.parametrize("steps", rest_is_full([800, 3000]))
def test_the_doorway_lets_all_through_and_nobody_overlaps(steps: int) -> None:
    scene = make("doorway", 0, small=True)
    seen = np.zeros(scene.walkers, dtype=bool)
    for step in range(steps):
        scene.step(STEP, scene.script())
        seen |= scene.people[: scene.walkers, 1] < 0.0
        if step % 20 == 0:
            assert gaps(scene).min() >= -1e-6
    assert f"{scene.through} went through the door" in scene.menu()[1]
    assert seen.any()
    if steps < 3000:
        return
    assert seen.all()
    assert scene.hero.place[2] < 0.0
    assert scene.through > scene.walkers  # some went around, and through once more


def test_those_at_the_post_come_to_rest() -> None:
    scene = make("doorway", 0, small=True)
    for _ in range(600):
        scene.step(STEP, Controls())
    before = scene.people[scene.walkers :]
    assert np.linalg.norm(before - POST, axis=1).max() < 3.0
    for _ in range(60):
        scene.step(STEP, Controls())
    np.testing.assert_allclose(scene.people[scene.walkers :], before, rtol=0.0, atol=1e-3)


IN_DOOR = (paths.DOOR_AT, 0.0, 0.0)
ON_TABLE = (*paths.WITH_STAIRS[:1], paths.WITH_STAIRS[4], paths.WITH_STAIRS[1])


def go_on(scene: Any, steps: int, **wishes: Any) -> None:
    """Make one step with some wishes, and go on without."""
    scene.step(STEP, Controls(**wishes))
    for _ in range(steps - 1):
        scene.step(STEP, Controls())


def test_the_hero_climbs_to_where_one_clicks_and_people_find_the_door() -> None:
    scene = make("paths", 0, small=True)
    go_on(scene, 2, tool="go", place=ON_TABLE)
    assert "step" in scene.path.kinds
    assert scene.menu()[2].startswith("a path of ")
    through = np.zeros(len(scene.people), dtype=np.bool_)
    for _ in range(1000):
        scene.step(STEP, Controls())
        x, z = scene.people.T
        through |= (np.abs(x - paths.DOOR_AT) < 0.5 * paths.DOOR) & (np.abs(z) < 0.2)
    assert scene.goal is None
    np.testing.assert_allclose(scene.hero.place, ON_TABLE, atol=0.5)
    assert through.sum() > 10
    assert not scene.goes_north.all()  # some are there, and on the way back
    go_on(scene, 2, tool="go", place=(-4.0, 0.0, -14.0))
    assert "drop" in scene.path.kinds
    go_on(scene, 2, forward=1.0)  # a key takes over
    assert scene.path is None


def test_a_trench_closes_the_door_and_the_map_is_repaired() -> None:
    scene = make("paths", 0, small=True)
    goal = (paths.DOOR_AT, 0.0, -4.0)
    scene.hero.mover.teleport((paths.DOOR_AT, 0.0, 4.0))

    def way() -> float:
        go_on(scene, 1, tool="go", place=goal)
        length = scene.path.length
        scene.path = scene.goal = None
        return float(length)

    go_on(scene, 1)
    short, plain, whole = way(), drawn(scene), scene.state()
    go_on(scene, 2, tool="trench", place=IN_DOOR)
    assert scene.land.height_at(paths.DOOR_AT, 0.0) == pytest.approx(-paths.TRENCH_DEPTH)
    white = [(frame.tints[0].colors == 244).any() for frame in (plain, drawn(scene))]
    assert white == [False, True]  # what is being made anew
    go_on(scene, paths.REPAIRED_AFTER)
    assert not scene.changed
    assert way() > short + 8.0  # round the wall
    closed = scene.state()
    scene.restore(whole)
    assert way() == pytest.approx(short, abs=1.5)
    scene.restore(closed)
    go_on(scene, paths.REPAIRED_AFTER + 2, tool="fill", place=IN_DOOR)
    assert not scene.trenches
    assert way() == pytest.approx(short, abs=1.5)  # the hero is pushed a little


def test_a_trench_and_a_path_go_back_with_the_scene() -> None:
    scene = make("paths", 0, small=True)
    go_on(scene, 40, tool="go", place=ON_TABLE)
    go_on(scene, 20, tool="trench", place=IN_DOOR)
    held, hashes = scene.state(), []
    for again in range(2):
        for step in range(paths.REPAIRED_AFTER + 20):
            wish = Controls(tool="fill", place=IN_DOOR) if step == 70 else Controls()
            scene.step(STEP, wish)
            hashes.append(scene.state_hash())
        if not again:
            scene.restore(held)
    assert hashes[: len(hashes) // 2] == hashes[len(hashes) // 2 :]


def test_the_sliders_make_a_map_for_other_rules() -> None:
    scene = make("paths", 0, small=True)
    low = Controls(rules=Rules(step_offset=0.1))
    for _ in range(paths.SETTLED_AFTER + 2):
        scene.step(STEP, low)
    assert scene.map.rules.step_offset == 0.1
    scene.step(STEP, Controls(rules=low.rules, tool="go", place=ON_TABLE))
    assert scene.path is None  # the stairs are too high
    assert scene.news() == "No way leads there."


def test_the_glider_flies_where_one_looks_and_edits_stay_behind() -> None:
    scene = make("world", 0, small=True)
    hero, ground = scene.player.body, scene.ground
    x, y, z = hero.place
    x, z = x + 10.0, z + 10.0  # not below its feet
    before = ground.height_at(x, z)
    go_on(scene, 40, tool="dig", place=(x, before, z))
    dug = ground.height_at(x, z)
    assert dug == pytest.approx(before - world.DEPTH, abs=0.1)
    assert scene.land.height_at(x, z) == pytest.approx(dug)  # what is drawn
    before_flight, away = scene.land.origin64, scene.home.yaw + np.pi  # from the mountains
    go_on(scene, 30, jump=True)
    go_on(scene, 60, jump=True)
    assert scene.glider.is_open
    assert drawn(scene).boxes[-1].centers.shape == (2, 3)
    for _ in range(2400):
        scene.step(STEP, Controls(yaw=away, pitch=0.0))
    assert scene.glider.is_open
    assert 1080.0 < np.hypot(hero.place[0] - x, hero.place[2] - z) < 1240.0
    assert hero.place[1] > y + 100.0
    place = next(iter(ground.edited))
    assert place not in ground.loaded
    frame = drawn(scene)
    assert frame.land is not None
    assert frame.land.origin64 != before_flight  # the window has moved
    for _ in range(1200):
        scene.step(STEP, Controls(yaw=away, pitch=-0.9))
        if hero.result.grounded:
            break
    assert hero.result.grounded
    go_on(scene, 2)
    assert not scene.glider.is_open
    hero.mover.teleport((x, dug, z))
    go_on(scene, 40)
    assert place in ground.loaded
    assert ground.height_at(x, z) == dug


def test_the_world_goes_back_with_its_edits_and_its_glider() -> None:
    scene = make("world", 0, small=True)
    go_on(scene, 20)
    x, y, z = scene.player.body.place
    x, z = x + 10.0, z + 10.0
    held, hashes = scene.state(), []
    for again in range(2):
        go_on(scene, 40, tool="dig", place=(x, y, z))
        go_on(scene, 10, jump=True)
        go_on(scene, 10, jump=True)
        hashes.append(scene.state_hash())
        assert scene.glider.is_open
        drawn(scene)
        if not again:
            scene.restore(held)
            assert not scene.glider.is_open
            drawn(scene)
            assert scene.land.height_at(x, z) == pytest.approx(scene.ground.height_at(x, z))
    assert hashes[0] == hashes[1]


def test_the_window_shows_the_loaded_tiles_as_they_are() -> None:
    scene = make("world", 0, small=True)
    x, _, z = scene.player.body.place
    window: Any = scene.land
    ground = scene.ground
    rng = np.random.default_rng(1)
    xs, zs = np.array([[x], [z]]) + rng.uniform(-scene.window.far, scene.window.far, (2, 300))
    np.testing.assert_allclose(window.height_at(xs, zs), ground.height_at(xs, zs), atol=1e-9)
    scene.step(STEP, Controls())  # which says what is to be loaded
    settle(ground)
    go_on(scene, PAUSE)  # tiles that come are shown, a little later
    assert np.isnan(window.heights).any()
    frame = drawn(scene)
    assert frame.land is not None
    assert frame.land is scene.land is not window
    assert frame.land_moves
    missing = [np.isnan(land.heights).sum() for land in (frame.land, window)]
    assert missing[0] < missing[1]


def test_the_maps_tell_what_is_loaded_and_edited() -> None:
    scene = make("world", 0, small=True)
    near, whole = scene.maps()
    assert len(near.pixels) == 3 * near.side**2
    assert whole.side == mountains.TILES
    assert scene.maps() == (near, whole)
    colors = np.frombuffer(near.pixels, np.uint8).reshape(near.side, near.side, 3)
    assert (colors == ORANGE).all(axis=2).any()  # what is to be loaded
    go_on(scene, 2, tool="dig", place=scene.player.body.place)
    row, column = (int(part) for part in near.hero[::-1])
    edited = np.frombuffer(scene.maps()[0].pixels, np.uint8).reshape(colors.shape)
    assert (edited == RED).all(axis=2).any()
    assert not (colors == RED).all(axis=2).any()
    assert (edited[row - 4 : row + 5, column - 4 : column + 5] == RED).all(axis=2).any()
    scene.player.body.mover.teleport((world.EDGE + 5.0, 300.0, world.EDGE + 5.0))
    corner = np.frombuffer(scene.maps()[0].pixels, np.uint8).reshape(colors.shape)
    assert tuple(corner[0, 0]) == OUTSIDE
    assert "tile 0, 0 of 128 by 128" in scene.menu()


def test_player_walks_jumps_and_throws() -> None:
    scene = make("digging", 0, small=True)
    for _ in range(60):
        scene.step(STEP, Controls())
    _, _, z = scene.player.body.place
    for _ in range(120):
        scene.step(STEP, Controls(forward=1.0, yaw=np.pi))
    assert scene.player.body.place[2] - z == pytest.approx(4.5, abs=0.3)
    scene.step(STEP, Controls(jump=True))
    for _ in range(20):
        scene.step(STEP, Controls())
    assert not scene.player.body.result.grounded
    count = len(scene.bodies)
    scene.step(STEP, Controls(throw=True))
    scene.step(STEP, Controls(drop=True))
    assert len(scene.bodies) == count + 2
    assert scene.bodies[count].speed > 15.0


def test_pick_tells_body_ground_and_nothing() -> None:
    scene = run("slopes", 0, 60)
    x, y, z = scene.player.body.place
    found = scene.pick((x, y + 1.0, z + 5.0), (0.0, 0.0, -1.0))
    assert re.fullmatch(r"You, moving at \d\.\d m/s\.", found.words)
    assert found.figures.startswith("capsule ")
    assert " player: " in found.figures
    words, text = scene.pick((x, y + 10.0, z + 3.0), (0.0, -1.0, 0.0))
    assert words == "Ground, level, 10 m away."
    assert text.startswith("triangle ")
    assert "slope 0.0 degrees" in text
    assert "height 0.00 m" in text
    assert scene.pick((x, y + 10.0, z), (0.0, 1.0, 0.0)) == NOTHING
    on_mesh = run("stairs", 0, 2)
    assert on_mesh.pick((3.0, 5.0, 20.0), (0.0, -1.0, 0.0)).figures.startswith("mesh triangle ")


def test_candidates_hold_the_contacts() -> None:
    scene = run("reference", 0, 300)
    resting = [body for body in scene.bodies if body.result.grounded]
    assert resting
    for body in resting:
        assert len(candidates_of(scene, body)) >= body.result.contacts >= 1
        found = contacts_of(scene, body)
        assert found
        for contact in found:
            assert contact.depth < 1e-2
            assert np.sqrt(contact.normal @ contact.normal) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def resting() -> Any:
    return run("reference", 0, 260)


@pytest.mark.parametrize("view", VIEW_NAMES)
def test_each_view_adds_something(view, resting) -> None:
    scene = resting
    plain, seen = drawn(scene), drawn(scene, [view])
    assert all_numbers(plain) != all_numbers(seen) or seen.wireframe


def test_given_land_takes_the_place_of_ours() -> None:
    land = HeightMap(np.zeros((80, 90)), cell_size=2.0, origin=(-50.0, 3.0, 20.0))
    takers = [name for name in SCENES if scene_class(name).takes_land]
    assert takers == ["walk", "digging", "crowd", "reference"]
    for name in takers:
        scene = make(name, land=land, small=True)
        for _ in range(10):
            scene.step(STEP, Controls())
        assert scene.land.sample_count == (80, 90)
    assert land.version == 0


def test_inputs_as_json_keep_their_bits() -> None:
    controls = Controls(
        forward=1.0, yaw=0.1 + 0.2, tool="dig", place=(1.0, 2.0, 3.0), rules=Rules(gravity=1 / 3)
    )
    assert from_plain(to_plain(controls)) == controls
    assert to_plain(Controls()) == {}
    with pytest.raises(ValueError, match="tool must be"):
        from_plain({"tool": "axe"})


def test_unknown_scene_is_refused() -> None:
    with pytest.raises(ValueError, match="scene must be one of walk, stairs"):
        make("moon")


def test_looking_follows_the_camera_conventions() -> None:
    np.testing.assert_allclose(looking(0.0, 0.0), (0, 0, -1), atol=1e-15)
    np.testing.assert_allclose(looking(np.pi / 2, 0.0), (-1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(looking(0.0, np.pi / 2), (0, 1, 0), atol=1e-15)


def test_scenes_need_no_pygame() -> None:
    sources = [ROOT / "demo" / name for name in ("simulation.py", "replay.py")]
    for folder in ("playground", "scenery"):
        sources += (ROOT / "demo" / folder).glob("*.py")
    for path in sources:
        assert "import pygame" not in path.read_text(encoding="utf-8"), path


def test_reference_says_what_it_is_and_why_boxes_rest_on_corners() -> None:
    what, corners, _ = make_scene("reference", small=True).menu()
    assert "bit for bit" in what
    assert "Boxes rest on corners" in corners


def to_flag(scene: Any) -> Controls:
    """Return the wish of somebody who walks to the flag."""
    (x, _, z), (to_x, _, to_z) = scene.player.body.place, scene.flag.place
    return Controls(forward=1.0, yaw=float(np.arctan2(x - to_x, z - to_z)))


def test_the_flag_is_reached_on_foot_and_says_what_is_next() -> None:
    scene = make("walk", 0, small=True)
    _, start, _ = scene.player.body.place
    told = []
    while not scene.news() and scene.steps < 1200:
        told.append(scene.state_hash())
        scene.step(STEP, to_flag(scene))
    assert "flag" in scene.news()
    assert "press 7 " in scene.news()
    assert scene.player.body.place[1] > start + 2.0  # on a hill
    assert scene.flag.reached_at == scene.steps - 1


def test_the_flag_goes_back_and_forth_with_the_scene() -> None:
    scene = make("walk", 0, small=True)
    x, y, z = scene.flag.place
    simulation = Simulation(scene, 0)
    scene.player.body.mover.position = (x + 4.0, y + 0.5, z)
    hashes = []
    for _ in range(150):
        simulation.step(to_flag(scene))
        hashes.append(scene.state_hash())
    reached = scene.flag.reached_at
    assert reached is not None
    cloth = drawn(scene).meshes[-1].color
    assert simulation.go_to(reached)
    assert not scene.news()
    assert drawn(scene).meshes[-1].color != cloth
    assert any("flag" in label.text for label in drawn(scene).labels)
    simulation.forward()
    assert scene.news()
    assert scene.state_hash() == hashes[reached]
    simulation.restart()
    assert not scene.news()


def test_the_flag_is_on_the_highest_place_ahead_of_given_land() -> None:
    heights = np.zeros((80, 90))
    heights[28, 44] = 5.0
    heights[10] = np.nan
    land = HeightMap(heights, cell_size=2.0)
    scene = make("walk", land=land)
    assert scene.flag.place[1] >= 0.0
    assert land.version == 0


HEROES = ("walk", "slopes", "stairs", "crowd", "digging", "lift", "doorway", "paths", "world")


@pytest.mark.parametrize("name", HEROES)
def test_the_hero_is_seen_in_the_first_picture(name: str) -> None:
    """Nothing is between the camera and the hero's head, chest or knees."""
    scene = make(name, small=name in {"walk", "lift"})
    scene.step(STEP, Controls())
    camera = CameraRig(scene).placed(scene, 1.0)
    x, y, z = scene.player.body.place
    seen = 0
    for height in (0.5, 1.0, 1.6):
        way = np.subtract((x, y + height, z), camera.position)
        found = scene.pick(camera.position, tuple(way / np.sqrt(way @ way)))
        seen += found.words.startswith("You")
    assert seen >= 2


def test_clicks_say_words_and_no_numbers_of_triangles() -> None:
    scene = run(
        "stairs",
        0,
        30,
    )
    x, y, z = scene.bodies[0].place
    found = scene.pick((x, y + 9.0, z), (0.0, -1.0, 0.0))
    assert re.match(r"A person, (moving at \d\.\d m/s|at rest|in the air)", found.words)
    ground = scene.pick((3.0, 5.0, 20.0), (0.0, -1.0, 0.0))
    assert ground.words == "Grass, level, 5 m away."
    steep = run("slopes", 0, 2).pick((-23.0, 30.0, -10.0), (0.0, -1.0, 0.0))
    assert re.fullmatch(r"Ground, \d+° steep, \d+ m away\.", steep.words)
