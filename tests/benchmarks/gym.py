"""Agents of the example for reinforcement learning: steps a second, and what takes the time."""

import statistics
import time
from typing import Any

from demo.examples.gym_env import GRID, UPDATES, TerrainWalkVectorEnv
from terrain_physics import CharacterGroup
from tests.benchmarks.timing import print_table


class TimedGroup:
    """A group of which it is known how long its methods took in the step under way."""

    def __init__(self, group: CharacterGroup) -> None:
        self._group = group
        self.seconds = dict.fromkeys(("walk", "update", "height_scan"), 0.0)

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._group, name)
        if name not in self.seconds:
            return asked

        def timed(*arguments: Any) -> Any:
            start = time.perf_counter()
            answer = asked(*arguments)
            self.seconds[name] += time.perf_counter() - start
            return answer

        return timed


def learning(count: int, threads: int, steps: int) -> None:
    envs = TerrainWalkVectorEnv(count, threads=threads)
    envs.action_space.seed(1)
    envs.reset(seed=1)
    group = envs._walkers._group
    taken: list[tuple[float, ...]] = []
    for _ in range(50 + steps):
        actions = envs.action_space.sample()
        timed: Any = TimedGroup(group)
        envs._walkers._group = timed
        start = time.perf_counter()
        envs.step(actions)
        whole = time.perf_counter() - start
        parts = timed.seconds
        updates, scan = parts["walk"] + parts["update"], parts["height_scan"]
        taken.append((whole, updates, scan, whole - updates - scan))
    names = "a step", f"{UPDATES} updates", f"a scan of {len(GRID)} heights", "all the rest"
    medians = map(statistics.median, zip(*taken[50:], strict=True))  # after they have landed
    each = {name: 1e6 * seconds / count for name, seconds in zip(names, medians, strict=True)}
    rows = [(name, f"{microseconds:6.2f} us each") for name, microseconds in each.items()]
    rows.append(("so", f"{1e6 / each['a step']:,.0f} steps a second"))
    print_table(f"{count:,} agents, {threads} thread{'s'[: threads > 1]}", rows)


def main(*, smoke: bool = False) -> None:
    for threads in (1, 2):
        learning(64 if smoke else 1_024, threads, 5 if smoke else 200)


if __name__ == "__main__":
    main()
