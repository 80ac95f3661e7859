"""Libraries of the extras that a test may do without, where no extra promises them.

A check names the extras that its environment was made with in ``TERRAIN_PHYSICS_TEST_EXTRAS``:
there a test fails that would be skipped for want of one of their libraries.
"""

import importlib
import os
import warnings
from typing import Any, NoReturn

import pytest

PROMISED = "TERRAIN_PHYSICS_TEST_EXTRAS"


def library(name: str, extra: str) -> Any:
    """Import a library of an extra, or skip the test, or the module, and say what is missing.

    It may warn of what it will change: that is not the test's matter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            lacks(f"{missing.name} is not installed", extra)


def lacks(reason: str, extra: str) -> NoReturn:
    """Skip a test for what an extra would bring; fail it where the extra is promised."""
    if extra in os.environ.get(PROMISED, "").split():
        pytest.fail(f"{reason}, and extra {extra} is promised here", pytrace=False)
    pytest.skip(f"{reason} (extra {extra})", allow_module_level=True)
