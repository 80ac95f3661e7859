"""The resolution of the demo's picture follows the times of frames, and settles."""

from itertools import pairwise

import numpy as np
import pytest

from demo.resolution import (
    BUDGET,
    MOST_PATIENCE,
    QUICK_FRAMES,
    SCALES,
    SLOW_FRAMES,
    FrameTime,
    Resolution,
)

MS = 1e-3


def frame(
    drawing: float, *, physics: float = 0.0, steps: int = 2, card: float | None = None,
    showing: float = 0.0,
) -> FrameTime:  # fmt: skip
    """Return the time of a frame, from milliseconds."""
    card = None if card is None else MS * card
    return FrameTime(MS * physics, steps, MS * drawing, 0.0, MS * showing, card)


def play(resolution: Resolution, frames: int, *, fixed: float, pixels: float, noise: float = 0.0):
    """Draw frames that take so many ms and so many for the pixels of a whole picture."""
    random = np.random.default_rng(1)
    scales = []
    for _ in range(frames):
        scales.append(resolution.scale)
        ms = fixed + pixels * resolution.scale**2 + noise * random.standard_normal()
        resolution.add(frame(ms))
    return scales


def changes(scales) -> int:
    return sum(a != b for a, b in pairwise(scales))


@pytest.mark.parametrize(
    ("fixed", "pixels", "scale"),
    [(2.0, 10.0, 1.0), (3.0, 16.0, 0.85), (3.0, 24.0, 0.7), (4.0, 30.0, 0.6), (4.0, 45.0, 0.5)],
)
def test_it_settles_where_frames_are_in_time(fixed, pixels, scale) -> None:
    resolution = Resolution()
    scales = play(resolution, 4000, fixed=fixed, pixels=pixels, noise=0.4)
    assert resolution.scale == scale
    settled = scales[3 * SLOW_FRAMES :]
    assert set(settled) == {scale}
    assert scales == sorted(scales, reverse=True)  # straight there


def test_stalls_change_nothing() -> None:
    resolution = Resolution()
    for number in range(3000):
        stalls = number % 40 in {0, 1, 2}  # a scene that loads, another program
        resolution.add(frame(400.0 if stalls else 9.0))
    assert resolution.scale == 1.0


def test_it_goes_finer_a_step_at_a_time_after_two_seconds_each() -> None:
    resolution = Resolution()
    play(resolution, 500, fixed=2.0, pixels=70.0)
    assert resolution.scale == SCALES[0]
    scales = play(resolution, 3000, fixed=2.0, pixels=4.0)
    assert scales[int(0.9 * QUICK_FRAMES)] == SCALES[0]
    assert list(dict.fromkeys(scales)) == list(SCALES)
    assert changes(scales) == len(SCALES) - 1


def test_a_step_that_turned_out_too_fine_is_tried_ever_more_rarely() -> None:
    """Here what a finer picture costs is more than its pixels tell."""
    resolution = Resolution()
    tries = []
    for number in range(20_000):
        before = resolution.scale
        resolution.add(frame(18.0 if resolution.scale > 0.7 else 5.0))
        if resolution.scale > before:
            tries.append(number)
    gaps = np.diff(tries)
    assert (np.diff(gaps) >= 0).all()
    assert gaps[0] < 3 * QUICK_FRAMES
    assert gaps[-1] >= MOST_PATIENCE * QUICK_FRAMES
    assert len(tries) < 16


def test_a_coarser_picture_does_not_help_what_is_slow_elsewhere() -> None:
    resolution = Resolution()
    for _ in range(500):
        resolution.add(frame(3.0, physics=40.0))
    assert resolution.scale == 1.0


def test_physics_that_catches_up_counts_as_at_60_frames_a_second() -> None:
    fixed, drawing = frame(5.0, physics=20.0, steps=5).needed()
    assert fixed == pytest.approx(8.0 * MS)
    assert drawing == pytest.approx(5.0 * MS)
    assert frame(5.0, physics=0.0, steps=0).needed() == (0.0, 5.0 * MS)


def test_a_graphics_card_counts_where_it_is_slower_than_the_processor() -> None:
    # Showing may wait for the screen: it tells nothing.
    assert frame(3.0, card=22.0, showing=16.0).needed() == (0.0, 22.0 * MS)
    assert frame(3.0, card=1.0, showing=16.0).needed() == (3.0 * MS, 0.0)
    resolution = Resolution()
    for _ in range(100):
        resolution.add(frame(3.0, card=30.0 * resolution.scale**2))
    assert resolution.scale == 0.7
    assert 30.0 * MS * 0.7**2 < BUDGET


def test_a_fixed_share_stays() -> None:
    resolution = Resolution(0.7)
    play(resolution, 1000, fixed=2.0, pixels=4.0)
    assert resolution.scale == 0.7
    for share in (0.4, 1.1, float("nan")):
        with pytest.raises(ValueError, match=r"scale must be from 0\.5 to 1"):
            Resolution(share)
