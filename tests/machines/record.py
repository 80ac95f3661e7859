"""Records a tape of kernel calls: ``python -m tests.machines.record FOLDER FILE``.

The folder holds the machine code that makes them, as ``python -m terrain_physics._build FOLDER``
puts it there. A tape has the calls of `kernel_calls.Recorder`, their number in front.
"""

import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import terrain_physics._kernels
from tests.machines.kernel_calls import Recorder

TESTS = (
    "character/test_owner.py",
    "character/test_waiting.py",
    "counter/test_command.py",
    "counter/test_numbers.py",
    "counter/test_ranges.py",
    "counter/test_touch_counter.py",
    "geometry/test_point_in_triangle_2d.py",
    "geometry/test_sweeps.py",
    "ground/test_triangles_alone.py",
    "heightmap/test_closest_point.py",
    "kernels/test_moves.py",
    "kernels/test_orientation.py",
    "surface/test_obj_files.py",
    "walkability/test_field_lead.py",
    "walkability/test_lanes.py",
    "walkability/test_path_lead.py",
    "world/test_map_hashes.py",
)
"""Tests that enter kernels which no recorded group enters."""


def main() -> None:
    """Record, and name the kernels that nothing has entered."""
    folder, file = sys.argv[1:]
    terrain_physics._kernels.__path__.insert(0, f"{folder}/terrain_physics/_kernels")
    recorder = Recorder()
    recorder.start()
    from terrain_physics._kernels import _jit

    assert _jit.native is not None
    recorder.read_list()
    recorder.takes_large = True
    _ask_united()
    recorder.takes_large = False
    _run_groups()
    tests = Path(__file__).parents[1]
    # A test that has another process compile all enters nothing here.
    options = ("-q", "-n0", "-p", "no:cacheprovider", "-k", "not byte_by_byte")
    ended = pytest.main([*options, *(str(tests / name) for name in TESTS)])
    assert ended == 0
    recorder.takes_large = True
    _call_others()
    tape = [call for calls in recorder.calls.values() for call in calls]
    Path(file).write_bytes(b"".join([struct.pack("<q", len(tape)), *tape]))
    sys.stdout.write(f"calls: {len(tape)}, without one: {recorder.not_called()}\n")


def _ask_united() -> None:
    """Ask two maps that meet.

    All memory between their samples is on the tape. The last of many lie near each other.
    """
    import terrain_physics as tp

    lands = [
        tp.HeightMap(np.eye(3), origin=(k % 2, 0, 0), border="open", thickness=1) for k in range(40)
    ]
    ground = tp.Ground(lands[-2:])
    ground.raycast(tp.Ray((1, -0.5, 1), (1, 0, 0)))
    ground.contacts([(1, 0.2, 1, 0.5), (2, 0.2, 1.5, 0.5)])


def _run_groups() -> None:
    """Find the recorded bits, but for the rows of behaviour, which take most of the time."""
    from tests.helpers import recorded_bits, row_bits

    for name in recorded_bits.GROUPS:
        if name not in row_bits.GROUPS:
            recorded_bits.bits_of(name)


def _call_others() -> None:
    """Call kernels that are given much memory, or only seldom."""
    import terrain_physics as tp
    from terrain_physics._kernels.counter import numbers

    text = np.frombuffer(bytearray(b"1 -2.5e-3 0.1 12345678901234567890"), np.uint8)
    numbers.count_tokens(text, 0, len(text))
    numbers.parse_numbers(text, 0, len(text), np.empty(8))
    tp.warm_up()


if __name__ == "__main__":
    main()
