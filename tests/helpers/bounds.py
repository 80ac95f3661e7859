"""Bounds of the rows of `tests.behaviour`: asked where a hash of a row is not the one recorded."""

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "behaviour"
_ROW = "behaviour "


def verdict(group: str) -> str:
    """Return what to say of a recorded group whose bits differ: for a row, whether bounds hold."""
    said = f"the bits of {group} differ"
    if group.startswith(_ROW):
        row = group.removeprefix(_ROW).replace(" ", "_")
        said += f"; {judged(TESTS / f'test_{row}.py')}"
    return f"{said}: if the change is meant, record them and say why in the commit"


def judged(tests: Path) -> str:
    """Run a file of tests, all but those that take minutes, in a Python of its own."""
    # Without the names of the worker and of the file of the lanes: this process is in its lane.
    of_workers = "PYTEST_", "TERRAIN_PHYSICS_TEST_"
    ours = {name: text for name, text in os.environ.items() if not name.startswith(of_workers)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "-m", "not long", str(tests)],
        env=ours | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.strip().rpartition("\n")[2]
    counts = [int(count) for count in re.findall(r"(\d+) (?:passed|failed|error)", last)]
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if not counts:
        return f"its bounds did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    if not failed:
        return f"its {sum(counts)} bounds hold"
    return f"{len(failed)} of {sum(counts)} bounds fail, {', '.join(failed[:5])}"
