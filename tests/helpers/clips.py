"""Clips for tests of the viewer, made of numbers alone."""

import numpy as np

from terrain_physics.viewer.clip import Clip, ClipBodies, ClipPart, ClipSurface, Edit


def grid(size, rng):
    """Return the vertices and faces of a land of so many samples a side."""
    place = np.arange(size, dtype=np.float64)
    x, z = np.meshgrid(place, place)
    y = 4 * np.sin(x / 9) * np.cos(z / 11) + 0.2 * rng.normal(size=x.shape)
    corner = (np.arange(size - 1)[:, np.newaxis] * size + np.arange(size - 1)).ravel()
    halves = [(size, size + 1, 1), (size, 1, 0)]  # a, b, c and a, c, d
    faces = corner[:, np.newaxis, np.newaxis] + np.array(halves)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), faces.reshape(-1, 3).astype(np.int32)


def land(size, rng, samples):
    vertices, faces = grid(size, rng)
    surface = ClipSurface(0, faces, np.zeros(len(faces), dtype=np.uint8))
    part = ClipPart("map", (1.0, 1.0), (size, size), False, 0, vertices, [surface])
    part.material_names = ("grass", "wet sand")
    part.position = [np.zeros(3)] * samples
    part.rotation = [np.array([0.0, 0.0, 0.0, 1.0])] * samples
    part.is_solid = [True] * samples
    return part


def walks(count, samples, rng):
    """Return bodies that wander at 3 m/s over a land of 128 m, at times in the air."""
    turns = rng.uniform(0, 6.3, count) + np.cumsum(0.1 * rng.normal(size=(samples, count)), axis=0)
    step = 0.15 * np.stack([np.cos(turns), np.zeros_like(turns), np.sin(turns)], axis=-1)
    center = rng.uniform(20, 100, (count, 3)) + np.cumsum(step, axis=0)
    center[..., 1] = 4 * np.sin(center[..., 0] / 9) * np.cos(center[..., 2] / 11) + 0.9
    state = np.where(rng.random((samples, count)) < 0.05, 0, 3).astype(np.uint8)
    normal = rng.normal(size=(samples, count, 3)) * 0.2 + (0, 1, 0)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    rotation = np.zeros((samples, count, 4))
    rotation[..., 3] = 1.0
    shapes = [("capsule", (0.4, 0.5, 0.4)), ("ball", (0.5,) * 3), ("box", (0.4, 0.3, 0.5))]
    return ClipBodies(
        names=[f"body {number}" for number in range(count)],
        shapes=shapes,
        shape=np.broadcast_to(np.arange(count) % 3, (samples, count)).copy(),
        center=center,
        rotation=rotation,
        state=state,
        is_put=np.zeros((samples, count), dtype=np.bool_),
        touch=np.concatenate([center - 0.5 * normal, normal], axis=-1),
        blocked=np.zeros((0, 8)),
    )


def clip(size, count, samples, seed=0):
    rng = np.random.default_rng(seed)
    times = [k / 20 for k in range(samples)]
    return Clip("a walk", times, walks(count, samples, rng), [land(size, rng, samples)], 0.8)


def edited(made, samples):
    """Return a clip whose land is dug at a sample, and loses its first cell at another one."""
    (part,) = made.parts
    rows = np.array([5, 6, 9])
    part.edits.append(Edit(samples // 2, rows, part.vertices[rows] - (0, 1.5, 0)))
    first = part.surfaces[0]
    part.surfaces.append(ClipSurface(samples - 1, first.faces[2:], first.materials[2:]))
    return made
