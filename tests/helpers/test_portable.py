"""What scenes are made of: as other libraries give it but for last bits, and the same anywhere."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import portable
from tests.helpers.draws import Draws
from tests.helpers.recorded_bits import recorded

ANGLES = [k * 0.37 for k in range(-3000, 3000)] + [k * math.pi / 4 for k in range(-16, 17)]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines(name):
    ours, theirs = getattr(portable, name), getattr(math, name)
    assert max(abs(ours(angle) - theirs(angle)) for angle in ANGLES) < 5e-16


def test_tangents():
    for degrees in range(-89, 90):
        angle = math.radians(degrees)
        assert portable.tan(angle) == pytest.approx(math.tan(angle), rel=1e-15)


def test_powers_of_ten_grow_and_are_about_right():
    exponents = np.linspace(-4.0, 3.0, 500)
    powers = np.array([portable.power_of_ten(exponent) for exponent in exponents])
    assert (np.diff(powers) > 0.0).all()
    assert np.abs(powers / 10.0**exponents - 1.0).max() < 0.07


def test_products_and_lengths():
    first, second = np.random.default_rng(1).normal(size=(2, 4, 4))
    assert portable.times(first, second) == pytest.approx(first @ second, abs=1e-14)
    assert portable.times(first, second[0]) == pytest.approx(first @ second[0], abs=1e-14)
    assert portable.length_of(first[0]) == pytest.approx(np.linalg.norm(first[0]), rel=1e-15)


def test_lengths_are_roots_of_plain_sums():
    """Each product and each sum is rounded: as numbers of NumPy, one at a time."""
    draws = Draws(1)
    for vector in (draws.uniform(-1.0, 1.0, 3) for _ in range(300)):
        x, y, z = vector * vector
        assert portable.length_of(vector) == np.sqrt(x + y + z)


# What may end in other bits elsewhere.
_ELSEWHERE = re.compile(
    r"\b(math|np)\.(sin|cos|tan|exp|pow|power|random)\b|10 \*\*|default_rng|statistics|sumprod"
)
_ROWS = (Path(__file__).parents[1] / "behaviour").glob("*.py")
_NO_ROWS = ("__main__.py", "peer.py", "pictures.py")


@pytest.mark.parametrize(
    "row", [row for row in _ROWS if not row.name.startswith("test_") and row.name not in _NO_ROWS],
    ids=lambda row: row.stem,
)  # fmt: skip
def test_scenes_are_made_of_nothing_else(row):
    assert not _ELSEWHERE.search(row.read_text(encoding="utf-8"))


_HASHES = """
import json
from tests.helpers import case_bits, row_bits
from tests.helpers.recorded_bits import bits_of
print(json.dumps({name: bits_of(name) for name in row_bits.GROUPS | case_bits.GROUPS}))
"""
_OLDER = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F",
}


@pytest.mark.full
def test_an_older_processor_makes_the_same_scenes():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _HASHES],
        env=os.environ | _OLDER, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found == {name: recorded()[name] for name in found}
