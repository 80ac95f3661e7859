"""Materials of the faces of a mesh, in every answer."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from terrain_physics import (
    OBB,
    Capsule,
    CapsuleCollider,
    CharacterMovement,
    Sphere,
    TriangleMesh,
)
from tests.helpers.characters import FRAME

# Four squares of 2 m in a row along x, of two triangles each.
_VERTICES = [(2 * column, 0, 2 * row) for column in range(5) for row in range(2)]
_FACES = [
    face for k in range(0, 8, 2) for face in ((k, k + 1, k + 2), (k + 1, k + 3, k + 2))
]  # fmt: skip
_MATERIALS = [3, 3, 0, 0, 255, 255, 1, 1]
_NAMES = ["wood", "stone", "iron", "ice"]
_CENTERS = [(1.0, 0.0, 1.0), (3.0, 0.0, 1.0), (5.0, 0.0, 1.0), (7.0, 0.0, 1.0)]
_EXPECTED = [3, 0, 255, 1]


@pytest.fixture(scope="module")
def mesh():
    return TriangleMesh(_VERTICES, _FACES, materials=_MATERIALS)


def test_faces_are_made_of_what_was_given(mesh):
    assert mesh.materials.tolist() == _MATERIALS
    assert mesh.materials.dtype == np.uint8
    assert not mesh.materials.flags.writeable
    assert mesh.material_names is None


def test_faces_are_made_of_0_by_default():
    mesh = TriangleMesh(_VERTICES, _FACES)
    assert mesh.materials.tolist() == [0] * 8
    assert mesh.material_names is None


def test_names_stand_for_numbers_and_one_for_all():
    names = ["ice", "ice", "wood", "wood", "stone", "stone", "iron", "iron"]
    mesh = TriangleMesh(_VERTICES, _FACES, materials=names, material_names=_NAMES)
    assert mesh.material_names == tuple(_NAMES)
    assert [mesh.material_names[number] for number in mesh.materials] == names
    one = TriangleMesh(_VERTICES, _FACES, materials="stone", material_names=_NAMES)
    assert one.materials.tolist() == [1] * 8


def test_what_the_caller_writes_later_changes_nothing():
    given = np.array(_MATERIALS, dtype=np.uint8)
    mesh = TriangleMesh(_VERTICES, _FACES, materials=given)
    given[:] = 9
    assert mesh.materials.tolist() == _MATERIALS


@pytest.mark.parametrize(
    ("materials", "names", "error", "message"),
    [
        ([1, 2, 3], None, ValueError, r"materials must have shape \(8,\), one for each face, got"),
        ([1.0] * 8, None, TypeError, "materials must be whole numbers, got dtype float64"),
        (
            ["mud"] * 8,
            None,
            TypeError,
            "materials must be numbers where there are no material_names",
        ),
        (256, None, ValueError, "materials must be from 0 to 255, got 256"),
        ([0] * 7 + [-1], None, ValueError, r"materials must be from 0 to 255, got -1 at \[7\]"),
        (4, _NAMES, ValueError, "materials must be from 0 to 3, got 4"),
        ("mud", _NAMES, ValueError, "materials must be .*, got 'mud'"),
        (0, ["a", "a"], ValueError, "material_names must be different strings"),
        (0, [], ValueError, "material_names must be 1 to 256 strings, got 0"),
    ],
)
def test_others_are_refused(materials, names, error, message):
    with pytest.raises(error, match=message):
        TriangleMesh(_VERTICES, _FACES, materials=materials, material_names=names)


SHAPES = [
    lambda x, y, z: Sphere((x, y, z), 0.4),
    lambda x, y, z: Capsule((x, y, z), (x, y + 1, z), 0.4),
    lambda x, y, z: OBB((x, y, z), (0.4, 0.4, 0.4)),
]


def test_answers_tell(mesh):
    origins = [(x, 5, z) for x, _, z in [*_CENTERS, (99, 0, 0)]]
    assert mesh.raycast_many(origins, [(0, -1, 0)]).material.tolist() == [*_EXPECTED, 0]
    assert mesh.closest_points(np.add(_CENTERS, (0, 3, 0))).material.tolist() == _EXPECTED
    for shape in SHAPES:
        for center, expected in zip(_CENTERS, _EXPECTED, strict=True):
            assert mesh.contacts(shape(*center)).material.tolist() == [expected] * 2
        many = mesh.contacts([shape(*center) for center in _CENTERS], keep="deepest")
        assert [contact.material for contact in many] == many.material.tolist() == _EXPECTED
        above = [shape(x, 2, z) for x, _, z in origins]
        assert mesh.sweep_many(above, [(0, -4, 0)]).material.tolist() == [*_EXPECTED, 0]


def test_characters_tell(mesh):
    for (x, _, z), expected in zip(_CENTERS, _EXPECTED, strict=True):
        mover = CharacterMovement(mesh, CapsuleCollider(0.3, 1.8), position=(x, 0.9, z))
        mover.update(FRAME)
        assert mover.ground_report().material == expected


def test_refits_and_copies_keep_them(mesh):
    names = ["a", "b", "c", "d"]
    named = TriangleMesh(
        _VERTICES, _FACES, materials=np.minimum(_MATERIALS, 3), material_names=names
    )
    for one in (named, mesh):
        again = pickle.loads(pickle.dumps(one))
        again.refit(np.add(one.vertices, (0, 1, 0)))
        assert again.materials.tolist() == one.materials.tolist()
        assert not again.materials.flags.writeable
        assert again.material_names == one.material_names


def test_transformed_meshes_keep_them(mesh):
    for matrix in (np.eye(4), np.diag([-1, 2, 1, 1])):
        assert mesh.transformed(matrix).materials.tolist() == _MATERIALS
    named = TriangleMesh(_VERTICES, _FACES, materials=1, material_names=["a", "b"])
    assert named.transformed(np.eye(4)).material_names == ("a", "b")


def test_merged_meshes_have_each_name_once():
    names = [("wood", "stone"), ("ice", "stone"), ("wood",)]
    meshes = [
        TriangleMesh(_VERTICES, _FACES, materials=[0, len(own) - 1] * 4, material_names=own)
        for own in names
    ]
    merged = TriangleMesh.merged(meshes)
    assert merged.material_names == ("wood", "stone", "ice")
    told = [merged.material_names[number] for number in merged.materials]
    assert told == [
        own[number] for own, one in zip(names, meshes, strict=True) for number in one.materials
    ]


def test_merged_meshes_without_names_keep_numbers(mesh):
    bare = TriangleMesh(_VERTICES, _FACES)
    assert TriangleMesh.merged([bare, mesh]).materials.tolist() == [0] * 8 + _MATERIALS
    assert TriangleMesh.merged([bare, bare]).materials.tolist() == [0] * 16
    named = TriangleMesh(_VERTICES, _FACES, material_names=["wood"])
    with pytest.raises(ValueError, match=r"or none of them, got none of meshes\[1\]"):
        TriangleMesh.merged([named, bare])


_MAKERS = {
    "box": lambda **options: TriangleMesh.box((2, 1, 2), **options),
    "cylinder": lambda **options: TriangleMesh.cylinder(1, 1, sections=5, **options),
    "sphere": lambda **options: TriangleMesh.sphere(1, subdivisions=1, **options),
    "stairs": lambda **options: TriangleMesh.stairs(2, 0.3, 0.4, 3, **options),
    "ramp": lambda **options: TriangleMesh.ramp(2, 1, 4, **options),
    "from_trimesh": lambda **options: TriangleMesh.from_trimesh(
        SimpleNamespace(vertices=_VERTICES, faces=_FACES), **options
    ),
}


def test_each_maker_is_known():
    makers = {
        name
        for name, maker in vars(TriangleMesh).items()
        if isinstance(maker, classmethod) and not name.startswith("_")
    }
    assert makers == {*_MAKERS, "load", "merged"}  # of what was saved, and of meshes


@pytest.mark.parametrize("name", _MAKERS)
def test_all_makers_take_materials(name):
    make = _MAKERS[name]
    plain = make()
    assert plain.material_names is None
    assert not plain.materials.any()
    wooden = make(materials="wood", material_names=["iron", "wood"])
    assert wooden.material_names == ("iron", "wood")
    assert wooden.materials.tolist() == [1] * len(plain)
    assert np.array_equal(wooden.vertices, plain.vertices)
    assert np.array_equal(wooden.faces, plain.faces)
    each = np.arange(len(plain)) % 5
    assert make(materials=each).materials.tolist() == each.tolist()
    with pytest.raises(ValueError, match=r"materials must have shape \(\d+,\), one for each face"):
        make(materials=[1, 2, 3])
    with pytest.raises(TypeError, match="materials must be numbers where there are no"):
        make(materials="wood")
