"""Worlds drawn at random, what a game does in them, and all that can be seen of them.

What is done in a frame follows from the scene's seed, the frame, and the world as it is then: so
the same frames can be played again from a state that was kept, or in another world that never went
back.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import terrain_physics as tp
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.character.rows import Rows
from terrain_physics.surface.surface import queries_of
from tests.helpers.digest import digest
from tests.helpers.draws import Draws

FRAME = 1 / 60
SIZE = 20  # meters of a map
Deed = tuple[int, int]
"""Something that a game does: which of `DEEDS`, and a seed."""


class Mover(NamedTuple):
    """A mesh that the game moves by itself."""

    key: int
    place: tuple[float, float, float]
    way: tuple[float, float, float]
    period: int  # frames there and back
    turns: float  # of its rotation: the tangent of half the angle, at most
    every: int  # frames between its moves
    teleports: bool


class Owner:
    """An object of a game."""

    def __init__(self, position: Any) -> None:
        self.position = tuple(map(float, position))


def _bumps(draws: Draws, roughness: float) -> Any:
    heights = np.asarray(draws.uniform(0.0, roughness, SIZE + 1, SIZE + 1), dtype=np.float32)
    heights[:, -1] = heights[:, 0] = 0.25  # so that a second map can share a border
    return heights


class Scene:
    """A world, its ground with parts that move, lone characters and groups."""

    def __init__(self, seed: int) -> None:
        draws = Draws(seed)
        self.seed, self.seconds = seed, 0.0  # of the last update
        self.origin = draws.one_of(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3e4, -50.0, -2e5)))
        self.movers: list[Mover] = []
        self.ground = self._make_ground(draws)
        self.world = tp.World(self.ground)
        for name, make in (("hero", self._lone), ("crowd", self._group), ("herd", self._group)):
            if draws.chance(0.75):
                self.world.add(name, make(draws))
        self.moves_many = draws.chance(0.5)
        self._move_parts(0)

    # How it begins

    def _make_ground(self, draws: Draws) -> tp.Ground:
        x, y, z = self.origin
        options: dict[str, Any] = {"thickness": draws.one_of((np.inf, np.inf, 1.5))}
        if draws.chance(0.3):
            options["border"] = "open"
        if draws.chance(0.3):
            options |= {"materials": 1, "material_names": ["grass", "ice", "mud"]}
        roughness = draws.one_of((0.0, 0.3, 1.0))
        parts: list[Any] = [tp.HeightMap(_bumps(draws, roughness), origin=self.origin, **options)]
        if draws.chance(0.4):
            east = (x + SIZE, y, z)
            parts.append(tp.HeightMap(_bumps(draws, roughness), origin=east, **options))
        movers: list[tuple[Any, ...]] = []
        for size, place, way, turns in (
            ((4.0, 0.4, 4.0), (5.0, 0.3, 5.0), (0.0, 2.0, 0.0), 0.0),  # a lift
            ((0.5, 3.0, 4.0), (9.0, 1.6, 5.0), (3.6, 0.0, 0.0), 0.0),  # a door, against a wall
            ((5.0, 0.3, 5.0), (5.0, 0.8, 14.0), (1.0, 0.3, 0.0), 1.5),  # a ship that turns
            ((2.0, 0.4, 2.0), (90.0, 3.0, 90.0), (0.0, 1.0, 0.0), 0.3),  # far off
            ((2.0, 0.4, 2.0), (9.0, 0.4, 12.0), (0.0, 0.6, 0.7), 0.0),
        ):
            if draws.chance(0.6):
                every, period = draws.one_of((1, 1, 3)), draws.whole(20, 90)
                movers.append((len(parts), place, way, period, turns, every, draws.chance(0.1)))
                parts.append(tp.TriangleMesh.box(size))
        fixed = []
        for size, place in (
            ((1.0, 3.0, 4.0), (14.0, 1.5, 5.0)),  # a wall
            ((6.0, 0.6, 2.0), (13.0, 0.3, 14.0)),  # a belt
            ((4.0, 0.2, 4.0), (15.0, 1.6, 10.0)),  # a deck
        ):
            fixed.append((len(parts), place))
            parts.append(tp.TriangleMesh.box(size))
        fixed.append((len(parts), (9.0, 0.2, 9.0)))
        parts.append(tp.TriangleMesh.stairs(3.0, 0.2, 0.4, 5))
        ground = tp.Ground(parts)
        for key, (dx, dy, dz) in fixed:
            ground.move(key, (x + dx, y + dy, z + dz))
        _, belt, deck, _ = (key for key, _ in fixed)
        if draws.chance(0.7):
            ground.set_surface_velocity(belt, (1.5, 0.0, 0.3))
        if draws.chance(0.7):
            ground.set_one_way(deck, (0, 1, 0))
        for key, place, *rest in movers:
            dx, dy, dz = place
            self.movers.append(Mover(key, (x + dx, y + dy, z + dz), *rest))
        return ground

    def _place(self, draws: Draws) -> tuple[float, float, float]:
        """Return a place for a character: on a mover, before the door, on the belt, anywhere."""
        dx, dy, dz = draws.one_of(
            (
                (5.0, 0.55, 5.0), (4.0, 0.55, 6.0), (13.0, 0.3, 5.0), (12.6, 0.3, 4.2),
                (5.0, 1.0, 14.0), (6.5, 1.0, 13.0), (11.0, 0.65, 14.0), (15.0, 0.4, 10.0),
                (15.0, 1.75, 10.5), (9.0, 0.65, 12.0), (9.0, 0.4, 8.4), (17.0, 1.0, 17.0),
            )
        )  # fmt: skip
        x, y, z = self.origin
        return (
            x + dx + draws.uniform(-0.3, 0.3),
            y + dy + draws.uniform(0.0, 0.1),
            z + dz + draws.uniform(-0.3, 0.3),
        )

    def _body(self, draws: Draws, kind: type | None = None) -> Any:
        radius = draws.one_of((0.25, 0.35, 0.5))
        bodies = (
            tp.SphereCollider(radius, offset=(0, radius, 0)),
            tp.CapsuleCollider(radius, 3.5 * radius, offset=(0, 1.75 * radius, 0)),
            tp.BoxCollider((radius, 2 * radius, radius), offset=(0, 2 * radius, 0)),
        )
        return draws.one_of([body for body in bodies if kind in {None, type(body)}])

    def _rules(self, draws: Draws) -> dict[str, Any]:
        rules: dict[str, Any] = {
            "slope_limit": draws.uniform(0.3, 1.2),
            "resolver": draws.one_of(("shuffled", "simultaneous")),
            "ground_rule": draws.one_of(("contact", "contact", "sum")),
            "slope_speed": draws.one_of(("horizontal", "surface")),
            "leave": draws.one_of(("velocity", "up", "none")),
            "turn_with_ground": draws.chance(0.5),
        }
        if draws.chance(0.3):
            rules["material_rules"] = {"ice": {"friction": 0.1}, "mud": {"speed": 0.5}}
        return rules

    def _lone(self, draws: Draws) -> tp.CharacterMovement:
        place, rules = self._place(draws), self._rules(draws)
        if draws.chance(0.3):
            body = self._body(draws, draws.one_of((tp.SphereCollider, tp.CapsuleCollider)))
            return tp.CharacterMovement(self.ground, body, owner=Owner(place), **rules)
        return tp.CharacterMovement(self.ground, self._body(draws), position=place, **rules)

    def _group(self, draws: Draws) -> tp.CharacterGroup:
        collide = draws.chance(0.7)
        heads: Any = draws.one_of(("slide", "stand")) if collide else "slide"
        group = tp.CharacterGroup(
            self.ground, seed=self.seed, collide=collide, heads=heads, threads=1,
            **self._rules(draws),
        )  # fmt: skip
        for key in range(draws.whole(2, 7)):
            group.add(key, self._place(draws), collider=self._body(draws))
        return group

    def go_on_with(self, world: tp.World) -> None:
        """Go on with another world, which is as the present one."""
        ground: Any = world.ground
        self.world, self.ground = world, ground

    # A frame

    def step(self, frame: int, deeds: Sequence[Deed], *, by_hand: bool = False) -> str:
        """Do all that the game does in a frame, update, and return a digest of what came of it."""
        draws = Draws(_mixed(self.seed, frame))
        self._move_parts(frame)
        self._walk(frame)
        for which, seed in deeds:
            DEEDS[which % len(DEEDS)](self, Draws(seed))
        seconds = draws.one_of((FRAME, FRAME, FRAME, FRAME, 1 / 360, 1 / 20, 0.0))
        self.seconds = seconds
        self.world.clock.steps(seconds + 0.001)
        if by_hand:
            things = [self.world[key] for key in self.world]
            things.sort(key=lambda thing: isinstance(thing, tp.CharacterGroup))
            results = [thing.update(seconds) for thing in things]
        else:
            results = list(self.world.update(seconds).values())
        hits = [self.world[key].hits() for key in self.world]
        return digest([results, hits])

    def _move_parts(self, frame: int) -> None:
        keys, places, turns = [], [], []
        for mover in self.movers:
            if mover.key not in self.ground.parts or frame % mover.every:
                continue
            place, turn = _pose(mover, frame)
            if mover.teleports and frame % 7 == 0:
                self.ground.move(mover.key, (place, turn))
            elif self.moves_many and mover.every == 1:
                keys.append(mover.key)
                places.append(place)
                turns.append(turn)
            else:
                self.ground.move(mover.key, (place, turn), mover.every * FRAME)
        if keys:
            self.ground.move_many(keys, (np.array(places), np.array(turns)), FRAME)

    def _walk(self, frame: int) -> None:
        """Let each walk its own way for a while; some stand still long enough to sleep."""
        for key, thing in self._things():
            draws = Draws(_mixed(self.seed, key, frame // 15))
            if draws.chance(0.35):
                continue
            if isinstance(thing, tp.CharacterMovement):
                thing.walk(draws.uniform(-3, 3), draws.uniform(-3, 3))
            elif len(thing):
                some = [member for member in thing if draws.chance(0.6)]
                thing.walk(
                    draws.uniform(-3, 3, len(some)), draws.uniform(-3, 3, len(some)), keys=some
                )

    def _things(self) -> Iterator[tuple[Any, Any]]:
        for key in list(self.world):
            yield key, self.world[key]

    def _characters(self) -> list[tp.CharacterMovement | tp.GroupMember]:
        found: list[Any] = []
        for _, thing in self._things():
            is_alone = isinstance(thing, tp.CharacterMovement)
            found += [thing] if is_alone else list(thing.values())
        return found

    # All that can be seen

    def seen(self) -> "Seen":
        """Return what can be seen of the world, by names: equal in two worlds that are equal."""
        found: Seen = {"hash": self.world.state_hash(), "hashes": list(self.world.hashes())}
        found["clock"], found["extra"] = self.world.clock.alpha, self.world.extra
        for key, thing in self._things():
            for name, part in raw_numbers(thing, self.ground).items():
                found[f"{key}: {name}"] = part
            found[f"{key}: others"] = _shown(thing)
        return found | self._ground_seen()

    def _ground_seen(self) -> "Seen":
        ground = self.ground
        keys = list(ground.parts)
        x, y, z = self.origin
        spread = np.linspace(0.35, SIZE - 0.4, 5)
        at_x, at_z = (grid.ravel() for grid in np.meshgrid(x + spread, z + spread))
        sources = np.array([(x + 10, y + 1.0, z + 10), (x + 10, y + 12.0, z + 10)])
        ways = np.array([(1, -0.2, 0.3), (-1, -0.1, -0.4), (0.2, -0.3, -1), (-0.1, 0.4, 1)])
        rays = ground.raycast_many(np.repeat(sources, 4, axis=0), np.tile(ways, (2, 1)), 60.0)
        return {
            "parts": keys,
            "layers": [ground.layers_of(key) for key in keys],
            "names": dict(ground.part_names),
            "transforms": np.array([ground.transform(key) for key in keys]).tobytes(),
            "heights": ground.height_at(at_x, at_z).tobytes(),
            "rays": digest(rays),
            "material names": ground.material_names,
        }


Seen = dict[str, Any]


def _shown(thing: Any) -> Any:
    """Return what a character or a group shows beside its numbers."""
    if isinstance(thing, tp.CharacterMovement):
        owner = thing._owner
        where = None if owner is None else owner.position()
        return thing.collider, thing.position64, where, tuple(thing.velocity)
    return [(key, member.collider, tuple(member.velocity)) for key, member in thing.items()]


def has_owner(thing: Any) -> bool:
    """Tell whether a thing is a character with an owner."""
    return isinstance(thing, tp.CharacterMovement) and thing._owner is not None


def rows_of(thing: Any) -> Rows:
    """Return the rows of a character, as one row, or of a group."""
    if isinstance(thing, tp.CharacterMovement):
        return thing._row().at(np.newaxis)
    rows: Rows = thing._data.rows()
    return rows


_UNSEEN = (columns.GROUND_VERSION, columns.HITS)
"""Numbers of one ground's own history, and how many hits there are, which are not kept."""


