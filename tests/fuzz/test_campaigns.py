"""A few cases of each campaign, a minute of each as a long test, and what the runner reports."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz import runner, soak
from tests.fuzz.campaigns import CAMPAIGNS

ROOT = Path(__file__).parents[2]


@pytest.mark.filterwarnings("default")  # of Pillow, about damaged files
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_few_cases(name: str) -> None:
    tally = runner.run_here(CAMPAIGNS[name], 0)
    assert not tally.failures
