"""Balls, boxes and capsules, hit pixel by pixel by the rays of the camera and of the sun."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture.camera import NEAR
from ..picture.frame import Frame
from .body_rows import (
    covers,
    meet_ball,
    meet_box,
    meet_capsule,
    put_lit,
    put_shadow_places,
    put_shadows,
    reveal,
    skin_ball,
    skin_box,
    skin_capsule,
    turn_normals,
)
from .compiled import by_vectors, compiled, inlined, uncounted
from .look import linear
from .raster import LANES

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Numbers = NDArray[np.int32]

BALL, BOX, CAPSULE = 0.0, 1.0, 2.0
# A body's row: kind, center, rotation by rows, then half extents, or the radius and half the way
# from a to b along the third axis, the color as light, the radius of a ball around it.
KIND, CENTER, TURN, SIZE, COLOR, AROUND, WIDTH = 0, 1, 4, 13, 16, 19, 20
_STEEPEST = 1e6


def pack_bodies(frame: Frame) -> Floats:
    """Return the frame's bodies as rows, (n, WIDTH), the nearest first: they hide the others."""
    parts = [np.empty((0, WIDTH))]
    for balls in frame.balls:
        rows = _rows(BALL, balls.centers, balls.rotations, balls.colors)
        rows[:, SIZE] = rows[:, AROUND] = balls.radii
        parts.append(rows)
    for boxes in frame.boxes:
        rows = _rows(BOX, boxes.centers, boxes.rotations, boxes.colors)
        rows[:, SIZE : SIZE + 3] = boxes.half_extents
        rows[:, AROUND] = np.linalg.norm(boxes.half_extents, axis=1)
        parts.append(rows)
    for capsules in frame.capsules:
        half = 0.5 * (capsules.b - capsules.a)
        rows = _rows(CAPSULE, 0.5 * (capsules.a + capsules.b), axes_along(half), capsules.colors)
        rows[:, SIZE], rows[:, SIZE + 1] = capsules.radii, np.linalg.norm(half, axis=1)
        rows[:, AROUND] = rows[:, SIZE] + rows[:, SIZE + 1]
        parts.append(rows)
    rows = np.concatenate(parts)
    away = rows[:, CENTER : CENTER + 3] - frame.camera.position
    return np.ascontiguousarray(rows[np.argsort((away * away).sum(axis=1), kind="stable")])


def _rows(kind: float, centers: Floats, rotations: Floats, colors: NDArray[np.uint8]) -> Floats:
    rows = np.zeros((len(centers), WIDTH))
    rows[:, KIND], rows[:, CENTER : CENTER + 3] = kind, centers
    rows[:, TURN : TURN + 9] = np.asarray(rotations).reshape(-1, 9)
    rows[:, COLOR : COLOR + 3] = linear(colors)
    return rows


def axes_along(along: Floats) -> Floats:
    """Return rotations whose third column points along the given directions."""
    length = np.linalg.norm(along, axis=1)
    third = np.where(length[:, np.newaxis] > 0.0, along, [0.0, 1.0, 0.0])
    third = third / np.linalg.norm(third, axis=1)[:, np.newaxis]
    least = np.eye(3)[np.abs(third).argmin(axis=1)]
    first = np.cross(least, third)
    first /= np.linalg.norm(first, axis=1)[:, np.newaxis]
    return np.stack([first, np.cross(third, first), third], axis=2)


@inlined
def _turned(row: Floats, x: float, y: float, z: float) -> Any:
    """A direction of the world in the body's axes."""
    return (
        row[TURN] * x + row[TURN + 3] * y + row[TURN + 6] * z,
        row[TURN + 1] * x + row[TURN + 4] * y + row[TURN + 7] * z,
        row[TURN + 2] * x + row[TURN + 5] * y + row[TURN + 8] * z,
    )


@inlined
def _hit_ball(o: Any, d: Any, dd: float, radius: float) -> float:
    middle = -(o[0] * d[0] + o[1] * d[1] + o[2] * d[2]) / dd
    x, y, z = o[0] + middle * d[0], o[1] + middle * d[1], o[2] + middle * d[2]
    rest = radius * radius - (x * x + y * y + z * z)
    return middle - math.sqrt(rest / dd) if rest >= 0.0 else np.inf