def raw_numbers(thing: Any, ground: Any) -> dict[str, bytes]:
    """Return the bytes of all numbers, and which characters have seen all changes."""
    rows = rows_of(thing)
    state = rows.state.copy()
    seen = state[:, columns.GROUND_VERSION] == queries_of(ground).contents
    state[:, list(_UNSEEN)] = 0.0
    state[:, columns.GROUND_VERSION] = seen
    return {
        "state": state.tobytes(),
        "rules": rows.rules.tobytes(),
        "linear": rows.linear.tobytes(),
        "random": rows.random.tobytes(),
    }


def differences(first: Seen, second: Seen) -> list[str]:
    """Return the names of what is not equal, and which columns of states."""
    found = []
    for name in {**first, **second}:
        one, other = first.get(name), second.get(name)
        if one == other:
            continue
        found.append(name)
        if name.endswith(": state") and one and other and len(one) == len(other):
            rows = [np.frombuffer(part).reshape(-1, columns.STATE_SIZE) for part in (one, other)]
            for row, place in np.argwhere(rows[0].view(np.int64) != rows[1].view(np.int64)):
                values = rows[0][row, place], rows[1][row, place]
                found.append(f"row {row}, {_column_at(place)}: {values[0]!r}, {values[1]!r}")
        elif not isinstance(one, bytes):
            found.append(f"{one!r}, {other!r}")
    return found


