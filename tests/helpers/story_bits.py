"""Bits of characters in random stories: alone with and without owners, and in groups."""

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from pyglm import glm

import terrain_physics as tp
from tests.helpers.digest import hash_of_members
from tests.helpers.drawn_grounds import GROUNDS, MAPS, MESHES, AnyGround, box_of, edit
from tests.helpers.draws import Draws, Floats

Groups = dict[str, Callable[[], Iterator[Any]]]

STORIES, AT_ONCE, FRAMES = 200, 20, 36
GROUP_STORIES, MEMBERS, GROUP_FRAMES = 15, 66, 12
TIMES = (1 / 60, 1 / 60, 1 / 30, 1 / 144, 0.1, 0.25, 1e-4, 0.0)
_ABOVE = np.array([0.5, 1.0, 0.5])
MAKERS = (*MAPS, *MESHES, *GROUNDS)


def _collider(draws: Draws, kind: int, offset: Any = (0.0, 0.0, 0.0)) -> Any:
    """Return a body of a kind."""
    size = draws.uniform(0.25, 0.6)
    if kind == 0:
        return tp.SphereCollider(size, offset)
    if kind == 1:
        return tp.CapsuleCollider(size, draws.uniform(2.0, 4.0) * size, offset)
    return tp.BoxCollider(draws.uniform(0.15, 0.9, 3), offset)


