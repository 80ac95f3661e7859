"""Candidates near a box and at a corner, against brute force over arrays.

As plain Python: compiled, these are parts of other kernels, and nothing that Python calls.
"""

import importlib.util
from types import ModuleType
from unittest.mock import patch

import numpy as np
import pytest

from terrain_physics._kernels import _jit
from terrain_physics._kernels.ground import nearby
from terrain_physics._kernels.ground.candidates import CANDIDATE_SIZE


def plain(module: ModuleType) -> ModuleType:
    """Return a module of kernels whose functions are not compiled."""
    spec = importlib.util.spec_from_file_location(f"plain_{module.__name__}", str(module.__file__))
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    with patch.object(_jit, "kernel", lambda function=None, **_: function or (lambda it: it)):
        spec.loader.exec_module(copy)
    return copy


_PLAIN = plain(nearby)
at_corner, candidate_at, next_at = _PLAIN.at_corner, _PLAIN.candidate_at, _PLAIN.next_at
next_near, put_runs, widened = _PLAIN.next_near, _PLAIN.put_runs, _PLAIN.widened
rows_needed, FEW = _PLAIN.rows_needed, nearby.FEW

SIZES = (FEW, FEW + 1, 300, 700)


def rows_of(corners):
    """Return candidates with corners (n, 3, 3) and all that lies behind them."""
    count = len(corners)
    rows = np.full((rows_needed(count), CANDIDATE_SIZE), np.nan)
    rows[:count, :9] = corners.reshape(count, 9)
    if count > FEW:
        put_runs(rows, count)
    return rows


def soup(count, seed=1):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.uniform(-2, 2, (count, 1, 3)), axis=0)
    return places + rng.normal(0, 0.1, (count, 3, 3))


def sheet(count):
    """Return triangles of a grid, of which six share most corners."""
    x, z = np.divmod(np.arange(count // 2 + 1), 20)
    low, high = np.stack([x, 0 * x, z], axis=-1), np.stack([x + 1, 0 * x, z + 1], axis=-1)
    side, other = np.stack([x + 1, 0 * x, z], axis=-1), np.stack([x, 0 * x, z + 1], axis=-1)
    halves = [np.stack([low, high, side], axis=1), np.stack([low, other, high], axis=1)]
    return np.stack(halves, axis=1).reshape(-1, 3, 3)[:count] / 7.0


def near(rows, count, lower, upper):
    found, k = [], next_near(rows, count, 0, lower, upper)
    while k < count:
        found.append(k)
        k = next_near(rows, count, k + 1, lower, upper)
    return found


@pytest.mark.parametrize("count", SIZES)
def test_what_is_passed_over_is_outside_and_order_is_kept(count):
    corners = soup(count)
    rows, rng = rows_of(corners), np.random.default_rng(2)
    low, high = corners.min(axis=1), corners.max(axis=1)
    looked_at = 0
    for _ in range(60):
        lower = rng.uniform(-2.5, 2, 3)
        upper = lower + rng.uniform(0, 1.5, 3)
        if rng.integers(3) == 0:
            upper[1] = np.inf
        meets = ((low <= upper) & (high >= lower)).all(axis=1)
        found = near(rows, count, *widened(tuple(lower.tolist()), tuple(upper.tolist())))
        assert found == sorted(found)
        assert set(np.flatnonzero(meets)) <= set(found)
        looked_at += len(found)
    assert looked_at == 60 * count if count <= FEW else looked_at < 40 * count


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("shape", [soup, sheet])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e5])
def test_all_that_share_a_corner_are_found(count, shape, offset):
    corners = shape(count) + offset
    rows, slack = rows_of(corners), 1e-9
    visits = 0
    for place in corners[:: count // 40, 0]:
        wanted = np.flatnonzero((np.abs(corners - place).sum(axis=2) <= slack).any(axis=1))
        listed, walk = at_corner(rows, count, tuple(place.tolist()), slack)
        found = []
        while walk >= 0:
            found.append(candidate_at(listed, walk))
            walk = next_at(rows, count, listed, walk)
        assert set(wanted) <= set(found)
        assert set(found) <= set(range(count))
        visits += len(found)
    if count > FEW:
        assert visits < 12 * 41  # not all of them each time


def test_corners_very_far_off_or_all_in_one_place_are_found():
    corners = soup(200)
    corners[::3] *= 1e30
    corners[100:] = corners[100:] * 1e-12 + 0.5
    rows = rows_of(corners)
    for k in (0, 1, 120, 199):
        place = tuple(corners[k, 1].tolist())
        listed, walk = at_corner(rows, 200, place, 0.0)
        found = set()
        while walk >= 0:
            found.add(candidate_at(listed, walk))
            walk = next_at(rows, 200, listed, walk)
        assert k in found
