"""The example for reinforcement learning: Gymnasium's rules, and many agents as single ones."""

import math
from typing import Any

import numpy as np
import pytest

from tests.helpers.extras import library

library("gymnasium", "gym")

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from demo.examples import gym_env
from demo.examples.gym_env import TerrainWalkEnv, TerrainWalkVectorEnv, Walkers

COUNT = 6
SHORT = 40  # steps of an episode

Array = np.ndarray[Any, np.dtype[Any]]
Place = tuple[float, float]
Answer = tuple[Any, ...]


def some_actions(steps: int, seed: int = 4) -> Array:
    """Return actions (steps, COUNT, 2) of agents that keep their ways for a while."""
    ways = np.random.default_rng(seed).uniform(-1.5, 1.5, (steps // 10 + 1, COUNT, 2))
    return np.repeat(ways, 10, axis=0)[:steps]


def history(envs: Any, actions: Array, seed: Any = 1) -> list[Answer]:
    return [envs.reset(seed=seed), *map(envs.step, actions)]


def both() -> "tuple[TerrainWalkVectorEnv, SyncVectorEnv[Any, Any]]":
    singles = [lambda: TerrainWalkEnv(episode_steps=SHORT)] * COUNT
    return TerrainWalkVectorEnv(COUNT, episode_steps=SHORT), SyncVectorEnv(singles)


def twins() -> tuple[TerrainWalkVectorEnv, TerrainWalkVectorEnv]:
    one, other = TerrainWalkVectorEnv(COUNT), TerrainWalkVectorEnv(COUNT)
    one.reset(seed=1)
    other.reset(seed=1)
    return one, other


def assert_same(one: Any, other: Any) -> None:
    """Compare answers: types, and every bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), [other[key] for key in one]
    if isinstance(one, (tuple, list)):
        for value, another in zip(one, other, strict=True):
            assert_same(value, another)
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


def put(walkers: Walkers, agent: int, place: Place, goal: Place) -> None:
    """Put an agent on the ground somewhere, and its goal somewhere else."""
    walkers._group.teleport([(place[0], gym_env.hills().height_at(*place), place[1])], keys=[agent])
    walkers._goals[agent] = goal
    walkers._distances[agent] = math.dist(place, goal)


def levelest(*, dry: bool) -> Place:
    """Return the most level place of the dry land, or of the lakes."""
    heights = gym_env.hills().heights[10:-10, 10:-10]
    steepness = np.hypot(*np.gradient(heights))
    steepness[heights < 2 if dry else heights > -1] = np.inf
    row, column = np.unravel_index(steepness.argmin(), steepness.shape)
    return 2.0 * (float(column) + 10), 2.0 * (float(row) + 10)


DRY, WET = levelest(dry=True), levelest(dry=False)
NEAR_DRY = DRY[0] + 1.2, DRY[1]


# Gymnasium's rules


def test_gymnasium_finds_nothing_to_warn_of() -> None:
    check_env(gymnasium.make("TerrainWalk-v0").unwrapped)


def test_gymnasium_makes_many() -> None:
    envs = gymnasium.make_vec(
        "demo.examples.gym_env:TerrainWalk-v0", num_envs=COUNT, episode_steps=7
    )
    assert type(envs) is TerrainWalkVectorEnv
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    *_, (_, _, terminated, truncated, _) = history(envs, some_actions(7))
    assert (terminated | truncated).all()


def test_spaces_are_those_of_single_ones() -> None:
    many, singles = both()
    for name in ("observation_space", "action_space"):
        assert getattr(many, name) == getattr(singles, name)
        assert getattr(many, f"single_{name}") == getattr(singles, f"single_{name}")


def test_observations_are_of_their_space() -> None:
    envs = TerrainWalkVectorEnv(COUNT, episode_steps=SHORT)
    for observations, *_ in history(envs, some_actions(100)):
        assert observations in envs.observation_space


def test_wrappers_of_gymnasium_count_episodes() -> None:
    envs = RecordEpisodeStatistics(TerrainWalkVectorEnv(COUNT, episode_steps=SHORT))
    (*_, infos) = history(envs, np.zeros((SHORT, COUNT, 2)))[-1]
    assert infos["episode"]["l"].tolist() == [SHORT] * COUNT


def test_who_is_not_under_way_needs_a_reset() -> None:
    env = TerrainWalkEnv(episode_steps=1)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step((0, 0))
    env.reset(seed=1)
    assert env.step((0, 0))[2:4] == (False, True)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step((0, 0))


# Many are single ones


def test_many_are_single_ones_over_several_episodes() -> None:
    many, singles = both()
    actions = some_actions(4 * SHORT)
    assert_same(history(many, actions, 5), history(singles, actions, 5))
    assert many.np_random_seed == singles.np_random_seed == tuple(range(5, 5 + COUNT))
    for one, other in zip(many.np_random, singles.np_random, strict=True):
        assert one.bit_generator.state == other.bit_generator.state


def test_many_are_single_ones_where_they_arrive_and_drown() -> None:
    many, singles = both()
    many.reset(seed=5)
    singles.reset(seed=5)
    for agent, place, goal in ((1, DRY, NEAR_DRY), (2, WET, DRY)):
        put(many._walkers, agent, place, goal)
        put(singles.envs[agent].unwrapped._walkers, 0, place, goal)  # type: ignore[attr-defined]
    actions = some_actions(2 * SHORT)
    actions[:10, 1] = 1, 0
    terminated = np.zeros(COUNT, np.bool_)
    for action in actions:
        one, other = many.step(action), singles.step(action)
        assert_same(one, other)
        terminated |= one[2]
    assert terminated[1:3].all()


def test_many_are_single_ones_whatever_begins_anew() -> None:
    many, singles = both()
    assert_same(many.reset(seed=[7, 7, 1, 2, 3, 4]), singles.reset(seed=[7, 7, 1, 2, 3, 4]))
    assert_same(many.reset(), singles.reset())
    begin = np.array([True, False, False, True, False, True])
    for seed in (None, 9, [1, None, None, None, None, 2]):
        for action in some_actions(SHORT + 1):  # ends some, which begin anew at the next step
            assert_same(many.step(action), singles.step(action))
        answers = [envs.reset(seed=seed, options={"reset_mask": begin}) for envs in (many, singles)]
        assert_same(*answers)


def test_the_same_seed_gives_the_same_bits() -> None:
    envs, actions = TerrainWalkVectorEnv(COUNT, episode_steps=SHORT), some_actions(2 * SHORT)
    first = history(envs, actions)
    assert_same(history(envs, actions), first)
    assert_same(history(TerrainWalkVectorEnv(COUNT, episode_steps=SHORT), actions), first)
    assert not np.array_equal(envs.reset(seed=2)[0], first[0][0])
    assert not np.array_equal(envs.reset()[0], envs.reset()[0])


def test_threads_change_no_bit() -> None:
    actions = np.tile(some_actions(60), (1, 40, 1))
    one, two = (
        history(TerrainWalkVectorEnv(40 * COUNT, episode_steps=SHORT, threads=threads), actions)
        for threads in (1, 2)
    )
    assert_same(one, two)


def test_who_begins_anew_leaves_others_untouched() -> None:
    (undisturbed, disturbed), actions = twins(), some_actions(30)
    begin = np.arange(COUNT) % 2 == 0
    for step, action in enumerate(actions):
        one, other = undisturbed.step(action), disturbed.step(action)
        assert_same(one[0][~begin], other[0][~begin])
        assert_same(one[1][~begin], other[1][~begin])
        if step == 10:
            observations, infos = disturbed.reset(options={"reset_mask": begin})
            assert_same(observations[~begin], other[0][~begin])
            assert not (observations[begin] == other[0][begin]).all(axis=1).any()
            assert_same(infos["_is_success"], begin)


# Episodes


def test_an_episode_is_truncated_and_the_next_begins_in_the_next_step() -> None:
    envs = TerrainWalkVectorEnv(COUNT, episode_steps=SHORT)
    answers = history(envs, np.zeros((SHORT + 2, COUNT, 2)))
    for number, (observations, rewards, terminated, truncated, _) in enumerate(answers[1:], 1):
        assert not terminated.any()
        assert (truncated == (number == SHORT)).all()
        if number == SHORT:  # the last one of the episode: still where it stood
            assert np.abs(observations - answers[SHORT - 1][0]).max() < 1e-3
        if number == SHORT + 1:
            assert (np.abs(observations - answers[SHORT][0]).max(axis=1) > 0.1).all()
            assert not rewards.any()


def test_who_arrives_has_ended_in_the_last_step_too() -> None:
    env = TerrainWalkEnv(episode_steps=SHORT)
    env.reset(seed=1)
    for _ in range(SHORT - 1):
        env.step((0, 0))
    put(env._walkers, 0, DRY, (DRY[0] + 1.01, DRY[1]))
    _, reward, *ends, info = env.step((1, 0))
    assert ends == [True, False]
    assert info == {"is_success": True}
    assert reward == pytest.approx(gym_env.FOR_GOAL + 0.08, abs=1e-3)


@pytest.mark.parametrize("place", [WET, (255.95, 128.0)], ids=["water", "border"])
def test_who_falls_into_water_or_off_the_land_has_ended(place: Place) -> None:
    env = TerrainWalkEnv()
    env.reset(seed=1)
    put(env._walkers, 0, place, DRY)
    for _ in range(300):
        _, reward, terminated, truncated, info = env.step((1, 0))
        if terminated:
            break
    assert (terminated, truncated, info) == (True, False, {"is_success": False})
    assert reward == pytest.approx(gym_env.FOR_WATER, abs=0.2)


def test_who_drowns_at_the_goal_has_not_reached_it() -> None:
    env = TerrainWalkEnv()
    env.reset(seed=1)
    put(env._walkers, 0, WET, WET)
    _, _, *ends, info = env.step((0, 0))
    assert ends == [True, False]
    assert info == {"is_success": False}


def test_rewards_add_up_to_the_way_made_to_the_goal() -> None:
    env = TerrainWalkEnv(episode_steps=SHORT)
    env.reset(seed=3)
    x, z = env._walkers._goals[0].tolist()
    begin = math.dist((x, z), env._walkers._group.positions[0, ::2])
    total = sum(env.step(action)[1] for action in some_actions(SHORT)[:, 0])
    end = math.dist((x, z), env._walkers._group.positions[0, ::2])
    assert total == pytest.approx(begin - end, abs=1e-9)
    assert abs(begin - end) > 0.1


def test_goals_are_within_reach_on_dry_walkable_land() -> None:
    envs, land = TerrainWalkVectorEnv(300), gym_env.hills()
    envs.reset(seed=1)
    goals, starts = envs._walkers._goals, envs._walkers._group.positions
    for (x, z), (start_x, y, start_z) in zip(goals.tolist(), starts.tolist(), strict=True):
        assert 0 < y - land.height_at(start_x, start_z) < 0.5
        assert max(abs(x - start_x), abs(z - start_z)) <= gym_env.FARTHEST
        for place in ((x, z), (start_x, start_z)):
            assert land.height_at(*place) > gym_env.WATER
            assert math.acos(land.normal_at(*place).y) < gym_env.STEEPEST


def test_an_observation_is_what_is_around() -> None:
    env, land = TerrainWalkEnv(), gym_env.hills()
    env.reset(seed=2)
    place, goal = (2.5, DRY[1]), (10.0, DRY[1] + 10)
    put(env._walkers, 0, place, goal)
    seen, *_ = env.step((0.5, -0.25))
    ((x, y, z),) = env._walkers._group.positions.tolist()
    (velocity,) = env._walkers._group.velocities.tolist()
    distance = math.hypot(goal[0] - x, goal[1] - z)
    numbers = [(goal[0] - x) / distance, (goal[1] - z) / distance, distance / 32]
    numbers += [speed / 8 for speed in velocity] + [float(env._walkers._group.grounded[0])]
    for dz in range(-4, 5):
        for dx in range(-4, 5):
            height = land.height_at(x + dx, z + dz)
            numbers.append(-1.0 if math.isnan(height) else (height - y) / 4)
    assert seen == pytest.approx(np.clip(numbers, -1, 1), abs=1e-6)
    assert (seen[7::9] == -1).all()  # beyond the border
    assert velocity[0] == 2
    assert velocity[2] == -1


def test_who_is_at_its_goal_sees_no_direction() -> None:
    walkers = TerrainWalkVectorEnv(1)._walkers
    put(walkers, 0, DRY, DRY)
    assert walkers.observe()[0, :3].tolist() == [0, 0, 0]


# Bad input


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ((0, math.nan), "action must be finite, got nan"),
        ((-math.inf, 0), "action must be finite, got -inf"),
        ((0, 0, 0), r"action must have shape \(2,\), got \(3,\)"),
        (((0, 0),), r"action must have shape \(2,\), got \(1, 2\)"),
    ],
)
def test_bad_actions_are_refused_and_change_nothing(action: Any, message: str) -> None:
    env, other = TerrainWalkEnv(), TerrainWalkEnv()
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(ValueError, match=f"^{message}$"):
        env.step(action)
    one, another = env.step((1, 0)), other.step((1, 0))
    assert one[1:] == another[1:]
    assert_same(one[0], another[0])


def test_bad_actions_of_many_are_refused_and_change_nothing() -> None:
    one, other = twins()
    bad = np.zeros((COUNT, 2))
    bad[3, 1] = math.nan
    with pytest.raises(ValueError, match=r"^actions must be finite, got nan$"):
        one.step(bad)
    with pytest.raises(ValueError, match=r"^actions must have shape \(6, 2\), got \(2, 6\)$"):
        one.step(bad.T)
    assert_same(one.step(np.zeros((COUNT, 2))), other.step(np.zeros((COUNT, 2))))


def test_actions_beyond_their_space_are_cut() -> None:
    one, other = twins()
    actions = some_actions(1)[0]
    assert_same(one.step(3 * actions), other.step(np.clip(3 * actions, -1, 1)))


@pytest.mark.parametrize(
    ("seed", "options", "message"),
    [
        ([1, 2], None, "seed must be 6 seeds, got 2"),
        (1, {"reset_mask": np.ones(5, np.bool_)}, "reset_mask"),
        (1, {"reset_mask": np.ones(COUNT)}, "reset_mask"),
        (1, {"reset_mask": np.zeros(COUNT, np.bool_)}, "some of them True"),
        (-3, None, "(?i)seed"),
    ],
)
def test_bad_resets_are_refused_and_change_nothing(seed: Any, options: Any, message: str) -> None:
    one, other = twins()
    with pytest.raises((ValueError, gymnasium.error.Error), match=message):
        one.reset(seed=seed, options=options)
    assert_same(one.reset(), other.reset())


def test_bad_numbers_of_agents_and_steps_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^num_envs must be >= 1, got 0$"):
        TerrainWalkVectorEnv(0)
    with pytest.raises(ValueError, match=r"^episode_steps must be >= 1, got 0$"):
        TerrainWalkEnv(episode_steps=0)
