"""Code that tells kinds of shapes apart: each chain of comparisons knows all kinds there are.

Kernels raise nothing, so the last branch of a chain takes the kinds that it does not name. These
must be one kind, or stand in `ALIKE`. A new kind makes the first test fail for each chain, until
all of them have been looked at.
"""

import re
from importlib.resources import files
from typing import get_args

from demo.renderers import bodies as drawn_bodies
from demo.scenery import bodies as demo_bodies
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.surface import shapes
from terrain_physics.character import colliders
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere
from terrain_physics.recording import sampling
from terrain_physics.surface.shapes import SHAPES, row_of
from terrain_physics.viewer.clip import SHAPE_NAMES
from tests.helpers.recipes import (
    KINDS,
    ROOT,
    WITHOUT_KINDS,
    kinds_compared,
    names_in,
    sources,
    sources_with_kinds,
    tree_of,
)

ALL = set(range(len(shapes.SHAPE_KINDS)))

# Kinds that are one case, by the files in which they are. Round: a radius around a point or a line.
_ROUND, _TURNED, _CORE = {"SPHERE", "CAPSULE"}, {"BOX", "CAPSULE"}, {"SPHERE", "BOX"}
_CONTACTS = "terrain_physics/_kernels/character/contacts/body.py"
ALIKE = {
    _CONTACTS: [_ROUND, _TURNED, _CORE],  # a box is a core without a radius around it
    "terrain_physics/_kernels/character/walk/climb.py": [_ROUND],
    "terrain_physics/character/placement.py": [_CORE],  # a ball has three equal half extents
    # A row of each begins with the center; what is round reaches as far in all directions.
    "terrain_physics/_kernels/surface/shapes.py": [_CORE, _ROUND],
    "terrain_physics/surface/shapes.py": [_CORE],
    "terrain_physics/surface/answers/contacts.py": [
        _TURNED
    ],  # a kernel for balls, one for all others
    "terrain_physics/_kernels/heightmap/one_shape.py": [_TURNED],  # the same two
    # Only a capsule has an axis, which may pass through a side.
    "terrain_physics/_kernels/ground/contacts.py": [_CORE],
    "terrain_physics/walkability/making.py": [_ROUND],
    "terrain_physics/walkability/settling.py": [_ROUND],
    "terrain_physics/walkability/leading.py": [_ROUND],
    # Only edges and corners of a box meet ground that a round body passes over.
    "terrain_physics/_kernels/walkability/resting.py": [_ROUND],
    "terrain_physics/_kernels/walkability/even_ways.py": [_ROUND],
    "terrain_physics/_kernels/walkability/settling.py": [_ROUND],
    "demo/renderers/bodies.py": [_TURNED],  # a ball's shadow has no direction
}

# Files that name each kind, and leave none to a last branch.
COMPLETE = {"terrain_physics/character/state.py"}


def test_the_last_branch_of_a_chain_stands_for_kinds_that_are_alike() -> None:
    chains = 0
    unknown, complete = [], set()
    for file in sources_with_kinds("terrain_physics", "demo"):
        path = file.relative_to(ROOT).as_posix()
        for function, kinds in kinds_compared(file).items():
            chains += 1
            left = KINDS - kinds
            if len(left) > 1 and left not in ALIKE.get(path, []):
                unknown.append(f"{path}: {function} takes {sorted(left)} for one case")
            if not left:
                complete.add(path)
    assert chains > 20
    assert not unknown, "\n".join(unknown)
    assert complete == COMPLETE


def test_kinds_are_compared_by_name_only() -> None:
    """An order of kinds, as in ``kind <= BOX``, is none that a chain could know all of."""
    for file in sources("terrain_physics", "demo"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(rf"[<>]=? ({'|'.join(KINDS)})\b|\bkind [<>]", text), file


def test_columns_that_have_the_name_of_a_kind_are_no_kinds() -> None:
    """Their files import none, and know but the one name."""
    for path in WITHOUT_KINDS:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not re.search(r"import shapes|surface\.shapes", text), path
        assert names_in(tree_of(ROOT / path)) & KINDS == {"BOX"}, path


def test_kernels_are_handed_all_kinds_and_no_others() -> None:
    assert {getattr(shapes, name) for name in KINDS} == ALL
    assert {shapes.SHAPE_KINDS[getattr(shapes, name)].name for name in KINDS} == {
        name.lower() for name in KINDS
    }
    assert [shapes.row_width(kind) for kind in sorted(ALL)] == [
        kind.width for kind in shapes.SHAPE_KINDS
    ]
    (column,) = (column for column in layout.RULES.columns if column.name == "kind")
    allowed = column.allowed
    assert (allowed.least, allowed.most, allowed.is_whole) == (min(ALL), max(ALL), True)


def test_bodies_and_shapes_are_of_all_kinds() -> None:
    bodies = get_args(colliders.Collider)
    assert {body.kind for body in bodies} == ALL
    assert set(colliders._BY_NAME.values()) == set(bodies)
    examples = [Sphere((0, 0, 0), 1), Capsule((0, 0, 0), (0, 1, 0), 1), AABB((0, 0, 0), (1, 1, 1))]
    assert {row_of("shapes", shape)[0] for shape in examples} == ALL
    assert {OBB, *map(type, examples)} == set(SHAPES)


def test_what_is_drawn_is_of_all_kinds() -> None:
    assert set(sampling._KINDS) == ALL
    assert set(sampling._KINDS.values()) == set(SHAPE_NAMES) == set(colliders._BY_NAME)
    script = files("terrain_physics.viewer").joinpath("page.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"^const GEOMETRIES = \{\n(.*?)^\};", script, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"^  (\w+): ", table, re.MULTILINE)) == set(SHAPE_NAMES)
    assert set(demo_bodies._DRAWN_BY) == set(get_args(colliders.Collider))
    assert {drawn_bodies.BALL, drawn_bodies.BOX, drawn_bodies.CAPSULE} == ALL
