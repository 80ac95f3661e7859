"""A task to learn, for Gymnasium: walk over hills to a goal, around lakes and steep slopes.

`TerrainWalkEnv` has one agent, `TerrainWalkVectorEnv` many in one `CharacterGroup`. Both stand on
`Walkers`, which has the rules: so agent i of many, seeded with s, goes the same way as one agent
seeded with s + i, bit for bit. Gymnasium makes them too:

    envs = gymnasium.make_vec("demo.examples.gym_env:TerrainWalk-v0", num_envs=1024)

As a program, it shows what two policies reach that have learned nothing.
"""

import argparse
import math
import time
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import CharacterGroup, HeightMap, SphereCollider

try:
    import gymnasium
except ImportError as error:
    raise SystemExit('this needs Gymnasium: pip install "terrain-physics[gym]"') from error

from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Observations = NDArray[np.float32]

# Its position is its lowest point. A capsule would touch a map with its lower ball only.
WALKER = SphereCollider(0.4, offset=(0, 0.4, 0))
STEEPEST = math.radians(40)
UPDATES, SECONDS = 4, 1 / 200  # a step is so many updates of so many seconds
SPEED = 4.0  # of an action of 1, in m/s along x or z

SIZE = 256.0  # of the land along x and z, in meters
WATER = 0.0  # whose feet are lower is in a lake, or has fallen off the land
FARTHEST = 16.0  # a goal is so many meters away at most, along x and along z
REACHED = 1.0  # within so many meters of the goal
FOR_GOAL, FOR_WATER = 10.0, -10.0  # rewards, besides 1 for each meter of progress

GRID = [(x, z) for z in range(-4, 5) for x in range(-4, 5)]  # meters from the agent
SIGHT, FASTEST = 4.0, 8.0  # meters and m/s that are 1 in an observation
SEEN = 2 + 1 + 3 + 1 + len(GRID)  # direction of the goal, distance, velocity, grounded, heights


@cache
def hills() -> HeightMap:
    """Return the land, which all environments share."""
    along = np.arange(0.0, SIZE + 1.0, 2.0)
    x, z = np.meshgrid(along, along)
    heights = 6.0 * np.sin(x / 12) * np.cos(z / 15) + 4.0 * np.sin((x + z) / 9)
    heights += 2.0 * np.cos((x - 2 * z) / 7) + 4.0
    return HeightMap(heights, cell_size=2.0, border="open")


class Moved(NamedTuple):
    """What a step did to each of n agents: arrays (n,)."""

    rewards: Array
    terminated: Flags
    truncated: Flags
    reached: Flags


class Walkers:
    """The task, for n agents at once: how they begin, move and end, and what they see and earn."""

    def __init__(self, count: int, episode_steps: int, threads: int | None) -> None:
        for name, value in (("num_envs", count), ("episode_steps", episode_steps)):
            if value < 1:
                raise ValueError(f"{name} must be >= 1, got {value}")
        self._group = CharacterGroup(hills(), WALKER, slope_limit=STEEPEST, threads=threads)
        self._group.add_many(range(count), np.zeros((count, 3)))
        self._goals, self._distances = np.zeros((count, 2)), np.zeros(count)
        self._steps, self._episode_steps = np.zeros(count, np.int64), episode_steps

    def begin(self, agents: Sequence[int], generators: Sequence[np.random.Generator]) -> None:
        """Begin new episodes of some agents; all that is random comes from each one's generator."""
        starts = []
        for agent, random in zip(agents, generators, strict=True):
            x, z = _dry_place(random, (SIZE / 2, SIZE / 2), 0.4 * SIZE)
            starts.append((x, hills().height_at(x, z) + 0.2, z))
            self._goals[agent] = _dry_place(random, (x, z), FARTHEST)
        self._group.reset(starts, keys=agents, seeds=generators)
        self._steps[agents] = 0
        self._distances[agents] = np.hypot(*self._ways()[agents].T)

    def step(self, actions: Array) -> Moved:
        """Have all agents walk; actions (n, 2) are shares of `SPEED` along x and z."""
        vx, vz = SPEED * actions.T
        for _ in range(UPDATES):
            self._group.walk(vx, vz)
            self._group.update(SECONDS)
        self._steps += 1
        before, self._distances = self._distances, np.hypot(*self._ways().T)
        drowned = self._group.positions[:, 1] < WATER
        reached = (self._distances <= REACHED) & ~drowned
        rewards = before - self._distances + FOR_GOAL * reached + FOR_WATER * drowned
        terminated = reached | drowned
        truncated = ~terminated & (self._steps >= self._episode_steps)
        return Moved(rewards, terminated, truncated, reached)

    def observe(self) -> Observations:
        """Return what the agents see (n, SEEN), as numbers from -1 to 1."""
        heights = self._group.height_scan(GRID) - self._group.positions[:, 1:2]
        parts = [
            self._ways() / np.maximum(self._distances, REACHED)[:, np.newaxis],
            self._distances[:, np.newaxis] / (2 * FARTHEST),
            self._group.velocities / FASTEST,
            self._group.grounded[:, np.newaxis],
            np.nan_to_num(heights, nan=-SIGHT) / SIGHT,  # NaN: beyond the border
        ]
        return np.clip(np.concatenate(parts, axis=1), -1.0, 1.0).astype(np.float32)

    def _ways(self) -> Array:
        """Return the ways (n, 2) to the goals along x and z."""
        return self._goals - self._group.positions[:, ::2]


