"""The contents of a world: its ground and things, and all else that its states keep."""

from weakref import ref

from terrain_physics._support.interruptions import carried_out
from terrain_physics.character.fixed_step import FixedStep
from terrain_physics.character.group_data import Key
from terrain_physics.character.placement import AnyGround
from terrain_physics.world.ground.beginning import Beginning
from terrain_physics.world.ground.map_hashes import MapHashes
from terrain_physics.world.things import Layout, Thing, in_turn, move_in
from terrain_physics.world.turns import Turns


class Contents:
    """The contents of a world.

    Attributes
    ----------
    ground : HeightMap, TriangleMesh or Ground
    clock : FixedStep
    extra : bytes
        Bytes of the game.
    things : dict
        Characters and groups by their keys, in the order of adding.
    layout : tuple of (key, thing)
        The same; another object as soon as one is added or removed.
    turn : tuple of (key, thing)
        The same in the order of an update.
    beginning : Beginning
        Its ground as it is now.
    maps : MapHashes
        What hashes the maps of its ground.
    cell_sizes : tuple of (float, float), or None
        Cell sizes of the ground when all bodies were last known to fit there.
    turns : Turns
    world : weak reference
        The world that it is of.
    """

    __slots__ = (
        "beginning",
        "cell_sizes",
        "clock",
        "extra",
        "ground",
        "layout",
        "maps",
        "things",
        "turn",
        "turns",
        "world",
    )

    things: dict[Key, Thing]
    layout: Layout
    turn: Layout
    cell_sizes: tuple[tuple[float, float], ...] | None

    def __init__(self, world: object, ground: AnyGround, clock: FixedStep) -> None:
        self.world = ref(world)
        self.things = {}
        self.ground, self.clock, self.extra = ground, clock, b""
        self.turns, self.beginning = Turns(), Beginning(ground)
        land = self.beginning.land
        self.maps = MapHashes(ground, None if land is None else land.supply)
        self.put(())

    def put(self, layout: Layout) -> None:
        """Have these things from now on, and no others."""
        before, things, turn = self.things.values(), dict(layout), in_turn(layout)

        def move() -> None:
            move_in(before, things.values(), self.world)
            self.things, self.turn, self.layout, self.cell_sizes = things, turn, layout, None

        carried_out(move)
