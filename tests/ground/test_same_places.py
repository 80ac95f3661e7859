"""Meshes in the same places give the same bits, however their trees came about."""

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers.digest import digest
from tests.helpers.examples import rest_is_full
from tests.helpers.grounds import bits, everything, one_by_one, questions
from tests.helpers.meshes import grid

BODIES = {
    "ball": SphereCollider(0.6),
    "capsule": CapsuleCollider(0.4, 1.6),
    "box": BoxCollider((0.5, 0.7, 0.4)),
    "ball over many": SphereCollider(3.5),  # more than are looked at one after another
}


def rough(rng):
    """Return vertices and faces of rough ground, a quarter of the faces twice, in any order."""
    vertices, faces = grid(rng.normal(0, 0.15, (49, 49)))
    faces = np.concatenate([faces, faces[::4]])
    return np.array((0.5, 1.0, 0.5)) * vertices, rng.permutation(faces)


def refitted(vertices, faces, rng):
    """Return a mesh that was made somewhere else, and is in its places since a refit."""
    mesh = TriangleMesh(rng.permutation(vertices) * rng.uniform(0.1, 3.0, 3), faces)
    mesh.refit(vertices)
    return mesh


def walked(ground, body, frames=150):
    """Return the hashes of a body that walks, jumps and is pushed around on a ground."""
    mover = CharacterMovement(ground, body, position=(12, 4, 12), step_offset=0.3, seed=5)
    hashes = []
    for frame in range(frames):
        mover.velocity.x, mover.velocity.z = 4 * np.sin(frame / 25), 4 * np.cos(frame / 19)
        if frame % 50 == 49:
            mover.velocity.y = 4.0
        mover.update(1 / 60)
        hashes.append(mover.state_hash())
    return hashes


@pytest.mark.parametrize("seed", rest_is_full(range(3)))
def test_a_refitted_mesh_answers_as_one_made_there(seed):
    rng = np.random.default_rng(seed)
    vertices, faces = rough(rng)
    meshes = [refitted(vertices, faces, rng), TriangleMesh(vertices, faces)]
    asked = questions((-1, -2, -1), (25, 2, 25), 120, seed)
    for found, expected in (meshes, [Ground([mesh]) for mesh in meshes]):
        answers = everything(expected, asked)
        for name, answer in everything(found, asked).items():
            assert bits(answer) == bits(answers[name]), name
        assert digest(one_by_one(found, asked)) == digest(one_by_one(expected, asked))


@pytest.mark.parametrize("body", BODIES)
def test_a_refitted_mesh_is_walked_on_as_one_made_there(body):
    rng = np.random.default_rng(7)
    vertices, faces = rough(rng)
    hashes = walked(TriangleMesh(vertices, faces), BODIES[body])
    assert walked(refitted(vertices, faces, rng), BODIES[body]) == hashes
    land = HeightMap(np.full((3, 3), -9.0))
    both = [[refitted(vertices, faces, rng), land], [TriangleMesh(vertices, faces), land]]
    assert len({tuple(walked(Ground(parts), BODIES[body], 60)) for parts in both}) == 1


def test_the_order_of_triangles_changes_only_their_ids():
    rng = np.random.default_rng(2)
    vertices, faces = rough(rng)
    order = rng.permutation(len(faces))
    mesh, other = TriangleMesh(vertices, faces), TriangleMesh(vertices, faces[order])
    balls = rng.uniform((0, -1, 0, 0.2), (24, 1, 24, 1.5), (80, 4))
    found, expected = (on.contacts(balls) for on in (other, mesh))
    rows = np.lexsort((order[found.triangle], found.query))
    assert order[found.triangle][rows].tolist() == expected.triangle.tolist()
    for name in ("query", "penetration", "normal", "point"):
        np.testing.assert_array_equal(getattr(found, name)[rows], getattr(expected, name))
    at = rng.uniform((0, 2, 0), (24, 3, 24), (200, 3))
    down = [(0, -1, 0)]
    np.testing.assert_array_equal(
        other.raycast_many(at, down).distance, mesh.raycast_many(at, down).distance
    )
    np.testing.assert_array_equal(
        other.closest_points(at).distance, mesh.closest_points(at).distance
    )
