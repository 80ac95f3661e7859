"""Count the rooms, floors and arrows that each folder of the package and the demo shows.

Rooms are the modules and folders in a folder, arrows say that a room imports another one, and the
floors are the most rooms that stand on one another. ``python -m tests.helpers.rooms`` prints the
table, ``python -m tests.helpers.rooms FOLDER`` the rooms of one folder such as
``terrain_physics.character``, lowest first, with what each imports.
"""

import sys
from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

import grimp

ROOTS = ("terrain_physics", "demo")


class Folder(NamedTuple):
    """The rooms of a folder."""

    imports: dict[str, list[str]]  # of each room: those that it imports
    floors: dict[str, int]  # of each room, from 1

    @property
    def size(self) -> tuple[int, int, int]:
        """Rooms, floors and arrows."""
        arrows = sum(map(len, self.imports.values()))
        return len(self.imports), max(self.floors.values(), default=0), arrows


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*ROOTS, cache_dir=None)


def folder(name: str) -> Folder:
    """Return what stands in a folder. Raises graphlib.CycleError for rooms in a circle."""
    graph = _graph()
    imports: dict[str, set[str]] = {room: set() for room in graph.find_children(name)}
    rooms = {module: room for room in imports for module in (room, *graph.find_descendants(room))}
    for module, room in rooms.items():
        found = {
            rooms.get(other, room) for other in graph.find_modules_directly_imported_by(module)
        }
        imports[room] |= found - {room}
    floors: dict[str, int] = {}
    for room in TopologicalSorter(imports).static_order():
        floors[room] = 1 + max((floors[other] for other in imports[room]), default=0)
    return Folder({room: sorted(others) for room, others in sorted(imports.items())}, floors)


def folders() -> list[str]:
    """Return the names of all folders that hold modules."""
    graph = _graph()
    return sorted(module for module in graph.modules if graph.find_children(module))


def _print_one(name: str) -> None:
    found = folder(name)
    for room in sorted(found.imports, key=lambda room: (found.floors[room], room)):
        others = " ".join(other.rpartition(".")[2] for other in found.imports[room])
        sys.stdout.write(f"{found.floors[room]:2} {room.rpartition('.')[2]} -> {others}\n")


def _print_all() -> None:
    for name in folders():
        rooms, floors, arrows = folder(name).size
        sys.stdout.write(f"{name:50} {rooms:3} {floors:3} {arrows:4}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _print_one(sys.argv[1])
    else:
        _print_all()
