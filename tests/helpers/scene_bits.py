"""The reference scene frame by frame."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import terrain_physics as tp
from demo.scenery.scenes import load_land, reference
from tests.helpers.draws import Draws

Groups = dict[str, Callable[[], Iterator[Any]]]

FRAMES = 200


def _reference(steepness: float, **rules: Any) -> Iterator[Any]:
    """Give every frame of the scene; boxes are turned by fractions, without a sine."""
    draws = Draws(1)
    movers = reference(load_land(steepness), drop_from=12.0 * steepness, **rules)
    for mover in movers:
        if isinstance(mover.collider, tp.BoxCollider):
            mover.rotation = draws.turn()
    for frame in range(FRAMES):
        for mover in movers:
            yield mover.update(1 / 60), mover.position64, mover.velocity
            if frame % 8 == 7:
                report = mover.ground_report()
                yield mover.state_hash(), report.state, report.normal, report.point
                yield report.triangle, report.material, report.air_time, report.landing_speed
    for mover in movers:
        yield mover.state_hash(), mover.constraint_planes()


GROUPS: Groups = {
    "reference": partial(_reference, 1.0),
    "reference, steep, sum": partial(_reference, 3.0, ground_rule="sum"),
    "reference, sum, simultaneous": partial(
        _reference, 1.0, ground_rule="sum", resolver="simultaneous", slope_speed="surface"
    ),
}
