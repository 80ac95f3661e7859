"""Balls, boxes and capsules, hit pixel by pixel by the rays of the camera and of the sun."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture.camera import NEAR
from ..picture.frame import Frame
from .compiled import by_vectors, compiled, inlined
from .look import BOUNCED_LIGHT, SKY_LIGHT, SUN_LIGHT, linear
from .raster import LIT

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Words = NDArray[np.uint32]

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
def skin(row: Floats, p: Any) -> Any:
    """Normal (body axes) of a body's surface at a point of it, and a tone.

    Up to 1 the tone multiplies the color, from there to 2 the color fades to white.
    """
    if row[KIND] == BALL:
        inverse = 1.0 / row[SIZE]
        n = (p[0] * inverse, p[1] * inverse, p[2] * inverse)
        if abs(n[1]) < 0.16:
            return n, 2.0
        return n, 1.0 if (n[0] > 0.0) == (n[2] > 0.0) else 0.66
    if row[KIND] == BOX:
        gaps = (row[SIZE] - abs(p[0]), row[SIZE + 1] - abs(p[1]), row[SIZE + 2] - abs(p[2]))
        rim = 0.09 * min(row[SIZE], row[SIZE + 1], row[SIZE + 2])
        if gaps[0] <= gaps[1] and gaps[0] <= gaps[2]:
            n, edge = (math.copysign(1.0, p[0]), 0.0, 0.0), min(gaps[1], gaps[2])
        elif gaps[1] <= gaps[2]:
            n, edge = (0.0, math.copysign(1.0, p[1]), 0.0), min(gaps[0], gaps[2])
        else:
            n, edge = (0.0, 0.0, math.copysign(1.0, p[2])), min(gaps[0], gaps[1])
        return n, 1.3 if edge < rim else 1.0
    z = p[2] - min(max(p[2], -row[SIZE + 1]), row[SIZE + 1])
    inverse = 1.0 / row[SIZE]
    bright = 0.78 if abs(p[2]) < 0.12 * row[SIZE] else 1.0
    return (p[0] * inverse, p[1] * inverse, z * inverse), bright


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
def shadow_share(cast: Singles, sun: Floats, x: float, y: float, z: float, slack: float) -> float:
    """How much of the sun bodies take from a point, 0..1, softened over four texels.

    ``sun``: rows across, up and towards the sun (9), lower corner (2), texels per meter.
    """
    u = (sun[0] * x + sun[1] * y + sun[2] * z - sun[9]) * sun[11] - 0.5
    v = (sun[3] * x + sun[4] * y + sun[5] * z - sun[10]) * sun[11] - 0.5
    j, i = math.floor(u), math.floor(v)
    if i < 0 or j < 0 or i + 1 >= cast.shape[0] or j + 1 >= cast.shape[1]:
        return 0.0
    w = sun[6] * x + sun[7] * y + sun[8] * z + slack
    p, q = u - j, v - i
    upper = (1.0 - p) * (cast[i, j] > w) + p * (cast[i, j + 1] > w)
    lower = (1.0 - p) * (cast[i + 1, j] > w) + p * (cast[i + 1, j + 1] > w)
    return float(upper + q * (lower - upper))


@inlined
def lit_word(color: Any, n: Any, to_sun: Any, sunny: float, shine: float) -> int:
    """A color of the screen, blue in the low byte, of a surface with a normal under sun and sky."""
    lambert = sunny * max(0.0, n[0] * to_sun[0] + n[1] * to_sun[1] + n[2] * to_sun[2])
    up = 0.5 + 0.5 * n[1]
    word = 0
    for k in range(3):
        light = SKY_LIGHT[k] * up + BOUNCED_LIGHT[k] * (1.0 - up) + SUN_LIGHT[k] * lambert
        value = math.sqrt(np.float32(color[k] * light + SUN_LIGHT[k] * shine * lambert))
        word |= int(min(255.0, 255.0 * value + 0.5)) << (16 - 8 * k)
    return word


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


@by_vectors
def draw_bodies(
    bodies: Floats, places: Floats, eye: Floats, view: Floats, lens: Floats, to_sun: Floats,
    shadows: Singles, place: Floats,
    cast: Singles, sun: Floats, top: int, bottom: int, depth: Singles, surface: Words,
) -> None:  # fmt: skip
    """Draw lit bodies into the rows of a band. ``places``: from `place_bodies`."""
    light, shrink, off = (to_sun[0], to_sun[1], to_sun[2]), 1.0 / lens[0], 1.5 / sun[11]
    for k in range(bodies.shape[0]):
        x0, x1, y0, y1 = places[k, 0], places[k, 1], places[k, 2], places[k, 3]
        if y1 < top or y0 >= bottom:
            continue
        row, nearest = bodies[k], places[k, 4]
        first_x, last_x = int(max(x0, 0.0)), min(depth.shape[1], int(min(x1, 1e6)) + 1)
        first_y, last_y = max(top, int(max(y0, 0.0))), min(bottom, int(min(y1, 1e6)) + 1)
        if first_x >= last_x or first_y >= last_y:
            continue
        o = _turned(row, eye[0] - row[CENTER], eye[1] - row[CENTER + 1], eye[2] - row[CENTER + 2])
        ahead = _turned(row, view[2, 0], view[2, 1], view[2, 2])
        side = _turned(row, view[0, 0], view[0, 1], view[0, 2])
        above = _turned(row, view[1, 0], view[1, 1], view[1, 2])
        color = (row[COLOR], row[COLOR + 1], row[COLOR + 2])
        r = row[AROUND]
        crown = hill_light(shadows, place, row[CENTER], row[CENTER + 1] + r, row[CENTER + 2])
        foot = hill_light(shadows, place, row[CENTER], row[CENTER + 1] - r, row[CENTER + 2])
        middle = (0.5 * (first_x + last_x) - lens[1]) * shrink
        for i in range(first_y, last_y):
            b = (lens[2] - i - 0.5) * shrink
            # Between the sun and the eye, for the highlight: the same all along a row.
            hx = view[2, 0] + middle * view[0, 0] + b * view[1, 0]
            hy = view[2, 1] + middle * view[0, 1] + b * view[1, 1]
            hz = view[2, 2] + middle * view[0, 2] + b * view[1, 2]
            length = 1.0 / math.sqrt(hx * hx + hy * hy + hz * hz)
            hx, hy, hz = light[0] - hx * length, light[1] - hy * length, light[2] - hz * length
            length = 1.0 / math.sqrt(hx * hx + hy * hy + hz * hz)
            hx, hy, hz = hx * length, hy * length, hz * length
            for j in range(first_x, last_x):
                if depth[i, j] >= nearest:
                    continue
                a = (j + 0.5 - lens[1]) * shrink
                d = (
                    ahead[0] + a * side[0] + b * above[0],
                    ahead[1] + a * side[1] + b * above[1],
                    ahead[2] + a * side[2] + b * above[2],
                )
                t = hit(row, o, d)
                inverse = 1.0 / t
                if t < NEAR or inverse <= depth[i, j]:
                    continue
                depth[i, j] = inverse
                m, bright = skin(row, (o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]))
                n = (
                    row[TURN] * m[0] + row[TURN + 1] * m[1] + row[TURN + 2] * m[2],
                    row[TURN + 3] * m[0] + row[TURN + 4] * m[1] + row[TURN + 5] * m[2],
                    row[TURN + 6] * m[0] + row[TURN + 7] * m[1] + row[TURN + 8] * m[2],
                )
                dx = view[2, 0] + a * view[0, 0] + b * view[1, 0]
                dy = view[2, 1] + a * view[0, 1] + b * view[1, 1]
                dz = view[2, 2] + a * view[0, 2] + b * view[1, 2]
                x, y, z = eye[0] + t * dx, eye[1] + t * dy, eye[2] + t * dz
                sunny = crown
                if crown != foot:
                    sunny = hill_light(shadows, place, x, y, z)
                sunny *= 1.0 - shadow_share(
                    cast, sun, x + off * n[0], y + off * n[1], z + off * n[2], 0.5 * off
                )
                # Blinn's highlight, to the 32nd power.
                half = max(0.0, n[0] * hx + n[1] * hy + n[2] * hz)
                power = half * half
                power *= power
                power *= power
                power *= power
                power *= power
                white = 0.5 * max(bright - 1.0, 0.0)
                bright = min(bright, 1.0) * (1.0 - white)
                tone = (
                    color[0] * bright + white,
                    color[1] * bright + white,
                    color[2] * bright + white,
                )
                surface[i, j] = LIT + lit_word(tone, n, light, sunny, 0.16 * power)


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
