"""Faults of questions to grounds: wrong owners, lost sides, flipped signs, places left out."""

from tests.mutants.fault import Fault

_ALONE = "tests/ground/test_triangles_alone.py"
_ONE_AND_MANY = "tests/ground/test_one_and_many.py"
_QUESTIONS = "tests/ground/test_questions.py"

FAULTS_OF_GROUNDS = (
    Fault(
        "cells_of_a_union_are_of_its_first_map",
        "_kernels.ground.owners",
        "    number = int(numbers[tile])\n",
        "    number = first\n",
        (f"{_QUESTIONS}::test_rays_enter_solids_and_hit_skins_from_both_sides",),
    ),
    Fault(
        "sides_stop_nothing_that_moves",
        "_kernels.ground.sweeps",
        "    for parts in (sides, meshes):\n",
        "    for parts in (meshes,):\n",
        (f"{_QUESTIONS}::test_balls_that_move", f"{_QUESTIONS}::test_capsules_that_move"),
    ),
    Fault(
        "undersides_are_touched_from_above",
        "_kernels.ground.sweeps",
        "    normal = (normal[0], 0.0 - normal[1], normal[2])\n",
        "    normal = (normal[0], normal[1], normal[2])\n",
        (f"{_QUESTIONS}::test_balls_that_move",),
    ),
    Fault(
        "triangles_are_as_far_as_their_farthest_corner",
        "_kernels.mesh.queries",
        "    along = min(dot(a, line), dot(b, line), dot(c, line)) * factor\n",
        "    along = max(dot(a, line), dot(b, line), dot(c, line)) * factor\n",
        (f"{_ALONE}::test_rays_and_closest_points",),
    ),
    Fault(
        "one_point_on_a_surface_is_outside",
        "_kernels.ground.inside",
        "            if underside <= y <= surface:\n",
        "            if underside < y < surface:\n",
        (f"{_ONE_AND_MANY}::test_closest_points_heights_and_what_is_inside",),
    ),
    Fault(
        "far_on_the_other_side_is_near",
        "surface.limits",
        "        if not _LEAST < value < FARTHEST:\n",
        "        if not value < FARTHEST:\n",
        ("tests/ground/test_refusals.py::test_what_is_too_far_off_is_refused",),
    ),
)
