"""The way of a ray or a moving shape over a height map, and what is met first.

The way is cut into slabs across the axis along which it crosses more cells: one column of cells, or
8, 64, ... of them, as wide as the blocks of some level. A slab is skipped if the shape, while in
it, is above or below all blocks it passes over; else it is cut into 8. Nothing is added up along
the way: each slab is cut out of the ray itself and widened by more than rounding, so no cell whose
triangles the exact tests would hit is passed by. What decides is those tests alone.

Where ground goes on outside the map, the cells of the border are taken to reach out as far as
this way goes: there the ground is flat or a prism, and so one cell. A way has up to three parts,
before, on and behind the map along its axis; the outer ones are walked along the other axis. So the
work is bounded by the number of cells along one side of the map, however far the way goes.
"""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.blocks import blocks_across, level_start
from terrain_physics._kernels.grid import (
    CELL_FLIPPED,
    CELL_HOLE,
    DIAGONAL_ALTERNATING,
    DIAGONAL_BD,
    DIAGONAL_TABLE,
    Cells,
    Floats,
    Heights,
)
from terrain_physics._kernels.map_touch import meet_upright, on_ground, place_of_touch
from terrain_physics._kernels.map_way import (
    BEYOND,
    FARTHEST,
    FEW_CELLS,
    LEAST,
    MANY_SLABS,
    SLACK,
    Land,
    cell_triangle,
    clamp,
    clip,
    ends_of_ground,
    ends_of_way,
    from_plane,
    front_normal,
    inverse_of,
    side,
)
from terrain_physics._kernels.pairs import row3
from terrain_physics._kernels.rays import ray_frame, ray_frame_triangle
from terrain_physics._kernels.sweep_body import RAY, body_of, reach_of, split_motion, travel
from terrain_physics._kernels.vec3 import add_scaled, subtract

Ints = NDArray[np.int64]


