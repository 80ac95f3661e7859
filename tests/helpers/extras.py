"""Libraries of the extras that a test may do without."""

import importlib
import warnings
from typing import Any

import pytest


def library(name: str, extra: str) -> Any:
    """Import a library of an extra, or skip the test and say which of both is missing.

    It may warn of what it will change: that is not the test's matter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            pytest.skip(f"{missing.name} is not installed (extra {extra})")
