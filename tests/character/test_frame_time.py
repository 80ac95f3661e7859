"""Lengths of updates: frames of any length, cut to `max_delta`, and bad times."""

import copy
import math
import pickle
import re
import warnings
from functools import partial

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    HeightMap,
    Recording,
    SphereCollider,
    replay,
)

FLOOR = HeightMap(np.zeros((40, 40)))
BALL = SphereCollider(0.5)
NO_TIMES = (-0.01, -1e-300, -3, math.nan, math.inf, -math.inf)
NO_NUMBERS = ("0.1", None, 1j, [0.1], np.array([0.1]))


def falling(**rules):
    return CharacterMovement(FLOOR, BALL, position=(5, 30, 5), **rules)


def crowd(**rules):
    group = CharacterGroup(FLOOR, BALL, **rules)
    group.add("ada", (5, 30, 5))
    group.add("bob", (9, 30, 5))
    return group


BOTH = pytest.mark.parametrize("make", [falling, crowd])


@BOTH
@pytest.mark.parametrize("frame", [0.26, 3, 3.0, 1e300, np.float32(7), 2**70])
def test_a_longer_frame_is_cut(make, frame):
    one, other = make(), make()
    assert one.max_delta == 0.25
    result = one.update(frame)
    assert result.seconds == 0.25
    assert result == other.update(0.25)
    assert one.state() == other.state()


@BOTH
@pytest.mark.parametrize("frame", [1e-9, 1 / 360, 1 / 20, 0.25])
def test_a_shorter_one_is_lived_whole(make, frame):
    assert make().update(frame).seconds == frame


RECORDED = pytest.mark.parametrize("make", [falling, crowd, lambda: Recording(crowd())])


def warned(updated, times):
    """Return the numbers of the updates that warned."""
    told = []
    for number, time in enumerate(times):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            updated.update(time)
        for one in caught:
            assert re.match("times are seconds, got .* in 10 updates in a row", str(one.message))
            assert one.filename == __file__
            told.append(number)
    return told


@RECORDED
@pytest.mark.parametrize("time", [16, 16.7, 1.001, np.int64(17)])
def test_times_that_are_no_seconds_get_one_warning(make, time):
    assert warned(make(), [time] * 40) == [9]


@RECORDED
@pytest.mark.parametrize("sane", [1 / 60, 0.2, 0.3, 1.0, 1])
def test_a_sane_time_begins_anew(make, sane):
    assert warned(make(), [16, 16, sane] * 20) == []
    assert warned(make(), [16] * 9 + [sane] + [16] * 9) == []
    assert warned(make(), [16] * 10 + [sane] + [16] * 12) == [9, 20]


@BOTH
def test_a_warning_may_be_an_error_and_nothing_has_changed(make):
    updated = make()
    for _ in range(9):
        updated.update(16)
    before = updated.state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="times are seconds, got 16 in 10"):
            updated.update(16)
    assert updated.state() == before
    assert updated.update(16).seconds == 0.25


def test_the_warning_says_what_to_write():
    updated = falling()
    for _ in range(9):
        updated.update(16)
    with pytest.warns(UserWarning, match=r"for milliseconds use 16 / 1000$"):
        updated.update(16)


@BOTH
def test_zero_does_nothing(make):
    updated = make()
    updated.update(0.1)
    before = updated.state()
    for nothing in (0, 0.0, -0.0, np.float64(0)):
        assert updated.update(nothing).seconds == 0.0
    assert updated.state() == before


@BOTH
def test_times_lived_add_up(make):
    frames = [0.016, 3.0, 0.0, 1e-6, 0.25, 0.3]
    updated = make()
    lived = [updated.update(frame).seconds for frame in frames]
    assert lived == [0.016, 0.25, 0.0, 1e-6, 0.25, 0.25]


@BOTH
@pytest.mark.parametrize("junk", NO_TIMES)
def test_what_is_no_time_is_refused(make, junk):
    updated = make()
    before = updated.state()
    with pytest.raises(ValueError, match="delta_time must be finite and >= 0 seconds, got"):
        updated.update(junk)
    assert updated.state() == before


@BOTH
@pytest.mark.parametrize("junk", NO_NUMBERS)
def test_what_is_no_number_is_refused(make, junk):
    updated = make()
    before = updated.state()
    with pytest.raises(TypeError, match="delta_time must be a number, finite and >= 0 seconds"):
        updated.update(junk)
    assert updated.state() == before