@inlined
def _hit_box(o: Any, d: Any, hx: float, hy: float, hz: float) -> float:
    enter, leave = -np.inf, np.inf
    for k in range(3):
        half, start, way = (hx, hy, hz)[k], o[k], d[k]
        if abs(way) < 1e-12:
            if abs(start) > half:
                return np.inf
            continue
        p, q = (-half - start) / way, (half - start) / way
        enter, leave = max(enter, min(p, q)), min(leave, max(p, q))
    return enter if enter <= leave else np.inf


@inlined
def _hit_capsule(o: Any, d: Any, dd: float, radius: float, half: float) -> float:
    """The axis is z; first the side, then the ball at the nearer end."""
    flat = d[0] * d[0] + d[1] * d[1]
    end = half if o[2] > 0.0 else -half
    if flat > 1e-12 * dd:
        middle = -(o[0] * d[0] + o[1] * d[1]) / flat
        x, y = o[0] + middle * d[0], o[1] + middle * d[1]
        rest = radius * radius - (x * x + y * y)
        if rest < 0.0:
            return np.inf
        t = middle - math.sqrt(rest / flat)
        z = o[2] + t * d[2]
        if abs(z) <= half:
            return float(t)
        end = half if z > 0.0 else -half
    return _hit_ball((o[0], o[1], o[2] - end), d, dd, radius)


@inlined
def hit(row: Floats, o: Any, d: Any) -> float:
    """How far along a ray a body begins, in lengths of d; infinite if it is missed. Body axes."""
    dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    if row[KIND] == BALL:
        return _hit_ball(o, d, dd, row[SIZE])
    if row[KIND] == BOX:
        return _hit_box(o, d, row[SIZE], row[SIZE + 1], row[SIZE + 2])
    return _hit_capsule(o, d, dd, row[SIZE], row[SIZE + 1])


@inlined
def hill_light(shadows: Singles, place: Floats, x: float, y: float, z: float) -> float:
    """How much of the sun the hills let through to a point, 0..1. ``place``: see `paint`."""
    column = min(max((x - place[0]) / place[2], 0.0), shadows.shape[1] - 1.0)
    row = min(max((z - place[1]) / place[3], 0.0), shadows.shape[0] - 1.0)
    j, i = min(int(column), shadows.shape[1] - 2), min(int(row), shadows.shape[0] - 2)
    p, q = column - j, row - i
    upper = shadows[i, j] + p * (shadows[i, j + 1] - shadows[i, j])
    lower = shadows[i + 1, j] + p * (shadows[i + 1, j + 1] - shadows[i + 1, j])
    return float(min(max(0.5 + (y - upper - q * (lower - upper)) / place[9], 0.0), 1.0))


@inlined
def _reach(row: Floats, x: float, y: float, z: float) -> float:
    """How far a body reaches from its center along a unit direction."""
    if row[KIND] == BALL:
        return float(row[SIZE])
    p, q, r = _turned(row, x, y, z)
    if row[KIND] == BOX:
        return float(abs(p) * row[SIZE] + abs(q) * row[SIZE + 1] + abs(r) * row[SIZE + 2])
    return float(row[SIZE] + abs(r) * row[SIZE + 1])


@inlined
def _tangents(aside: float, ahead: float, radius: float) -> tuple[float, float]:
    """Slopes between which a circle is seen from the origin, also one that reaches behind it."""
    away = math.sqrt(aside * aside + ahead * ahead)
    if away <= radius:
        return -_STEEPEST, _STEEPEST
    middle, half = math.atan2(aside, ahead), math.asin(radius / away)
    flat = math.atan(_STEEPEST)
    return (
        math.tan(min(max(middle - half, -flat), flat)),
        math.tan(min(max(middle + half, -flat), flat)),
    )


