"""What test functions cost: the CPU time of a process and of its children, a sum for each function.

``tests/prices.json`` holds the sum of the default tier as it was last recorded, and the functions
that may cost more than `ALLOWED`, with the reason. It is a report: a busy machine fails no test
by it. ``python -m pytest -n auto --record-prices`` writes the file anew; the reasons stay.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "prices.json"

ALLOWED = 0.5
"""Seconds of CPU time that a function may cost over all its parameters, without a reason."""


class Prices:
    """Seconds of CPU time by test function."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.of_others = 0.0
        """What processes spent that are no children of this one, and nobody has counted yet."""

    @contextmanager
    def paid_by(self, test: str) -> Iterator[None]:
        """Add what is spent in the block to the function of a test."""
        before = _spent()
        try:
            yield
        finally:
            self.spent[test.partition("[")[0]] += _spent() - before + self.of_others
            self.of_others = 0.0

    def add(self, spent: Mapping[str, float]) -> None:
        """Add what a worker has spent."""
        for function, seconds in spent.items():
            self.spent[function] += seconds

    def report(self, *, is_whole: bool) -> Iterator[str]:
        """Say what cost more than it may, and what all cost, if this was the whole default tier."""
        known = recorded()
        costly = {
            function: seconds
            for function, seconds in self.spent.items()
            if seconds
            > max(ALLOWED, 1.5 * known["costly"].get(function, {"seconds": 0})["seconds"])
        }
        for function, seconds in sorted(costly.items(), key=lambda one: -one[1]):
            was = known["costly"].get(function)
            yield f"{seconds:6.2f} s ({was['seconds'] if was else 'not'} recorded)  {function}"
        if is_whole:
            total = sum(self.spent.values())
            yield f"{total:6.1f} s of CPU time in tests; {known['sum']:.1f} s when last recorded"


def recorded() -> dict[str, Any]:
    """Return the sum, and by function the seconds and the reason of those that cost more."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def record(spent: Mapping[str, float]) -> None:
    """Write the file anew; a function that is new in it has no reason yet, and a test says so."""
    whys = {function: one["why"] for function, one in recorded()["costly"].items()}
    costly = {
        function: {"seconds": round(seconds, 2), "why": whys.get(function, "")}
        for function, seconds in sorted(spent.items())
        if seconds > ALLOWED
    }
    text = json.dumps({"sum": round(sum(spent.values()), 1), "costly": costly}, indent=2)
    FILE.write_text(text + "\n", encoding="utf-8", newline="\n")


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
