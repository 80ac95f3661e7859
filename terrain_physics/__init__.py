"""Terrain collision for Python games: height maps, contacts, a character that stands, a counter.

Public names load on first use, so that ``import terrain_physics`` costs next to nothing: numba and
PyGLM are imported by the first name that needs them.
"""

from importlib import import_module

from terrain_physics._version import __version__

_MODULES = {
    "AABB": "shapes",
    "OBB": "shapes",
    "BoxCollider": "colliders",
    "CharacterMovement": "character",
    "CharacterState": "character_state",
    "HeightMap": "heightmap",
    "MoveResult": "contacts",
    "Ray": "shapes",
    "Sphere": "shapes",
    "SphereCollider": "colliders",
    "TouchCounter": "contest",
    "Triangle": "shapes",
    "Triangles": "contacts",
    "count_touching": "contest",
    "intersect_obb_triangle": "intersect",
    "intersect_obb_triangle_many": "intersect",
    "intersect_sphere_triangle": "intersect",
    "intersect_sphere_triangle_many": "intersect",
    "warm_up": "warmup",
}

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 the table holds strings


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
