"""Packed clips: read by another reader, small, as exact as promised, the same each time."""

import numpy as np
import pytest

from terrain_physics.viewer import page
from terrain_physics.viewer.packing import packed
from terrain_physics.viewer.page import page_of
from tests.helpers.clips import clip, edited
from tests.oracles.clip import clip_of, unpacked

SAMPLES = 30


@pytest.fixture(scope="module")
def made():
    given = edited(clip(9, 7, SAMPLES), SAMPLES)
    bodies = given.bodies
    bodies.shape[:10, 2] = -1  # comes later
    bodies.center[:10, 2] = np.nan
    bodies.is_put[12, 3] = True
    bodies.rotation[:, 5] = 0.5, -0.5, 0.1, 0.7
    bodies.rotation[:, 5] /= np.linalg.norm(bodies.rotation[0, 5])
    bodies.state[20, 1] = 4
    bodies.blocked = np.array([[3, 1, *bodies.center[3, 1] + 0.25, 1, 0, 0.0]])
    return given


def lengths(rows, header):
    return header["step"] * np.array(rows, dtype=np.float64)


def test_another_reader_finds_the_bodies_to_half_a_step(made):
    header, streams = unpacked(packed(made))
    bodies, origin = made.bodies, np.array(header["origin"])
    is_there = bodies.shape >= 0
    assert header["step"] == 2.0**-10  # at most 1/256 of 0.3 m
    assert (header["names"], header["samples"]) == (bodies.names, SAMPLES)
    assert header["shapes"] == [[kind, list(extents)] for kind, extents in bodies.shapes]
    assert np.array_equal(np.array(streams["shape"]).T, bodies.shape)
    assert np.array_equal(np.array(streams["state"]).T, bodies.state)
    assert np.array_equal(np.array(streams["isPut"]).T, bodies.is_put)
    center = lengths(streams["center"], header).reshape(7, 3, SAMPLES).transpose(2, 0, 1) + origin
    assert np.abs(center - bodies.center)[is_there].max() <= 0.5 * header["step"]
    turns = np.array(streams["rotation"]).reshape(7, 4, SAMPLES).transpose(2, 0, 1) / 32767
    assert np.abs(turns - bodies.rotation).max() <= 0.5 / 32767
    touches = is_there & (bodies.state > 0)
    point = lengths(streams["touchPoint"], header).reshape(7, 3, SAMPLES).transpose(2, 0, 1)
    away = bodies.touch[..., :3] - bodies.center
    assert np.abs(point - away)[touches].max() <= 0.5 * header["step"]
    normal = np.array(streams["touchNormal"]).reshape(7, 3, SAMPLES).transpose(2, 0, 1) / 127
    assert np.abs(normal - bodies.touch[..., 3:])[touches].max() <= 0.5 / 127
    assert not point[~touches].any()
    assert streams["blockedWhen"] == [[3], [1]]
    assert lengths(streams["blockedPoint"], header).tolist() == [[0.25]] * 3
    assert streams["blockedNormal"] == [[127], [0], [0]]
    times = header["tick"] * np.array(streams["time"][0])
    assert np.abs(times - made.times).max() <= 0.5 * header["tick"]


def test_another_reader_finds_the_ground_and_its_edits(made):
    header, streams = unpacked(packed(made))
    (part,), (about,) = made.parts, header["parts"]
    half = 0.5 * header["step"]
    assert about["kind"] == "map"
    assert about["cell"] == [1.0, 1.0]
    assert about["around"] == [9, 9]
    assert about["materialNames"] == ["grass", "wet sand"]
    assert (about["first"], about["surfaces"], about["edits"]) == (0, [0, 29], [15])
    assert np.abs(lengths(streams["part0.vertices"], header).T - part.vertices).max() <= half
    for number, surface in enumerate(part.surfaces):
        assert np.array_equal(np.array(streams[f"part0.faces{number}"]).T, surface.faces)
    (edit,) = part.edits
    assert streams["part0.rows0"] == [edit.rows.tolist()]
    assert np.abs(lengths(streams["part0.edit0"], header).T - edit.vertices).max() <= half
    position = lengths(streams["part0.position"], header).T + header["origin"]
    assert np.abs(position).max() <= half
    assert streams["part0.isSolid"] == [[1] * SAMPLES]


def test_a_minute_of_50_bodies_on_129_by_129_samples_is_a_small_page_and_the_same_each_time():
    given = clip(129, 50, 1201)
    text = page_of(given)
    assert len(text.encode()) < 2_500_000
    assert page_of(clip(129, 50, 1201)) == text
    header, streams = clip_of(text)
    assert header["samples"] == 1201
    assert len(streams["part0.faces0"][0]) == 2 * 128**2


@pytest.mark.parametrize(
    ("half_width", "reach", "step"),
    [(0.5, 100.0, 2.0**-9), (0.004, 1.0, 2.0**-16), (0.5, 4e7, 2.0**-5), (1e-9, 10.0, 2.0**-20)],
)
def test_steps_suit_the_smallest_body_and_the_widest_land(half_width, reach, step):
    given = clip(3, 2, 4)
    given.bodies.shapes[:] = [("ball", (half_width,) * 3)] * 3
    given.bodies.center[:, 1] = reach
    header, streams = unpacked(packed(given))
    assert header["step"] == step
    found = lengths(streams["center"], header)[3:, 0] + header["origin"]
    assert np.abs(found - reach).max() <= 0.5 * step


def test_what_is_too_wide_or_too_large_is_refused(monkeypatch):
    given = clip(3, 2, 4)
    given.bodies.center[:, 1] = 1e14
    with pytest.raises(ValueError, match=r"recording must be at most 2\^40 m wide to be shown"):
        packed(given)
    monkeypatch.setattr(page, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="a page must have at most 1000 bytes, got"):
        page_of(clip(3, 2, 4))


def test_nobody_and_nothing_can_be_shown_too():
    given = clip(3, 0, 2)
    header, streams = unpacked(packed(given))
    assert header["names"] == []
    assert streams["center"] == []
    alone = given._replace(parts=[])
    assert unpacked(packed(alone))[0]["origin"] == [0, 0, 0]


def test_what_is_too_long_is_refused():
    given = clip(3, 1, 2)
    with pytest.raises(ValueError, match="recording must be shorter than 214748 s to be shown"):
        packed(given._replace(times=[0.0, 3e5]))
