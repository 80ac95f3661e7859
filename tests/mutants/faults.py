"""The faults, as text of a module and what stands there instead."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A change that leaves a module importable and wrong."""

    name: str
    module: str  # below terrain_physics
    old: str  # stands in the module exactly once
    new: str
    caught_by: tuple[str, ...] = ()  # tests of the default tier


FAULTS = (
    Fault(
        "02_sat_axis_left_out",
        "_kernels.geometry.obb_triangle",
        "    out, distance, least = _consider_edge(\n"
        "        subtract(a, c), a, b, c, half, slack, out, distance, least\n"
        "    )\n",
        "",
    ),
    Fault(
        "03_sat_axis_left_out_of_26_faces",
        "_kernels.geometry.obb_triangle",
        "    for k in range(9):\n        if k < 3:\n            edge = subtract(b, a)\n",
        "    for k in range(8):\n        if k < 3:\n            edge = subtract(b, a)\n",
    ),
    Fault(
        "06_ray_misses_on_an_edge",
        "_kernels.geometry.rays",
        "    if min(u, v, w) < 0.0 < max(u, v, w):\n",
        "    if min(u, v, w) <= 0.0 < max(u, v, w):\n",
    ),
    Fault(
        "08_seam_edit_not_handed_on",
        "ground.map_set",
        "row_0 == 0 or column_0 == 0 or row_1 == rows or column_1 == columns:",
        "row_0 == 0 or column_0 == 0 or row_1 == rows:",
    ),
    Fault(
        "10_octree_boxes_that_touch",
        "_kernels.octree.pairs",
        "        & (a[i, 2] <= b[j, 5])\n",
        "        & (a[i, 2] < b[j, 5])\n",
    ),
    Fault(
        "12_counter_tie_without_tolerance",
        "_kernels.geometry.sphere_surface",
        "    top = radius + TOUCH_TOLERANCE\n    low = radius - TOUCH_TOLERANCE\n",
        "    top = radius\n    low = radius - TOUCH_TOLERANCE\n",
    ),
    Fault(
        "14_restore_forgets_random_state",
        "character.state",
        "    random = np.array([[random_state]], dtype=np.uint64)\n",
        "    random = np.array([[random_state * 0 + 1]], dtype=np.uint64)\n",
    ),
    Fault(
        "17_rider_keeps_no_velocity",
        "_kernels.character.moving_base.moving_base",
        "    return (velocity[0], max(velocity[1], 0.0), velocity[2])"
        " if rule == KEEPS_UPWARD else velocity\n",
        "    return velocity\n",
    ),
    Fault(
        "18_crowd_masks_one_way",
        "_kernels.crowd.agents",
        "    return a != 0 and b != 0\n",
        "    return a != 0 or b != 0\n",
    ),
    Fault(
        "20_saved_border_dropped",
        "heightmap.saved",
        '        "border": "extend" if numbers[kernels.EXTEND] else "open",\n',
        '        "border": "open",\n',
    ),
    Fault(
        "22_refit_not_told",
        "mesh.storage",
        '        self._adopt(moved, self.version + 1)\n        self.watchers.tell("vertices")\n',
        "        self._adopt(moved, self.version + 1)\n",
    ),
    Fault(
        "24_box_against_front",
        "_kernels.geometry.obb_triangle",
        "    if not (two_sided or is_allowed):\n"
        "        count, _ = put_difference_faces(a, b, c, half, faces, np.inf)\n"
        "        direction, distance = _nearest_allowed(faces, count, front, slack)\n"
        "    move = to_world(rotation, scale(direction, distance))\n",
        "    if not (two_sided or is_allowed) and front[1] > 0.5:\n"
        "        count, _ = put_difference_faces(a, b, c, half, faces, np.inf)\n"
        "        direction, distance = _nearest_allowed(faces, count, front, slack)\n"
        "    move = to_world(rotation, scale(direction, distance))\n",
    ),
)