@kernel(inline=True)
def walk(
    kind: int,
    heights: Heights,
    cells: Cells,
    blocks: Heights,
    frame: Floats,
    land: Land,
    bodies: Floats,
    motions: Floats,
    most: float,
    row_first: int,
    row_last: int,
    numbers: Floats,
    whole: Ints,
    faces: Floats,
) -> None:
    """Write what rays or bodies [row_first, row_last) meet first, each on its way.

    For rays ``bodies`` are origins (n, 3) and ``motions`` unit directions (n, 3), ``most`` is the
    longest distance; else ``bodies`` is (n, 16) and ways are as long as motions. Either may have
    one row for all. ``numbers`` (n, 8): distance, point, normal, part of the way, NaN where nothing
    is met; ``whole`` (n, 2): triangle and nearest cell, -1 and 0. Of ties the first by row, column,
    half. ``kind`` is a constant for rays: inlined, this becomes a walk for rays or one for bodies.
    The loop is in here since to hand arrays to a function with branches counts references.
    """
    rows, columns, cell_x, cell_z = land.rows, land.columns, land.cell_x, land.cell_z
    x0, y0, z0, height_scale = land.x0, land.y0, land.z0, land.height_scale
    first_height = land.first_height
    for index in range(row_first, row_last):
        distance, met_normal, met_row, met_column, met_half = math.inf, (0.0, 0.0, 0.0), 0, 0, -1
        body_row = index if bodies.shape[0] > 1 else 0
        origin = row3(bodies, body_row)
        direction = row3(motions, index if motions.shape[0] > 1 else 0)
        radius, half_size, reach_m = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        rotation = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        way_length, ray, upright, level_there = most, (0, 0.0, 0.0, 0.0), False, 0.0
        if kind == RAY:
            upright = direction[0] == 0.0 and direction[2] == 0.0
            if not upright:
                ray = ray_frame(direction)
        else:
            radius, half_size, rotation = body_of(bodies, body_row)
            reach_m = reach_of(kind, radius, half_size, rotation)
            way_length, direction = split_motion(direction)
        inverse = (inverse_of(direction[0]), inverse_of(direction[1]), inverse_of(direction[2]))
        size_x, size_z = columns * cell_x, rows * cell_z
        wide_x = reach_m[0] + SLACK * (abs(origin[0]) + abs(x0) + size_x + cell_x)
        wide_z = reach_m[2] + SLACK * (abs(origin[2]) + abs(z0) + size_z + cell_z)
        wide_y = SLACK * (abs(origin[1]) + abs(land.low) + abs(land.high)) + reach_m[1] + LEAST
        wide = (wide_x, wide_y, wide_z)
        start, end = ends_of_way(land, origin, direction, inverse, wide, way_length)
        ends = ends_of_ground(land, origin, direction, reach_m, start, end)
        # In cells from here: along x, along z.
        u, rate_u, inverse_u = (
            (origin[0] - x0) / cell_x, direction[0] / cell_x, inverse[0] * cell_x,
        )  # fmt: skip
        v, rate_v, inverse_v = (
            (origin[2] - z0) / cell_z, direction[2] / cell_z, inverse[2] * cell_z,
        )  # fmt: skip
        wide_u, wide_v = wide_x / cell_x, wide_z / cell_z
        main_is_u = abs(rate_u) >= abs(rate_v)
        outside = 1 if land.extend else 0
        limit = min(way_length, FARTHEST)
        main, main_rate, main_inverse, main_wide, main_count = (
            (u, rate_u, inverse_u, wide_u, columns) if main_is_u
            else (v, rate_v, inverse_v, wide_v, rows)
        )  # fmt: skip
        near, far = main + start * main_rate, main + end * main_rate
        turn, turns = 1, 2
        if start > end or upright or way_length == 0.0:
            turns = 0
        elif land.extend and not (
            min(near, far) > main_wide and max(near, far) + main_wide < main_count
        ):
            turn, turns = 0, 3
        while turn < turns:
            part = turn if main_rate >= 0.0 else 2 - turn
            turn += 1
            # A part outside the map is walked along the other axis.
            along_u = main_is_u if part == 1 else not main_is_u
            count = main_count
            part_low = -BEYOND if part == 0 else (0.0 if part == 1 else float(count))
            part_high = 0.0 if part == 0 else (float(count) if part == 1 else BEYOND)
            part_start, part_end = clip(
                main,
                main_inverse,
                part_low - main_wide,
                part_high + main_wide,
                start,
                min(end, limit),
            )
            if part_start > part_end:
                continue
            if part != 1:
                cross_least = cross_most = -1 if part == 0 else count
                i_least, i_most = -1, (rows if main_is_u else columns)
            else:
                i_least, i_most = 0, count - 1
                cross_least, cross_most = -outside, (rows if main_is_u else columns) - 1 + outside
            if along_u:
                place, rate, per_cell, reach, count = u, rate_u, inverse_u, wide_u, columns
                cross, cross_rate, cross_reach = v, rate_v, wide_v
            else:
                place, rate, per_cell, reach, count = v, rate_v, inverse_v, wide_v, rows
                cross, cross_rate, cross_reach = u, rate_u, wide_u
            forward = rate >= 0.0
            begin, finish = place + part_start * rate, place + part_end * rate
            first = clamp(min(begin, finish) - reach, i_least, i_most)
            last = clamp(max(begin, finish) + reach, i_least, i_most)
            top = 0
            while top < land.levels - 1 and (last - first) >> (3 * (top + 1)) > MANY_SLABS:
                top += 1
            level = top if last - first > FEW_CELLS else -1
            blocks_below = land.first_block + level_start(rows, columns, max(level, 0))
            i = first if forward else last
            while first <= i <= last:
                shift = 3 * (level + 1)
                slab = (i >> shift) << shift
                slab_end = slab + (1 << shift)
                edge_low = float(slab) if slab >= 0 else -BEYOND
                edge_high = float(slab_end) if slab_end <= count else BEYOND
                t_low = (edge_low - reach - place) * per_cell
                t_high = (edge_high + reach - place) * per_cell
                t_in = max(min(t_low, t_high), part_start)
                t_out = min(max(t_low, t_high), part_end, limit)
                if t_in > limit:
                    break
                if t_in <= t_out:
                    c_in, c_out = cross + t_in * cross_rate, cross + t_out * cross_rate
                    y_in, y_out = origin[1] + t_in * direction[1], origin[1] + t_out * direction[1]
                    y_low, y_high = min(y_in, y_out) - wide_y, max(y_in, y_out) + wide_y
                    j_first = clamp(min(c_in, c_out) - cross_reach, cross_least, cross_most)
                    j_last = clamp(max(c_in, c_out) + cross_reach, cross_least, cross_most)
                    if level >= 0:
                        across = blocks_across(columns, level)
                        down = blocks_across(rows, level)
                        block_i = min(max(i, 0) >> shift, (across if along_u else down) - 1)
                        block_most = (down if along_u else across) - 1
                        block_j = min(max(j_first, 0) >> shift, block_most)
                        block_last = min(max(j_last, 0) >> shift, block_most)
                        passes = True
                        while passes and block_j <= block_last:
                            k = (
                                block_j * across + block_i
                                if along_u
                                else block_i * across + block_j
                            )
                            k = 2 * (blocks_below + k)
                            low = y0 + height_scale * np.float64(blocks[k])
                            high = y0 + height_scale * np.float64(blocks[k + 1])
                            passes = not (min(low, high) <= y_high and max(low, high) >= y_low)
                            block_j += 1
                        if not passes:
                            level -= 1
                            if level >= 0:
                                blocks_below -= blocks_across(columns, level) * blocks_across(
                                    rows, level
                                )
                            continue
                    else:
                        for j in range(j_first, j_last + 1):
                            row, column = (j, i) if along_u else (i, j)
                            near_row = min(max(row, 0), rows)
                            far_row = min(max(row + 1, 0), rows)
                            left = min(max(column, 0), columns)
                            right = min(max(column + 1, 0), columns)
                            k = first_height + near_row * (columns + 1)
                            d = y0 + height_scale * np.float64(heights[k + left])
                            c = y0 + height_scale * np.float64(heights[k + right])
                            k = first_height + far_row * (columns + 1)
                            a = y0 + height_scale * np.float64(heights[k + left])
                            b = y0 + height_scale * np.float64(heights[k + right])
                            if not (max(a, b, c, d) >= y_low and min(a, b, c, d) <= y_high):
                                continue
                            if math.isnan(a + b + c + d):
                                continue
                            bits = 0
                            if land.has_table:
                                k = min(near_row, rows - 1) * columns + min(left, columns - 1)
                                bits = int(cells[land.first_cell + k])
                                if bits & CELL_HOLE:
                                    continue
                            flipped = land.diagonal == DIAGONAL_BD
                            if land.diagonal == DIAGONAL_TABLE:
                                flipped = bits & CELL_FLIPPED != 0
                            elif land.diagonal == DIAGONAL_ALTERNATING:
                                flipped = (row + column) & 1 != 0
                            sides = (
                                side(column, columns, x0, cell_x, ends.x0, ends.x1),
                                side(column + 1, columns, x0, cell_x, ends.x0, ends.x1),
                                side(row, rows, z0, cell_z, ends.z0, ends.z1),
                                side(row + 1, rows, z0, cell_z, ends.z0, ends.z1),
                            )
                            inside = 0 <= row < rows and 0 <= column < columns
                            inner = (
                                x0 + left * cell_x,
                                d if row >= 0 else a,
                                z0 + near_row * cell_z,
                            )
                            for half in range(2):
                                p, q, r = cell_triangle(
                                    sides[0],
                                    sides[1],
                                    sides[2],
                                    sides[3],
                                    (a, b, c, d),
                                    flipped,
                                    half,
                                )
                                front = front_normal(land, (a, b, c, d), flipped, half)
                                if kind == RAY:
                                    normal = front
                                    t = ray_frame_triangle(origin, ray, p, q, r)
                                    if t < math.inf and not inside:
                                        t = from_plane(t, origin, direction, inner, front)
                                else:
                                    p, q = subtract(p, origin), subtract(q, origin)
                                    r = subtract(r, origin)
                                    t, normal = travel(
                                        kind, radius, half_size, rotation, direction, limit,
                                        p, q, r, False, faces,
                                    )  # fmt: skip
                                    if t < math.inf:
                                        t, normal = on_ground(
                                            heights, cells, frame, direction,
                                            row, column, half, p, q, r, front, t, normal,
                                        )  # fmt: skip
                                if t > limit or (t == distance and (row, column, half) > (
                                    met_row, met_column, met_half
                                )):  # fmt: skip
                                    continue
                                distance, limit, met_normal = t, t, normal
                                met_row, met_column, met_half = row, column, half
                i = slab_end if forward else slab - 1
                on_line = i if forward else i + 1
                while level < top and on_line & ((1 << (3 * (level + 2))) - 1) == 0:
                    if level >= 0:
                        blocks_below += blocks_across(columns, level) * blocks_across(rows, level)
                    level += 1
        point, part_of_way = origin, 0.0
        if kind == RAY and upright:
            distance, level_there, met_normal, met_row, met_column, met_half = meet_upright(
                heights, cells, frame, origin, -direction[1], most
            )
            point = (origin[0], level_there, origin[2])
        elif met_half >= 0:
            point = add_scaled(origin, direction, distance)
            if kind != RAY:
                part_of_way = min(distance / way_length, 1.0)
                point = place_of_touch(
                    heights, cells, frame, land, kind, half_size, rotation, reach_m,
                    point, met_row, met_column, met_half, met_normal, faces,
                )  # fmt: skip
        for k in range(3):
            numbers[index, 1 + k] = point[k] + 0.0 if met_half >= 0 else np.nan
            numbers[index, 4 + k] = met_normal[k] + 0.0 if met_half >= 0 else np.nan
        numbers[index, 0] = distance if met_half >= 0 else np.nan
        numbers[index, 7] = part_of_way if met_half >= 0 else np.nan
        inside = 0 <= met_row < rows and 0 <= met_column < columns
        met_row, met_column = (
            min(max(met_row, 0), rows - 1), min(max(met_column, 0), columns - 1)
        )  # fmt: skip
        cell = met_row * columns + met_column
        whole[index, 0] = 2 * cell + met_half if inside and met_half >= 0 else -1
        whole[index, 1] = cell
