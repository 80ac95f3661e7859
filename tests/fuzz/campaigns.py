"""All campaigns by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tests.fuzz.runner import LONGEST

_CHECKED = MappingProxyType({"TERRAIN_PHYSICS_CHECK": "1"})
_PLAIN: Mapping[str, str] = MappingProxyType({})


class Campaign(NamedTuple):
    """Where the function `case` of a campaign is, and how to run it."""

    module: str
    quick: int  # cases that take about half a second
    environment: Mapping[str, str] = _PLAIN
    longest: float = LONGEST
    brief: str = "case"  # the function that plays one of the quick cases


CAMPAIGNS = {
    "api": Campaign("tests.fuzz.api", 3, _CHECKED, longest=1200.0),
    "sequences": Campaign("tests.fuzz.sequences", 3),
    "sleepers": Campaign("tests.fuzz.sleepers", 2),
    "files": Campaign("tests.fuzz.files", 30),
    "races": Campaign("tests.fuzz.races", 2),
    "counter_inputs": Campaign("tests.fuzz.counter_inputs", 15),
    "signals_and_forks": Campaign("tests.fuzz.signals_and_forks", 2),
    "brute_force": Campaign("tests.fuzz.brute_force", 2),
    "soak": Campaign("tests.fuzz.soak", 1, longest=3600.0),
    "tiles_soak": Campaign("tests.fuzz.tiles_soak", 1, longest=3600.0, brief="brief_case"),
    "world_hour": Campaign("tests.fuzz.world_hour", 1, longest=3600.0, brief="brief_case"),
}
