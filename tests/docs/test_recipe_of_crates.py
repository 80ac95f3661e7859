"""The recipe of crates that Rapier moves: they stay on the land, and a hero on them."""

import numpy as np
import pytest

from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap, Ray
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.extras import library
from tests.helpers.pages import DOCS, definitions

rapier3d = library("rapier3d", "engines")

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))


class Yard:
    """Hills with crates, and a hero."""

    def __init__(self, draws, steep=2.0):
        z, x = np.mgrid[:65, :65]
        self.land = HeightMap(draws.uniform(0.0, steep) * np.sin(x / 9) * np.cos(z / 7))
        self.ground, self.world = Ground([self.land]), rapier3d.PhysicsWorld((0, -9.81, 0))
        self.page = definitions(DOCS / "cookbook" / "crates.md")
        mesh = self.land.to_mesh()
        faces = mesh.indices.reshape(-1, 3)
        self.world.add_collider(rapier3d.Collider.trimesh(mesh.vertices, faces).build())
        self.world.integration_parameters.dt = self.page["STEP"]
        self.hero = CharacterMovement(self.ground, BODY, position=(5, 3, 5))
        body = rapier3d.RigidBody.kinematic_position_based().translation((5, 3, 5))
        capsule = rapier3d.Collider.capsule_y(0.5, 0.4).translation((0, 0.9, 0))
        handle = self.world.add_body(body.build(), [capsule.build()])
        self.page.update(rapier3d=rapier3d, world=self.world, ground=self.ground, hero=self.hero)
        self.page["body"] = self.world.rigid_bodies[handle]

    @property
    def crates(self):
        return self.page["crates"]

    def run(self, seconds, vx=0.0):
        for _ in range(round(seconds * 60)):
            self.page["move_crates"]()
            self.hero.walk(vx, 0)
            self.hero.update(self.page["STEP"])
            self.page["push_crates"]()

    def over(self, crate):
        x, y, z = tuple(crate.translation)
        return y - self.land.height_at(x, z)


def test_crates_tumble_and_stay_on_the_land():
    for seed in range(times(9)):
        draws = Draws(seed)
        yard = Yard(draws)
        sizes = draws.uniform(0.4, 1.5, 6)
        for k, size in enumerate(sizes.tolist()):
            x, z = draws.uniform(25.0, 35.0, 2).tolist()
            yard.page["add_crate"]((x, 5.0 + 2 * k, z), size)
        yard.run(8)
        for (key, crate), size in zip(yard.crates.items(), sizes, strict=True):
            assert yard.over(crate) > 0.4 * size, seed
            top = yard.ground.raycast(_down(crate), 10)
            assert top is not None
            assert yard.ground.part_of(top.triangle)[0] in yard.crates, key  # its mesh is there


def _down(crate):
    x, y, z = tuple(crate.translation)
    return Ray((x, y + 5, z), (0, -1, 0))


def test_a_hero_stands_on_a_crate_and_pushes_another():
    yard = Yard(Draws(1), steep=0.01)
    yard.page["add_crate"]((20, 1.0, 20))
    yard.page["add_crate"]((30, 1.0, 20))
    yard.run(3)
    first, second = yard.crates.values()
    yard.hero.position = (20, 2, 20)
    yard.run(1)
    assert yard.hero.grounded
    assert yard.hero.ground_report().part == next(iter(yard.crates))
    assert yard.hero.position64[1] == pytest.approx(yard.land.height_at(20, 20) + 1, abs=0.05)
    yard.hero.position = (28, 0.1, 20)
    yard.run(4, vx=1.0)
    assert 31 < second.translation.x < 34
    assert first.translation.x == pytest.approx(20, abs=0.2)


def test_a_crate_that_falls_on_a_hero_rolls_off_it():
    yard = Yard(Draws(1), steep=0.01)
    yard.hero.position = (20, 0.1, 20)
    yard.run(1)
    yard.page["add_crate"]((20.2, 6.0, 20.1))
    yard.run(5)
    (crate,) = yard.crates.values()
    assert yard.over(crate) > 0.4
    assert yard.hero.grounded
    assert yard.hero.position64[1] < 0.2