@BOTH
def test_the_longest_time_can_be_set(make):
    updated = make(max_delta=0.1)
    assert updated.update(0.2).seconds == 0.1
    updated.max_delta = 1
    assert updated.max_delta == 1.0
    assert updated.update(0.7).seconds == 0.7
    assert updated.update(1.5).seconds == 1.0


@BOTH
@pytest.mark.parametrize(
    ("junk", "error", "message"),
    [
        (250, ValueError, r"got 250\.0; for milliseconds use 250 / 1000$"),
        (1.5, ValueError, r"must be from 1e-06 to 1 seconds, got 1\.5"),
        (0, ValueError, r"must be from 1e-06 to 1 seconds, got 0\.0$"),
        (-0.1, ValueError, r"got -0\.1$"),
        (math.nan, ValueError, "must be finite"),
        (math.inf, ValueError, "must be finite"),
        ("0.1", TypeError, "must be a finite number"),
        (None, TypeError, "must be a finite number"),
    ],
)
def test_a_bad_longest_time_changes_nothing(make, junk, error, message):
    updated = make()
    with pytest.raises(error, match=f"max_delta {message}" if "must" in message else message):
        updated.max_delta = junk
    assert updated.max_delta == 0.25
    with pytest.raises(error, match="max_delta must be"):
        make(max_delta=junk)


@BOTH
@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_a_copy_has_its_own(make, way):
    updated = make(max_delta=0.1)
    other = way(updated)
    other.max_delta = 0.2
    assert (updated.max_delta, other.max_delta) == (0.1, 0.2)


def test_the_last_result_says_it_too():
    mover, group = falling(), crowd()
    assert mover.move_result().seconds == group["ada"].move_result().seconds == 0.0
    assert mover.update(2) == mover.move_result()
    group.update(2)
    assert group["ada"].move_result().seconds == 0.25
    mover.velocity.x = math.nan
    with pytest.raises(ValueError, match="velocity"):
        mover.update(0.1)
    assert mover.move_result().seconds == 0.25


def test_results_are_pickled_with_it():
    for result in (falling().update(2), crowd().update(2)):
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert again.seconds == 0.25
        assert "seconds=0.25" in repr(again)


def test_pickled_results_keep_it():
    for result in (falling().update(0.1), crowd().update(0.1)):
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert again.seconds == 0.1


def test_an_empty_group_lives_as_well():
    assert CharacterGroup(FLOOR).update(9).seconds == 0.25


SCENES = {
    "one": lambda rule: falling(max_delta=rule),
    "group": lambda rule: crowd(max_delta=rule),
    "mapping": lambda rule: {"a": falling(max_delta=rule), "b": falling(max_delta=1.0)},
}


def each(scene):
    return list(scene.values()) if isinstance(scene, dict) else [scene]


@pytest.mark.parametrize("name", SCENES)
def test_a_recording_keeps_the_time_lived(name, tmp_path):
    scene = SCENES[name](0.2)
    recording = Recording(scene)
    for frame in (0.016, 3.0, 0.0, 0.15, 0.3):
        result = recording.update(frame)
        for one in each(result):
            assert one.seconds == min(frame, 0.2)
    recording.save(tmp_path / "walk")
    loaded = Recording.load(tmp_path / "walk")
    for rule in (0.2, 0.05, 1.0):  # what was lived is lived again, whatever is allowed then
        assert replay(recording, partial(SCENES[name], rule)) is None
        assert replay(loaded, partial(SCENES[name], rule)) is None
    again = SCENES[name](1.0)
    for seconds in (0.016, 0.2, 0.15, 0.2):
        for one in each(again):
            one.update(seconds)
    hashes = [[one.state_hash() for one in each(ended)] for ended in (scene, again)]
    assert hashes[0] == hashes[1]


def test_errors_name_the_unit_and_the_likely_mistake():
    for make in (falling, crowd):
        with pytest.raises(ValueError, match=r"got 45\.0; for degrees use math\.radians\(45\)"):
            make(slope_limit=45)
        with pytest.raises(ValueError, match="slope_limit must be from 0 to pi / 2 radians"):
            make(slope_limit=90)
        with pytest.raises(ValueError, match=r"got 180\.0$"):
            make(slope_limit=180)
        with pytest.raises(ValueError, match=r"gravity must be >= 0 .*-9\.81; gravity_scale may"):
            make(gravity=-9.81)
        assert make(gravity=0, gravity_scale=-1).update(0.1).seconds == 0.1
    mover = falling()
    before = mover.state()
    with pytest.raises(ValueError, match="gravity_scale may be negative"):
        mover.gravity = -1
    with pytest.raises(ValueError, match="for degrees"):
        mover.slope_limit = 30
    assert mover.state() == before
