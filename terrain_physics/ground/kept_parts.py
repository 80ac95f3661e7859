"""Which parts a ground has, kept: compared with others, and put back if a change is interrupted."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from terrain_physics.ground.meshes import MeshMotion
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.mesh.storage import MeshStorage

PartSource = SolidMap | MeshStorage


class KeptParts(NamedTuple):
    """Which parts a ground has; nobody writes to it.

    Attributes
    ----------
    sources, layers, next_number
        As of `GroundParts`.
    names : dict of int to str
        Those of the parts.
    scales : dict of int to float
        See `GroundMeshes`.
    """

    sources: dict[int, PartSource]
    layers: dict[int, int]
    names: dict[int, str]
    scales: dict[int, float]
    next_number: int

    def differing(self, other: "KeptParts") -> list[int]:
        """Return the numbers, ascending, of parts that another one has not, or not alike."""
        numbers = sorted({*self.sources, *other.sources})
        return [number for number in numbers if self.part(number) != other.part(number)]

    def differing_sources(self, other: "KeptParts") -> list[PartSource]:
        """Return the parts that only one of two has."""
        numbers = self.differing(other)
        return [own.sources[k] for own in (self, other) for k in numbers if k in own.sources]

    def part(self, number: int) -> tuple[PartSource | None, float | None, str | None]:
        """Return a part, its scale and its name, each None without one."""
        return self.sources.get(number), self.scales.get(number), self.names.get(number)

    def events_after(self, other: "KeptParts") -> Iterator[tuple[str, int]]:
        """Give what watchers are told of, and of which parts, when this follows another one."""
        differ = set(self.differing(other))
        yield from (("removed", k) for k in other.sources if k in differ)
        yield from (("added", k) for k in self.sources if k in differ)
        stays = self.sources.keys() - differ
        for number, layers in self.layers.items():
            if number in stays and layers != other.layers[number]:
                yield "layers", number


class PartsBefore(NamedTuple):
    """The parts of a ground before a change that has begun; or of the ``touched`` alone.

    Attributes
    ----------
    layout : KeptParts
    motion : MeshMotion
    surfaces : dict of int to Surface
        The parts as the game has them.
    touched : container of int
        Empty: all of them.
    broken : KeptParts or None
        The parts as the change has left them, once they are put back.
    """

    layout: KeptParts
    motion: MeshMotion
    surfaces: dict[int, Any]
    touched: Container[int] = ()
    broken: KeptParts | None = None

    def with_others(
        self, tables: tuple[Mapping[int, Any], ...], motion: Callable[[], MeshMotion]
    ) -> "PartsBefore":
        """Return all parts before a change: those that it has not touched are as they are now.

        ``tables`` are those of `layout`, and the surfaces; ``motion`` returns that of all meshes.
        """
        touched = self.touched
        if not touched:
            return self
        before: tuple[Any, ...] = *self.layout[:-1], self.surfaces
        sources, layers, names, scales, surfaces = (
            dict(sorted([*((k, of_now[k]) for k in of_now if k not in touched), *known.items()]))
            for of_now, known in zip(tables, before, strict=True)
        )
        layout = KeptParts(sources, layers, names, scales, self.layout.next_number)
        now = motion().without(touched)
        return PartsBefore(layout, now.joined(self.motion), surfaces)