@inlined
def _screen_box(row: Floats, eye: Floats, view: Floats, lens: Floats) -> Any:
    """Least and greatest pixel x and y of a body, if it is in front, and its greatest 1 / depth."""
    x, y, z = row[CENTER] - eye[0], row[CENTER + 1] - eye[1], row[CENTER + 2] - eye[2]
    w = view[2, 0] * x + view[2, 1] * y + view[2, 2] * z
    deep = _reach(row, view[2, 0], view[2, 1], view[2, 2])
    if w + deep < NEAR:
        return 0.0, -1.0, 0.0, -1.0, 0.0
    u = view[0, 0] * x + view[0, 1] * y + view[0, 2] * z
    v = view[1, 0] * x + view[1, 1] * y + view[1, 2] * z
    if w - deep < NEAR:
        left, right = _tangents(u, w, row[AROUND])
        below, above = _tangents(v, w, row[AROUND])
        return (
            lens[1] + left * lens[0], lens[1] + right * lens[0],
            lens[2] - above * lens[0], lens[2] - below * lens[0], np.inf,
        )  # fmt: skip
    wide = _reach(row, view[0, 0], view[0, 1], view[0, 2])
    high = _reach(row, view[1, 0], view[1, 1], view[1, 2])
    near, far = lens[0] / (w - deep), lens[0] / (w + deep)
    return (
        lens[1] + min((u - wide) * near, (u - wide) * far),
        lens[1] + max((u + wide) * near, (u + wide) * far),
        lens[2] - max((v + high) * near, (v + high) * far),
        lens[2] - min((v - high) * near, (v - high) * far),
        1.0 / (w - deep),
    )


@compiled
def place_bodies(bodies: Floats, eye: Floats, view: Floats, lens: Floats, out: Floats) -> None:
    """Write where bodies are on the screen, (n, 5): see `_screen_box`."""
    for k in range(bodies.shape[0]):
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = _screen_box(
            bodies[k], eye, view, lens
        )


@inlined
def _meet(kind: float, ray: Singles, size: Singles, times: Singles) -> None:
    """Write how far along rays a body begins: see `body_rows`."""
    if kind == CAPSULE:
        meet_capsule(ray, size, times)
    elif kind == BALL:
        meet_ball(ray, size, times)
    else:
        meet_box(ray, size, times)


@inlined
def _skin(
    kind: float, ray: Singles, size: Singles, times: Singles, normals: Singles, tones: Singles
) -> None:
    """Write normals and tones of what is seen of a body."""
    if kind == CAPSULE:
        skin_capsule(ray, size, times, normals, tones)
    elif kind == BALL:
        skin_ball(ray, size, times, normals, tones)
    else:
        skin_box(ray, size, times, normals, tones)


@inlined
def _put_eye(row: Floats, eye: Floats, view: Floats, lens: Floats, ray: Singles) -> None:
    """Write the eye, and what each next pixel adds to a ray, in the body's axes."""
    o = _turned(row, eye[0] - row[CENTER], eye[1] - row[CENTER + 1], eye[2] - row[CENTER + 2])
    side = _turned(row, view[0, 0], view[0, 1], view[0, 2])
    for k in range(3):
        ray[k], ray[6 + k] = o[k], side[k] / lens[0]


@inlined
def _aim(
    row: Floats, view: Floats, a: float, b: float, sun: Floats, ray: Singles, way: Singles
) -> None:
    """Write a pixel's ray in the body's axes, and in those of the map of shadows."""
    x = view[2, 0] + a * view[0, 0] + b * view[1, 0]
    y = view[2, 1] + a * view[0, 1] + b * view[1, 1]
    z = view[2, 2] + a * view[0, 2] + b * view[1, 2]
    d = _turned(row, x, y, z)
    for k in range(3):
        ray[3 + k] = d[k]
        scale = sun[11] if k < 2 else 1.0
        way[3 + k] = scale * (sun[3 * k] * x + sun[3 * k + 1] * y + sun[3 * k + 2] * z)


