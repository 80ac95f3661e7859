"""Sequences of operations on characters: none gets below the surface, a group is its members alone.

The third part of all cases are the random scenes of `tests.behaviour.fuzz`, another third the
random stories of `tests.character.test_fuzz`.
"""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from pyglm import glm

import terrain_physics as tp
from tests.behaviour.fuzz import random_scene
from tests.character.test_fuzz import random_story
from tests.helpers import drawn_grounds
from tests.helpers.draws import Draws

OPERATIONS = 60
KEYS: tuple[str | int, ...] = ("ada", "bob", 7)

MATERIAL_RULES: dict[str | int, dict[str, float]] = {
    0: {"friction": 0.2, "speed": 0.7},
    1: {"speed": 1.8},
    2: {"friction": 5.0},
}
_RULES: tuple[tuple[str, list[Any]], ...] = (
    ("gravity_scale", [1.0, 0.5, -0.25]),
    ("slope_limit", [0.1, 0.7, 1.5]),
    ("mask", [0xFFFF_FFFF, 1, 3]),
    ("resolver", ["shuffled", "simultaneous", "shuffled"]),
)
_SOLID: tuple[drawn_grounds.Maker, ...] = (drawn_grounds.plain, drawn_grounds.steep)
_ANY: tuple[drawn_grounds.Maker, ...] = (
    *drawn_grounds.MAPS,
    *drawn_grounds.MESHES,
    *drawn_grounds.GROUNDS,
)


def case(seed: int) -> None:
    """Run one sequence, scene or story."""
    if seed % 3 == 1:
        random_scene(seed)
    elif seed % 3 == 2:
        assert random_story(seed, holes=False) <= 1e-3
        random_story(seed, holes=True)
    else:
        World(seed).live()


