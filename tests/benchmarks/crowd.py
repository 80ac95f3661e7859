"""Many characters walking: a group against single updates, on one thread and on all; crowds."""

import math

import numpy as np

from demo.scenery.scenes import load_land
from terrain_physics import CharacterMovement, HeightMap, SphereCollider
from terrain_physics.character.colliders import CapsuleCollider, Collider
from terrain_physics.group.crowd import Crowd, CrowdOptions
from terrain_physics.group.group import CharacterGroup
from terrain_physics.surface.surface import queries_of
from tests.benchmarks.timing import median_seconds, print_table

FRAME = 1 / 60
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


def _hills() -> HeightMap:
    x, z = np.meshgrid(np.arange(513), np.arange(513))
    bumps = np.random.default_rng(1).normal(0.0, 0.05, (513, 513))
    return HeightMap(2.0 * np.sin(x / 7) + 1.5 * np.cos(z / 9) + bumps)


def _group(land: HeightMap, collider: Collider, count: int, threads: int | None) -> CharacterGroup:
    group = CharacterGroup(land, collider, threads=threads)
    places = np.random.default_rng(2).uniform(30, 480, (count, 2))
    for i, (x, z) in enumerate(places.tolist()):
        group.add(i, (x, land.height_at(x, z) + 0.6, z))
    return group


def _walk(group: CharacterGroup, speeds: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    group.walk(
        speeds[:, 0], speeds[:, 2]
    )  # not `velocities`: with no fall in them they would hover
    group.update(FRAME)


def walking(count: int) -> None:
    angles = np.random.default_rng(3).uniform(0, 2 * np.pi, count)
    speeds = 4.0 * np.column_stack([np.cos(angles), np.zeros(count), np.sin(angles)])
    grounds = {
        "level": HeightMap(np.zeros((513, 513))),
        "hills": _hills(),
        "our land, a third of it too steep": load_land(),
    }
    rows = []
    for name, land in grounds.items():
        for body, collider in (("capsules", WALKER), ("balls", SphereCollider(0.5))):
            groups = {
                f"{body} on {name}, {label}": _group(land, collider, count, threads)
                for label, threads in (("1 thread", 1), ("all threads", None))
            }
            for group in groups.values():
                for _ in range(30):
                    _walk(group, speeds)
            times = median_seconds(
                {
                    label: lambda group=group: _walk(group, speeds)  # type: ignore[misc]
                    for label, group in groups.items()
                },
                11,
            )
            rows += [(label, f"{1e6 * s / count:6.2f} us each") for label, s in times.items()]
    print_table(f"{count:,} characters walking, one frame", rows)


def beside_single_ones(count: int) -> None:
    land = _hills()
    group = _group(land, WALKER, count, 1)
    movers = [
        CharacterMovement(land, WALKER, position=group[key].position64, seed=group.seed_of(key))
        for key in group
    ]
    for key, mover in zip(group, movers, strict=True):
        mover.position = group[key].position64
        group[key].position = group[key].position64

    def singly() -> None:
        for mover in movers:
            mover.walk(2.0, 0.0)
            mover.update(FRAME)

    def together() -> None:
        group.walk(2.0, 0.0)
        group.update(FRAME)

    times = median_seconds({"one by one": singly, "as a group": together}, 11)
    rest = CharacterGroup(HeightMap(np.zeros((513, 513))), WALKER, threads=1)
    for i in range(count):
        rest.add(i, (i % 400, 0, i // 400))
    for _ in range(10):
        rest.update(FRAME)
    times |= median_seconds(
        {
            "a group at rest": lambda: rest.update(FRAME),
            "the state of a group": group.state,
            "its hash": group.state_hash,
        },
        11,
    )
    rows = [(label, f"{1e6 * s / count:6.2f} us each") for label, s in times.items()]
    print_table(f"{count:,} capsules on hills, 1 thread", rows)


def colliding(count: int) -> None:
    """A square of characters that all press towards its middle: what the others cost each."""
    land, side = _hills(), math.ceil(math.sqrt(count))
    lines: list[tuple[str, str]] = []
    for spacing in (0.9, 1.5):
        grid = spacing * np.stack(np.divmod(np.arange(count), side), axis=1) + 250 - side / 2
        x, z = (grid + np.random.default_rng(1).uniform(-0.04, 0.04, grid.shape)).T
        groups = {}
        for collide in (False, True):
            group = groups[collide] = CharacterGroup(land, WALKER, collide=collide, threads=1)
            group.add_many(range(count), np.column_stack([x, land.height_at(x, z) + 0.05, z]))
            ways = np.array([x.mean(), z.mean()]) - np.column_stack([x, z])
            ways *= 4.0 / np.maximum(np.linalg.norm(ways, axis=1), 1e-9)[:, np.newaxis]
            speeds = np.insert(ways, 1, 0.0, axis=1)
            for _ in range(5):
                _walk(group, speeds)
        group = groups[True]
        group.walk(*ways.T)
        rows = group._data.rows()
        state, rules, hits = (part.reshape(-1) for part in (rows.state, rows.rules, rows.hits))
        table = queries_of(land).ground_arrays.table
        given = state, rules, hits, group._data.words(), FRAME, table, 1
        crowd = Crowd(CrowdOptions())
        times = median_seconds({"the others alone": lambda: crowd.constraints(*given)}, 21)  # noqa: B023
        times |= median_seconds(
            {
                label: lambda group=groups[collide]: _walk(group, speeds)  # type: ignore[misc]  # noqa: B023
                for label, collide in (("an update", False), ("an update that collides", True))
            },
            11,
        )
        lines += [
            (f"{spacing} m apart, {k}", f"{1e6 * s / count:6.2f} us each") for k, s in times.items()
        ]
    print_table(f"{count:,} capsules on hills that press to one point, 1 thread", lines)


def main(*, smoke: bool = False) -> None:
    walking(500 if smoke else 10_000)
    beside_single_ones(200 if smoke else 2_000)
    colliding(400 if smoke else 10_000)


if __name__ == "__main__":
    main()