def _column_at(place: int) -> str:
    for column in columns.STATE.columns:
        if place < column.width:
            return column.name
        place -= column.width
    raise AssertionError


def _pose(mover: Mover, frame: int) -> tuple[Any, Any]:
    """Return where a mover is, to and fro with halts, and how it is turned."""
    phase = frame % mover.period / mover.period
    share = min(max(1.5 - abs(4.0 * phase - 2.0), -0.5) + 0.5, 1.5) / 1.5
    place = [start + share * step for start, step in zip(mover.place, mover.way, strict=True)]
    return place, _about_y(mover.turns * (2.0 * share - 1.0))


def _mixed(*values: Any) -> int:
    """Return a seed that follows from some values, the same in every process."""
    return zlib.crc32(repr(values).encode())


def _about_y(tangent: float) -> Any:
    """Return a rotation matrix about +Y by a tangent of half the angle."""
    size = 1.0 + tangent * tangent
    cosine, sine = (1.0 - tangent * tangent) / size, 2.0 * tangent / size
    return np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])


# What a game does


def _somebody(scene: Scene, draws: Draws) -> Any:
    everybody = scene._characters()
    return draws.one_of(everybody) if everybody else None


def _near(scene: Scene, draws: Draws) -> tuple[float, float, float]:
    """Return a place near a character."""
    body = _somebody(scene, draws)
    x, y, z = scene.origin if body is None else body.position64
    return x + draws.uniform(-2, 2), y + draws.uniform(-0.3, 0.6), z + draws.uniform(-2, 2)


