"""Examples that play a game: each does what it shows."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pyglm import glm

from demo.examples import bouncing_ball, strategy_game, third_person_game
from demo.examples._drawing import save_frame
from demo.examples._third_person_level import DAIS, TOP, TUNNEL
from demo.examples.third_person_game import BUFFER, COYOTE, CROUCHING, STEP, Game, Wish
from demo.picture.camera import project
from terrain_physics import HeightMap, Ray, Sphere
from tests.helpers.extras import library


def test_the_third_person_game_is_played_through() -> None:
    game, highest, door, crouched = Game(), 0.0, 0.0, []
    while game.hero.position.x < third_person_game.END:
        game.update(third_person_game.autopilot(game))
        assert game.hero.move_result().converged
        door = max(door, float(game.ground.transform(game.level.door)[2, 3]))
        if game.hero.ground_report().part == game.level.lift:
            highest = max(highest, game.hero.position.y)
        if game.body == CROUCHING:
            crouched.append(game.hero.position.x)
        camera = glm.vec3(game.camera().position)
        way = camera - game.eye
        assert game.ground.raycast(Ray(game.eye, way), glm.length(way)) is None  # nothing between
    assert game.happened == [
        "takes a gem",
        "jumps, pressed late",
        "jumps, pressed early",
        "crouches",
        "takes a gem",
        "stands up",
        "takes a gem",
        "takes a gem",
        f"falls at {math.sqrt(2 * 9.81 * TOP):.1f} m/s: health 66",
    ]
    assert not game.gems
    assert game.steps_heard.keys() == {"gravel", "stone", "metal", "wood", "sand"}
    assert door > 2  # it let the hero pass
    assert highest >= TOP  # on the lift
    assert not game.level.planks  # all of the bridge fell
    assert min(crouched) < TUNNEL[0]
    assert TUNNEL[1] < max(crouched) < TUNNEL[1] + 0.6  # the keys said so before: it did not fit


@pytest.mark.parametrize(("late", "jumps"), [(0.7 * COYOTE, True), (1.3 * COYOTE, False)])
def test_a_jump_counts_a_little_after_the_ledge(late: float, jumps: bool) -> None:
    game = Game()
    game.hero.teleport((DAIS[1] - 0.5, 1, 0))
    while game.hero.ground_report().air_time < late or game.hero.position.x < DAIS[1]:
        game.update(Wish(ahead=1))
    game.update(Wish(ahead=1, jump=True))
    assert (game.hero.velocity.y > 0) == jumps
    game.update(Wish(ahead=1, jump=True))  # nor does one ledge give two jumps
    assert len(game.happened) == jumps


@pytest.mark.parametrize(("early", "jumps"), [(0.7 * BUFFER, True), (1.6 * BUFFER, False)])
def test_a_jump_counts_a_little_before_landing(early: float, jumps: bool) -> None:
    game = Game()
    game.hero.teleport((4, 3, 0))
    fall = math.sqrt(2 * 3 / game.hero.gravity)
    for frame in range(round(1.5 * fall / STEP)):
        game.update(Wish(jump=frame == round((fall - early) / STEP)))
    assert (game.happened == ["jumps, pressed early"]) == jumps


def test_who_falls_too_often_begins_again() -> None:
    game = Game()
    for _ in range(2):
        game.hero.teleport((30, 15, 8))
        while not game.hero.grounded:
            game.update(Wish())
        assert game.health < 100 or game.happened[-1] == "begins again"
    assert game.health == 100
    assert game.hero.position.x < 3


def test_a_gem_behind_a_wall_is_not_taken() -> None:
    game = Game()
    game.hero.teleport((35.5, 0, 2.5))
    game.gems = [Sphere((38, 1.5, 2.5), 0.3)]
    game.update(Wish(take=True, pitch=0))
    assert game.gems
    game.hero.teleport((35.5, 0, 5.5))  # past the end of the wall
    game.gems = [Sphere((38, 1.5, 5.5), 0.3)]
    game.update(Wish(take=True, pitch=0))
    assert not game.gems


def test_the_third_person_game_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = library("pygame", "demo")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    event = pygame.event.Event
    script = [
        [event(pygame.MOUSEMOTION, rel=(10, 5)), event(pygame.KEYDOWN, key=pygame.K_SPACE)],
        [event(pygame.KEYDOWN, key=pygame.K_e)],
        [],
        [event(pygame.KEYDOWN, key=pygame.K_ESCAPE)],
    ]
    frames = iter(script)
    monkeypatch.setattr(pygame.event, "get", lambda: next(frames))
    third_person_game.play()
    assert next(frames, None) is None
    pygame.quit()


def test_pictures_are_drawn(tmp_path: Path) -> None:
    library("pygame", "demo")
    game = Game()
    save_frame(third_person_game.draw(game, game.camera()), tmp_path / "a.png")
    armies = strategy_game.begin(20, 10)
    strategy_game.draw(armies, tmp_path / "b.png")
    for name in "ab":
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.size == (960, 540)
            assert len(set(picture.convert("RGB").resize((96, 54)).get_flattened_data())) > 500


def test_the_ball_bounces_and_lies() -> None:
    ground = bouncing_ball.make_ground()
    ball, way = bouncing_ball.play(ground)
    assert ball.bounces > 10
    x, y, z = way[-1]
    assert y == pytest.approx(ground.height_at(x, z) + bouncing_ball.RADIUS, abs=0.01)
    radii = np.full(len(way), bouncing_ball.RADIUS - 0.0005)
    assert not len(ground.contacts(np.column_stack([np.array(way), radii])))  # never in the ground


def test_the_ball_gains_nothing() -> None:
    ground = bouncing_ball.make_ground()
    ball = bouncing_ball.Ball(glm.vec3(6, 8, 0), glm.vec3(2, 0, 0))
    energies = []
    for _ in range(600):
        ball.update(ground, bouncing_ball.FRAME)
        energies.append(9.81 * ball.position.y + 0.5 * glm.length(ball.velocity) ** 2)
    assert (np.diff(energies) < 0.03).all()  # what `GAP` lifts it by, and a frame's rounding
    assert energies[-1] < 0.5 * energies[0]


@pytest.fixture
def far_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small armies begin farther from each other, and from where large ones are picked."""
    monkeypatch.setattr(strategy_game, "SIGHT", 150.0)
    monkeypatch.setattr(strategy_game, "RECTANGLE", ((0, 0), (960, 540)))


