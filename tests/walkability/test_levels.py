"""Levels of games: what a map gives a way for is walked, and what is walked it gives a way for."""

import pytest

from tests.helpers.examples import rest_is_full, times
from tests.helpers.levels import (
    BODIES,
    WIDTHS,
    drawn_paths,
    led,
    level,
    map_of,
    roamed,
    unreachable,
)

RATES = (20, 60, 144)


def words_of(seed: int, body: str, count: int) -> list[str]:
    """Return what becomes of characters that are led along paths of a level, at each rate."""
    paths = map_of(level(seed, WIDTHS[body]), body, rates=RATES)
    return [led(paths, path, rate) for path in drawn_paths(paths, seed, count) for rate in RATES]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("seed", rest_is_full(range(24)))
def test_all_paths_of_a_level_are_led_at_each_rate(body: str, seed: int) -> None:
    words = words_of(seed, body, times(9))
    assert words
    assert set(words) == {"arrived"}


@pytest.mark.long
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_nearly_all_paths_of_a_thousand_levels_are_led(body: str, first: int) -> None:
    words = [word for seed in range(first, first + 50) for word in words_of(seed, body, 9)]
    assert words.count("arrived") >= 0.995 * len(words)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("seed", rest_is_full([*range(31), 36]))
def test_a_character_that_roams_takes_no_step_that_a_map_calls_no_way(body: str, seed: int) -> None:
    paths = map_of(level(seed, WIDTHS[body]), body)
    steps = roamed(paths, seed, 3 * times(67), times(20))
    assert len(steps) > 40
    # One of 72,066 is: in level 10, of a box in a doorway with a block behind it. From its place it
    # slides along the block past the next place, 27 cm from it where 25 are near, as the map says.
    # Of 121 starts within 25 cm of its place 49 end there, and one of these was roamed.
    assert len(unreachable(paths, steps)) <= (seed == 10)
