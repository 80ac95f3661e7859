"""The objects of real engines as owners, of those that are installed."""

import importlib.util

import pytest

from tests.character.engines import ENGINES, NOT_HERE, run
from tests.helpers.extras import lacks


@pytest.mark.parametrize("module", ENGINES)
def test_characters_go_along_with_the_objects_of(module, tmp_path):
    package, _ = ENGINES[module]
    if importlib.util.find_spec(module) is None:
        lacks(f"{package} is not installed", "engines")
    done = run(module, tmp_path)
    if done.returncode == NOT_HERE:
        lacks(f"{package} cannot be imported: {done.stderr.strip()}", "engines")
    assert done.returncode == 0, done.stderr
