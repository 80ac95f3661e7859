"""Each test module has its asserts rewritten by one of the workers, and not by all.

pytest rewrites them, so that a failure tells the values, when a module is imported, which takes
longer than all else that collects tests, and keeps what comes of it beside the module. Workers
that import the same modules in the same order all rewrite each.
"""

import importlib
from contextlib import suppress
from pathlib import Path

import pytest

from terrain_physics._support.job_order import job_order

TESTS = Path(__file__).parents[1]

ASKED_FOR = {"benchmarks", "cluster"}
"""Folders that the default tier leaves out, with what their modules import."""


def import_all(number: int, workers: int) -> None:
    """Import the modules of all tests in the order of one of so many workers.

    What cannot be imported is told when it is collected, as ever.
    """
    files = [file for file in sorted(TESTS.rglob("test_*.py")) if _is_wanted(file)]
    for k in job_order(len(files), number, workers):
        name = ".".join(files[k].relative_to(TESTS.parent).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


def _is_wanted(file: Path) -> bool:
    return file.relative_to(TESTS).parts[0] not in ASKED_FOR
