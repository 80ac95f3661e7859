"""The public names: one table, its stub, and an import that costs next to nothing."""

import ast
import doctest
import importlib
import inspect
import json
import os
import pickle
import pickletools
import re
import zipfile
from pathlib import Path

import pytest

import terrain_physics
from tests.helpers import forks

TABLE: dict[str, str] = vars(terrain_physics)["_MODULES"]
PACKAGE = Path(terrain_physics.__file__).parent
HEAVY = ("numba", "llvmlite", "pyglm", "pygame", "numpy", "PIL", "platformdirs")


def run(code: str, *options: str, path: Path = PACKAGE.parent) -> forks.Done:
    done = forks.run(
        *options, "-c", code,
        env=os.environ | {"PYTHONPATH": str(path)},
        cwd=path if path.is_dir() else path.parent,
        own=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def stub() -> ast.Module:
    return ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))


def test_stub_says_what_the_table_says() -> None:
    imported = {
        alias.name: node.module
        for node in stub().body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        # Only `import name as name` is public in a stub.
        if alias.asname == alias.name
    }
    table = {name: f"terrain_physics.{module}" for name, module in TABLE.items()}
    own = {"__version__": "terrain_physics._version", "rows": "terrain_physics"}
    assert imported == table | own


def test_stub_and_module_list_the_same_names() -> None:
    (listed,) = [
        ast.literal_eval(node.value)
        for node in stub().body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert sorted(listed) == sorted(terrain_physics.__all__)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("name", terrain_physics.__all__)
def test_name_is_there(name: str) -> None:
    value = getattr(terrain_physics, name)
    if name != "__version__":
        module = importlib.import_module(f"terrain_physics.{TABLE[name]}")
        assert value is getattr(module, name)
        # Defined where the table looks for it, not passed on from somewhere else. A class is named
        # by the package, so that pickles outlive the module.
        if inspect.isclass(value):
            assert value.__module__ == "terrain_physics"
            assert f"class {name}" in inspect.getsource(module)
        else:
            assert value.__module__ == module.__name__
        assert value.__doc__


def test_every_public_class_is_in_the_table() -> None:
    marked = {
        name
        for file in PACKAGE.rglob("*.py")
        for name in re.findall(r"^@public\n(?:@.*\n)*class (\w+)", file.read_text(), re.MULTILINE)
    }
    assert marked == set(CLASSES)


CLASSES = [name for name in TABLE if inspect.isclass(getattr(terrain_physics, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_examples_of_a_class_run(name: str) -> None:
    # Collected here: a doctest belongs to the module that its class names.
    module = importlib.import_module(f"terrain_physics.{TABLE[name]}")
    kind, runner = getattr(terrain_physics, name), doctest.DocTestRunner()
    finder = doctest.DocTestFinder()
    for test in finder.find(kind, name, module=module, globs=dict(vars(module))):
        runner.run(test)
    assert runner.failures == 0


def test_there_are_examples_of_classes() -> None:
    texts = [inspect.getdoc(getattr(terrain_physics, name)) or "" for name in CLASSES]
    assert sum(">>>" in text for text in texts) > 8


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_named_by_the_package(name: str) -> None:
    kind = getattr(terrain_physics, name)
    assert repr(kind) == f"<class 'terrain_physics.{name}'>"
    assert pickle.loads(pickle.dumps(kind)) is kind


def things_to_keep() -> dict[str, object]:
    """Return what a game may pickle, by a name; PyGLM's vectors in single hits cannot be."""
    land = terrain_physics.HeightMap([[0, 1, 0], [1, 0, 1]])
    mesh = terrain_physics.TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0)], [(0, 1, 2)])
    named = terrain_physics.Ground([land], names=["land"])
    sphere, body = terrain_physics.Sphere((1, 1, 0.5), 1), terrain_physics.SphereCollider(0.5)
    mover = terrain_physics.CharacterMovement(land, body, position=(1, 2, 0.5))
    group = terrain_physics.CharacterGroup(land, body)
    group.add("ada", (1, 2, 0.5))
    return {
        "sphere": sphere,
        "collider": body,
        "map": land,
        "mesh": mesh,
        "ground": terrain_physics.Ground([land, mesh]),
        "triangles": land.triangles_in(terrain_physics.AABB((0, 0, 0), (1, 1, 1))),
        "hits": land.raycast_many([(0.5, 5, 0.5)], [(0, -1, 0)]),
        "contacts": land.contacts(sphere),
        "named hits": named.raycast_many([(0.5, 5, 0.5)], [(0, -1, 0)]),
        "named contacts": named.contacts(sphere),
        "blocks": land.blocks(),
        "arrays": land.to_mesh(),
        "result": mover.update(1 / 60),
        "report": mover.ground_report(),
        "results": group.update(1 / 60),
        "state": mover.state(),
        "states": group.state(),
    }


def test_pickles_outlive_the_modules_of_the_library() -> None:
    for name, kept in things_to_keep().items():
        content = pickle.dumps(kept)
        texts = [text for _, text, _ in pickletools.genops(content) if isinstance(text, str)]
        assert not [text for text in texts if text.startswith("terrain_physics.")], name
        assert repr(pickle.loads(content)) == repr(kept), name


def test_a_characters_parameters_are_documented() -> None:
    kind = terrain_physics.CharacterMovement
    text = inspect.getdoc(kind) or ""
    for name in inspect.signature(kind).parameters:
        assert f"\n{name} : " in text, name


def test_dir_lists_the_names() -> None:
    assert dir(terrain_physics) == sorted([*terrain_physics.__all__, "rows"])


def test_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(terrain_physics, "heightmap_that_is_not_there")
    with pytest.raises(AttributeError, match="'terrain_physics' has no attribute 'Spehre'"):
        terrain_physics.Spehre  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="Spehre"):
        exec("from terrain_physics import Spehre")  # noqa: S102


