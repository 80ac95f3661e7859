"""Hashes of rows by mixing, and what keeps the numbers of a character."""

import itertools
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.character.rows import Rows, mixed_hashes
from terrain_physics.world.kept_character import KeptCharacter
from tests.helpers.characters import FLOOR, FRAME, ball, run
from tests.helpers.draws import Draws

WORD = (1 << 64) - 1
A, B, C, D = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63


def taken_in(lane, word):
    both = lane ^ word
    return (both << 31 | both >> 33) % (1 << 64) * A & WORD


def mixed(row):
    """Return the hash of a row by whole numbers of any size."""
    words = []
    for layout, part in ((columns.STATE, row.state), (columns.RULES, row.rules)):
        own = [struct.unpack("Q", struct.pack("d", part[k]))[0] for k in layout.hashed()]
        own += own[-1:] * (-len(own) % 4)
        words += own
    lanes = [A + B & WORD, B, 0, C]
    for k, word in enumerate(words):
        lanes[k % 4] = taken_in(lanes[k % 4], word)
    for k, number in enumerate(row.linear.tolist()):
        word = struct.unpack("Q", struct.pack("d", number))[0]
        lanes[k % 3] = taken_in(lanes[k % 3], word)
    lanes[3] = taken_in(lanes[3], int(row.random[0]))
    found = D
    for lane in lanes:
        found = (found ^ taken_in(0, lane)) * A + D & WORD
    found = (found ^ found >> 33) * B & WORD
    found = (found ^ found >> 29) * C & WORD
    return found ^ found >> 32


def drawn_rows(count):
    draws, rows = Draws(1), Rows.room(count)
    for part in rows.saved()[:3]:
        part[:] = draws.mixed(-4.0, 4.0, *part.shape)
    rows.random[:, 0] = [draws.below(1 << 62) * 4 + k % 4 for k in range(count)]
    return rows


@pytest.mark.kernels
def test_the_hash_is_that_of_whole_numbers():
    rows = drawn_rows(5)
    rows.state[1, 3], rows.state[2, :3], rows.rules[3, 4] = -0.0, math.nan, math.inf
    expected = [mixed(rows.at(k)) for k in range(5)]
    assert mixed_hashes(rows).tolist() == expected
    assert [int(mixed_hashes(rows.at(slice(k, k + 1)))[0]) for k in range(5)] == expected
    assert mixed_hashes(rows.at(slice(0))).tolist() == []


@pytest.mark.kernels
def test_each_bit_of_a_hashed_number_counts_and_no_other():
    """Also two bits at a time, of any two columns: as a sign that changes with another one."""
    rows = drawn_rows(1)
    first, known = int(mixed_hashes(rows)[0]), set()
    hashed = columns.SAVED.hashed()
    for place in range(columns.SAVED.size):
        for bit in (0, 31, 51, 52, 63):
            bits = rows.packed()
            bits[0, place] ^= np.uint64(1 << bit)
            found = int(mixed_hashes(Rows.unpacked(bits))[0])
            assert (found != first) == (place in hashed)
            known |= {found} - {first}
    assert len(known) == 5 * len(hashed)
    for one, other in itertools.pairwise(hashed):
        bits = rows.packed()
        bits[0, [one, other]] ^= np.uint64(1 << 63)
        known.add(int(mixed_hashes(Rows.unpacked(bits))[0]))
    assert len(known) == 6 * len(hashed) - 1
    flips = [(found ^ first).bit_count() for found in known]
    assert 28 < np.mean(flips) < 36
    assert min(flips) > 8


@pytest.mark.kernels
def test_zeros_have_signs_and_read_only_rows_hashes():
    rows = drawn_rows(2)
    rows.state[:, 4] = (0.0, -0.0)
    one, other = mixed_hashes(rows)
    assert one != other
    for part in rows.saved():
        part.setflags(write=False)
    assert mixed_hashes(rows).tolist() == [one, other]
    assert mixed_hashes(rows.at(slice(None, None, -1))).tolist() == [other, one]


def test_a_sleeper_sleeps_on():
    """Kept asleep and put back, also over an update of another length."""
    mover = ball()
    run(mover, 5)
    assert mover.update(FRAME) is mover.update(FRAME)
    kept, result = KeptCharacter(mover), mover.update(FRAME)
    mover.velocity = (1, 0, 0)
    run(mover, 10)
    run(mover, 60, 1 / 30)
    assert mover.move_result().seconds == 1 / 30
    kept.put_back()
    assert mover.move_result().seconds == FRAME
    mover.update(1 / 30)
    kept.put_back()
    assert mover.update(FRAME) == result == mover.update(FRAME)
    assert mover.move_result().seconds == FRAME
    assert mover.update(FRAME) is mover.update(FRAME)
    run(mover, 3, 1 / 30)
    kept.keep()
    run(mover, 3)
    kept.put_back()
    assert mover.move_result().seconds == 1 / 30
    mover.update(FRAME)
    assert mover.move_result().seconds == FRAME


def test_on_another_ground_it_looks_again():
    mover = ball(tp.HeightMap(np.zeros((30, 30))))
    run(mover, 5)
    kept = KeptCharacter(mover)
    mover.ground = tp.HeightMap(np.full((30, 30), -2.0))
    run(mover, 60)
    kept.put_back()
    assert mover.ground_report().triangle == -1
    assert not mover.update(FRAME).grounded


class Calling:
    """An owner that calls a function when its place is set."""

    call: Callable[[], None] | None = None

    def __init__(self):
        self._position = (10.3, 0.5, 10.7)

    @property
    def position(self):
        return self._position

    @position.setter
    def position(self, position):
        self._position = position
        if self.call is not None:
            self.call()


def test_nothing_is_put_back_inside_an_update():
    owner = Calling()
    mover = tp.CharacterMovement(FLOOR, tp.SphereCollider(0.5), owner=owner)
    kept, twin = KeptCharacter(mover), ball()
    for one in (mover, twin):
        one.velocity = (2, 0, 0)
    owner.call = kept.put_back
    with pytest.raises(RuntimeError, match="restore must be called between updates"):
        mover.update(FRAME)
    owner.call = None
    twin.update(FRAME)
    assert mover.state_hash() == twin.state_hash()
    kept.put_back()
    assert mover.position64 == (10.3, 0.5, 10.7)