@compiled
def _shadow_way(sun: Floats, eye: Floats, view: Floats, lens: Floats, way: Singles) -> None:
    """Write what all pixels have in common on their way into the map of shadows."""
    off = 1.5 / sun[11]  # towards the light, so that nothing is in its own shadow
    for k in range(3):
        scale = sun[11] if k < 2 else 1.0
        x, y, z = scale * sun[3 * k], scale * sun[3 * k + 1], scale * sun[3 * k + 2]
        start = 0.5 * off if k == 2 else -0.5 - scale * sun[9 + k]
        way[k] = start + x * eye[0] + y * eye[1] + z * eye[2]
        way[6 + k] = (x * view[0, 0] + y * view[0, 1] + z * view[0, 2]) / lens[0]
        way[9 + 3 * k], way[10 + 3 * k], way[11 + 3 * k] = off * x, off * y, off * z


@inlined
def _put_lamp(row: Floats, view: Floats, a: float, b: float, to_sun: Floats, lamp: Singles) -> None:
    """Write where the sun is for a row of pixels around one, and the body's color."""
    x, y, z = (
        view[2, 0] + a * view[0, 0] + b * view[1, 0],
        view[2, 1] + a * view[0, 1] + b * view[1, 1],
        view[2, 2] + a * view[0, 2] + b * view[1, 2],
    )
    # Between the sun and the eye, for the highlight: the same all along a row.
    length = 1.0 / math.sqrt(x * x + y * y + z * z)
    x, y, z = to_sun[0] - x * length, to_sun[1] - y * length, to_sun[2] - z * length
    length = 1.0 / math.sqrt(x * x + y * y + z * z)
    shine = (x * length, y * length, z * length)
    for k in range(3):
        lamp[k], lamp[3 + k], lamp[6 + k] = to_sun[k], shine[k], row[COLOR + k]


@uncounted
def _put_hills(
    shadows: Singles, place: Floats, eye: Floats, view: Floats, a: float, b: float, shrink: float,
    times: Singles, sunny: Singles,
) -> None:  # fmt: skip
    """Write how much of the sun hills leave to each pixel of a body that their edge falls on."""
    for k in range(LANES):
        t, across = float(times[k]), a + k * shrink
        x = eye[0] + t * (view[2, 0] + across * view[0, 0] + b * view[1, 0])
        y = eye[1] + t * (view[2, 1] + across * view[0, 1] + b * view[1, 1])
        z = eye[2] + t * (view[2, 2] + across * view[0, 2] + b * view[1, 2])
        sunny[k] = hill_light(shadows, place, x, y, z)


