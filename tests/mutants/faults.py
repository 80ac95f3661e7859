"""The faults, as text of a module and what stands there instead."""

from tests.mutants.fault import Fault
from tests.mutants.faults_of_bodies import FAULTS_OF_BODIES
from tests.mutants.faults_of_grounds import FAULTS_OF_GROUNDS

_NEAR = "tests/character/test_near_triangles.py"
_BOX_CASES = "tests/geometry/test_obb_triangle_cases.py"
_SPHERES = "tests/geometry/test_sphere_triangle.py"
_SHAPE_KINDS = "tests/package/test_shape_kinds.py"
_RIDERS = "tests/character/test_riders.py"
_RULES = "tests/character/test_rules.py"
_STATE = "tests/character/test_state.py::TestState"
_SIDES = "tests/heightmap/test_sides.py"
_PATCHES = "tests/heightmap/test_side_patches.py"
_QUESTIONS = "tests/ground/test_questions.py"
_KEPT = "tests/group/test_kept.py"
_INSTANCES = "tests/ground/test_instances.py"
_TRUSTED = "tests/group/test_trusted_states.py"
_WALKABILITY = "tests/walkability"
_COPIES = f"{_WALKABILITY}/test_walkability.py::TestCopies"
_BESIDE_GRID = (
    f"{_WALKABILITY}/test_stairs.py::test_characters_stand_still_on_places_beside_the_grid"
)
_SLIPS = f"{_WALKABILITY}/test_proofs.py::test_there_is_no_place_where_a_body_slips"
_STAIRS = f"{_WALKABILITY}/test_stairs.py"
_WORLD = "tests/world"
_STRAIGHT_CORNER = (
    f"{_WALKABILITY}/test_path_lead.py::test_a_corner_without_a_turn_is_come_near_first"
)
_RECORDED_GROUNDS = "tests/recording/test_recorded_grounds.py"
_TILES = "tests/tiles"
_JIT = "tests/kernels/test_jit.py"
_COMMANDS = "tests/package/test_command_line.py"
_REFUSED = "test_a_restore_inside_an_update_by_hand_is_refused_and_changes_nothing"


def recorded(group: str) -> str:
    """Return the test that compares the recorded bits of a group."""
    return f"tests/kernels/test_recorded_bits.py::test_the_bits_are_those_recorded[{group}]"


