"""The source archive and the wheel, built once, and an environment that holds the wheel."""

import os
from pathlib import Path

import pytest

from tests.helpers.environments import IS_NATIVE, OWN_PYTHON, ROOT, environment, run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    kind = ["--rehearse"] if IS_NATIVE else []  # a release has machine code
    only = ["linux-x86_64"] if IS_NATIVE else []
    command = [ROOT / ".ci" / "package", *kind, folder, *only]
    told = run(command, cwd=ROOT, env=OWN_PYTHON).decode()
    assert not kind or "10 frames of walk" in told.splitlines()[-1]
    return folder


@pytest.fixture(scope="session")
def wheel(request: pytest.FixtureRequest) -> Path:
    """Return the wheel: a given one, as it is to be published, or one built now."""
    if given := os.environ.get("TERRAIN_PHYSICS_TEST_WHEEL"):
        return Path(given)
    built: Path = request.getfixturevalue("built")
    (file,) = built.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment that holds the wheel and what it needs."""
    return environment(tmp_path_factory.mktemp("bare"), wheel)