def _dry_place(
    random: np.random.Generator, middle: tuple[float, float], reach: float
) -> tuple[float, float]:
    """Return a random place on dry land on which a walker can stand."""
    while True:
        x, z = (middle + random.uniform(-reach, reach, 2)).tolist()
        is_walkable = hills().normal_at(x, z).y > math.cos(STEEPEST)
        if is_walkable and hills().height_at(x, z) > WATER + 0.5:
            return x, z


def _checked(name: str, actions: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a copy of actions, cut to -1 .. 1: a policy may go beyond, but not say nonsense."""
    copy = np.array(actions, dtype=np.float64)
    if copy.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {copy.shape}")
    if not np.isfinite(copy).all():
        raise ValueError(f"{name} must be finite, got {copy[~np.isfinite(copy)][0]}")
    return np.clip(copy, -1.0, 1.0)


def _spaces() -> tuple[Box, Box]:
    """Return the spaces of what an agent sees and does."""
    return Box(-1.0, 1.0, (SEEN,), np.float32), Box(-1.0, 1.0, (2,), np.float32)


class TerrainWalkEnv(gymnasium.Env[NDArray[Any], ArrayLike]):
    """One agent; its infos say by "is_success" whether it has reached the goal."""

    def __init__(self, *, episode_steps: int = 400) -> None:
        self.observation_space, self.action_space = _spaces()
        self._walkers = Walkers(1, episode_steps, threads=1)
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._walkers.begin([0], [self.np_random])
        self._is_over = False
        return self._walkers.observe()[0], {"is_success": False}

    def step(self, action: ArrayLike) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        if self._is_over:
            raise ResetNeeded("the episode is over, or none has begun: call reset()")
        moved = self._walkers.step(_checked("action", action, (2,))[np.newaxis])
        terminated, truncated = bool(moved.terminated[0]), bool(moved.truncated[0])
        self._is_over = terminated or truncated
        reward, info = float(moved.rewards[0]), {"is_success": bool(moved.reached[0])}
        return self._walkers.observe()[0], reward, terminated, truncated, info


class TerrainWalkVectorEnv(VectorEnv[Observations, ArrayLike, NDArray[Any]]):
    """Many agents: all that `SyncVectorEnv` does with as many of `TerrainWalkEnv`, in one group.

    Whose episode is over begins the next one in the next step, whatever its action.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self, num_envs: int = 1, *, episode_steps: int = 400, threads: int | None = None
    ) -> None:
        self._walkers = Walkers(num_envs, episode_steps, threads)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._random = {agent: seeding.np_random() for agent in range(num_envs)}  # and their seeds
        self._are_over = np.ones(num_envs, np.bool_)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        return tuple(generator for generator, _ in self._random.values())

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(seed for _, seed in self._random.values())

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin anew: all, or those that `options["reset_mask"]` (num_envs,) says.

        A seed s means s, s + 1, ...; None: as their generators go on.
        """
        count = self.num_envs
        if seed is None or isinstance(seed, int):
            seed = [None if seed is None else seed + agent for agent in range(count)]
        if len(seed) != count:
            raise ValueError(f"seed must be {count} seeds, got {len(seed)}")
        begin = np.array((options or {}).get("reset_mask", np.ones(count, np.bool_)))
        if begin.shape != (count,) or begin.dtype != np.bool_ or not begin.any():
            rule = f"{count} Booleans, some of them True"
            raise ValueError(f"options['reset_mask'] must be {rule}, got {begin}")
        agents = np.flatnonzero(begin).tolist()
        self._random |= {
            agent: seeding.np_random(seed[agent]) for agent in agents if seed[agent] is not None
        }
        self._begin(agents)
        self._are_over &= ~begin
        infos = {"is_success": np.zeros(count, np.bool_), "_is_success": begin}
        return self._walkers.observe(), infos

    def step(self, actions: ArrayLike) -> tuple[Observations, Array, Flags, Flags, dict[str, Any]]:
        moved = self._walkers.step(_checked("actions", actions, (self.num_envs, 2)))
        for values in moved:
            values[self._are_over] = 0
        self._begin(np.flatnonzero(self._are_over).tolist())
        self._are_over = moved.terminated | moved.truncated
        infos = {"is_success": moved.reached, "_is_success": np.ones(self.num_envs, np.bool_)}
        return self._walkers.observe(), moved.rewards, moved.terminated, moved.truncated, infos

    def _begin(self, agents: Sequence[int]) -> None:
        self._walkers.begin(agents, [self._random[agent][0] for agent in agents])


gymnasium.register(
    "TerrainWalk-v0",
    entry_point=f"{__name__}:TerrainWalkEnv",
    vector_entry_point=f"{__name__}:TerrainWalkVectorEnv",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=512)
    count: int = parser.parse_args().agents
    envs = TerrainWalkVectorEnv(count)
    envs.action_space.seed(1)
    for policy in ("at random", "straight on"):
        observations, _ = envs.reset(seed=1)
        returns, reached, goes_on = np.zeros(count), np.zeros(count), np.ones(count, np.bool_)
        steps, start = 0, time.perf_counter()
        while goes_on.any():  # the first episode of each agent
            is_random = policy == "at random"
            actions = envs.action_space.sample() if is_random else observations[:, :2]
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            returns += rewards * goes_on
            reached += infos["is_success"] & goes_on
            goes_on &= ~(terminated | truncated)
            steps += count
        per_second = steps / (time.perf_counter() - start)
        print(f"{policy}: {reached.mean():.0%} reach the goal, mean return {returns.mean():.2f},")
        print(f"  {per_second:,.0f} steps of agents a second")


if __name__ == "__main__":
    main()
