"""Keeps the states of a ground of several parts."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar, cast

from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics.ground.kept_parts import KeptParts
from terrain_physics.ground.meshes import MeshMotion
from terrain_physics.ground.parts import GroundParts
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.surface.changes import KeptLog
from terrain_physics.surface.ground_state import Keeper
from terrain_physics.surface.history import KeptEdit
from terrain_physics.surface.streaming import Streaming
from terrain_physics.surface.surface import Surface, queries_of

_T = TypeVar("_T")


# Memory of a part in the tables of a layout, roughly.
_PART_BYTES = 100

# Bytes in a file, at most, that an edit of a land of tiles takes beside its values.
_RECORD_BYTES = 100


class _Rest(NamedTuple):
    """What a ground holds beside the arrays of its parts."""

    parts: dict[int, Surface]
    layout: KeptParts
    motion: MeshMotion

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return self.motion.nbytes + _PART_BYTES * len(self.parts)

    def content(self) -> bytes:
        """Return which parts there are, where they are, how they move, and on which layers."""
        parts = [*self.parts], *self.layout.scales.items()
        layers = [own for own in sorted(self.layers.items()) if own[1] != FIRST_LAYER]
        told = f"layers{layers}".encode() if layers else b""
        return b"parts" + str(parts).encode() + self.motion.content() + told

    @property
    def layers(self) -> dict[int, int]:
        """The layers of each part by its key."""
        return self.layout.layers

    def places(self) -> dict[int, tuple[float, ...]]:
        """Return each part: its key, and rotation and position if it was moved."""
        known = zip(self.motion.numbers.tolist(), self.motion.poses.tolist(), strict=True)
        poses = dict(known)
        return {key: (key, *poses.get(key, ())) for key in self.parts}


class GroundKeeper(Keeper):
    """Keeps the states of a ground: see `Keeper`.

    Parameters
    ----------
    held : GroundParts
    parts : dict of int to Surface
        The parts by their keys, but for a land of tiles, which stays. The ground writes to it, and
        so does this.
    streaming : Streaming, optional
        What counts how often characters wait for ground.
    """

    __slots__ = ("_held", "_parts", "_streaming")

    def __init__(
        self, held: GroundParts, parts: dict[int, Any], streaming: Streaming | None = None
    ) -> None:
        super().__init__()
        self._held, self._parts = held, parts
        self._streaming: Any = streaming
        held.keep_edits(self.history)

    def refuse_inside(self) -> None:  # noqa: D102 as of any ground
        super().refuse_inside()
        self._held.refuse_inside("state and restore")

    def _unchanged(self) -> AbstractContextManager[Any]:
        return self._held.followed

    def _change(self, make: Callable[[], _T]) -> _T:
        return self._held.change(make)

    def _version(self) -> int:
        return self._held.version

    def _kept_log(self) -> KeptLog:
        return self._held.changes.kept()

    def _put_log(self, kept: KeptLog) -> None:
        self._held.changes.put_back(kept)

    def _refuse_way(self, edits: list[KeptEdit]) -> None:
        own: list[Any] = [edit for edit in edits if isinstance(edit.storage, LatticeMap)]
        if own and self._streaming is not None:
            size = sum(edit.nbytes + _RECORD_BYTES * edit.rectangles for edit in own)
            self._streaming.make_room(size)

    def _waits(self) -> int:
        return 0 if self._streaming is None else int(self._streaming.waits)

    def _put_waits(self, waits: int) -> None:
        if self._streaming is not None:
            self._streaming.waits = waits

    def _rest(self) -> _Rest:
        held = self._held
        return _Rest(held.kept_surfaces(), held.layout(), held.motion())

    def _put_rest(self, rest: Any) -> None:
        known = cast("_Rest", rest)
        self._put(known.parts, known.layout, known.motion)

    def lay_out(
        self,
        parts: dict[int, Any],
        layers: dict[int, int],
        names: dict[int, str],
        scales: dict[int, float],
        next_number: int,
    ) -> None:
        """Make the ground one of these parts by their keys; meshes that stay are where they are.

        The caller has checked them, and makes this a change.
        """
        held = self._held
        land = [number for number in held.sources if number not in self._parts]
        sources = {number: held.sources[number] for number in land}
        sources |= {number: cast("Any", queries_of(part).source) for number, part in parts.items()}
        on = {number: held.layers[number] for number in land} | layers
        layout = KeptParts(sources, on, names, scales, next_number)
        self._put(parts, layout, self._held.motion())

    def _put(self, parts: dict[int, Any], layout: KeptParts, motion: MeshMotion) -> None:
        self._held.put_back(layout, motion)
        known = parts.copy()
        self._parts.clear()
        self._parts.update(known)
