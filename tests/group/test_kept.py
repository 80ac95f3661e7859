"""Kept numbers of groups and characters: put back in any order, they go on with equal bits."""

from typing import Any

import numpy as np
import pytest
from pyglm import glm

import terrain_physics as tp
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.group.kept import KeptGroup
from terrain_physics.world.kept_character import KeptCharacter
from tests.character.test_riders import drawn_rules, steer
from tests.helpers.characters import FRAME
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full

FRAMES, SLOTS = 30, 4
TIMES = (1 / 60, 1 / 60, 1 / 60, 1 / 144, 1 / 20, 0.0)
BODY, LOW = tp.CapsuleCollider(0.4, 1.8), tp.CapsuleCollider(0.35, 1.1)
RULED = {"ice": {"friction": 0.5}, "mud": {"speed": 0.5}}


class Placed:
    """An object of a game."""

    def __init__(self, position):
        self.position = position


class Scene:
    """A crowd with an adopted member, and two characters alone, of which one has an owner."""

    def __init__(self, seed):
        draws = Draws(seed)
        land = tp.HeightMap(
            draws.uniform(0.0, 0.6, 21, 21),
            materials=np.arange(400).reshape(20, 20) % 3,
            material_names=("grass", "ice", "mud"),
        )
        self.seed, self.ground = seed, tp.Ground([land, tp.TriangleMesh.box((3.0, 1.0, 3.0))])
        self.ground.move(1, ((10.0, 0.5, 10.0), glm.quat()))
        self.group = tp.CharacterGroup(self.ground, BODY, seed=seed, collide=True)
        for key in range(5):
            self.group.add(key, **drawn_rules(draws))
        self.owner = Placed((9.3, 2.0, 11.1))
        self.owned = tp.CharacterMovement(self.ground, BODY, owner=self.owner)
        self.adopted = tp.CharacterMovement(self.ground, BODY, position=(8, 2, 8))
        self.group.add("adopted", movement=self.adopted)
        self.hero = tp.CharacterMovement(self.ground, BODY, position=(11, 2, 9))

    def play(self, frame):
        """Do what the game does in a frame, which depends on nothing but its number, and update."""
        draws = Draws(1000 * self.seed + frame)
        for mover in (self.hero, self.adopted, *self.group.values()):
            steer(draws, mover)
        self.change_bodies(draws)
        self.change_members(draws, frame)
        seconds = draws.one_of(TIMES)
        if seconds > 0.0 and draws.chance(0.3):  # what no update has seen yet is not kept
            x, y, z = self.owned.position64
            self.owner.position = (x + 0.05, y, z + 0.02)
        for updated in (self.hero, self.owned, self.group):
            updated.update(seconds)

    def change_bodies(self, draws):
        mover, kind = draws.one_of((self.hero, self.adopted)), draws.below(8)
        if kind == 0:
            mover.resize(LOW if mover.collider == BODY else BODY)
        elif kind == 1:
            mover.material_rules = draws.one_of((RULED, {}))
        elif kind == 2:
            mover.rotation = draws.turn()
        elif kind == 3:
            mover.rules = tp.CharacterRules(step_offset=draws.uniform(0.0, 0.4))

    def change_members(self, draws, frame):
        kind, keys = draws.below(8), [key for key in self.group if key != "adopted"]
        if kind == 0 and keys:
            self.group.remove(draws.one_of(keys))
        elif kind == 1:
            self.group.add(f"late {frame}", draws.uniform((8, 2, 8), (12, 4, 12), 3))
        elif kind == 2 and draws.chance(0.3):
            keys = [f"one of many {frame} {k}" for k in range(20)]
            self.group.add_many(keys, draws.uniform((3, 1, 3), (17, 3, 17), 20, 3))

    def numbers(self):
        """Return all that is compared: raw numbers, and what is beside them."""
        movers, data = (self.hero, self.owned), self.group._data
        rows = *(mover._row() for mover in movers), data.rows()
        return (
            *([part.tobytes() for part in one.saved()] for one in rows),
            *((mover.collider, mover.material_rules, mover._time.last) for mover in movers),
            *(
                (tuple(mover.position), tuple(mover.velocity), mover._position.written)
                for mover in (*movers, self.adopted)
            ),
            (list(self.group), dict(data._colliders), dict(data._material_rules), data.time.last),
            tuple(self.owner.position),
        )


class Moments:
    """Moments of a scene, kept in a few slots."""

    def __init__(self, scene):
        self.things: list[Any] = [
            KeptCharacter(scene.hero),
            KeptCharacter(scene.owned),
            KeptCharacter(scene.adopted),
            KeptGroup(scene.group),
        ]
        self.frame = 0

    def keep(self, frame):
        self.frame = frame
        for thing in self.things:
            thing.keep()

    def put_back(self, draws):
        for k in draws.order(len(self.things)):
            self.things[k].put_back()
        return self.frame


def tell(seed):
    """Tell a story straight on, then with moments put back in any order; return how often."""
    twin, tape = Scene(seed), []
    for frame in range(FRAMES):
        twin.play(frame)
        tape.append(twin.numbers())
    draws, scene, frame, returns = Draws(seed + 1), Scene(seed), 0, 0
    slots = [Moments(scene) for _ in range(SLOTS)]
    while frame < FRAMES:
        if draws.chance(0.2):
            draws.one_of(slots).keep(frame)
        if returns < 8 and draws.chance(0.2):
            frame, returns = draws.one_of(slots).put_back(draws), returns + 1
        scene.play(frame)
        assert scene.numbers() == tape[frame], (seed, frame)
        frame += 1
    return returns


@pytest.mark.parametrize("seed", rest_is_full(range(20), 2))
def test_moments_put_back_in_any_order_go_on_with_equal_bits(seed):
    assert tell(seed) > 2


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_stories_with_moments_put_back(block):
    for seed in range(100 * block, 100 * block + 100):
        tell(seed)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_body_too_wide_for_a_map_that_came_is_refused_by_the_next_update(is_alone):
    ground = tp.Ground([tp.HeightMap(np.zeros((30, 30)))])
    group = tp.CharacterGroup(ground, BODY)
    group.add("ada", (10, 1, 10))
    hero = tp.CharacterMovement(ground, BODY, position=(20, 1, 10))
    updated, member = (hero, hero) if is_alone else (group, group["ada"])
    updated.update(FRAME)
    kept = KeptCharacter(hero) if is_alone else KeptGroup(group)
    member.resize(tp.CapsuleCollider(0.05, 1.8))
    key = ground.add(tp.HeightMap(np.zeros((30, 30)), cell_size=1e-3, origin=(40, 0, 40)))
    updated.update(FRAME)
    kept.put_back()
    with pytest.raises(ValueError, match="must cover at most"):
        updated.update(FRAME)
    ground.remove(key)
    assert updated.update(FRAME).seconds == FRAME
    assert member.collider == BODY


def test_no_hits_are_kept():
    """They are those of the last update alone, and rows of others may have changed since."""
    group = tp.CharacterGroup(tp.HeightMap(np.zeros((30, 30))), BODY)
    group.add("ada", (10, 0.91, 10), velocity=(0, -8, 0))
    group.update(FRAME)
    assert len(group.hits()) == 1
    kept = KeptGroup(group)
    assert not kept.rows.state[:, columns.HITS].any()
    group.add_many(range(100), [(3 + k % 10, 3, 3 + k // 10) for k in range(100)])
    kept.put_back()
    assert len(group.hits()) == 0
    assert kept.keys == ("ada",)
    assert kept.nbytes == sum(part.nbytes for part in kept.rows.saved())
