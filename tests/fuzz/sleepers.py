"""Recorded worlds in which most sleep: edits, joins, restores and missing land in one frame.

A replay goes the same way, from the start and from the middle: whoever woke in the run wakes, and
nobody else does.
"""

from typing import Any

import numpy as np

from terrain_physics import (
    AABB,
    CharacterGroup,
    CharacterMovement,
    GeneratedTiles,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TiledGround,
    TriangleMesh,
    World,
    replay,
)
from tests.helpers.draws import Draws

BODY = SphereCollider(0.4, offset=(0, 0.4, 0))
FRAME = 1 / 20
KINDS = ("map", "ground", "tiles", "wait")
FRAMES = 60


def _flat_tile(row: int, column: int) -> Any:
    return np.zeros((65, 65))


def ground_of(kind: str) -> Any:
    """Return flat ground of a kind, 128 m wide; land in tiles is all loaded."""
    if kind == "map":
        return HeightMap(np.zeros((129, 129)))
    if kind == "ground":
        return Ground([HeightMap(np.zeros((129, 129)))])
    tiles = GeneratedTiles(_flat_tile, size=(2, 2), tile=64, heights=(-30, 30), name="flat")
    land = TiledGround.open(tiles, missing="load" if kind == "tiles" else "wait")
    load(land)
    return land


def load(land: TiledGround) -> None:
    """Load all of a land."""
    land.load_now(AABB((0.5, -9, 0.5), (127.5, 9, 127.5)))


def close(ground: Any) -> None:
    """Close a land in tiles; other ground needs none of that."""
    if isinstance(ground, TiledGround):
        ground.close()


class Story:
    """A recorded world, and what happens to it between two frames; equal seeds, equal stories."""

    def __init__(self, kind: str, seed: int) -> None:
        draws = self.draws = Draws(seed)
        self.ground, self.next_key = ground_of(kind), 100
        world = self.world = World(self.ground)
        if kind != "map" and draws.chance(0.5):
            self.ground.add(TriangleMesh.box((1, 1, 1)), transform=(22, 1, 35))
        self.crowd = world.add("crowd", CharacterGroup(self.ground, BODY))
        pushes = draws.chance(0.5)
        self.balls = world.add("balls", CharacterGroup(self.ground, BODY, collide=pushes))
        for key in range(6):
            self.balls.add(key, self.place())
        self.hero = CharacterMovement(self.ground, BODY, position=self.place())
        world.add("hero", self.hero)
        self.states = [self.all_states()]
        for _ in range(20):
            world.update(FRAME)
        if draws.chance(0.5):  # what nobody has seen yet as the recording begins
            self.happens(draws.below(4))
        self.recording = Recording(world)

    def all_states(self) -> tuple[Any, ...]:
        return self.world.state(), self.ground.state(), self.balls.state(), self.hero.state()

    def place(self) -> tuple[float, float, float]:
        x, z = self.draws.uniform(6, 120, 2).tolist()
        return x, 0.4, z

    def near(self) -> tuple[float, float]:
        """Return a place beside somebody, or any place."""
        keys = [*self.balls]
        if not keys or self.draws.chance(0.3):
            x, _, z = self.place()
        else:
            x, _, z = self.balls[self.draws.one_of(keys)].position
        return min(max(x + 0.3, 1.0), 127.0), min(max(z + 0.3, 1.0), 127.0)

    def happens(self, count: int) -> None:
        """Let so many things happen."""
        for _ in range(count):
            self.draws.one_of((self.edit, self.edit, self.come, self.go, self.go_back))()

    def edit(self) -> None:
        what, place = self.draws.below(4), self.near()
        if isinstance(self.ground, TiledGround):
            load(self.ground)
        if what < 2:
            self.ground.carve(place, 3 - what, 0.3)
        elif what == 2:
            self.ground.raise_(place, 3, 0.2)
        elif isinstance(self.ground, Ground) and 1 in self.ground.parts:
            self.ground.move(1, (*place, 1.0), None)

    def come(self) -> None:
        what, place = self.draws.below(4), self.place()
        self.next_key += 1
        if what < 2:
            (self.crowd, self.balls)[what].add(self.next_key, place)
        elif what == 2:
            hero = CharacterMovement(self.ground, BODY, position=place)
            self.world.add(f"hero{self.next_key}", hero)
        else:
            other = self.world.add(f"group{self.next_key}", CharacterGroup(self.ground, BODY))
            other.add("one", place)

    def go(self) -> None:
        what = self.draws.below(3)
        if what < 2:
            group = (self.crowd, self.balls)[what]
            group.remove_many([self.draws.one_of([*group])] if len(group) else [])
            return
        others = [key for key in self.world if key not in {"crowd", "balls", "hero"}]
        if others:
            self.world.remove(self.draws.one_of(others))

    def go_back(self) -> None:
        world, ground, balls, hero = self.draws.one_of(self.states)
        what = self.draws.below(5)
        if what == 0:
            self.world.restore(world)
        elif what == 1:
            self.ground.restore(ground)
        elif what == 2:
            self.balls.restore(balls)
        elif what == 3:
            self.hero.restore(hero)
        else:
            self.states.append(self.all_states())

    def unload(self) -> None:
        """Let about half of the tiles go."""
        for number in list(self.ground._land.loaded):
            if self.draws.chance(0.5):
                self.ground._supply._take(number)

    def play(self, frames: int) -> None:
        draws = self.draws
        for _ in range(frames):
            if draws.chance(0.3):
                self.happens(1 + draws.below(4))
            if isinstance(self.ground, TiledGround) and draws.chance(0.1):
                self.unload()
            self.recording.update(0.0 if draws.chance(0.05) else FRAME)

    def refuse_other_replays(self) -> None:
        """Assert that replays go the same way, and lead to the same place in the middle."""
        recording = self.recording
        made: list[Any] = []

        def make_scene() -> Any:
            made.append(recording.make_scene())
            return made[-1]

        assert replay(recording, make_scene) is None
        frame = 1 + self.draws.below(len(recording))
        made.append(recording.make_scene(frame))
        assert names_and_hashes(made[-1]) == recording._frames[frame - 1].hashes
        for world in (*made, self.world):
            close(world.ground)


def names_and_hashes(world: Any) -> dict[Any, str]:
    """Return the hash of each character of a world, as recordings have it."""
    found = {}
    for key, thing in world.items():
        if isinstance(thing, CharacterGroup):
            found.update({(key, member): own for member, own in thing.hashes()})
        else:
            found[key] = thing.state_hash()
    return found


def case(seed: int) -> None:
    """Play one story on ground of the kind whose turn it is."""
    story = Story(KINDS[seed % len(KINDS)], seed)
    story.play(FRAMES)
    story.refuse_other_replays()