def _maps(scene: Scene) -> list[tp.HeightMap]:
    return [part for part in scene.ground.parts.values() if isinstance(part, tp.HeightMap)]


def _mesh_keys(scene: Scene) -> list[int]:
    parts = scene.ground.parts
    return [key for key, part in parts.items() if isinstance(part, tp.TriangleMesh)]


def _group_of(scene: Scene, draws: Draws) -> Any:
    groups = [thing for _, thing in scene._things() if isinstance(thing, tp.CharacterGroup)]
    return draws.one_of(groups) if groups else None


def carve(scene: Scene, draws: Draws) -> None:
    """Dig or heap up near somebody."""
    if _maps(scene):
        scene.ground.carve(_near(scene, draws), draws.uniform(0.5, 2.5), draws.uniform(-0.4, 0.5))


def raise_one(scene: Scene, draws: Draws) -> None:
    """Edit one map by itself: borders follow at the next question."""
    if lands := _maps(scene):
        draws.one_of(lands).raise_(_near(scene, draws), 2.0, draws.uniform(-0.3, 0.4))


def level(scene: Scene, draws: Draws) -> None:
    """Flatten or smooth near somebody."""
    if not _maps(scene):
        return
    place = _near(scene, draws)
    if draws.chance(0.5):
        scene.ground.flatten(place, 2.0, place[1], flat=draws.uniform(0.0, 1.5))
    else:
        scene.ground.smooth(place, 2.5, draws.uniform(0.2, 1.0))


