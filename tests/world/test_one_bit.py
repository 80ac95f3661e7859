"""One bit of one number: `compare` names it, whoever it is of."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Rewind,
    TriangleMesh,
    World,
)
from terrain_physics._kernels.character.state import layout as columns
from tests.helpers.draws import Draws
from tests.helpers.world_scenes import rows_of

FRAME = 1 / 60
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
TABLES = {"state": columns.STATE, "rules": columns.RULES}


class Side:
    """A world that both sides have, with its latest frames."""

    def __init__(self) -> None:
        self.ground = Ground([HeightMap(np.zeros((17, 17))), TriangleMesh.box((3, 0.4, 3))])
        self.hero = CharacterMovement(self.ground, BODY, position=(4, 0.3, 4))
        self.crowd = CharacterGroup(self.ground, BODY, collide=True, threads=1)
        self.crowd.add_many(["ada", "bob", 7], [(8, 0, 8), (8.5, 0, 8), (4.8, 0.3, 4.4)])
        self.world = World(self.ground)
        self.world.add("hero", self.hero)
        self.world.add("crowd", self.crowd)
        self.rewind = Rewind(self.world, frames=4)
        for frame in range(8):
            self.ground.move(1, (4, 0.05 * frame, 4), FRAME)
            self.crowd.walk(1, 0.5)
            self.world.update(FRAME)

    def put(self, key: Any, table: str, place: int, bit: int) -> None:
        """Turn one bit of a character over."""
        thing = self.world[key[0] if isinstance(key, tuple) else key]
        row = list(self.crowd).index(key[1]) if isinstance(key, tuple) else 0
        numbers = getattr(rows_of(thing), table)
        numbers.view(np.uint64)[row, place] ^= np.uint64(1 << bit)


@pytest.fixture(scope="module")
def sides() -> tuple[Side, Side]:
    return Side(), Side()


def _places() -> list[tuple[str, str, int, bool]]:
    """Return each place of both rows, with its column, and whether that is hashed."""
    found = []
    for table, layout in TABLES.items():
        start = 0
        for column in layout.columns:
            end = start + column.width
            found += [(table, column.name, place, column.is_hashed) for place in range(start, end)]
            start = end
    return found


@pytest.mark.parametrize("key", ["hero", ("crowd", "bob"), ("crowd", 7)], ids=str)
def test_one_bit_of_one_column(sides: tuple[Side, Side], key: Any) -> None:
    mine, other = sides
    draws, frame = Draws(len(str(key))), 0
    for table, column, place, is_hashed in _places():
        bit = draws.below(64)
        for side in sides:
            side.rewind.save(frame)
        assert mine.rewind.compare(frame, other.rewind) is None
        before = other.world.state()
        other.put(key, table, place, bit)
        for side in sides:
            side.rewind.save(frame + 1)
        found = mine.rewind.compare(frame + 1, other.rewind)
        by_hashes = mine.rewind.compare(frame + 1, other.rewind.hashes(frame + 1))
        if is_hashed:
            assert found is not None
            assert by_hashes is not None
            assert (found.frame, found.key, found.column) == (frame + 1, key, column)
            assert found.agreed == by_hashes.agreed == frame
            assert by_hashes.key == key
            mine_bits, theirs = (_bits(value) for value in (found.mine, found.theirs))
            turned = [one ^ other_ for one, other_ in zip(mine_bits, theirs, strict=True)]
            assert max(turned) == 1 << bit
            assert sum(turned) == 1 << bit
        else:
            assert found is None
            assert by_hashes is None
        other.world.restore(before)
        frame += 2


def _bits(value: Any) -> list[int]:
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    return [int(bits) for bits in numbers.view(np.uint64)]