def test_star_import_brings_the_names() -> None:
    names: dict[str, object] = {}
    exec("from terrain_physics import *", names)  # noqa: S102
    assert names.keys() - {"__builtins__"} == set(terrain_physics.__all__)


ROWS = terrain_physics.rows


@pytest.mark.parametrize("name", ROWS.__all__)
def test_a_function_of_rows_is_defined_in_the_file_that_has_the_one_of_a_pair(name: str) -> None:
    function = getattr(ROWS, name)
    pair = name if name in TABLE else "surface_touches"
    assert function.__module__ == f"terrain_physics.rows.{TABLE[pair].partition('.')[2]}"
    assert function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function


def test_the_module_of_rows_has_its_functions_and_no_others() -> None:
    found = {
        name for name, value in vars(ROWS).items() if inspect.isfunction(value) and name[0] != "_"
    }
    assert found == set(ROWS.__all__)
    assert len(found) == len(ROWS.__all__)


@pytest.mark.parametrize("code", ["import terrain_physics.rows", "import terrain_physics"])
def test_rows_are_there_after_either_import(code: str) -> None:
    asked = "terrain_physics.rows.raycast_sphere([(-5, 0, 0)], [(1, 0, 0)], [(0, 0, 0, 1)])"
    assert run(f"{code}; print({asked})").stdout.split() == ["[4.]"]


def test_import_is_light() -> None:
    report = run("import terrain_physics, sys, json; print(json.dumps(sorted(sys.modules)))")
    loaded = json.loads(report.stdout)
    assert "terrain_physics" in loaded
    assert not set(HEAVY).intersection(loaded)
    ours = {name.partition(".")[2] for name in loaded if name.startswith("terrain_physics")}
    assert ours == {"", "_guesses", "_version"}  # the rest when it is first used


def test_characters_load_no_random_numbers_of_numpy() -> None:
    report = run(
        "import sys; from terrain_physics import CharacterGroup, CharacterMovement, World; "
        "print(*sys.modules)"
    )
    loaded = report.stdout.split()
    assert "terrain_physics.character.movement" in loaded
    assert "numpy.random" not in loaded or "numba" in loaded  # which loads them itself


def test_works_from_a_zip(tmp_path: Path) -> None:
    place = tmp_path / "game.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for file in PACKAGE.rglob("*.py"):
            archive.write(file, file.relative_to(PACKAGE.parent))
    report = run(
        "import terrain_physics as t; s = t.Sphere((1, 2, 3), 4); print(t.__file__, s.radius)",
        path=place,
    )
    origin, radius = report.stdout.split()
    assert Path(origin) == place / "terrain_physics" / "__init__.py"
    assert float(radius) == 4.0