def write_samples(scene: Scene, draws: Draws) -> None:
    """Write heights, holes, materials or the thickness of a map."""
    if not (lands := _maps(scene)):
        return
    land, row, column = draws.one_of(lands), draws.below(SIZE - 3), draws.below(SIZE - 3)
    kind = draws.below(5)
    if kind == 0:
        land[row : row + 3, column : column + 3] = draws.uniform(0.0, 0.8, 3, 3)
    elif kind == 1:
        land.holes[row : row + 2, column] = draws.chance(0.6)
    elif kind == 2:
        land.materials[row : row + 4, column : column + 4] = draws.below(3)
    elif kind == 3:
        land.thickness = draws.one_of((0.7, 1.5, np.inf))
    else:
        land[row, column] = np.nan


def paint(scene: Scene, draws: Draws) -> None:
    """Give the ground near somebody another material."""
    if len({land.material_names for land in _maps(scene)}) == 1:  # all know the material
        scene.ground.paint(_near(scene, draws), draws.uniform(0.5, 3.0), 0)


def add_part(scene: Scene, draws: Draws) -> None:
    """Add a box near somebody."""
    if len(scene.ground.parts) < 24:
        size = draws.uniform(0.3, 2.0, 3)
        mesh = tp.TriangleMesh.box(size)
        key = scene.ground.add(mesh, layers=draws.one_of((1, 1, 2)))
        scene.ground.move(key, (_near(scene, draws), _about_y(draws.uniform(-1, 1))))


def add_instance(scene: Scene, draws: Draws) -> None:
    """Put a mesh that is there already to one more place, in another size."""
    if (keys := _mesh_keys(scene)) and len(scene.ground.parts) < 24:
        turned = np.eye(4)
        turned[:3, :3] = draws.one_of((1.0, 0.5, 1.25)) * _about_y(draws.uniform(-1, 1))
        turned[:3, 3] = _near(scene, draws)
        scene.ground.add(scene.ground.parts[draws.one_of(keys)], transform=turned)


def replace(scene: Scene, draws: Draws) -> None:
    """Put another mesh to the place of one."""
    if keys := _mesh_keys(scene):
        size = draws.uniform(0.5, 3.0, 3)
        scene.ground.replace(draws.one_of(keys), tp.TriangleMesh.box(size))


def add_map(scene: Scene, draws: Draws) -> None:
    """Add a map, which may share a border with another one."""
    x, y, z = scene.origin
    if len(_maps(scene)) < 3:
        place = x - SIZE, y + draws.one_of((0.0, 0.0, 0.5)), z
        scene.ground.add(tp.HeightMap(_bumps(draws, 0.3), origin=place))


def remove_part(scene: Scene, draws: Draws) -> None:
    """Take a part away."""
    keys = list(scene.ground.parts)
    if len(keys) > 4:
        scene.ground.remove(draws.one_of(keys[1:]))


def refit(scene: Scene, draws: Draws) -> None:
    """Bend a mesh, wherever it stands."""
    if keys := _mesh_keys(scene):
        mesh: Any = scene.ground.parts[draws.one_of(keys)]
        mesh.refit(mesh.vertices + draws.uniform(-0.05, 0.05, len(mesh.vertices), 3))


