"""The site's "What you can rely on": each promise has tests, named here, or standing here."""

import ast
import asyncio
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from terrain_physics import CharacterGroup, HeightMap, SphereCollider
from tests.helpers.pages import DOCS

TESTS = Path(__file__).parents[1]
PAGE = (DOCS / "rely.md").read_text(encoding="utf-8").partition("## Limits")[0]

# By promise: files of tests, and which of them hold it.
PROMISES: dict[str, dict[str, tuple[str, ...]]] = {
    "Threads": {
        "package/test_locks.py": (
            "test_no_edit_of_two_threads_is_lost",
            "test_what_several_threads_paint_is_painted",
            "test_what_is_read_is_of_one_moment",
        ),
        "package/test_threads.py": (
            "test_batches_from_many_threads_at_once",
            "test_none_waits_for_threads_that_are_busy_elsewhere",
        ),
        "heightmap/test_edits.py": ("test_materials_stay_as_they_are_while_a_query_reads",),
    },
    "Fork": {
        "package/test_locks.py": (
            "test_children_forked_while_threads_work_do_not_hang",
            "test_children_forked_while_kernels_are_compiled_do_not_hang",
        ),
        "package/test_threads.py": ("test_forked_children_have_a_pool_of_their_own",),
    },
    "Spawn": {
        "package/test_promises.py": ("test_a_spawned_process_goes_on_bit_for_bit",),
        "character/test_saved_walks.py": (
            "test_pickled_grounds_keep_their_versions",
            "test_a_mesh_that_was_moved_is_pickled_as_it_is",
        ),
    },
    "Signals": {
        "package/test_locks.py": ("test_a_signal_handler_gets_an_answer",),
        "package/test_threads.py": (
            "test_a_signal_handler_may_ask_at_any_time",
            "test_nothing_runs_on_after_an_interruption",
            "test_a_second_interruption_does_not_leave_threads_at_work",
        ),
    },
    "asyncio": {"package/test_promises.py": ("test_a_loop_runs_on_while_a_thread_updates",)},
    "Determinism": {
        "kernels/test_recorded_bits.py": ("test_the_bits_are_those_recorded",),
        "kernels/test_same_bits.py": ("test_the_same_story_bit_for_bit",),
        "kernels/test_same_bits_of_maps.py": ("test_the_same_answers_bit_for_bit",),
        "group/test_group.py": (
            "test_a_group_gives_the_bits_of_each_one_alone",
            "test_any_number_of_threads_gives_the_same_bits",
        ),
        "character/test_saved_walks.py": ("test_saved_walks_equal_those_not_saved",),
        "recording/test_recorded_grounds.py": ("test_random_stories_are_replayed_bit_for_bit",),
    },
    "Bad input": {
        "package/test_changed_meanwhile.py": ("test_a_write_in_between_is_refused_or_not_noticed",),
        "heightmap/test_edits.py": ("test_a_refused_edit_changes_nothing",),
        "group/test_input.py": ("test_restore",),
    },
    "Bounded work": {
        "character/test_work.py": (
            "test_the_work_of_a_soup_grows_no_faster_than_the_soup",
            "test_no_speed_is_too_much_work",
            "test_a_limited_flight_is_that_of_less_time",
            "test_nothing_is_so_fast_that_it_is_through_a_sheet",
            "test_a_body_whose_step_is_too_much_stays_where_it_is",
            "test_all_in_a_group_have_the_same_bound_as_alone",
        ),
        "surface/test_many_results.py": (
            "test_what_no_memory_would_hold_is_refused_before_it_is_gone",
        ),
        "recording/test_recording_files.py": ("test_a_bomb_is_refused_before_it_is_unpacked",),
    },
    "Files": {
        "heightmap/test_files_damaged.py": ("test_mutated_files_load_or_are_refused_by_name",),
        "heightmap/test_files_saved.py": ("test_an_error_while_writing_leaves_the_file_as_it_was",),
        "recording/test_recording_files.py": ("test_an_interrupted_save_leaves_the_old_file",),
        "recording/test_recorded_grounds.py": ("test_events_that_do_not_fit_are_refused",),
    },
    "Cache": {
        "kernels/test_own_files.py": (
            "test_planted_code_is_not_run",
            "test_a_file_that_others_may_write_is_compiled_again",
            "test_a_folder_that_others_may_write_is_not_used",
            "test_new_folders_are_this_users_alone_whatever_the_umask",
            "test_what_lies_in_the_package_is_trusted_like_its_sources",
            "test_where_there_are_no_owners_the_place_decides",
        ),
        "kernels/test_jit.py": ("test_damaged_file_is_compiled_again",),
    },
}


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_promise_of_the_page_is_named_here() -> None:
    assert re.findall(r"^- \*\*(.+?)\*\*", PAGE, flags=re.MULTILINE) == list(PROMISES)


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_has_its_tests(promise: str) -> None:
    for name, tests in PROMISES[promise].items():
        assert set(tests) <= functions_of(TESTS / name)


def make_group() -> CharacterGroup:
    land = HeightMap(np.random.default_rng(3).uniform(0, 1, (40, 40)))
    group = CharacterGroup(land, SphereCollider(0.4), seed=2, threads=1)
    for i in range(8):
        group.add(i, (4 * i + 3, 2, 20), velocity=(1, 0, 0.5 * i))
    return group


def play(group: CharacterGroup) -> list[tuple[object, str]]:
    """Let a group go on for half a second; return its hashes."""
    for _ in range(30):
        group.velocities = np.tile((1.5, 0.0, -1.0), (len(group), 1))
        group.update(1 / 60)
    return list(group.hashes())


def test_a_spawned_process_goes_on_bit_for_bit() -> None:
    group = make_group()
    play(group)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as other:
        there = other.submit(play, group).result()
    assert play(group) == there


@pytest.mark.alone
def test_a_loop_runs_on_while_a_thread_updates() -> None:
    group = make_group()
    for i in range(8, 1000):
        group.add(i, (i % 37 + 1, 2, i // 37 % 37 + 1), velocity=(300, 0, 200))
    group.update(1 / 60)

    async def game() -> int:
        updating = asyncio.create_task(asyncio.to_thread(group.update, 0.25))
        turns = 0
        while not updating.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(game()) > 20  # it gets its turn again and again, not before and after
