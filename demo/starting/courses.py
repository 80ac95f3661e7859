"""The courses of what is compiled before the first step, as they were measured.

``python -m demo.making.first_start`` measures them and writes `courses.txt`: for each part its
seconds, and functions with the share that is done once they are compiled.
"""

from functools import cache
from pathlib import Path

from .course import Course, Milestone

FILE = Path(__file__).with_suffix(".txt")


@cache
def measured() -> dict[str, tuple[float, list[Milestone]]]:
    """Return seconds and milestones of each part."""
    parts: dict[str, tuple[float, list[Milestone]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        part, number, name = line.split()
        if name == "seconds":
            parts[part] = float(number), []
        else:
            parts[part][1].append(Milestone(name, float(number)))
    return parts


def begun(part: str, now: float) -> Course:
    """Return the course of a part that begins now."""
    seconds, milestones = measured()[part]
    return Course(seconds, milestones, now)