def shove(scene: Scene, draws: Draws) -> None:
    """Move any mesh a little, with a time or without, also twice in a frame."""
    if keys := _mesh_keys(scene):
        key = draws.one_of(keys)
        for _ in range(draws.one_of((1, 1, 2))):
            place = scene.ground.transform(key)[:3, 3] + draws.uniform(-0.2, 0.2, 3)
            scene.ground.move(key, place, draws.one_of((FRAME, 2 * FRAME, None)))


def change_surface(scene: Scene, draws: Draws) -> None:
    """Make a mesh a conveyor, one-way, or neither."""
    if keys := _mesh_keys(scene):
        key = draws.one_of(keys)
        if draws.chance(0.5):
            scene.ground.set_surface_velocity(key, draws.one_of(((0, 0, 0), (1, 0, -1))))
        else:
            scene.ground.set_one_way(key, draws.one_of((None, (0, 1, 0))))


def change_layers(scene: Scene, draws: Draws) -> None:
    """Put a part on other layers."""
    scene.ground.set_layers(
        draws.one_of(list(scene.ground.parts)), draws.one_of((0, 1, 1, 1, 2, 3))
    )


def leap(scene: Scene, draws: Draws) -> None:
    """Let somebody jump, or give it any velocity."""
    body = _somebody(scene, draws)
    if body is None:
        return
    if draws.chance(0.5):
        body.jump(draws.uniform(0.1, 1.5))
    else:
        body.velocity = draws.uniform(-6, 6, 3)


def teleport(scene: Scene, draws: Draws) -> None:
    """Put somebody elsewhere, in one of three ways."""
    body, place = _somebody(scene, draws), scene._place(draws)
    if body is None:
        return
    kind = draws.below(3)
    if kind == 0 or getattr(body, "_owner", None) is not None:
        body.teleport(place, draws.uniform(-1, 1, 3))
    elif kind == 1:
        body.position = place
    else:
        body.reset(place)


def resize(scene: Scene, draws: Draws) -> None:
    """Give somebody a body of another size."""
    if (body := _somebody(scene, draws)) is not None:
        body.resize(scene._body(draws, type(body.collider)))


def change_rules(scene: Scene, draws: Draws) -> None:
    """Give somebody other rules."""
    body = _somebody(scene, draws)
    if body is None:
        return
    name, values = draws.one_of(_RULES)
    setattr(body, name, draws.one_of(values))


_RULES: tuple[tuple[str, Any], ...] = (
    ("mask", (0xFFFF_FFFF, 0xFFFF_FFFF, 1, 2)),
    ("gravity_scale", (1.0, 0.5, -0.2)),
    ("slope_limit", (0.2, 0.8)),
    ("snap_distance", (0.0, 0.3)),
    ("material_rules", ({}, {"ice": {"friction": 0.0}, 1: {"speed": 1.5}})),
    ("leave", ("velocity", "none")),
    ("mass", (80.0, 500.0)),
)


def come_and_go(scene: Scene, draws: Draws) -> None:
    """Add members to a group or take some away."""
    group = _group_of(scene, draws)
    if group is None:
        return
    key = draws.below(9)
    if key in group:
        group.remove(key)
    elif draws.chance(0.6):
        group.add(key, scene._place(draws), collider=scene._body(draws))
    else:
        hero = tp.CharacterMovement(scene.ground, scene._body(draws), position=scene._place(draws))
        group.add(key, movement=hero)


def add_thing(scene: Scene, draws: Draws) -> None:
    """Add a thing to the world or take one away."""
    key: Any = draws.one_of(("hero", "other", 3))
    if key in scene.world:
        scene.world.remove(key)
    else:
        scene.world.add(key, scene._lone(draws) if draws.chance(0.7) else scene._group(draws))


def note(scene: Scene, draws: Draws) -> None:
    """Keep bytes of the game, and let its clock go on."""
    scene.world.extra = bytes([draws.below(256)]) * draws.below(40)
    scene.world.clock.steps(draws.uniform(0.0, 0.05))


DEEDS: tuple[Callable[[Scene, Draws], None], ...] = (
    shove, leap, carve, teleport, come_and_go, raise_one, write_samples, level, paint, add_part,
    add_instance, remove_part, refit, change_surface, change_layers, resize, change_rules,
    add_thing, note, replace, add_map,
)  # fmt: skip
