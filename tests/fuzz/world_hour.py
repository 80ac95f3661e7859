"""An hour of a world: each case is a minute of the same one, 3,600 frames at 60 Hz.

So `python -m tests.fuzz world_hour --seed 1 --cases 60 --seconds 7200` plays the hour, and
`--cases 9` as much of it as leads to a failure in the ninth minute.

The world is a town on a land of tiles (`tests/fuzz/town.py`): a crowd of 200 who collide, lifts,
doors, a belt, digging, people who come and go. It is saved to files and loaded, goes back and plays
again, frames that it had guessed too. A twin does what it does, on one height map, and never goes
back: every 1,000 frames both are equal, bit for bit.

After each second these rules are held to all characters:

- Nobody is in the land or in a box that stands still by more than `DEEP`.
- Nobody is farther in a moving box than is told by `squeezed`: a lift or a door goes on into one
  who has no room to make way, and the library tells how deep it is then.
- Numbers are finite.

Yet one is not held: a body in the air is in a moving box for a frame where others stop its flight
and the box comes after it, as it was not to meet the box by its own flight. It has to be out in the
next frame. Each line about a minute counts them.

How deep somebody is, is found here from the samples of the map, the planes of boxes, and places.
What is not held: how far people overlap each other, whom a door may push together.
"""

import contextlib
import copy
import ctypes
import functools
import gc
import pickle
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.behaviour.measure import ball_gaps, box_gaps
from tests.fuzz import town
from tests.fuzz.soak import Held, held_by

PEOPLE, FRAMES, EVERY = 200, 3600, 60
"""Of the crowd; frames of a minute; frames from one check, edit, save and so on to the next."""
COMPARED = 1000
"""Frames from one comparison with the twin to the next."""
SETTLED = 20
"""Minutes before memory is compared."""
GROWTH = 1.02
DEEP = 1e-3
"""Meters that a body may be in what stands still, as in the rows of behaviour."""
RING = 16
"""Frames that are kept, to play again those that were guessed."""
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
"""What lets the C library give free memory back; without it, tiles that went count."""


@functools.cache
def game() -> "Game":
    """Return the game that all cases of a process play."""
    return Game(PEOPLE, FRAMES, EVERY, COMPARED)


def case(seed: int) -> None:
    """Play a minute."""
    the_game, begun = game(), time.process_time()
    try:
        the_game.play(seed)
        the_game.measure()
    except BaseException:
        the_game.close()
        game.cache_clear()  # the next minute is one of a new world
        raise
    the_game.tell(time.process_time() - begun)
    the_game.judge()


def brief_case(seed: int) -> None:
    """Play a moment with few people, in which all is done that is done in a minute."""
    with contextlib.closing(Game(8, frames=50, every=10, compared=25)) as few:
        few.play(seed)
        few.judge()


