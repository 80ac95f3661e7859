"""Leading a crowd along a field, and a hero along a path: one call, without the update."""

from collections.abc import Callable

import numpy as np

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    Walkability,
)
from tests.benchmarks.timing import median_seconds, print_table

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def main(*, smoke: bool = False) -> None:
    x, z = np.meshgrid(np.arange(97), np.arange(97))
    land = HeightMap(2.0 * np.sin(x / 7) + 1.5 * np.cos(z / 9))
    paths = Walkability(land, BODY, slope_limit=0.8)
    paths.update()
    field, path = paths.field([(48, 48)]), paths.path((4, 4), (90, 90))
    assert path is not None
    places = paths.positions[paths.standing]
    starts = places[np.random.default_rng(1).integers(len(places), size=1000)]
    crowd = CharacterGroup(land, BODY, threads=1, rules=paths.rules)
    crowd.add_many(range(1000), starts)
    hero = CharacterMovement(land, BODY, position=path.points[0], rules=paths.rules)
    for _ in range(30):
        field.lead(crowd)
        crowd.update(1 / 60)
        path.lead(hero)
        hero.update(1 / 60)
    calls: dict[str, Callable[[], object]] = {
        "1,000 members by a field": lambda: field.lead(crowd),
        "a hero": lambda: path.lead(hero),
    }
    times = median_seconds(calls, 3 if smoke else 101)
    rows = [(label, f"{1e6 * seconds:8.1f} us") for label, seconds in times.items()]
    print_table("led over smooth hills", rows)


if __name__ == "__main__":
    main()
