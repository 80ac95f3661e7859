"""The deepest contact of a shape whose middle is in a map leads out of the map, where one does."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from terrain_physics import Boxes, Capsule, Capsules, Ground, HeightMap, Sphere, TriangleMesh
from tests.helpers.draws import Draws
from tests.oracles.deepest import deepest_rows, is_in_map

SIDE, COUNT = 13, 40  # samples, shapes
GROUNDS = ("map", "map of a ground", "map and mesh", "two maps", "two levels")


class Deep(NamedTuple):
    """The result of a case."""

    buried: int  # shapes with their middles in a map and a contact
    led_out: int  # of these, the ones with a contact that leads up
    down: int  # of these, the ones whose deepest contact does not
    wrong: int  # shapes whose deepest contact is another than that of the oracle


def rough_map(rng: Draws, **options: Any) -> HeightMap:
    heights = rng.uniform(0.2, 3.0) * rng.normal(SIDE, SIDE)
    if rng.chance(0.3):
        heights[rng.below(SIDE), rng.below(SIDE)] = np.nan
    return HeightMap(
        heights,
        thickness=rng.one_of((np.inf, 1.0)),
        diagonal=rng.one_of(("a-c", "b-d", "alternating")),
        **options,
    )


def drawn_ground(rng: Draws) -> tuple[Any, list[HeightMap]]:
    """Return a ground and its maps."""
    kind = rng.one_of(GROUNDS)
    if kind in {"two maps", "two levels"}:
        one = rough_map(rng, border="open")
        other = rough_map(rng, border="open", origin=(0.0, 0.7 * (kind == "two levels"), 0.0))
        if kind == "two maps":  # side by side, united by the samples that they share
            heights = other.heights.copy()
            heights[:, 0] = one.heights[:, -1]
            other = HeightMap(
                heights,
                thickness=one.thickness,
                border="open",
                origin=(SIDE - 1.0, 0.0, 0.0),
            )
        return Ground([one, other]), [one, other]
    land = rough_map(rng, border=rng.one_of(("open", "extend")))
    if kind == "map":
        return land, [land]
    starts = rng.uniform(0.0, (SIDE, 1.0, SIDE), 60, 3)
    corners = starts[:, np.newaxis] + rng.normal(60, 3, 3)
    mesh = TriangleMesh(corners.reshape(-1, 3), np.arange(180).reshape(-1, 3))
    return Ground([land, mesh] if kind == "map and mesh" else [land]), [land]


def drawn_shapes(rng: Draws, surface: HeightMap) -> tuple[Any, Any, Any]:
    """Return shapes about the surface of a map, their middles, and the same one by one."""
    places = rng.uniform(-1.0, SIDE, COUNT, 3)
    radii = rng.uniform(0.1, 2.0) * rng.uniform(0.3, 1.0, COUNT)
    levels = np.nan_to_num(surface.height_at(places[:, 0], places[:, 2]))
    places[:, 1] = levels - rng.uniform(-0.3, 1.0, COUNT) * radii
    kind = rng.below(3)
    if kind == 0:
        rows = np.column_stack([places, radii])
        return rows, places, [Sphere(row[:3], row[3]) for row in rows]
    if kind == 1:
        aside = rng.normal(COUNT, 3)
        rows = np.column_stack([places - aside, places + aside, radii])
        middles = 0.5 * rows[:, :3] + 0.5 * rows[:, 3:6]
        return Capsules(rows), middles, [Capsule(row[:3], row[3:6], row[6]) for row in rows]
    halves = radii[:, np.newaxis] * rng.uniform(0.3, 1.0, COUNT, 3)
    return Boxes(places, halves), places, []


def deep(seed: int) -> Deep:
    rng = Draws(seed)
    ground, maps = drawn_ground(rng)
    shapes, middles, alone = drawn_shapes(rng, maps[0])
    x, y, z = middles.T.copy()
    inside = np.any([is_in_map(m.height_at(x, z), m.thickness, y) for m in maps], axis=0)
    every, found = ground.contacts(shapes), ground.contacts(shapes, keep="deepest")
    wanted = deepest_rows(every.query, every.depth, every.normal[:, 1], inside)
    buried = inside[found.query]
    has_way_out = np.isin(found.query, every.query[every.normal[:, 1] > 0.0])
    wrong = sum(not _is_one_like(found, row, every, best) for row, best in enumerate(wanted))
    for row in range(0, len(found) if alone else 0, 5):
        one = ground.contacts(alone[found.query[row]], keep="deepest")
        wrong += _differs(one, 0, found, row)
    return Deep(
        int(buried.sum()),
        int((buried & has_way_out).sum()),
        int((buried & has_way_out & (found.normal[:, 1] <= 0.0)).sum()),
        wrong + (len(found) != len(wanted)),
    )


def _is_one_like(found: Any, row: int, every: Any, best: int) -> bool:
    """Tell whether a contact is the best, or one as deep: in united maps their order decides."""
    ties = np.flatnonzero((every.query == every.query[best]) & (every.depth == every.depth[best]))
    return not all(_differs(found, row, every, int(tie)) for tie in ties)


def _differs(one: Any, row: int, other: Any, other_row: int) -> bool:
    return any(
        getattr(one, name)[row].tobytes() != getattr(other, name)[other_row].tobytes()
        for name in ("triangle", "penetration", "normal", "point", "material")
    )


def total(seeds: range) -> Deep:
    return Deep(*(sum(column) for column in zip(*map(deep, seeds), strict=True)))


def test_no_deepest_contact_leads_into_a_map() -> None:
    found = total(range(25))
    assert (found.down, found.wrong) == (0, 0)
    assert found.buried > 300
    assert found.led_out > 300


@pytest.mark.long
def test_no_deepest_contact_of_many_leads_into_a_map() -> None:
    found = total(range(25, 2500))
    assert (found.down, found.wrong) == (0, 0)
