"""The questions to a ground of several parts: each part answers, the answers are joined."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels._quick import tell_of
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.answers import (
    joined_lists,
    joined_triangles,
)
from terrain_physics.ground.members import Member
from terrain_physics.ground.parts import GroundParts
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.naming import Naming
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import Triangles

_Answer = TypeVar("_Answer")


class GroundQueries(Queries):
    """The answers of those parts of a ground that a mask selects.

    Each part answers by its own rules. If several hits are at the same distance, or several
    contacts equally deep, the lowest id wins; within united maps, the union decides.
    """

    __slots__ = ("_parts", "mask")

    def __init__(self, parts: GroundParts, mask: int = ALL_LAYERS) -> None:
        self._parts, self.mask, self.keeper = parts, mask, None

    @property
    def parts(self) -> GroundParts:
        """All parts, whatever the mask."""
        return self._parts

    def filtered(self, mask: int) -> "GroundQueries":
        return GroundQueries(self._parts, mask)

    def _asking(self) -> AbstractContextManager[list[Member]]:
        """Give the members to a long query."""
        return lasting(partial(self._parts.begin_asking, self.mask))

    def _asked(self, ask: Callable[[list[Member]], _Answer]) -> _Answer:
        """Return the answer to a short query, from parts that nobody changed meanwhile."""
        while True:
            shown = self._parts.members
            answer = ask(self._parts.current(self.mask))
            if shown is self._parts.members:
                return answer

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3, most: int) -> Triangles | None:
        def ask(members: list[Member]) -> Triangles | None:
            answers = []
            for member in members:
                answer = member.queries.triangles_in(lower, upper, most)
                if answer is None:
                    return None
                answers.append(answer)
            if sum(len(answer) for answer in answers) > most:
                return None
            owners = [s.owners(answer.ids) for s, answer in zip(members, answers, strict=True)]
            return joined_triangles(answers, owners)

        return self._asked(ask)

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        with self._asking() as members:
            answers = [member.queries.triangle_ids_in(boxes, most) for member in members]
        checks.refuse_more("triangles", sum(len(ids) for _, ids in answers), most)
        owners = [s.owners(ids) for s, (_, ids) in zip(members, answers, strict=True)]
        return joined_lists([offsets for offsets, _ in answers], owners)

    @property
    def triangle_count(self) -> int:
        return sum(part.triangle_count for part in self._parts.queries.values())

    @property
    def naming(self) -> Naming:
        return self._parts.naming

    def of_meshes(self, table: Int64s, triangles: Int64s) -> Bytes | None:
        return self._parts.of_meshes(table, triangles)

    # For characters

    @property
    def cell_sizes(self) -> tuple[tuple[float, float], ...]:
        return self._parts.cell_sizes

    @property
    def version(self) -> int:
        return self._parts.version

    @property
    def moves(self) -> int:
        return self._parts.movers.count

    @property
    def changes(self) -> ChangeLog:
        return self._parts.changes

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self._parts.followed

    @property
    def ground_arrays(self) -> GroundArrays:
        return self._parts.ground_arrays()

    def asked(self, ask: Callable[..., _Answer], *about: Any) -> _Answer:
        return self._parts.asked(self.mask, ask, *about)

    def begin_asking(self, mark: Mark) -> GroundArrays:
        return self._parts.begin_asking_all(mark)

    def begin_reading(self, mark: Mark) -> GroundArrays:
        return self._parts.begin_reading(mark)

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:
        return self._parts.triangle_at(part, triangle, point)

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        count = len(parts)
        out = np.full(count, -1), np.zeros(count, np.uint8), np.zeros(count, np.bool_)
        for member in self._parts.members:
            member.put_triangles_at(parts, triangles, points, out)
        return out


tell_of("parts", GroundQueries)  # whoever edits `asked` edits `_build/quick/` too
