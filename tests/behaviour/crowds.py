"""The same walks alone, in groups, saved half way, in any order and by any number of threads."""

import pickle
from functools import cache

import numpy as np

from terrain_physics import CharacterGroup, CharacterMovement
from tests.behaviour.drive import COLLIDERS, FRAME, RESOLVERS, SLOPE_LIMIT
from tests.behaviour.rough import land_of
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin

FRAMES, SAVE_AT = 600, 300
KINDS = [(shape, resolver) for shape in COLLIDERS for resolver in RESOLVERS]


def _start(land, key):
    rng = Draws(key)
    x, z = rng.uniform(150, 360, 2)
    return float(x), float(land.height_at(x, z)) + 2.0, float(z)


@cache
def _speeds(count, frame):
    """Return the horizontal speeds (count, 2) wanted in a frame, exact in float32."""
    angles = [1.7 * key + sin(frame / 40) for key in range(count)]
    return np.array([(3.5 * cos(a), 3.5 * sin(a)) for a in angles], np.float32).astype(np.float64)


def _jumps(key, frame):
    return (frame + 13 * key) % 97 == 0


def _group(land, keys, threads):
    group = CharacterGroup(land, seed=11, threads=threads, slope_limit=SLOPE_LIMIT)
    for key in keys:
        shape, resolver = KINDS[key % len(KINDS)]
        group.add(key, _start(land, key), collider=COLLIDERS[shape], resolver=resolver)
    return group


def _drive(group, first, last):
    """Walk and jump about; what a key does is the same in any order."""
    keys = np.array(list(group))
    for frame in range(first, last):
        velocities = group.velocities.copy()
        velocities[:, [0, 2]] = _speeds(len(keys), frame)[keys]
        velocities[_jumps(keys, frame), 1] = 4.0
        group.set_velocities(velocities)
        group.update(FRAME)


def _alone(land, group, key, count, save):
    """Return the hash of one alone after the same walk, saved and restored on the way."""
    shape, resolver = KINDS[key % len(KINDS)]
    rules = {"resolver": resolver, "slope_limit": SLOPE_LIMIT}
    mover = CharacterMovement(
        land, COLLIDERS[shape], position=_start(land, key), seed=group.seed_of(key), **rules
    )
    for frame in range(FRAMES):
        if frame == SAVE_AT and save:
            saved = pickle.loads(pickle.dumps(mover.state()))
            mover = CharacterMovement(land, COLLIDERS[shape], seed=99, **rules)
            mover.restore(saved)
        speeds = _speeds(count, frame)[key]
        mover.velocity.x, mover.velocity.z = speeds
        if _jumps(key, frame):
            mover.velocity.y = 4.0
        mover.update(FRAME)
    return mover.state_hash()


def differing(count, alone):
    """Return by run how many of ``count`` walks of 600 frames differ from the first run's.

    The first run is a group on one thread; ``alone``: how many are walked one by one as well.
    """
    land, _ = land_of(3.0)
    keys = list(range(count))
    first = _group(land, keys, 1)
    _drive(first, 0, SAVE_AT)
    saved = pickle.loads(pickle.dumps(first.state()))
    _drive(first, SAVE_AT, FRAMES)
    wanted = dict(first.hashes())

    def missed(group, start=0):
        _drive(group, start, FRAMES)
        found = dict(group.hashes())
        return sum(found[key] != wanted[key] for key in keys)

    restored = CharacterGroup(land, seed=99, threads=2)
    restored.restore(saved)
    shuffled = Draws(3).order(count).tolist()
    return {
        "restored at frame 300": missed(restored, SAVE_AT),
        "two threads": missed(_group(land, keys, 2)),
        "other insertion order": missed(_group(land, shuffled, 2)),
        "alone": sum(_alone(land, first, k, count, save=False) != wanted[k] for k in keys[:alone]),
        "alone, restored at frame 300": sum(
            _alone(land, first, k, count, save=True) != wanted[k] for k in keys[:alone]
        ),
    }
