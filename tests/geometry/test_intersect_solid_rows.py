"""Rows of solid shapes: one row for all, no rows, and what is refused."""

import numpy as np
import pytest

from terrain_physics import rows

RNG = np.random.default_rng(7)
COUNT = 6


def balls() -> dict[str, np.ndarray]:
    return {"spheres": np.column_stack([RNG.uniform(-1, 1, (COUNT, 3)), RNG.uniform(0, 1, COUNT)])}


def capsules() -> dict[str, np.ndarray]:
    ends = RNG.uniform(-1, 1, (COUNT, 6))
    return {"capsules": np.column_stack([ends, RNG.uniform(0, 1, COUNT)])}


def corners() -> dict[str, np.ndarray]:
    return {"lowers": RNG.uniform(-1, 0, (COUNT, 3)), "uppers": RNG.uniform(0, 1, (COUNT, 3))}


def boxes() -> dict[str, np.ndarray]:
    rotations, _ = np.linalg.qr(RNG.normal(size=(COUNT, 3, 3)))
    rotations[:, :, 0] *= np.sign(np.linalg.det(rotations))[:, None]
    return {
        "centers": RNG.uniform(-1, 1, (COUNT, 3)),
        "half_extents": RNG.uniform(0, 1, (COUNT, 3)),
        "rotations": rotations,
    }


def others(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"other_{name}": values for name, values in arrays.items()}


CASES = {
    "sphere_sphere": {**balls(), **others(balls())},
    "aabb_aabb": {**corners(), **others(corners())},
    "aabb_sphere": {**corners(), **balls()},
    "obb_sphere": {**boxes(), **balls()},
    "obb_obb": {**boxes(), **others(boxes())},
    "obb_aabb": {**boxes(), **corners()},
    "capsule_sphere": {**capsules(), **balls()},
    "capsule_capsule": {**capsules(), **others(capsules())},
    "capsule_aabb": {**capsules(), **corners()},
    "capsule_obb": {**capsules(), **boxes()},
}
each_pair = pytest.mark.parametrize("pair", CASES)
each_array = pytest.mark.parametrize(
    ("pair", "name"), [(pair, name) for pair, arrays in CASES.items() for name in arrays]
)


def run(pair: str, **arrays: np.ndarray) -> np.ndarray:
    function = getattr(rows, f"intersect_{pair}")
    return np.asarray(function(**arrays))


@each_pair
@pytest.mark.kernels
def test_rows_know_nothing_of_each_other(pair):
    together = run(pair, **CASES[pair])
    assert together.shape == (COUNT, 3)
    assert together.dtype == np.float64
    assert not np.isnan(together).all()
    for i in range(COUNT):
        alone = run(pair, **{name: values[i : i + 1] for name, values in CASES[pair].items()})
        np.testing.assert_array_equal(alone[0], together[i])


@each_array
@pytest.mark.kernels
def test_one_row_serves_all(pair, name):
    arrays = {**CASES[pair], name: CASES[pair][name][:1]}
    repeated = {**arrays, name: np.repeat(arrays[name], COUNT, axis=0)}
    for values in (arrays, repeated):
        for low, high in (("lowers", "uppers"), ("other_lowers", "other_uppers")):
            assert low not in values or (values[low] <= values[high]).all()
    np.testing.assert_array_equal(run(pair, **arrays), run(pair, **repeated))


@each_pair
def test_no_rows_give_no_rows(pair):
    empty = {name: values[:0] for name, values in CASES[pair].items()}
    assert run(pair, **empty).shape == (0, 3)


@each_array
def test_other_row_counts_are_refused(pair, name):
    with pytest.raises(ValueError, match=f"{name} has 2"):
        run(pair, **{**CASES[pair], name: CASES[pair][name][:2]})


@each_array
def test_other_shapes_and_values_are_refused(pair, name):
    good = CASES[pair][name]
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        run(pair, **{**CASES[pair], name: good[:, :2]})
    with pytest.raises(ValueError, match=f"{name} must be finite, got nan"):
        run(pair, **{**CASES[pair], name: _with_nan(good)})
    with pytest.raises(TypeError, match=f"{name} must hold real numbers"):
        run(pair, **{**CASES[pair], name: good.astype(str)})


def _with_nan(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values[1, -1] = np.nan
    return values


@each_array
def test_negative_sizes_are_refused(pair, name):
    if name.endswith(("spheres", "capsules", "half_extents")):
        bad = CASES[pair][name].copy()
        bad[3, -1] = -0.25
        with pytest.raises(ValueError, match=rf"must be >= 0, got -0.25 in {name}\[3\]"):
            run(pair, **{**CASES[pair], name: bad})


@each_array
def test_what_is_no_rotation_is_refused(pair, name):
    if name.endswith("rotations"):
        with pytest.raises(ValueError, match=rf"{name}\[0\] must be orthonormal"):
            run(pair, **{**CASES[pair], name: 2.0 * CASES[pair][name]})


@pytest.mark.parametrize("lower", [[(0, 2, 0), (0, 0, 0)], [(0, 2, 0)]])
def test_inverted_boxes_are_refused(lower):
    upper, cube = [(1, 1, 1)], ([(0, 0, 0)], [(1, 1, 1)])
    message = r"lowers must be <= uppers, got 2.0 > 1.0 at \[0, 1\]"
    with pytest.raises(ValueError, match=message):
        rows.intersect_aabb_aabb(lower, upper, *cube)
    with pytest.raises(ValueError, match=f"other_{message[:6]}.*other_uppers"):
        rows.intersect_aabb_aabb(*cube, lower, upper)


@each_pair
def test_what_is_handed_in_is_not_changed(pair):
    before = {name: values.copy() for name, values in CASES[pair].items()}
    run(pair, **CASES[pair])
    for name, values in CASES[pair].items():
        np.testing.assert_array_equal(values, before[name])
        assert values.flags.writeable
