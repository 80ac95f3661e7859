"""The wheel for Linux on ARM, run by an emulator: no such processor is needed.

``TERRAIN_PHYSICS_TEST_WHEEL_OF_ARM64=FILE`` tests that wheel; without it, one is built now.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.helpers.environments import ROOT, run
from tests.machines.arm64 import ArmPython, what_is_missing

pytestmark = [
    pytest.mark.machines,
    pytest.mark.skipif(bool(what_is_missing), reason=f"needs {what_is_missing}"),
]

IMPORT = """
import sys
import terrain_physics
from terrain_physics._kernels import _jit
assert "numba" not in sys.modules
print(_jit.native.__name__)
"""

WALK = """
import terrain_physics as tp
land = tp.HeightMap([[k * j % 3 for k in range(40)] for j in range(40)], cell_size=1.5)
mover = tp.CharacterMovement(land, tp.CapsuleCollider(0.4, 1.8), position=(3, 3, 3), seed=7)
for frame in range(240):
    mover.velocity.x, mover.velocity.z = 2.5, 1.5
    result = mover.update(1 / 60)
    print(*(part.hex() for part in mover.position64), result.grounded)
print(mover.ground_report().slope.hex())
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> ArmPython:
    folder = tmp_path_factory.mktemp("arm64")
    given = os.environ.get("TERRAIN_PHYSICS_TEST_WHEEL_OF_ARM64")
    if given is None:
        (folder / "wheels").mkdir()
        build = ("-m", "terrain_physics._build", "--all", folder / "wheels")
        run([sys.executable, *build, "--only", "linux-aarch64"], cwd=ROOT)
        (wheel,) = (folder / "wheels").glob("*_aarch64.whl")
    else:
        wheel = Path(given)
    return ArmPython(folder, wheel)


def test_it_is_imported_without_numba(python: ArmPython) -> None:
    assert python.run("-c", IMPORT) == "terrain_physics._kernels._native_arm64\n"


def test_a_walk_has_the_bits_of_this_machine(python: ArmPython) -> None:
    here = run([sys.executable, "-c", WALK], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}).decode()
    assert python.run("-c", WALK) == here
    assert len(here.splitlines()) == 241


def test_the_recorded_bits_are_those_of_this_machine(python: ArmPython) -> None:
    found = python.run("-m", "tests.machines.compare")
    assert found.endswith("groups compared; without machine code: []\n")
    assert found.count("\n") == 1, found


@pytest.mark.long
def test_all_recorded_bits_are_those_of_this_machine(python: ArmPython) -> None:
    found = python.run("-m", "tests.machines.compare", "--all")
    assert found.count("\n") == 1, found