@uncounted
def _draw_body(
    row: Floats, box: Floats, eye: Floats, view: Floats, lens: Floats, to_sun: Floats,
    shadows: Singles, place: Floats, cast: Singles, sun: Floats, top: int, bottom: int,
    singles: Singles, lines: Singles, texels: Numbers, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Draw a body into the rows from ``top`` to before ``bottom``, some pixels at a time."""
    ray, lamp, size, turn, way = singles[0], singles[1], singles[2], singles[3], singles[4]
    times, tones, sunny, normals = lines[0], lines[1], lines[2], lines[3:6]
    us, vs, highs, rows, columns = lines[6], lines[7], lines[8], texels[0], texels[1]
    width, shrink, nearest = depth.shape[1], 1.0 / lens[0], np.float32(box[4])
    first, last = int(max(box[0], 0.0)), min(width, int(min(box[1], 1e6)) + 1)
    for k in range(9):
        size[k % 3], turn[k] = row[SIZE + k % 3], row[TURN + k]
    _put_eye(row, eye, view, lens, ray)
    x, y, z, r = row[CENTER], row[CENTER + 1], row[CENTER + 2], row[AROUND]
    crown = hill_light(shadows, place, x, y + r, z)
    foot = hill_light(shadows, place, x, y - r, z)
    middle = (0.5 * (first + last) - lens[1]) * shrink
    for i in range(max(top, int(max(box[2], 0.0))), min(bottom, int(min(box[3], 1e6)) + 1)):
        b = (lens[2] - i - 0.5) * shrink
        _put_lamp(row, view, middle, b, to_sun, lamp)
        for start in range(first, last, LANES):
            left = min(start, width - LANES)
            near, words = depth[i, left : left + LANES], surface[i, left : left + LANES]
            if covers(near, nearest):
                continue
            a = (left + 0.5 - lens[1]) * shrink
            _aim(row, view, a, b, sun, ray, way)
            _meet(row[KIND], ray, size, times)
            if not reveal(times, near):
                continue
            _skin(row[KIND], ray, size, times, normals, tones)
            turn_normals(turn, normals)
            for k in range(LANES):
                sunny[k] = crown
            if crown != foot:
                _put_hills(shadows, place, eye, view, a, b, shrink, times, sunny)
            if cast.shape[0] > 1:
                put_shadow_places(times, normals, way, cast, us, vs, highs, rows, columns)
                put_shadows(cast, times, rows, columns, us, vs, highs, sunny)
            put_lit(normals, tones, sunny, lamp, times, words)


@compiled
def draw_bodies(
    bodies: Floats, places: Floats, eye: Floats, view: Floats, lens: Floats, to_sun: Floats,
    shadows: Singles, place: Floats,
    cast: Singles, sun: Floats, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Draw lit bodies into the rows of a band. ``places``: from `place_bodies`."""
    singles = np.empty((5, 18), dtype=np.float32)
    lines, texels = np.empty((9, LANES), dtype=np.float32), np.empty((2, LANES), dtype=np.int32)
    _shadow_way(sun, eye, view, lens, singles[4])
    for k in range(bodies.shape[0]):
        box = places[k]
        if box[1] >= 0.0 and box[0] < depth.shape[1] and box[3] >= top and box[2] < bottom:
            _draw_body(
                bodies[k], box, eye, view, lens, to_sun, shadows, place, cast, sun, top, bottom,
                singles, lines, texels, depth, surface,
            )  # fmt: skip


@inlined
def _cast_ball(
    u: float, v: float, w: float, radius: float, scale: float, first_i: int, last_i: int,
    first_j: int, last_j: int, cast: Singles,
) -> None:  # fmt: skip
    """Write how far towards the sun a ball reaches; its center in texels, ``scale`` a meter."""
    for i in range(first_i, last_i):
        b = (i + 0.5 - v) / scale
        for j in range(first_j, last_j):
            a = (j + 0.5 - u) / scale
            rest = radius * radius - a * a - b * b
            if rest >= 0.0:
                cast[i, j] = max(cast[i, j], w + math.sqrt(rest))


@by_vectors
def cast_bodies(bodies: Floats, sun: Floats, first: int, last: int, cast: Singles) -> None:
    """Write, into rows of the shadow map, how far towards the sun bodies reach."""
    far = 1e4
    for k in range(bodies.shape[0]):
        row = bodies[k]
        x, y, z = row[CENTER], row[CENTER + 1], row[CENTER + 2]
        u = (sun[0] * x + sun[1] * y + sun[2] * z - sun[9]) * sun[11]
        v = (sun[3] * x + sun[4] * y + sun[5] * z - sun[10]) * sun[11]
        w = sun[6] * x + sun[7] * y + sun[8] * z
        wide = _reach(row, sun[0], sun[1], sun[2]) * sun[11]
        high = _reach(row, sun[3], sun[4], sun[5]) * sun[11]
        first_i, last_i = (
            max(first, int(max(v - high, 0.0))),
            min(last, int(max(v + high, -1.0)) + 1),
        )
        first_j, last_j = int(max(u - wide, 0.0)), min(cast.shape[1], int(max(u + wide, -1.0)) + 1)
        if row[KIND] == BALL:
            _cast_ball(u, v, w, row[SIZE], sun[11], first_i, last_i, first_j, last_j, cast)
            continue
        d = _turned(row, -sun[6], -sun[7], -sun[8])
        for i in range(first_i, last_i):
            for j in range(first_j, last_j):
                a, b = (j + 0.5 - u) / sun[11], (i + 0.5 - v) / sun[11]
                o = _turned(
                    row,
                    a * sun[0] + b * sun[3] + far * sun[6],
                    a * sun[1] + b * sun[4] + far * sun[7],
                    a * sun[2] + b * sun[5] + far * sun[8],
                )
                t = hit(row, o, d)
                if t < 2.0 * far:
                    cast[i, j] = max(cast[i, j], w + far - t)
