"""Scenes without a picture: shared by the demo, the tests and the benchmarks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider

from .assets import ASSETS
from .names import SCENES

if TYPE_CHECKING:
    from .scene import Scene

# The full range of land.png, from a script of ours: see assets/README.md.
LAND_HEIGHT = 80.0


def scene_class(name: str) -> "type[Scene]":
    """Return the class of a scene: that of its module which has its name."""
    if name not in SCENES:
        raise ValueError(f"scene must be one of {', '.join(SCENES)}, got {name!r}")
    module = import_module(f"..playground.{name}", __package__)
    found: type[Scene] = next(
        value
        for value in vars(module).values()
        if isinstance(value, type) and vars(value).get("name") == name
    )
    return found


def make_scene(
    name: str, seed: int = 0, *, land: HeightMap | None = None, small: bool = False
) -> "Scene":
    """Return a scene at its start; ``small`` ones have fewer bodies, for tests."""
    return scene_class(name)(seed, land=land, small=small)


def load_land(steepness: float = 1.0) -> HeightMap:
    """Return our land: 513 x 513 samples, cells of 1 m; ``steepness`` multiplies all heights."""
    return HeightMap.load(
        ASSETS / "land.png", height_range=(0.0, LAND_HEIGHT), height_scale=steepness
    )


def reference(
    ground: HeightMap, *, seed: int = 0, drop_from: float = 20.0, **rules: Any
) -> list[CharacterMovement]:
    """Return 100 balls and 25 turned boxes above the ground's low corner, about to fall.

    Balls of radius 1 stand in rows of ten, 3 m apart; boxes of half extents 1 in rows of five, 20 m
    apart, turned by (i + 1) / 5 about x and (i + 3) / 9 about y, in radians.
    """
    movers = [
        CharacterMovement(
            ground,
            SphereCollider(1.0),
            position=((i % 10) * 3.0, drop_from, (i // 10) * 3.0),
            seed=seed + i,
            **rules,
        )
        for i in range(100)
    ]
    movers += [
        CharacterMovement(
            ground,
            BoxCollider((1.0, 1.0, 1.0)),
            position=((i % 5) * 20.0 + 13.0, drop_from, (i // 5) * 20.0 + 11.0),
            rotation=glm.quat(glm.vec3((i + 1) / 5, (i + 3) / 9, 0.0)),
            seed=seed + 100 + i,
            **rules,
        )
        for i in range(25)
    ]
    return movers