class Game:
    """A world that is saved, copied and taken back, and its twin, which is not."""

    def __init__(self, people: int, frames: int, every: int, compared: int) -> None:
        self.people, self.frames, self.every, self.compared = people, frames, every, compared
        self.folder = tempfile.TemporaryDirectory(prefix="terrain_physics_hour_")
        land = tp.TiledGround.open(town.tiles())
        self.map = town.one_map()
        ground = tp.Ground([self.map])
        for one in (land, ground):
            town.build(one)
        self.world = town.people(land, people, threads=2)
        self.twin = town.people(ground, people, threads=1)
        self.frame = self.end = self.minutes = self.saves = 0
        self.seen: Counter[str] = Counter()
        self.most = Held(0, 0, 0)
        self.broken: list[str] = []
        """Where a rule did not hold."""
        self.excused: set[Any] = set()
        """The boxes in which bodies in the air were in the last frame, with these."""

    @property
    def land(self) -> tp.TiledGround:
        """The ground of the world."""
        land: Any = self.world.ground
        assert isinstance(land, tp.TiledGround)
        return land

    def close(self) -> None:
        """Let go of all files."""
        self.land.close()
        self.folder.cleanup()

    def play(self, seed: int) -> None:
        """Play a minute, with all chores in turn."""
        plan = town.Plan(seed, self.people, self.every)
        chores = (
            self.guess, self.save, self.go_back, self.copy, self.let_go, self.guess, self.guess,
        )  # fmt: skip
        self.end = self.frame + self.frames
        while self.frame < self.end:
            phase = self.frame % self.every
            if phase == self.every - self.every // 10:  # so that edits are taken back too
                chores[self.frame // self.every % len(chores)](plan)
            else:
                results = self.step(plan)
                if phase in {self.every // 2, self.every // 2 + 1}:
                    self.check(results)
            if self.frame % self.compared == 0:
                self.compare()
        self.minutes += 1

    def step(self, plan: town.Plan) -> dict[Any, Any]:
        """Play a frame in both worlds."""
        results = town.play(self.world, self.frame, plan)
        self.follow(plan, self.frame + 1)
        return results

    def follow(self, plan: town.Plan, end: int) -> None:
        """Let the twin play up to a frame, and come there."""
        for frame in range(self.frame, end):
            town.play(self.twin, frame, plan)
        self.frame = end

    def compare(self) -> None:
        """The twin is equal: all numbers of all characters, and where the parts are.

        Not by `state_hash`, which tells land in tiles from a map.
        """
        mine, theirs = (equal_in_twins(world) for world in (self.world, self.twin))
        differ = [key for key in mine | theirs if mine.get(key) != theirs.get(key)]
        assert not differ, f"frame {self.frame}: {differ} differ"
        self.seen["comparisons"] += 1

    # What is done to the world, and not to its twin

    def guess(self, plan: town.Plan) -> None:
        """Play some frames with wrong inputs, go back, and play them again."""
        most = min(RING, self.every // 2) - 1
        end = self.frame + 1 + self.frame // self.every % most
        end = min(end, self.end, self.frame - self.frame % self.compared + self.compared)
        rewind = tp.Rewind(self.world, RING)
        for frame in range(self.frame, end):
            rewind.save(frame)
            town.play(self.world, frame, plan.guessed())
        rewind.replay(self.frame, end, lambda frame: town.play(self.world, frame, plan))
        self.follow(plan, end)

    def go_back(self, plan: town.Plan) -> None:
        """Play half a second and more with wrong inputs, and go back to a state."""
        state = self.world.state()
        for frame in range(self.frame, self.frame + self.every):
            town.play(self.world, frame, plan.guessed())
        self.world.restore(state)
        self.step(plan)

    def save(self, plan: town.Plan) -> None:
        """Save to a file, and go on with what is loaded: edits are in memory or in a file."""
        self.saves += 1
        path, edits = (Path(self.folder.name) / name for name in ("hour.world", "hour.edits"))
        self.world.save(path)
        self.land.close()
        self.world = tp.World.load(
            path, owners={"hero": town.owner()}, tiles=town.tiles(),
            edits=edits if self.saves % 2 else None,
        )  # fmt: skip
        self.step(plan)

    def copy(self, plan: town.Plan) -> None:
        """Go on with a copy."""
        before, self.saves = self.land, self.saves + 1
        is_deep = self.saves % 2 == 0
        self.world = copy.deepcopy(self.world) if is_deep else pickle.loads(self.pickled())
        before.close()
        self.step(plan)

    def pickled(self) -> bytes:
        return pickle.dumps(self.world)

    def let_go(self, plan: town.Plan) -> None:
        """Let all tiles go; those that are needed come again."""
        before = self.land.loaded
        let_all_go(self.land)
        self.seen["tiles let go"] += len(before - self.land.loaded)
        self.step(plan)

    # What is looked at

    def check(self, results: dict[Any, Any]) -> None:
        """Hold the rules to all characters."""
        bodies = Bodies.of(self.world, results)
        assert np.isfinite(bodies.places).all(), self.frame
        self.excused, excused = set(), self.excused
        self.refuse(bodies, -bodies.gaps(self.map[:]) > DEEP, "the land")
        far = np.abs(bodies.places - town.MIDDLE)[:, [0, 2]].max(axis=1) > town.TOWN
        told = self.land.height_at(bodies.places[:, 0], bodies.places[:, 2])
        self.refuse(bodies, far & ~(told - bodies.places[:, 1] <= DEEP), "its heights")
        for name, moves, size, transform in town.boxes(self.land):
            depth = bodies.depths(size, transform)
            is_wrong = depth > (bodies.squeezed + DEEP if moves else DEEP)
            for row in np.flatnonzero(is_wrong & ~bodies.grounded) if moves else ():
                self.excused.add((name, bodies.names[row]))
                is_wrong[row] = (name, bodies.names[row]) in excused
            self.refuse(bodies, is_wrong, name)
        self.seen["stopped in the air"] += len(self.excused)
        self.seen["squeezed"] += int((bodies.squeezed > 0.0).sum())
        self.seen["checks"] += len(bodies.names)

    def refuse(self, bodies: "Bodies", is_wrong: Any, what: str) -> None:
        for row in np.flatnonzero(is_wrong):
            place = bodies.places[row].tolist()
            self.broken.append(f"frame {self.frame}: {bodies.names[row]} at {place} is in {what}")

    def judge(self) -> None:
        """No rule was broken since this was last asked; the world goes on all the same."""
        broken, self.broken = self.broken, []
        assert not broken, "\n".join([f"{len(broken)} times a rule is broken:", *broken[:20]])

    def measure(self) -> None:
        """What the process holds does not grow, once all tiles are let go."""
        let_all_go(self.land)
        gc.collect()
        if _TRIM is not None:
            _TRIM(0)
        now = held_by()
        if self.minutes <= SETTLED:
            self.most = Held(*map(max, self.most, now))
        else:
            assert now.memory <= GROWTH * self.most.memory, (self.minutes, self.most, now)
            assert now.handles <= self.most.handles, (self.minutes, self.most, now)
            assert now.threads <= self.most.threads, (self.minutes, self.most, now)

    def tell(self, seconds: float) -> None:
        """Write a line about a minute."""
        now, seen = held_by(), ", ".join(f"{count} {name}" for name, count in self.seen.items())
        sys.stderr.write(
            f"minute {self.minutes}, frame {self.frame}: {seconds:.1f} s, "
            f"{now.memory / 2**20:.1f} MiB, {now.handles} handles, {now.threads} threads; {seen}\n"
        )
        sys.stderr.flush()


def let_all_go(land: tp.TiledGround) -> None:
    """Let all tiles of a land go: those that were needed stay for 120 calls, and few go at once."""
    for _ in range(1000):
        land.keep_near([], 1.0)
        land.load_some()
        if not land.loaded:
            return
    raise AssertionError(f"{land} keeps its tiles")


def equal_in_twins(world: tp.World) -> dict[Any, Any]:
    """Return the hash of each character, the transform of each part, and what the game keeps."""
    ground: Any = world.ground
    parts = ((name, ground.transform(key).tobytes()) for key, name in ground.part_names.items())
    return {**dict(world.hashes()), **dict(parts), "extra": world.extra}


class Bodies(NamedTuple):
    """All characters of a world, as rows."""

    names: list[Any]
    places: NDArray[np.float64]
    middles: NDArray[np.float64]
    half_extents: NDArray[np.float64]  # of upright boxes; of others what is not round
    radii: NDArray[np.float64]  # 0 for boxes
    squeezed: NDArray[np.float64]
    grounded: NDArray[np.bool_]

    @classmethod
    def of(cls, world: tp.World, results: dict[Any, Any]) -> "Bodies":
        names, places, colliders = zip(*town.bodies(world), strict=True)
        offsets, extents, radii = zip(*map(_sizes, colliders), strict=True)
        squeezed = [_squeezed(results[key]) for key in world]
        grounded = [np.atleast_1d(results[key].grounded) for key in world]
        at = np.array(places)
        return cls(
            list(names), at, at + offsets, np.array(extents), np.array(radii),
            np.concatenate(squeezed), np.concatenate(grounded),
        )  # fmt: skip

    def gaps(self, heights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return how far each is from the land; < 0: it is in it."""
        lower = self.middles - self.half_extents * (0.0, 1.0, 0.0)
        found: NDArray[np.float64] = ball_gaps(heights, lower, self.radii, 1)
        for row in np.flatnonzero(self.radii == 0.0):
            found[row] = box_gaps(heights, self.middles[[row]], self.half_extents[row])[0]
        return found

    def depths(self, size: NDArray[np.float64], transform: Any) -> NDArray[np.float64]:
        """Return how deep each is in a box; < 0: it is outside.

        A capsule is a ball in a box that is larger by the capsule's axis. An upright box counts
        for boxes that are not turned alone.
        """
        turn = transform[:3, :3]
        local = (self.middles - transform[:3, 3]) @ turn
        beyond = np.abs(local) - 0.5 * size - self.half_extents
        outside = np.sqrt((np.maximum(beyond, 0.0) ** 2).sum(axis=1))
        depth = self.radii - outside - np.minimum(beyond.max(axis=1), 0.0)
        is_turned = abs(turn[0, 2]) > 1e-9
        return np.where((self.radii == 0.0) & is_turned, -np.inf, depth)


def _sizes(collider: Any) -> tuple[Any, Any, float]:
    """Return the offset of the middle, half extents and radius of a body."""
    offset = tuple(collider.offset64)
    if isinstance(collider, tp.BoxCollider):
        return offset, tuple(collider.half_extents64), 0.0
    half = 0.5 * getattr(collider, "height", 2 * collider.radius) - collider.radius
    return offset, (0.0, half, 0.0), collider.radius


def _squeezed(result: Any) -> Any:
    """Return how deep those of a result are in what presses them."""
    if isinstance(result, tp.GroupResult):
        return result.squeezed
    return [max((squeeze.depth for squeeze in result.squeezed), default=0.0)]
