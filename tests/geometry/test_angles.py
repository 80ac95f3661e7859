"""Sines, cosines and slopes are rounded correctly: compared with those of many decimal digits."""

import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from terrain_physics import CharacterRules
from terrain_physics._kernels.character.state import layout
from terrain_physics._support import angles
from terrain_physics.mesh.solids import cylinder

DIGITS = Context(prec=60)


def by_decimals(term: Decimal, angle: float, k: int) -> float:
    """Return the sum of a power series of a sine or a cosine, to sixty digits."""
    square, total = Decimal(angle) * Decimal(angle), Decimal(0)
    while abs(term) > Decimal("1e-55"):
        total += term
        term *= -square / (k * (k + 1))
        k += 2
    return float(total)


def cosine_by_decimals(angle: float) -> float:
    with localcontext(DIGITS):
        return by_decimals(Decimal(1), angle, 1)


def sine_by_decimals(angle: float) -> float:
    with localcontext(DIGITS):
        return by_decimals(Decimal(angle), angle, 2)


QUARTER = 0.5 * math.pi
SPECIAL = [
    *(math.radians(degrees) for degrees in range(91)),
    *(math.radians(quarter / 4) for quarter in range(360)),
    *(2.0**-k for k in (1, 20, 26, 27, 30, 600, 1074)),
    0.0, math.nextafter(QUARTER, 0.0), math.nextafter(2.0**-26, 1.0), 2.0**-26.5,
]  # fmt: skip


@pytest.mark.parametrize(
    "count",
    [
        1_000,
        pytest.param(10_000, marks=pytest.mark.full),
        pytest.param(100_000, marks=pytest.mark.long),
    ],
)
def test_cosines_are_rounded_correctly(count):
    drawn = np.random.default_rng(7).uniform(0.0, QUARTER, count).tolist()
    for angle in [*SPECIAL, *drawn]:
        assert angles.cosine(angle) == cosine_by_decimals(angle), angle.hex()


def test_sines_all_around_are_rounded_correctly():
    for k in range(100):
        turn = 2.0 * math.pi * k / 100
        assert angles.sine(turn) == sine_by_decimals(turn)
        assert angles.cosine(turn) == cosine_by_decimals(turn)


# By glibc, which is right here; musl and Windows have another last bit.
@pytest.mark.parametrize(
    ("degrees", "bits"),
    [
        (30, "0x1.bb67ae8584cabp-1"),
        (53, "0x1.342119455beb7p-1"),
        (55, "0x1.25abcf87c4979p-1"),
        (63, "0x1.d0e2e2b44de01p-2"),
        (90, "0x1.1a62633145c07p-54"),
    ],
)
def test_rules_hold_the_rounded_cosine(degrees, bits):
    angle = math.radians(degrees)
    numbers = CharacterRules(slope_limit=angle)._numbers
    assert numbers[layout.SLOPE_COSINE].hex() == bits


def test_the_default_is_the_cosine_of_the_default_limit():
    limit = CharacterRules().slope_limit
    assert layout.RULES.defaults()[layout.SLOPE_COSINE] == angles.cosine(limit)


@pytest.mark.parametrize(
    ("x", "y", "z", "bits"),
    [
        (0.0, 1.0, 0.0, "0x0.0p+0"),
        (-1.0, 0.0, 0.0, "0x1.921fb54442d18p+0"),
        (0.6, 0.8, 0.0, "0x1.4978fa3269ee1p-1"),
        (-0.48, 0.6, 0.64, "0x1.dac670561bb50p-1"),
        (1e-9, 1.0, -2e-9, "0x1.3352a5d20b63fp-29"),
    ],
)
def test_slopes_have_known_bits(x, y, z, bits):
    assert angles.slope(x, y, z).hex() == bits


def test_slopes_are_those_of_the_system_to_rounding():
    for x, y, z in np.random.default_rng(3).normal(size=(300, 3)).tolist():
        wanted = math.atan2(math.hypot(x, z), abs(y))
        assert angles.slope(x, abs(y), z) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("sections", [3, 4, 7, 12, 32, 100])
def test_corners_of_a_cylinder_are_rounded_sines(sections):
    vertices, _ = cylinder(1.0, 2.0, sections)
    turns = [2.0 * math.pi * k / sections for k in range(sections)]
    wanted = np.round([(cosine_by_decimals(t), -sine_by_decimals(t)) for t in turns], 12)
    assert vertices[:sections, [0, 2]].tolist() == wanted.tolist()
