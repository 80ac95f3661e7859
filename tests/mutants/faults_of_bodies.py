"""Faults of bodies at borders: solids, debts, kerbs, bases that fall, and streams."""

from tests.mutants.fault import Fault

_SOLIDS = "tests/character/test_inside_solids.py"
_DOORS = "tests/behaviour/test_doors.py"
_KERBS = "tests/character/test_kerbs.py"
_LEAPS = "tests/group/test_leaps.py"
_STAIRS = "tests/walkability/test_stairs.py"

FAULTS_OF_BODIES = (
    Fault(
        "solid_meshes_press_into_the_land",
        "_kernels.character.contacts.resolve",
        "        if thickness != SKIN_THICKNESS and thickness != SOLID_MESH:\n",
        "        if thickness != SKIN_THICKNESS:\n",
        (f"{_SOLIDS}::test_solid_blocks_press_nobody_into_the_land",),
    ),
    Fault(
        "a_debt_outlives_the_way_of_its_part",
        "_kernels.character.moving_base.squeeze",
        "        if not may_touch(movers, int(near[k, _ROW]), lower, upper):\n"
        "            continue\n",
        "",
        (f"{_DOORS}::test_who_a_lift_has_passed_falls",),
    ),
    Fault(
        "a_part_pushes_any_distance",
        "_kernels.character.moving_base.squeeze",
        "    most = np.inf if is_put else near.most_push\n",
        "    most = np.inf\n",
        (f"{_LEAPS}::test_nobody_leaps_among_moving_parts",),
    ),
    Fault(
        "pushes_lead_through_fronts",
        "_kernels.character.contacts.resolve",
        "        if (is_front or (guarded and way[1] < 0.0)) and crosses(",
        "        if is_front and not guarded and crosses(",
        (f"{_LEAPS}::test_a_block_put_into_a_box_presses_it_through_no_wall",),
    ),
    Fault(
        "who_is_pressed_is_lifted_any_distance",
        "_kernels.character.contacts.resolve",
        "            most = min(most, scene.body.half_extents[1] - lifted)\n",
        "            most = min(most, np.inf)\n",
        (f"{_LEAPS}::test_nobody_leaps_among_moving_parts",),
    ),
    Fault(
        "a_way_out_that_bends_is_gone_at_once",
        "_kernels.character.leave_solids",
        "    if inside < size:\n",
        "    if inside < 0.0:\n",
        ("tests/group/test_puts.py::test_solids_put_on_a_crowd_let_all_out",),
    ),
    Fault(
        "a_face_of_a_solid_is_outside",
        "_kernels.ground.solids",
        "        if where != OUTSIDE:\n",
        "        if where != OUTSIDE and where != ON_FACE:\n",
        (f"{_SOLIDS}::test_out_with_the_middle_on_a_face",),
    ),
    Fault(
        "no_step_behind_a_low_kerb",
        "_kernels.character.walk.climb",
        "            or (stride * (k + 1) >= blocked and place == straight)\n",
        "",
        (f"{_KERBS}::test_kerbs_up_to_the_step_are_passed_aslant",),
    ),
    Fault(
        "a_ball_sinks_beside_an_edge",
        "_kernels.character.walk.walk",
        "    slack = SLOP if walked.offset[1] < start[1] - SLOP else CORNER_SLACK\n",
        "    slack = CORNER_SLACK\n",
        ("tests/behaviour/test_levels.py::test_a_ball_that_leans_on_an_edge_keeps_its_height",),
    ),
    Fault(
        "a_ball_climbs_with_its_side",
        "_kernels.character.walk.climb",
        "    return foot + body.radius * (upright - normal[1]) <= highest\n",
        "    return True\n",
        (f"{_KERBS}::test_the_side_of_a_ramp_is_no_step_where_its_edge_is_too_high",),
    ),
    Fault(
        "a_body_stands_on_an_edge_of_exactly_the_limit",
        "_kernels.walkability.resting",
        "    if upright < walkable + rounding and _is_on_edges(scene, manifold.contacts):\n",
        "    if upright < walkable and _is_on_edges(scene, manifold.contacts):\n",
        (f"{_STAIRS}::test_a_nosing_of_exactly_the_limit_is_led_over_both_ways",),
    ),
    Fault(
        "a_part_that_falls_fast_keeps_its_rider",
        "_kernels.character.moving_base.moving_base",
        "    if (keeps_none and base_rise > 0.0) or (base_rise <= 0.0 and now[1] >= 0.0):\n",
        "    if keeps_none or base_rise <= 0.0:\n",
        ("tests/behaviour/test_rides.py::test_a_part_that_falls_faster_than_gravity_lets_go",),
    ),
    Fault(
        "who_is_put_on_a_slope_flies",
        "_kernels.character.steps.first_step",
        "    return True, replaced(motion, velocity=level, footing=walking_on(normal))\n",
        "    return True, motion\n",
        (
            "tests/character/test_places.py::TestFirstUpdates::test_who_is_put_on_a_slope_walks_down_it",
        ),
    ),
    Fault(
        "streams_keep_to_no_side",
        "_kernels.crowd.preferred_velocities",
        "    share = stream * side * (_STREAM_ASIDE_SHARE / _ASIDE_SHARE)\n",
        "    share = 0.0\n",
        ("tests/group/test_streams.py::test_left_is_the_mirror_of_right",),
    ),
    Fault(
        "who_is_ahead_stays_back_too",
        "_kernels.crowd.preferred_velocities",
        "    along = max(2.0 * same - 1.0, 0.0)  # 0 from 60 degrees on\n",
        "    along = 1.0\n",
        (
            "tests/behaviour/test_throngs.py::test_five_who_cross_a_middle_do_not_wait_for_each_other",
        ),
    ),
    Fault(
        "who_walk_along_leave_no_room",
        "_kernels.crowd.preferred_velocities",
        "    along = max(2.0 * same - 1.0, 0.0)  # 0 from 60 degrees on\n",
        "    along = 0.0\n",
        ("tests/group/test_streams.py::test_those_side_by_side_in_a_stream_leave_room",),
    ),
    Fault(
        "who_is_pressed_into_others_leaps_back",
        "_kernels.character.steps.step_among_others",
        "        if way[0] * way[0] + way[1] * way[1] > longest * longest:\n",
        "        if False:\n",
        ("tests/behaviour/test_doors.py::test_no_fast_wall_passes_who_is_between_it_and_another",),
    ),
    Fault(
        "who_is_pushed_is_left_alone_by_its_own_fall",
        "_kernels.character.update",
        "    center, velocity = center_at(state, rules), _velocity_in_air(character, delta_time)\n",
        "    center, velocity = center_at(state, rules), three_at(state, at.VELOCITY)\n",
        (
            "tests/behaviour/test_doors.py::test_no_wall_passes_who_is_pushed_into_its_way_in_the_air",
        ),
    ),
)