def _rules(seed: int) -> dict[str, Any]:
    """Return rules; with three kinds of bodies every combination has its turn in 48 seeds."""
    return {
        "resolver": ("shuffled", "simultaneous")[seed // 3 % 2],
        "ground_rule": ("contact", "sum")[seed // 6 % 2],
        "slope_speed": ("horizontal", "surface")[seed // 12 % 2],
        "slope_limit": (0.5, 1.0)[seed // 24 % 2],
    }


def _place(draws: Draws, ground: AnyGround) -> Floats:
    """Return a place above or in a ground, now and then beyond its border."""
    low, high = box_of(ground)
    return np.asarray(draws.uniform(low - (0.5, 0.0, 0.5), high + _ABOVE, 3))


def _velocity(draws: Draws) -> Floats:
    """Return a velocity in eighths, which float32 holds; most are those of walkers."""
    fastest = draws.one_of((2.0, 3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 30.0, 400.0))
    velocity: Floats = np.round(8.0 * draws.uniform(-fastest, fastest, 3)) / 8.0
    return velocity


def _transform(draws: Draws, place: Any) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3] = draws.uniform(0.7, 1.4) * draws.turn()
    matrix[:3, 3] = place
    return matrix


def _owner(draws: Draws, kind: int, place: Floats) -> Any:
    """Return the object of a game that a character belongs to, None for kind 0."""
    x, y, z = place.tolist()
    if kind == 1:
        return SimpleNamespace(position=glm.vec3(x, y, z))
    if kind == 2:
        return SimpleNamespace(position=(x, y, z), rotation=draws.turn(), scale=(1.25, 0.75, 1.25))
    if kind == 3:
        return SimpleNamespace(position=place, scale=draws.uniform(0.7, 1.4))
    if kind == 4:
        return SimpleNamespace(transform=_transform(draws, place))
    if kind == 5:
        return SimpleNamespace(transform=glm.mat4(*_transform(draws, place).T.ravel().tolist()))
    return None


def _mover(draws: Draws, seed: int, ground: AnyGround) -> tuple[tp.CharacterMovement, Any]:
    """Return the character of a story and its owner."""
    place, kind = _place(draws, ground), seed % 7
    owner = _owner(draws, kind, place)
    offset = (0.0, draws.uniform(-0.5, 0.5), 0.0) if draws.chance(0.3) else (0.0, 0.0, 0.0)
    places: dict[str, Any] = {"position": place} if owner is None else {"owner": owner}
    if owner is None and draws.chance(0.6):
        places["rotation"] = draws.turn()
    return tp.CharacterMovement(
        ground, _collider(draws, seed % 3, offset), seed=seed,
        step_offset=draws.one_of((0.0, 0.1)), snap_distance=draws.one_of((0.0, 0.3)),
        ground_friction=draws.one_of((0.0, 20.0)), **places, **_rules(seed),
    ), owner  # fmt: skip


def _disturb(draws: Draws, mover: tp.CharacterMovement, owner: Any, kind: int) -> Any:
    """Do something that a game does to a character now and then; return what came of it."""
    place = np.array(mover.position64)
    deed = draws.below(9)
    if deed == 0:
        mover.position = place + draws.uniform(-1.5, 2.5, 3)
    elif deed == 1:
        mover.position.y += 0.75
    elif deed in {2, 3}:
        return mover.resize(_collider(draws, kind, mover.collider.offset64))
    elif deed == 4:
        mover.velocity.y = 5.0
    elif deed == 5:
        mover.gravity_scale = draws.one_of((0.5, 1.0, -0.25))
        mover.max_rounds = draws.one_of((1, 4, 16))
    elif deed == 6:
        mover.restore(mover.state())
    elif hasattr(owner, "transform") and isinstance(owner.transform, np.ndarray):
        owner.transform = _transform(draws, place)
    elif hasattr(owner, "rotation"):
        owner.rotation, owner.scale = draws.turn(), draws.uniform(0.7, 1.4)
    elif hasattr(owner, "position"):
        owner.position *= 1.0625
    elif owner is None:
        mover.rotation = draws.turn()
    return None


def _is_lost(mover: tp.CharacterMovement, ground: AnyGround) -> bool:
    """Tell whether a character is far from its ground, to which it would not come back."""
    low, high = box_of(ground)
    place = np.array(mover.position64)
    return bool((place < low - 1.0).any() or (place > high + 3.5).any())


def _owner_place(owner: Any) -> Any:
    """Return where an owner shows that it is."""
    if owner is None:
        return None
    place = owner.transform if hasattr(owner, "transform") else owner.position
    return np.array(place, dtype=np.float64)


def _report(mover: Any) -> Any:
    """Return a ground report but its slope, which is an arc cosine."""
    report = mover.ground_report()
    return (
        report.state, report.normal, report.point, report.triangle, report.material,
        report.air_time, report.landing_speed,
    )  # fmt: skip


def _story(seed: int) -> Iterator[Any]:
    """Give what can be seen of a character in one story."""
    draws = Draws(10_000 + seed)
    ground: AnyGround = MAKERS[seed % len(MAKERS)](draws)
    mover, owner = _mover(draws, seed, ground)
    for frame in range(FRAMES):
        if _is_lost(mover, ground):
            mover.position = _place(draws, ground)
            mover.velocity = (0.0, -2.0, 0.0)
        elif draws.chance(0.1):
            mover.velocity = _velocity(draws)
        elif draws.chance(0.4):
            mover.velocity.x, mover.velocity.z = _velocity(draws)[:2].tolist()
        if draws.chance(0.15):
            yield _disturb(draws, mover, owner, seed % 3)
        if draws.chance(0.1):
            edit(draws, ground)
        result = mover.update(draws.one_of(TIMES))
        yield result, mover.position64
        if frame % 4 == 3:
            yield mover.velocity, mover.state_hash(), _report(mover), _owner_place(owner)
    yield mover.constraint_planes(), mover.rotation.to_tuple()


def _stories(first: int) -> Iterator[Any]:
    for seed in range(first, first + AT_ONCE):
        yield from _story(seed)


def _add(draws: Draws, group: tp.CharacterGroup, key: str | int, ground: AnyGround) -> None:
    number = draws.below(48)
    group.add(
        key, _place(draws, ground), collider=_collider(draws, number % 3),
        velocity=_velocity(draws) if draws.chance(0.3) else None,
        rotation=draws.turn() if draws.chance(0.5) else None, **_rules(number),
    )  # fmt: skip


def _come_and_go(draws: Draws, group: tp.CharacterGroup, ground: AnyGround, frame: int) -> None:
    """Remove some members, add others, and put one elsewhere."""
    for k in range(3):
        group.remove(draws.one_of(tuple(group)))
        _add(draws, group, f"{frame}:{k}", ground)
    member = group[draws.one_of(tuple(group))]
    member.position = _place(draws, ground)
    member.velocity.y = 4.0


def _group_story(seed: int, threads: int) -> Iterator[Any]:
    """Give what can be seen of a group in one story, which threads do not change."""
    draws = Draws(20_000 + seed)
    ground: AnyGround = MAKERS[seed * 4 % len(MAKERS)](draws)
    group = tp.CharacterGroup(ground, seed=seed, threads=threads)
    for key in range(MEMBERS):
        _add(draws, group, key, ground)
    for frame in range(GROUP_FRAMES):
        if draws.chance(0.3):
            keys = [key for key in group if draws.chance(0.4)]
            group.set_velocities([_velocity(draws) for _ in keys] or np.zeros((0, 3)), keys)
        if draws.chance(0.3):
            _come_and_go(draws, group, ground, frame)
        if draws.chance(0.15):
            edit(draws, ground)
        yield group.update(draws.one_of(TIMES)), group.positions
        if frame % 4 == 3:
            yield group.velocities, hash_of_members(group), [list(pair) for pair in group.hashes()]
    for name in tuple(group)[::7]:
        member = group[name]
        yield _report(member), member.state_hash(), member.constraint_planes()


def _group_stories(seeds: range) -> Iterator[Any]:
    for seed in seeds:
        yield from _group_story(seed, threads=1 + seed % 2)
    yield from _group_story(seeds.start, threads=2 - seeds.start % 2)


def _slopes() -> Iterator[Any]:
    """Give the slopes that characters say they stand on."""
    for seed in range(26):
        draws = Draws(30_000 + seed)
        ground: AnyGround = MAKERS[seed % len(MAKERS)](draws)
        mover = tp.CharacterMovement(
            ground, _collider(draws, seed % 3), position=_place(draws, ground)
        )
        for _ in range(30):
            mover.update(1 / 30)
        yield mover.ground_report().slope


GROUPS: Groups = {
    f"stories {first:03} to {first + AT_ONCE - 1:03}": partial(_stories, first)
    for first in range(0, STORIES, AT_ONCE)
}
GROUPS |= {
    f"group stories {first:02} to {first + 4:02}": partial(_group_stories, range(first, first + 5))
    for first in range(0, GROUP_STORIES, 5)
}
GROUPS["GroundReport.slope"] = _slopes