class World:
    """A ground, a group, and for each member a character of its own that does the same."""

    def __init__(self, seed: int) -> None:
        draws = self.draws = Draws(seed)
        self.is_solid = draws.chance(0.5)
        self.ground = draws.one_of(_SOLID if self.is_solid else _ANY)(draws)
        self.low, self.high = drawn_grounds.box_of(self.ground)
        rules = {
            "slope_limit": draws.uniform(0.0, 1.5),
            "resolver": draws.one_of(("shuffled", "simultaneous")),
            "ground_rule": draws.one_of(("contact", "contact", "sum")),
            "slope_speed": draws.one_of(("horizontal", "surface")),
            "step_offset": draws.one_of((0.0, 0.3)),
            "material_rules": MATERIAL_RULES if seed % 2 else {},
        }
        self.group = tp.CharacterGroup(self.ground, seed=seed, threads=2, **rules)
        self.alone: dict[str | int, tp.CharacterMovement] = {}
        for key in KEYS:
            collider, place = self._collider(), self._place()
            self.group.add(key, place, collider=collider)
            self.alone[key] = tp.CharacterMovement(
                self.ground, collider, position=place, seed=self.group.seed_of(key), **rules
            )
        self.saved = self._save()

    def live(self) -> None:
        """Do what games do, and look after each update."""
        operations: tuple[Callable[[], None], ...] = (
            self._update, self._update, self._update, self._update, self._steer, self._steer,
            self._teleport, self._resize, self._edit, self._copy, self._keep, self._go_back,
            self._walk, self._begin_anew, self._rule, self._look_around,
        )  # fmt: skip
        for _ in range(OPERATIONS):
            self.draws.one_of(operations)()

    def _collider(self, kind: type | None = None) -> Any:
        draws = self.draws
        size = draws.one_of((0.1, 0.4, 1.0))
        colliders = (
            tp.SphereCollider(size),
            tp.CapsuleCollider(size, 3.0 * size),
            tp.BoxCollider(size * draws.uniform(0.3, 2.0, 3)),
        )
        return draws.one_of([body for body in colliders if kind in {None, type(body)}])

    def _place(self) -> Any:
        low, high = self.low, self.high
        return self.draws.uniform((low[0], high[1], low[2]), (high[0], high[1] + 5.0, high[2]))

    def _update(self) -> None:
        seconds = self.draws.one_of((1 / 240, 1 / 60, 1 / 24, 0.2))
        for _ in range(self.draws.one_of((1, 5))):
            self.group.update(seconds)
            for key, mover in self.alone.items():
                result = mover.update(seconds)
                assert mover.state_hash() == self.group[key].state_hash(), key
                self._look_at(mover, result)

    def _look_at(self, mover: tp.CharacterMovement, result: tp.MoveResult) -> None:
        place = np.array(mover.position64)
        assert np.isfinite([*place, *mover.velocity]).all()
        assert result.lifted >= 0.0
        if self.is_solid and result.converged:
            assert place[1] >= self.ground.height_at(place[0], place[2])

    def _steer(self) -> None:
        key, velocity = self.draws.one_of(KEYS), self.draws.uniform(-9.0, 9.0, 3)
        if self.draws.chance(0.1):
            velocity = 100.0 * velocity
        self.alone[key].velocity = self.group[key].velocity = velocity

    def _walk(self) -> None:
        speeds = self.draws.uniform(-5.0, 5.0, 2, len(KEYS))
        self.group.walk(speeds[0], speeds[1], KEYS)
        for key, vx, vz in zip(KEYS, *speeds.tolist(), strict=True):
            self.alone[key].walk(vx, vz)

    def _begin_anew(self) -> None:
        """Some go and come back, or are reset: then they go on as new ones."""
        keys = KEYS[: self.draws.one_of((1, 2, 3))]
        places = np.array([self._place() for _ in keys])
        bodies, rules = [self.alone[key].collider for key in keys], self.group.rules("mask", keys)
        if self.draws.chance(0.5) and len(set(bodies)) == 1:
            self.group.remove_many(keys)
            self.group.add_many(keys, places, collider=bodies[0], mask=rules)
            for key in keys:
                self.alone[key].restore(self.group[key].state())
        self.group.reset(places, keys=keys)
        for key, place in zip(keys, places, strict=True):
            self.alone[key].reset(place)

    def _rule(self) -> None:
        name, values = self.draws.one_of(_RULES)
        rules: dict[str, Any] = {name: values}
        self.group.set_rules(**rules, keys=KEYS)
        for key, value in zip(KEYS, values, strict=True):
            setattr(self.alone[key], name, value)
        assert self.group.rules(name, KEYS).tolist() == values

    def _look_around(self) -> None:
        reports = [self.alone[key].ground_report() for key in self.group]
        assert self.group.states.tolist() == [report.state for report in reports]
        assert self.group.materials.tolist() == [report.material for report in reports]
        assert self.group.parts.tolist() == [report.part for report in reports]
        offsets = [(0.0, 0.0), (0.5, -1.0)]
        scan = self.group.height_scan(offsets)
        for member, heights in zip(self.group.values(), scan, strict=True):
            x, _, z = member.position64
            alone = [self.ground.height_at(x + dx, z + dz, mask=member.mask) for dx, dz in offsets]
            assert np.array_equal(heights, alone, equal_nan=True)

    def _teleport(self) -> None:
        key = self.draws.one_of(KEYS)
        place = self.draws.uniform(self.low - 1.0, self.high + 1.0)
        self.alone[key].position = self.group[key].position = place
        if self.draws.chance(0.3):
            turn = glm.normalize(glm.quat(*self.draws.uniform(0.1, 1.0, 4)))
            self.alone[key].rotation = self.group[key].rotation = turn

    def _resize(self) -> None:
        key = self.draws.one_of(KEYS)
        collider = self._collider(type(self.alone[key].collider))
        assert self.alone[key].resize(collider) == self.group[key].resize(collider)

    def _edit(self) -> None:
        drawn_grounds.edit(self.draws, self.ground)
        if isinstance(self.ground, tp.HeightMap):
            self.is_solid &= self.ground.thickness == np.inf  # neither an underside nor holes

    def _copy(self) -> None:
        """Go on with copies."""
        again: Callable[[Any], Any] = copy.deepcopy
        if self.draws.chance(0.5):
            again = _pickled
        self.ground, self.group, self.alone = again((self.ground, self.group, self.alone))

    def _save(self) -> tuple[tp.GroupState, dict[str | int, tp.CharacterState]]:
        return self.group.state(), {key: mover.state() for key, mover in self.alone.items()}

    def _keep(self) -> None:
        self.saved = _pickled(self._save())

    def _go_back(self) -> None:
        state, states = self.saved
        self.group.restore(state)
        for key, mover in self.alone.items():
            mover.restore(states[key])


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