@pytest.mark.usefixtures("far_sight")
def test_the_strategy_game(tmp_path: Path) -> None:
    game, outcome = strategy_game.play(300, 100, 12, tmp_path)
    assert outcome.loaded_is_same
    assert outcome.differs is None
    assert outcome.selected == 300
    picked = project(strategy_game.VIEW, (960, 540), game.units.positions)[outcome.picked, 2]
    assert picked > 0
    assert outcome.sight == len(game.lines_of_sight()) > 0


def test_units_march_round_a_building() -> None:
    game = strategy_game.begin(40, 1)
    x, z = strategy_game.BLUE_CAMP
    game.send(~game.is_red, x + 40, z)
    ahead = x + 20
    game.build(ahead, z, (3, 6, 24))
    ticks = 0
    while game.marches[0].units.any():
        game.tick()
        game.units.update(strategy_game.TICK)
        ticks += 1
        assert ticks < 600
    assert (game.units.positions[:40, 0] > ahead + 2).all()
    game.send(~game.is_red, x, z)
    assert len(game.marches) == 1


def test_another_save_is_another_game(tmp_path: Path) -> None:
    game = strategy_game.begin(30, 10)
    game.save(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(tmp_path, other)
    rest = json.loads((other / "units.json").read_text())
    rest["goals"][0][0] += 1
    (other / "units.json").write_text(json.dumps(rest))
    games = [strategy_game.Game.load(folder) for folder in (tmp_path, other)]
    for each in (game, *games):
        for _ in range(5):
            each.tick()
            each.units.update(strategy_game.TICK)
    hashes = [each.units.state_hash() for each in (game, *games)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_click_picks_what_is_in_front() -> None:
    game = strategy_game.begin(9, 1)
    game.build(290, 415, (2, 6, 8))
    x, y, z = game.units.positions[4]
    assert game.unit_at(Ray((x, y + 30, z), (0, -1, 0))) == 4
    assert game.unit_at(Ray((x, y + 30, z + 20), (0, -1, 0))) is None
    for eye, seen in (((x + 10, y + 9, z), 7), ((x + 30, y + 2, z), None)):
        way = np.array([x, y + 1, z]) - eye  # past unit 7; of the second one, into the house
        assert game.unit_at(Ray(eye, way)) == seen


@pytest.mark.usefixtures("far_sight")
def test_buildings_stand_level_and_hide() -> None:
    game = strategy_game.begin(400, 100)
    seen = len(game.lines_of_sight())
    x, z = strategy_game.BASE
    game.build(x, z, (10, 6, 60))
    land = game.ground.parts[0]
    assert isinstance(land, HeightMap)
    corners = [land.height_at(x + dx, z + dz) for dx in (-5, 5) for dz in (-30, 30)]
    assert np.ptp(corners) < 1e-4
    assert len(game.lines_of_sight()) < 0.5 * seen
    for eye, enemy in game.lines_of_sight()[::10]:
        ray = Ray(eye, enemy - eye)
        assert game.ground.raycast(ray, float(np.linalg.norm(enemy - eye))) is None
