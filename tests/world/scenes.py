"""Small worlds for tests: hills with a lift, a belt and walkers."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    World,
)

FRAME = 1 / 60
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
LIFT, BELT = 1, 2


def hills() -> HeightMap:
    x, z = np.meshgrid(np.arange(33), np.arange(33))
    return HeightMap(np.sin(x / 5) * np.cos(z / 7), origin=(-16, 0, -16))


class Scene(NamedTuple):
    """A world with a rider of a lift, a walker with an owner, a crowd and some loners."""

    world: World
    ground: Ground
    rider: CharacterMovement
    walker: CharacterMovement
    crowd: CharacterGroup
    loners: CharacterGroup

    def play(self, frame: int, *, by_hand: bool = False) -> Any:
        """Go on by one frame, the same whenever it is played."""
        self.ground.move(LIFT, (0, 1 + np.sin(frame / 20), 0), FRAME)
        if frame % 40 == 25:
            self.ground.carve((5, 5), radius=3, depth=0.2)
        self.walker.walk(3 * np.sin(frame / 15), 2)
        if frame % 30 == 10:
            self.walker.jump(1)
        self.crowd.walk(np.cos(frame / 9), 1.5, keys=["ada", 7])
        self.loners.walk(1, np.sin(frame / 11))
        if by_hand:
            return [one.update(FRAME) for one in self[2:]]
        return self.world.update(FRAME)


def scene() -> Scene:
    ground = Ground([hills(), TriangleMesh.box((3, 0.5, 3)), TriangleMesh.box((8, 0.4, 2))])
    ground.move(LIFT, (0, 1, 0))
    ground.move(BELT, (5, 1.2, -6))
    ground.set_surface_velocity(BELT, (1, 0, 0))
    rider = CharacterMovement(ground, BODY, position=(0.5, 1.3, 0.5), leave="none")
    owner = SimpleNamespace(position=(4.0, 3.0, 4.0))
    walker = CharacterMovement(ground, BODY, owner=owner, seed=3)
    crowd = CharacterGroup(ground, BODY, collide=True)
    crowd.add_many(["ada", "bob", 7], [(-6, 2, -6), (-5.1, 2, -6), (4, 1.5, -6)])
    loners = CharacterGroup(ground, SphereCollider(0.3))
    loners.add_many(range(4), [(x, 3, -9) for x in range(4)])
    world = World(ground)
    for key, thing in (("loners", loners), ("rider", rider), (5, crowd), ("walker", walker)):
        world.add(key, thing)
    return Scene(world, ground, rider, walker, crowd, loners)
