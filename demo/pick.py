"""What a line of sight meets: bodies and the ground, in words."""

import math
from collections.abc import Iterable

from demo.bodies import Body
from demo.inputs import Floats3
from terrain_physics import HeightMap, Ray, TriangleMesh, raycast

Ground = HeightMap | TriangleMesh
REACH = 1500.0
NOTHING = "nothing there"


def ground_hit(origin: Floats3, direction: Floats3, ground: Ground) -> tuple[float, int] | None:
    """Return (distance, triangle) of the first ground on a line of sight."""
    hit = ground.raycast(Ray(origin, direction), REACH)
    return None if hit is None else (float(hit.distance), int(hit.triangle))


def pointed_at(origin: Floats3, direction: Floats3, ground: Ground) -> Floats3 | None:
    """Return where a line of sight meets the ground."""
    hit = ground_hit(origin, direction, ground)
    if hit is None:
        return None
    x, y, z = (start + hit[0] * way for start, way in zip(origin, direction, strict=True))
    return x, y, z


def described(origin: Floats3, direction: Floats3, ground: Ground, bodies: Iterable[Body]) -> str:
    """Return what is met first, in words."""
    ray = Ray(origin, direction)
    direction = ray.direction64
    nearest, found = REACH, None
    for index, body in enumerate(bodies):
        distance = raycast(ray, body.shape())
        if distance is not None and distance < nearest:
            nearest, found = distance, (index, body)
    hit = ground_hit(origin, direction, ground)
    if hit is not None and hit[0] < nearest:
        x, y, z = (start + hit[0] * way for start, way in zip(origin, direction, strict=True))
        return _ground_text(ground, hit[1], (x, y, z))
    return NOTHING if found is None else _body_text(*found)


def _body_text(index: int, body: Body) -> str:
    x, y, z = body.place
    kind = type(body.collider).__name__.removesuffix("Collider").lower()
    normal = body.result.ground_normal
    where = "in the air"
    if normal is not None:
        where = f"on {math.degrees(math.acos(min(1.0, normal.y))):.1f} degrees"
    label = f" {body.name}" if body.name else ""
    return (
        f"{kind} {index}{label}: ({x:.2f}, {y:.2f}, {z:.2f}), {body.speed:.2f} m/s, {where}, "
        f"{body.result.contacts} contacts"
    )


def _ground_text(ground: Ground, triangle: int, place: Floats3) -> str:
    x, y, z = place
    if isinstance(ground, TriangleMesh):
        normal = ground.normals[triangle]
        slope = math.degrees(math.acos(min(1.0, max(-1.0, float(normal[1])))))
        return f"mesh triangle {triangle}: ({x:.2f}, {y:.2f}, {z:.2f}), slope {slope:.1f} degrees"
    normal_x, normal_y, normal_z = ground.normal_at(x, z)
    slope = math.degrees(math.acos(min(1.0, normal_y)))
    text = (
        f"triangle {triangle}: ({x:.2f}, {z:.2f}), height {y:.2f} m, slope {slope:.1f} degrees, "
        f"normal ({normal_x:.2f}, {normal_y:.2f}, {normal_z:.2f})"
    )
    if triangle < 0:
        return text
    row, column = divmod(triangle // 2, ground.cell_count[1])
    material = int(ground.materials[row, column])
    names = ground.material_names
    return f"{text}, material {names[material] if names else material}"
