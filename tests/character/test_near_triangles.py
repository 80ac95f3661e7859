"""A ball or a capsule near one triangle: what is left out early is what nothing would come of."""

import numpy as np
import pytest

from terrain_physics._kernels.character.contacts.body import contact
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.state.work import new_work
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.ground.candidates import CANDIDATE_SIZE, NORMAL
from terrain_physics._kernels.surface.shapes import NO_TURN, capsule_body, sphere_body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN
from tests.helpers.draws import Draws
from tests.helpers.pairwise import few_or_many
from tests.oracles.geometry import closest_on_triangle, corners_of, distance_squared, vector
from tests.oracles.segments import segment_to_triangle

pytestmark = pytest.mark.kernels

RADIUS = 0.4
WORK = new_work()
BODIES = {
    "ball": sphere_body(RADIUS),
    "upright capsule": capsule_body(RADIUS, (0.0, 0.5, 0.0), (0.0, 0.5, 0.0), NO_TURN),
    "slanted capsule": capsule_body(RADIUS, (0.3, 0.4, 0.0), (0.0, 0.5, 0.0), NO_TURN),
}


def triangles(seed, count=400):
    """Give triangles around a body and below it, small, large, and slivers of any direction."""
    draws = Draws(seed)
    for number in range(count):
        size = draws.one_of([0.05, 1.0, 30.0])
        place = draws.uniform((-0.8, -1.6, -0.8), (0.8, 0.6, 0.8), 3)
        corners = place + size * draws.uniform(-1.0, 1.0, 3, 3)
        corners -= draws.uniform(0.0, 1.0) * (corners.mean(axis=0) - place)
        if number % 3 == 0:
            share, off = draws.uniform(0.0, 1.0), draws.uniform(-1.0, 1.0, 3)
            corners[2] = corners[0] + share * (corners[1] - corners[0]) + 1e-8 * size * off
        yield corners


def candidate(corners):
    """Return a triangle as the only row of candidates."""
    rows = np.zeros((1, CANDIDATE_SIZE))
    rows[0, :9] = corners.ravel()
    _, rows[0, NORMAL : NORMAL + 3] = triangle_normal(*(tuple(c) for c in corners.tolist()))
    return rows


def distance(axis, corners):
    """Return how far the body's axis is from a triangle."""
    x, y, z = axis
    segment = vector((-x, -y, -z)), vector(axis)
    return float(segment_to_triangle(segment, corners_of(corners.tolist())))


@pytest.mark.parametrize(("name", "count"), few_or_many(BODIES, 80, 400))
def test_a_triangle_is_left_out_exactly_where_it_is_out_of_reach(name, count):
    body, left_out, met = BODIES[name], 0, 0
    for corners in triangles(1, count):
        rows = candidate(corners)
        if not rows[0, NORMAL : NORMAL + 3].any():
            continue  # without an area it is no candidate
        gap = distance(body.axis, corners)
        _, _, overlap = contact(rows, 1, 0, (0.0, 0.0, 0.0), body, WORK)
        if gap > 0.0 and abs(gap - RADIUS - CONTACT_MARGIN) > 1e-9:
            assert (overlap == -np.inf) == (gap > RADIUS + CONTACT_MARGIN), corners.tolist()
            left_out, met = left_out + (overlap == -np.inf), met + (overlap > -np.inf)
    assert min(left_out, met) > 0.05 * count


@pytest.mark.parametrize(("name", "count"), few_or_many(("ball", "upright capsule"), 30, 150))
def test_a_lift_sets_a_body_on_top_of_a_triangle(name, count):
    body, beside, lifted = BODIES[name], 0, 0
    low = -body.axis[1]
    for corners in triangles(2, count):
        up = rise_onto(candidate(corners), 0, (0.0, 0.0, 0.0), body, WORK)
        exact = corners_of(corners.tolist())

        def gap(height, exact=exact):
            end = vector((0.0, low + height, 0.0))
            return float(distance_squared(end, closest_on_triangle(end, exact))) ** 0.5

        if up == -np.inf:
            beside += 1
            heights = np.linspace(corners[:, 1].min(), corners[:, 1].max(), 40) - low
            assert min(map(gap, heights.tolist())) > RADIUS - 1e-9, corners.tolist()
        else:
            lifted += 1
            assert gap(up) == pytest.approx(RADIUS, abs=1e-7), corners.tolist()
            assert min(gap(up + more) for more in (1e-3, 0.1, 1.0, 10.0)) > RADIUS
    assert min(beside, lifted) > 0.1 * count
