"""Products, determinants and ranks of matrices, compared with those of NumPy."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from terrain_physics._support import matrices

DRAWN = np.random.default_rng(5).uniform(-3.0, 3.0, (60, 3, 3))
TURNS = np.linalg.qr(DRAWN)[0]


def test_products_are_sums_in_their_order():
    first, second = DRAWN[:30], DRAWN[30:]
    found = matrices.product(first, second)
    assert_allclose(found, first @ second, rtol=1e-14, atol=1e-14)
    for a, b, c in zip(first, second, found, strict=True):
        for i, j in np.ndindex(3, 3):
            x, y, z = (float(a[i, k]) * float(b[k, j]) for k in range(3))
            assert float(c[i, j]) == x + y + z


def test_determinants():
    assert_allclose(matrices.determinants(DRAWN), np.linalg.det(DRAWN), rtol=1e-12, atol=1e-13)
    assert matrices.determinants(DRAWN[0]).shape == ()


def test_a_length_is_that_of_a_vector():
    assert matrices.length((3.0, -4.0, 12.0)) == 13.0
    assert matrices.length(()) == 0.0


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e7])
def test_what_mirrors_has_a_negative_determinant(scale):
    for matrix in scale * DRAWN:
        assert matrices.mirroring(matrix) == math.copysign(1, np.linalg.det(matrix))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0), (0, 2, 1)])
@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, -1, -1), (-1, 1, -1)])
def test_axes_that_change_places_and_signs(order, signs):
    matrix = np.eye(3)[list(order)] * signs * [2.0, 1.0, 0.5]
    assert matrices.mirroring(matrix) == round(np.linalg.det(matrix))


@pytest.mark.parametrize(
    "stretch", [(0, 0, 0), (0, 0, 2), (1, 0, 1), (3, 1e-17, 2), (1e-17, 1e-17, 1)]
)
def test_what_flattens_has_neither_sign(stretch):
    for turn, other in zip(TURNS[::2], TURNS[1::2], strict=True):
        flat = turn * stretch @ other
        assert np.linalg.matrix_rank(flat) < 3
        assert matrices.mirroring(flat) == 0


@pytest.mark.parametrize("stretch", [(1, 1e-13, 1), (1e-6, 1e6, 1), (1e-9, 2e-9, 3e-9)])
def test_what_is_thin_is_not_flat(stretch):
    for turn, other in zip(TURNS[::2], TURNS[1::2], strict=True):
        thin = turn * stretch @ other
        assert np.linalg.matrix_rank(thin) == 3
        assert matrices.mirroring(thin) == round(np.linalg.det(turn) * np.linalg.det(other))
