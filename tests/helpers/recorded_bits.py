"""Hashes of many answers, in groups, as they are recorded in tests/golden/bits.json.

``python -m tests.helpers.recorded_bits`` writes the file anew: only when a change of bits is meant,
with the reason in the message of the commit.
"""

import json
import sys
from pathlib import Path

from tests.helpers import (
    case_bits,
    function_bits,
    ground_bits,
    row_bits,
    scene_bits,
    story_bits,
    tiles_bits,
    walkability_bits,
    world_bits,
)
from tests.helpers.digest import digest

FILE = Path(__file__).parent.parent / "golden" / "bits.json"
GROUPS = (
    function_bits.GROUPS
    | ground_bits.GROUPS
    | scene_bits.GROUPS
    | row_bits.GROUPS
    | story_bits.GROUPS
    | case_bits.GROUPS
    | world_bits.GROUPS
    | tiles_bits.GROUPS
    | walkability_bits.GROUPS
)


def bits_of(name: str) -> str:
    """Return the hash of all answers of a group."""
    return digest(GROUPS[name]())


def recorded() -> dict[str, str]:
    """Return the hashes in the file, by group."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def record() -> None:
    """Write the hashes of all groups to the file."""
    found = {name: bits_of(name) for name in GROUPS}
    text = json.dumps(found, indent=2, sort_keys=True) + "\n"
    FILE.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"{len(found)} groups written to {FILE}\n")


if __name__ == "__main__":
    record()