FAULTS = (
    Fault(
        "02_sat_axis_left_out",
        "_kernels.geometry.obb_triangle",
        "    out, distance, least = _consider_edge(\n"
        "        subtract(a, c), a, b, c, half, slack, out, distance, least\n"
        "    )\n",
        "",
        (f"{_BOX_CASES}::test_many",),
    ),
    Fault(
        "03_sat_axis_left_out_of_26_faces",
        "_kernels.geometry.obb_triangle",
        "    for k in range(9):\n        edge = subtract(b, a) if k < 3 else",
        "    for k in range(8):\n        edge = subtract(b, a) if k < 3 else",
        (f"{_BOX_CASES}::test_each_edge_of_the_triangle_against_each_of_the_box",),
    ),
    Fault(
        "06_ray_misses_on_an_edge",
        "_kernels.geometry.rays",
        "    if min(u, v, w) < 0.0 < max(u, v, w):\n",
        "    if min(u, v, w) <= 0.0 < max(u, v, w):\n",
        ("tests/geometry/test_rays.py::test_triangle_by_hand",),
    ),
    Fault(
        "08_seam_edit_not_handed_on",
        "ground.map_set",
        "row_0 == 0 or column_0 == 0 or row_1 == rows or column_1 == columns:",
        "row_0 == 0 or column_0 == 0 or row_1 == rows:",
        (
            "tests/ground/test_union.py::test_a_pit_dug_in_one_map_at_the_border_is_in_both",
            recorded("edits of borders and corners"),
        ),
    ),
    Fault(
        "10_octree_boxes_that_touch",
        "_kernels.octree.pairs",
        "        & (a[i, 2] <= b[j, 5])\n",
        "        & (a[i, 2] < b[j, 5])\n",
        (
            "tests/octree/test_octree.py::test_what_touches_is_met_on_each_side_of_each_axis",
            recorded("octrees that touch"),
        ),
    ),
    Fault(
        "12_counter_tie_without_tolerance",
        "_kernels.geometry.sphere_surface",
        "    top = radius + TOUCH_TOLERANCE\n    low = radius - TOUCH_TOLERANCE\n",
        "    top = radius\n    low = radius - TOUCH_TOLERANCE\n",
        (
            "tests/counter/test_counter.py::test_touching_counts_and_tolerance_is_on_the_distance",
            recorded("ties of the counter"),
        ),
    ),
    Fault(
        "14_restore_forgets_random_state",
        "character.state",
        "    random = np.array([[random_state]], dtype=np.uint64)\n",
        "    random = np.array([[random_state * 0 + 1]], dtype=np.uint64)\n",
        (recorded("saved characters"),),
    ),
    Fault(
        "17_rider_keeps_no_velocity",
        "_kernels.character.moving_base.moving_base",
        "        return (velocity[0], max(velocity[1], 0.0), velocity[2])\n",
        "        return velocity\n",
        (
            f"{_RIDERS}::test_who_leaves_a_lift_keeps_of_its_velocity_what_the_rule_says",
            recorded("lifts left"),
        ),
    ),
    Fault(
        "18_crowd_masks_one_way",
        "_kernels.crowd.agents",
        "    return a != 0 and b != 0\n",
        "    return a != 0 or b != 0\n",
        (recorded("crowds of masks and riders"),),
    ),
    Fault(
        "20_saved_border_dropped",
        "heightmap.saved",
        '        "border": "extend" if numbers[kernels.EXTEND] else "open",\n',
        '        "border": "open",\n',
        (
            "tests/ground/test_files.py::test_what_is_loaded_is_what_was_saved",
            recorded("saved grounds"),
        ),
    ),
    Fault(
        "22_refit_not_told",
        "mesh.storage",
        '            self._adopt(arrays, version)\n            self.watchers.tell("vertices")\n',
        "            self._adopt(arrays, version)\n",
        (
            "tests/ground/test_moving.py::test_answers_are_those_of_meshes_made_there",
            recorded("refits of parts"),
        ),
    ),
    Fault(
        "24_box_against_front",
        "_kernels.geometry.obb_triangle",
        "    if not (two_sided or is_allowed):\n"
        "        count, _ = put_difference_faces(a, b, c, half, faces, np.inf)\n"
        "        direction, distance = _nearest_allowed(faces, count, front, slack)\n"
        "    move = turned(rotation, scale(direction, distance))\n",
        "    if not (two_sided or is_allowed) and front[1] > 0.5:\n"
        "        count, _ = put_difference_faces(a, b, c, half, faces, np.inf)\n"
        "        direction, distance = _nearest_allowed(faces, count, front, slack)\n"
        "    move = turned(rotation, scale(direction, distance))\n",
        (recorded("intersect_obb_triangle"),),
    ),
    # What tests of the tier `full` alone are about.
    Fault(
        "30_gentle_lift_throws",
        "_kernels.character.moving_base.moving_base",
        "        return excess * excess > 2.0 * gravity_of(rules) * snap\n",
        "        return excess > 0.0\n",
        (recorded("behaviour rides"),),
    ),
    Fault(
        "31_move_ends_early",
        "_kernels.character.moving_base.moving_base",
        "    return bool(age < movers[row, SECONDS] * (1.0 - MOVING_BASE_ROUNDING))\n",
        "    return bool(age < movers[row, SECONDS] * 0.5)\n",
        (recorded("behaviour rides"),),
    ),
    Fault(
        "32_one_way_forgets_that_it_came_on",
        "_kernels.character.contacts.one_way",
        "    if gap < -ONE_WAY_DEPTH - came_on:\n",
        "    if gap < -ONE_WAY_DEPTH:\n",
        (recorded("behaviour one ways"),),
    ),
    Fault(
        "32_one_way_takes_back_what_dropped",
        "_kernels.character.contacts.one_way",
        "    return part < 0.0 or dot(normal, subtract(start, corner)) - extent > farther\n",
        "    return True\n",
        ("tests/behaviour/test_one_ways.py::test_one_update_with_the_key_is_enough",),
    ),
    Fault(
        "32_deepest_leads_into_the_map",
        "_kernels.heightmap.batch_contacts.contact_rows",
        "    return leads_up == (surface > center[1] and surface - grid.thickness < center[1])\n",
        "    return deeper\n",
        ("tests/ground/test_deepest.py::test_no_deepest_contact_leads_into_a_map",),
    ),
    Fault(
        "33_debt_is_never_paid",
        "_kernels.character.moving_base.squeeze",
        "        free = moved_until_blocked(scene, part, free, place)\n",
        "        moved_until_blocked(scene, part, free, place)\n",
        (recorded("behaviour doors"),),
    ),
    # Kinds of shapes.
    Fault(
        "34_page_of_an_unknown_shape",
        "viewer.packing",
        "        if kind not in SHAPE_NAMES:\n",
        "        if not kind:\n",
        ("tests/character/test_unknown_shapes.py::test_a_page_of_an_unknown_kind_is_refused",),
    ),
    Fault(
        "35_a_chain_leaves_two_kinds_to_its_last_branch",
        "_kernels.surface.shapes",
        "    if body.kind == BOX:\n        return box_body(add(body.extents, (by, by, by)), "
        "body.rotation)\n",
        "",
        (f"{_SHAPE_KINDS}::test_the_last_branch_of_a_chain_stands_for_kinds_that_are_alike",),
    ),
    # Rules.
    Fault(
        "36_a_keyword_that_says_the_default_counts_as_not_given",
        "character.rules",
        "type(value) is not Default",
        "repr(value) != repr(_DEFAULTS[name])",
        (f"{_RULES}::TestTaken::test_a_keyword_beats_the_object_even_by_the_default",),
    ),
    Fault(
        "37_another_mask_in_a_value_of_rules_wakes_nobody",
        "character.rule",
        "        wake = RULES[name].wake if name in RULES else forget_contact_signature\n",
        "        wake = forget_contact_signature\n",
        (f"{_RULES}::TestSet::test_as_one_by_one[mask]",),
    ),
    # Capsules and boxes.
    Fault(
        "an_edge_near_a_capsule_is_left_out",
        "_kernels.geometry.capsule_triangle",
        "    limit2 = limit * limit * (1.0 + FARTHER_SHARE)\n",
        "    limit2 = 0.5 * limit * limit\n",
        (f"{_NEAR}::test_a_triangle_is_left_out_exactly_where_it_is_out_of_reach",),
    ),
    Fault(
        "38_an_edge_of_a_box_is_no_way_past_it",
        "_kernels.geometry.capsule_box",
        "    for k in range(3):\n        normal = (\n",
        "    for k in range(2):\n        normal = (\n",
        (
            "tests/geometry/test_capsule_box.py::test_an_axis_past_the_edge_that_is_nearest",
            recorded("intersect_capsule_obb"),
        ),
    ),
    # Files of other programs.
    Fault(
        "39_png_tie_of_its_fourth_filter",
        "_kernels.heightmap.png_lines",
        "    return above if to_above <= to_corner else corner\n",
        "    return above if to_above < to_corner else corner\n",
        ("tests/heightmap/test_files_pictures.py::test_every_kind_of_png_comes_back",),
    ),
    Fault(
        "40_channels_equal_in_blue_alone",
        "heightmap.formats.channels",
        "        differ |= (first != other)",
        "        differ = (first != other)",
        ("tests/heightmap/test_files_pictures.py::test_channels_that_differ_name_the_options",),
    ),
    Fault(
        "41_void_of_16_bits_is_ground",
        "heightmap.files",
        '    if heights.dtype.str[1:] == "i2" or source.encoding == "terrarium":\n',
        '    if source.encoding == "terrarium":\n',
        ("tests/heightmap/test_files.py::test_the_void_of_16_bits_is_no_ground",),
    ),
    Fault(
        "42_faces_of_another_mesh",
        "mesh.models",
        "    if least < 0 or most >= len(vertices):\n",
        "    if most >= len(vertices):\n",
        ("tests/mesh/test_models.py::test_what_holds_no_triangles_is_refused_by_name",),
    ),
    Fault(
        "43_bytes_before_a_directory",
        "_support.archives",
        "    if end != archive.start_dir:\n",
        "    if end > archive.start_dir:\n",
        ("tests/ground/test_files.py::test_bytes_beside_the_archive_are_refused",),
    ),
    # Sides of maps.
    Fault(
        "50_side_seen_from_inside",
        "_kernels.mesh.facing",
        "    return has_area and dot(normal, direction) < 0.0\n",
        "    return has_area\n",
        (f"{_SIDES}::test_who_is_inside_sees_neither_sides_nor_underside",),
    ),
    Fault(
        "51_side_covered_by_a_lower_map",
        "heightmap.solid.pieces",
        "    above[:, LOW] = np.maximum(pieces[:, LOW], pieces[:, _OTHER_HIGH])\n",
        "    above[:, LOW] = pieces[:, HIGH]\n",
        (f"{_QUESTIONS}::test_rays_enter_solids_and_hit_skins_from_both_sides",),
    ),
    Fault(
        "52_surface_touched_from_behind",
        "_kernels.ground.contacts",
        "        count = _leave_behind(terrain.grid, asked, start, count, center)\n"
        "    first = count\n",
        "        pass\n    first = count\n",
        (f"{_QUESTIONS}::test_balls_outside",),
    ),
    Fault(
        "53_edges_of_an_edit_not_found_anew",
        "heightmap.solid.sides",
        "            edited = [grown(own) for own in set(storage.regions_since(self._seen[0]))]\n",
        "            edited = list(set(storage.regions_since(self._seen[0])))\n",
        (f"{_SIDES}::test_a_second_hole_has_sides_too",),
    ),
    Fault(
        "54_patch_without_ghosts",
        "heightmap.solid.sides",
        "return _joined([edges[number], *ghosts])",
        "return edges[number]",
        (f"{_PATCHES}::test_patches_decide_no_answer[4]",),
    ),
    Fault(
        "55_patch_beside_an_edit_keeps_its_ghosts",
        "heightmap.solid.sides",
        "if other in edges and not _are_equal(*views):",
        "if False:",
        (f"{_PATCHES}::test_only_the_patches_of_an_edit_are_made_anew",),
    ),
    Fault(
        "kept_random_state_left_out",
        "character.rows",
        "self.linear[...], self.random[...] = saved",
        "self.linear[...], _ = saved",
        (f"{_KEPT}::test_moments_put_back_in_any_order_go_on_with_equal_bits",),
    ),
    Fault(
        "kept_hits_left_in",
        "character.group_data",
        "        saved[0][:, columns.HITS].fill(0.0)\n",
        "",
        (f"{_KEPT}::test_no_hits_are_kept",),
    ),
    Fault(
        "kept_idle_update_of_another_length",
        "character.movement",
        "if idle is not None and (idle.changed or idle.seconds != self._time.last):",
        "if idle is not None and idle.changed:",
        ("tests/world/test_kept_character.py::test_a_sleeper_sleeps_on",),
    ),
    Fault(
        "trusted_on_another_ground",
        "character.view",
        "if kept is not None and kept.ground() is self.ground and self._may_be(kept):",
        "if kept is not None and self._may_be(kept):",
        (f"{_TRUSTED}::TestTrust::test_another_ground_is_looked_at",),
    ),
    Fault(
        "trusted_with_other_fields",
        "character.state",
        '        object.__setattr__(self, "_kept", None)\n\n    if not TYPE_CHECKING:',
        "        pass\n\n    if not TYPE_CHECKING:",
        (f"{_TRUSTED}::TestTrust::test_no_copy_is_trusted",),
    ),
    Fault(
        "too_wide_body_put_back",
        "character.view",
        "            self._forget_fit()\n",
        "            pass\n",
        (f"{_KEPT}::test_a_body_too_wide_for_a_map_that_came_is_refused_by_the_next_update",),
    ),
    Fault(
        "part_put_back_behind_its_empty_row",
        "mesh.table",
        "            self._close_up()  # a part that is put back",
        "            pass  # a part that is put back",
        (f"{_TRUSTED}::test_riders_restored_with_their_ground_go_on_with_equal_bits",),
    ),
    Fault(
        "frames_behind_one_played_again_stay",
        "world.rewind",
        "self._ring.put(first + 1, {}",
        "self._ring.put(last + 1, {}",
        (f"{_WORLD}/test_rewind.py::test_frames_behind_one_that_is_played_again_are_forgotten",),
    ),
    Fault(
        "time_turned_back_by_a_replay",
        "world.rewind",
        "            put_counts(clock, present)\n",
        "",
        (f"{_WORLD}/test_rewind.py::test_time_goes_on_where_frames_are_steps_of_the_clock",),
    ),
    Fault(
        "clock_left_where_it_is",
        "world.kept_world",
        "        put_counts(contents.clock, self.clock)\n",
        "",
        (f"{_WORLD}/test_state.py::test_clock_and_extra_go_along",),
    ),
    Fault(
        "writes_left_out_of_a_state",
        "world.kept_world",
        "        prepare(contents.layout, contents.ground, to_keep=True)\n",
        "",
        (f"{_WORLD}/test_state.py::test_what_the_game_has_written_is_part_of_a_state",),
    ),
    Fault(
        "shared_numbers_written_again",
        "world.rewind",
        "self._kept_at(frame).copy())",
        "self._kept_at(frame))",
        (f"{_WORLD}/test_rewind.py::test_a_frame_as_a_state_stays_when_the_ring_goes_on",),
    ),
    Fault(
        "hash_by_the_order_of_adding",
        "character.group_data",
        "    order = words.argsort()\n",
        "    order = np.arange(len(words))\n",
        (f"{_WORLD}/test_compare.py::test_the_order_of_adding_and_the_time_owed_do_not_count",),
    ),
    Fault(
        "left_members_stay_away",
        "group.kept",
        "        data.adopt_again(self.adopted)\n",
        "",
        (f"{_WORLD}/test_state.py::test_a_character_that_has_left_its_group_is_in_it_again",),
    ),
    Fault(
        "restore_checked_too_late",
        "world.kept_world",
        "            time_of(thing).refuse_in_update()\n",
        "            pass\n",
        (f"{_WORLD}/test_state.py::{_REFUSED}",),
    ),
    Fault(
        "frame_saved_anew_is_still_equal",
        "world.rewind",
        "for frame in self.agreed if frame < end",
        "for frame in self.agreed if frame <= end",
        (f"{_WORLD}/test_compare.py::test_a_frame_that_is_saved_anew_is_equal_no_longer",),
    ),
    Fault(
        "frames_played_again_forget_their_clock",
        "world.rewind",
        "                kept.clock = known.get(number, kept.clock)\n",
        "                pass\n",
        (f"{_WORLD}/test_rewind.py::test_time_goes_on_where_frames_are_steps_of_the_clock",),
    ),
    Fault(
        "octree_forgets_its_trees_bit_by_bit",
        "octree.forest",
        "        living, slots = self.living(), self._row_slots.copy()\n",
        "        self._slots = 0\n        living, slots = self.living(), self._row_slots.copy()\n",
        ("tests/octree/test_changes.py::test_an_insert_interrupted_after_any_call_is_made_or_not",),
    ),
    Fault(
        "members_sent_with_one_body",
        "world.saved",
        '"bodies": [bodies.number(body) for body in members.colliders],',
        '"bodies": [bodies.number(members.colliders[0]) for _ in members.colliders],',
        (
            f"{_WORLD}/test_network.py::test_members_have_bodies_of_their_own",
            recorded("worlds sent"),
        ),
    ),
    Fault(
        "refit_of_the_receiver_stays",
        "world.ground.difference",
        "    if present is first and vertices is None:\n",
        "    if vertices is None:\n",
        (
            f"{_WORLD}/test_network.py::test_a_mesh_that_the_receiver_has_refitted_is_as_it_was",
            recorded("worlds sent"),
        ),
    ),
    Fault(
        "joined_edits_sent_without_their_marks",
        "heightmap.undo",
        "        counts = ... if self.marks is None else self.marks[own]\n",
        "        counts = ...\n",
        (f"{_TILES}/test_network.py::test_a_state_is_sent_after_later_edits_that_were_joined",),
    ),
    # Meshes at several places.
    Fault(
        "placed_corners_are_exact",
        "_kernels.mesh.places",
        "    spots[row, OFF] = PLACE_MARGIN * (own",
        "    spots[row, OFF] = 0.0 * (own",
        (f"{_INSTANCES}::test_answers_are_those_of_meshes_made_at_the_places",),
    ),
    Fault(
        "neighbors_stay_where_vertices_are",
        "_kernels.mesh.parts",
        "    return placed_point(skin.place, own) if skin.place != 0 else own\n",
        "    return own\n",
        (f"{_INSTANCES}::test_answers_are_those_of_meshes_made_at_the_places",),
    ),
    Fault(
        "boxes_asked_in_axes_of_the_mesh",
        "_kernels.mesh.near",
        "        if part.place == 0:\n",
        "        if part.place >= 0:\n",
        (f"{_INSTANCES}::test_answers_are_those_of_meshes_made_at_the_places",),
    ),
    Fault(
        "refits_of_other_places_not_heard",
        "recording.journal",
        "                storage.watchers.add(self, others[0])\n",
        "",
        (f"{_INSTANCES}::test_recordings_hold_a_mesh_once",),
    ),
    Fault(
        "scale_lost_by_a_restore",
        "ground.parts",
        "        places = {k: (None, scale) for k, scale in layout.scales.items()}\n",
        "        places: dict[int, Place] = {}\n",
        (f"{_INSTANCES}::test_a_state_holds_what_was_added_and_replaced",),
    ),
    Fault(
        "tiles_share_no_edits",
        "tiles.edits",
        "        line = kind == HEIGHTS  # the samples of a border are those of both tiles\n",
        "        line = False\n",
        (f"{_TILES}/test_edits.py::test_what_lies_on_a_border_is_of_all_tiles_that_share_it",),
    ),
    Fault(
        "tiles_edits_stay_torn",
        "tiles.edits",
        "        if reader.end < log.size:\n            log.cut(reader.end)\n",
        "",
        (f"{_TILES}/test_edits.py::test_a_file_that_ends_at_any_byte_has_all_whole_edits",),
    ),
    Fault(
        "tiles_edits_are_buffered",
        "tiles.file_log",
        "            os.fsync(self._descriptor)\n            if self._is_new:",
        "            if self._is_new:",
        (f"{_TILES}/test_edits.py::test_sync_waits_for_the_disk",),
    ),
    Fault(
        "tiles_are_trusted",
        "tiles.tile_file",
        '        if hash_of(content) != row["hash"].tobytes():\n',
        "        if not content:\n",
        (f"{_TILES}/test_file.py::test_a_byte_of_a_tile_is_guarded_by_its_hash",),
    ),
    Fault(
        "tiles_above_are_not_compared",
        "tiles.borders",
        '        _refuse_others(heights[0], above, "above", 0)\n',
        "",
        (f"{_TILES}/test_making.py::test_neighbors_that_differ_are_named_with_the_sample",),
    ),
    Fault(
        "tiles_blocks_before_an_edit_stay",
        "lattice.tile",
        "((max(span.start - 1, 0), min(span.stop, self.side)) for span in own)",
        "((span.start, min(span.stop, self.side)) for span in own)",
        (f"{_TILES}/test_edits.py::test_blocks_on_both_sides_of_an_edit_follow_it",),
    ),
    Fault(
        "tiles_far_border_is_read_without_edits",
        "tiles.edit_squares",
        "            beyond = 2 if kind == _HEIGHTS else 1",
        "            beyond = 1",
        (
            f"{_TILES}/test_edits.py::test_what_lies_on_a_border_is_of_all_tiles_that_share_it",
            recorded("edits of tiles"),
        ),
    ),
    Fault(
        "tiles_nearest_is_looked_for_too_near",
        "_kernels.tiles.nearest",
        "        gap = max(ring - 1, 0) * size - slack[0] - slack[2]\n",
        "        gap = ring * size - slack[0] - slack[2]\n",
        (f"{_TILES}/test_paths.py::test_the_nearest", recorded("tiles that questions need")),
    ),
    Fault(
        "tiles_come_as_the_last_box_reaches_them",
        "_kernels.tiles.near",
        "times[slots[number]] = min(times[slots[number]], way / speed)",
        "times[slots[number]] = way / speed",
        (
            (
                f"{_TILES}/test_loading.py"
                "::test_tiles_come_in_the_order_in_which_any_place_reaches_them[7]"
            ),
            recorded("tiles that walkers need"),
        ),
    ),
    Fault(
        "walkability_passes_over_rises",
        "_kernels.walkability.resting",
        "        up = np.inf if is_simple else _rise_above(scene, up)\n",
        "        up = np.inf if is_simple else _rise_above(scene, up + CONTACT_MARGIN)\n",
        (f"{_WALKABILITY}/test_same_map.py::TestOnEachLand::test_what_is_far_decides_nothing",),
    ),
    Fault(
        "walkability_boxes_never_slip",
        "_kernels.walkability.resting",
        "    return _BALANCES if steepest < walkable else _STANDS\n",
        "    return _STANDS\n",
        (f"{_SLIPS}[box-0-9-5]",),
    ),
    Fault(
        "walkability_who_has_slipped_is_not_tried_again",
        "walkability.settling",
        "        found[some[slip]] = np.nan\n",
        "        found[some[slip & False]] = np.nan\n",
        (f"{_SLIPS}[capsule-1-31-7]",),
    ),
    Fault(
        "walkability_only_the_last_of_several_rows_of_tiles_is_made",
        "walkability.update",
        "        first = first if count else row\n",
        "        first = row\n",
        (f"{_WALKABILITY}/test_proofs.py::test_edges_do_not_depend_on_what_else_is_made",),
    ),
    Fault(
        "walkability_nobody_who_slips_comes_to_stand",
        "_kernels.walkability.settling",
        "    return _STANDS if grounded and position == last else _GOES_ON\n",
        "    return _GOES_ON\n",
        (_BESIDE_GRID,),
    ),
    Fault(
        "walkability_places_are_on_the_other_side_of_the_point",
        "walkability.places",
        "            x, z = x + self.asides[numbers, 0], z + self.asides[numbers, 1]\n",
        "            x, z = x - self.asides[numbers, 0], z - self.asides[numbers, 1]\n",
        (_BESIDE_GRID,),
    ),
    Fault(
        "walkability_edges_hold_at_the_first_rate_alone",
        "walkability.places",
        "        kept = np.where(before > 0, np.where(now > 0, np.maximum(now, before), 0), 0)\n",
        "        kept = np.where(before > 0, np.maximum(now, before), 0)\n",
        (f"{_WALKABILITY}/test_rates.py::test_an_edge_holds_if_it_is_walked_at_each_rate",),
    ),
    Fault(
        "walkability_edges_are_kept_that_lead_to_several_levels",
        "walkability.places",
        "            kept[differ != 0] = 0\n",
        "            kept[differ > 3] = 0\n",
        (f"{_WALKABILITY}/test_places.py::test_edges_are_kept_that_lead_to_the_same_level",),
    ),
    Fault(
        "walkability_edges_to_what_is_cut_off_stay",
        "walkability.places",
        "            back = (direction + layout.DIRECTIONS // 2) % layout.DIRECTIONS\n",
        "            back = direction\n",
        (
            (
                f"{_WALKABILITY}/test_places.py"
                "::test_edges_from_and_to_columns_that_are_cut_off_are_gone_and_no_others"
            ),
            recorded("walkable places after changes"),
        ),
    ),
    Fault(
        "walkability_materials_stay_on_their_level",
        "walkability.ways.questions",
        "            is_known = kept.heights == heights\n",
        "            is_known = ~np.isnan(kept.heights)\n",
        (
            (
                f"{_WALKABILITY}/test_questions.py::TestCosts"
                "::test_a_place_that_has_come_to_another_level_has_its_own_material"
            ),
        ),
    ),
    Fault(
        "walkability_edges_stay_farther_than_heights",
        "walkability.changes",
        "self.edges.mark(*self._columns_near(lower, upper, self._reach.edges + more))",
        "self.edges.mark(*self._columns_near(lower, upper, self._reach.heights + more))",
        (
            f"{_WALKABILITY}/test_changes.py::TestParts::test_come_and_go_and_change",
            recorded("walkable places after changes"),
        ),
    ),
    Fault(
        "walkability_parts_do_not_hang_together",
        "_kernels.walkability.ways.labels",
        "ranks[place] <= ranks[stack[kept]]",
        "ranks[place] < ranks[stack[kept]]",
        (
            f"{_WALKABILITY}/test_labels.py::test_labels_are_the_strongly_connected_parts",
            recorded("walkable places and edges"),
        ),
    ),
    Fault(
        "lead_passes_straight_corners_from_afar",
        "_kernels.walkability.pursuit",
        "    farthest = min(0.5 * min(piece.length, following.length), 0.5 * _look_ahead(pace))\n",
        "    farthest = 0.5 * min(piece.length, following.length)\n",
        (_STRAIGHT_CORNER,),
    ),
    Fault(
        "lead_passes_a_corner_that_it_has_lost",
        "_kernels.walkability.lead_path",
        "    return min(slack, _FAR / _LEVEL * level)\n",
        "    return slack\n",
        (f"{_STRAIGHT_CORNER}[60-16.0]",),
    ),
    Fault(
        "sides_of_an_edit_are_those_before",
        "heightmap.solid.solid_map",
        "        if self._arrays_at == storage.revision and known is arrays:\n",
        "        if self._arrays_at >= 0:\n",
        (f"{_PATCHES}::test_a_hole_made_later_has_sides_too",),
    ),
    Fault(
        "sides_of_few_triangles_unmarked",
        "_kernels.ground.beside",
        "    for k in range(items_near(sides.tree, start, end, nodes, found)):\n",
        "    for k in range(0):\n",
        (f"{_QUESTIONS}::test_balls_outside",),
    ),
    Fault(
        "sides_of_a_later_neighbor_stay",
        "heightmap.solid.solid_map",
        "        self.sides.others = maps\n",
        "",
        (f"{_PATCHES}::test_a_neighbor_that_comes_later_covers_a_side",),
    ),
    Fault(
        "reach_forgets_a_row_of_samples",
        "_kernels.heightmap.solid.reach",
        "            height = sample(grid, row, column)\n",
        "            height = sample(grid, row_0, column)\n",
        ("tests/heightmap/test_reach.py::test_a_box_is_near_where_it_meets_the_underside",),
    ),
    Fault(
        "contacts_are_not_shuffled",
        "_kernels.character.contacts.resolve",
        "    shuffle(scene.random_state, order, penetrating)\n",
        "",
        (f"{_STATE}::test_same_seed_same_bits_and_other_seeds_shuffle_otherwise",),
    ),
    Fault(
        "state_sent_with_vertices_of_the_last_refit",
        "world.ground.difference",
        "    found: Mesh = own[-1].held if own else storage.arrays\n",
        "    found: Mesh = own[0].held if own else storage.arrays\n",
        (f"{_WORLD}/test_network.py::test_a_state_kept_before_some_changes_is_sent_as_it_was",),
    ),
    Fault(
        "state_sent_with_the_last_thickness",
        "heightmap.undo",
        "    return own[-1] if own else terrain.solid_depth\n",
        "    return own[0] if own else terrain.solid_depth\n",
        (f"{_WORLD}/test_network.py::test_a_state_kept_before_some_changes_is_sent_as_it_was",),
    ),
    Fault(
        "first_value_of_a_land_is_the_last",
        "world.ground.first_values",
        "            for patch in (now,) if known is None else (now, known):\n",
        "            for patch in (now,) if known is None else (known, now):\n",
        (f"{_TILES}/test_network.py::test_a_state_leads_elsewhere_to_the_same",),
    ),
    Fault(
        "squares_received_over_what_is_there_now",
        "world.ground.first_values",
        "read(what, place, () if known is None else (known,))",
        "read(what, place, ())",
        (f"{_WORLD}/test_network.py::test_a_state_leads_elsewhere_to_the_same",),
    ),
    Fault(
        "square_sent_with_values_that_do_not_count",
        "heightmap.undo",
        "            found[~self.marks] = 0\n",
        "            found[~self.marks] = 1\n",
        (f"{_TILES}/test_network.py::test_a_state_leads_elsewhere_to_the_same",),
    ),
    Fault(
        "place_of_an_edit_without_its_border",
        "heightmap.framed",
        "        slice(row_0 + (row_0 > 0), row_1 + (row_1 == rows)),\n",
        "        slice(row_0 + (row_0 > 0), row_1),\n",
        (f"{_RECORDED_GROUNDS}::test_random_stories_are_replayed_bit_for_bit",),
    ),
    Fault(
        "edits_of_two_squares_are_of_the_first",
        "heightmap.undo",
        "            found.setdefault(square, []).append(patch)\n",
        "            found.setdefault(square, [patch])\n",
        (f"{_WORLD}/test_map_hashes.py::test_a_frame_has_the_hash_that_the_world_had",),
    ),
    Fault(
        "world_kind_of_ground_is_trusted",
        "world.files",
        '        ground = SavedGround(about["kind"], parts, about)\n',
        '    ground = SavedGround(about["kind"], parts, about)\n',
        (f"{_WORLD}/test_files.py::test_a_file_damaged_in_any_place_is_refused_by_name",),
    ),
    Fault(
        "output_is_left_to_the_end_of_python",
        "__main__",
        "                    stream.flush()\n",
        "                    pass\n",
        (f"{_COMMANDS}::test_each_command_tells_that_its_output_cannot_be_written",),
    ),
    Fault(
        "numba_without_memory_is_absent",
        "_kernels._numba",
        '        _memory.refuse_without_memory("numba", reason)\n',
        "",
        (f"{_JIT}::test_numba_that_memory_is_too_small_for_is_not_taken_for_absent",),
    ),
    Fault(
        "full_disk_names_no_file",
        "_support.files",
        "        with naming(self._asked):\n            return super().write(content)\n",
        "        return super().write(content)\n",
        ("tests/package/test_full_disk.py::test_a_full_disk_is_told_with_the_file",),
    ),
    Fault(
        "sphere_beside_a_face_is_drawn_in",
        "_kernels.geometry.sphere_triangle",
        "    away = scale(point, -1.0 / divisor)\n",
        "    away = scale(point, 1.0 / divisor)\n",
        (f"{_SPHERES}::test_the_direction_of_a_contact_is_that_of_its_move",),
    ),
    Fault(
        "ray_that_ends_on_the_ground_misses",
        "_kernels.heightmap.rays",
        "        if distance <= limit and (distance, row, column, half) < hit:\n",
        "        if distance < limit and (distance, row, column, half) < hit:\n",
        (f"{_QUESTIONS}::test_rays_enter_solids_and_hit_skins_from_both_sides",),
    ),
    Fault(
        "hit_of_the_last_of_equal_parts",
        "_kernels.ground.hits",
        "    return rank < hit.rank if row == hit.row else part < hit.part\n",
        "    return rank < hit.rank if row == hit.row else part > hit.part\n",
        (
            "tests/ground/test_ties.py::test_of_equal_sides_and_undersides_those_of_the_first_are_hit",
        ),
    ),
    Fault(
        "underside_hit_from_inside",
        "_kernels.ground.rays",
        "        if dot(way, normal) <= 0.0:\n",
        "        if far >= 0.0:\n",
        (f"{_SIDES}::test_who_is_inside_sees_neither_sides_nor_underside",),
    ),
    Fault(
        "slope_by_fewer_terms",
        "_support.angles",
        "        total -= tangent // (k + 2)\n",
        "",
        ("tests/geometry/test_angles.py::test_slopes_are_those_of_the_system_to_rounding",),
    ),
    Fault(
        "swap_of_columns_does_not_mirror",
        "_support.matrices",
        "        flips += (i != k) + (j != k) + (pivot < 0.0)\n",
        "        flips += (i != k) + (pivot < 0.0)\n",
        ("tests/geometry/test_matrices.py::test_what_mirrors_has_a_negative_determinant",),
    ),
    Fault(
        "machine_code_of_other_settings_is_taken",
        "_build.build_cache",
        "{sys.version}\\n{_cache.settings()}\\n",
        "{sys.version}\\n",
        (
            "tests/native/test_build_cache.py::test_tools_are_compilers_their_settings_and_what_is_ours",
        ),
    ),
    Fault(
        "machine_code_of_an_edited_callee_is_taken",
        "_build.llvm.kept_kernels",
        '"lowered", self._module, self._name, self._state',
        '"lowered", self._module, self._name',
        ("tests/native/test_kept_kernels.py::test_an_edit_has_the_kernels_lowered_that_import_it",),
    ),
    Fault(
        "fused_multiply_add_is_not_seen",
        "_build.llvm.fused",
        "(?:contract|reassoc|fast)",
        "(?:reassoc|fast)",
        ("tests/native/test_fused.py::test_each_processor_fuses_what_is_marked_and_nothing_else",),
    ),
    Fault(
        "movers_behind_a_new_one_keep_their_rows",
        "ground.movers",
        "            rows[before + 2 : end + 2] = rows[before + 1 : end + 1]\n",
        "",
        ("tests/ground/test_movers.py::test_answers_are_those_of_parts_made_there",),
    ),
    Fault(
        "copy_takes_marks_off_the_map_that_is_updated",
        "walkability.changes",
        "            heights, edges = self.heights.copy(), self.edges.copy()\n",
        "            heights, edges = self.heights, self.edges\n",
        (f"{_COPIES}::test_a_copy_while_an_update_goes_on_has_yet_to_make_what_that_makes",),
    ),
    Fault(
        "fields_lead_between_points_of_the_grid",
        "_kernels.walkability.lead_members",
        "    if is_aside(places, place) or is_aside(places, end):\n",
        "    if False:\n",
        (f"{_STAIRS}::test_fields_lead_over_stairs_from_where_characters_stand",),
    ),
    Fault(
        "fields_leave_room_to_whoever_goes_their_way",
        "_kernels.walkability.headings",
        "    opposite = _octant(x, z) + 4\n",
        "    opposite = _octant(x, z)\n",
        ("tests/walkability/test_lanes.py::test_room_is_left_to_those_who_come_against_one",),
    ),
    *FAULTS_OF_BODIES,
    *FAULTS_OF_GROUNDS,
)
