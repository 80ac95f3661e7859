"""What a line of sight meets: bodies and the ground, in words."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from terrain_physics import Ground, HeightMap, Ray, RayHit, TiledGround, TriangleMesh, raycast

from .bodies import Body
from .inputs import Floats3

AnyGround = HeightMap | TriangleMesh | Ground
REACH = 1500.0
ALL_LAYERS = 0xFFFF_FFFF
_KINDS = {"sphere": "a ball", "box": "a box", "capsule": "a person"}
_LEVEL = 1.0  # degrees
_RESTS = 0.05  # m/s


class Found(NamedTuple):
    """What a line of sight met: in words of a player, and in figures with numbers of parts."""

    words: str
    figures: str = ""


NOTHING = Found("Nothing is there.")


def ground_hit(
    origin: Floats3, direction: Floats3, ground: AnyGround, *, mask: int = ALL_LAYERS
) -> RayHit | None:
    """Return the first ground on a line of sight."""
    return ground.raycast(Ray(origin, direction), REACH, mask=mask)


def pointed_at(origin: Floats3, direction: Floats3, ground: AnyGround) -> Floats3 | None:
    """Return where a line of sight meets the ground."""
    hit = ground_hit(origin, direction, ground)
    if hit is None:
        return None
    x, y, z = (start + hit.distance * way for start, way in zip(origin, direction, strict=True))
    return x, y, z


def described(
    origin: Floats3,
    direction: Floats3,
    ground: AnyGround,
    bodies: Iterable[Body],
    part_names: Mapping[int, str],
) -> Found:
    """Return what is met first; parts of the ground may have names."""
    ray = Ray(origin, direction)
    direction = ray.direction64
    nearest, found = REACH, None
    for index, body in enumerate(bodies):
        distance = raycast(ray, body.shape())
        if distance is not None and distance < nearest:
            nearest, found = distance, (index, body)
    hit = ground_hit(origin, direction, ground)
    if hit is not None and hit.distance < nearest:
        x, y, z = (start + hit.distance * way for start, way in zip(origin, direction, strict=True))
        figures = _ground_figures(ground, hit, hit.triangle, (x, y, z))
        return Found(_ground_words(ground, hit, part_names), figures)
    return NOTHING if found is None else Found(_body_words(found[1]), _body_figures(*found))


def _body_words(body: Body) -> str:
    name = "you" if body.name == "player" else _KINDS[_kind(body)]
    normal = body.result.ground_normal
    if normal is None:
        how = "in the air"
    elif body.speed > _RESTS:
        how = f"moving at {body.speed:.1f} m/s"
    else:
        how = "at rest"
    return _sentence(name, how, "" if normal is None else _slope(normal.y, "on ground that is"))


def _ground_words(ground: AnyGround, hit: RayHit, part_names: Mapping[int, str]) -> str:
    part = ground.part_of(hit.triangle)[0] if isinstance(ground, Ground) else None
    name = part_names.get(part, "") if part is not None else ""
    if not name:
        name = hit.material_name or "ground"
    return _sentence(name, _slope(hit.normal.y), f"{hit.distance:.0f} m away")


def _slope(up: float, before: str = "") -> str:
    degrees = math.degrees(math.acos(min(1.0, abs(up))))
    if degrees < _LEVEL:
        return "" if before else "level"
    return f"{before} {degrees:.0f}\N{DEGREE SIGN} steep".strip()


def _sentence(*parts: str) -> str:
    words = ", ".join(part for part in parts if part)
    return f"{words[0].upper()}{words[1:]}."


def _kind(body: Body) -> str:
    return type(body.collider).__name__.removesuffix("Collider").lower()


def _body_figures(index: int, body: Body) -> str:
    x, y, z = body.place
    normal = body.result.ground_normal
    where = "in the air"
    if normal is not None:
        where = f"on {math.degrees(math.acos(min(1.0, normal.y))):.1f} degrees"
    label = f" {body.name}" if body.name else ""
    return (
        f"{_kind(body)} {index}{label}: ({x:.2f}, {y:.2f}, {z:.2f}), {body.speed:.2f} m/s, "
        f"{where}, {body.result.contacts} contacts"
    )


def _ground_figures(ground: AnyGround, hit: RayHit, triangle: int, place: Floats3) -> str:
    x, y, z = place
    if isinstance(ground, TiledGround):
        return f"triangle {triangle}: ({x:.2f}, {y:.2f}, {z:.2f}), material {_material_of(hit)}"
    if isinstance(ground, Ground):
        key, own = ground.part_of(triangle)
        return f"part {key}, {_ground_figures(ground.parts[key], hit, own, place)}"
    if isinstance(ground, TriangleMesh):
        slope = math.degrees(math.acos(min(1.0, max(-1.0, hit.normal.y))))
        return f"mesh triangle {triangle}: ({x:.2f}, {y:.2f}, {z:.2f}), slope {slope:.1f} degrees"
    if triangle >= 2 * math.prod(ground.cell_count):
        return f"side {triangle}: ({x:.2f}, {y:.2f}, {z:.2f}), material {_material_of(hit)}"
    normal_x, normal_y, normal_z = ground.normal_at(x, z)
    slope = math.degrees(math.acos(min(1.0, normal_y)))
    text = (
        f"triangle {triangle}: ({x:.2f}, {z:.2f}), height {y:.2f} m, slope {slope:.1f} degrees, "
        f"normal ({normal_x:.2f}, {normal_y:.2f}, {normal_z:.2f})"
    )
    if triangle < 0:
        return text
    return f"{text}, material {_material_of(hit)}"


def _material_of(hit: RayHit) -> str | int:
    """Return the name of what was hit, or its number if it has none."""
    return hit.material if hit.material_name is None else hit.material_name
