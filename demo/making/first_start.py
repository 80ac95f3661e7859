"""Measure what a first start compiles: ``python -m demo.making.first_start``.

Writes `demo/starting/courses.txt`, from which the bar of a first start tells how long it takes yet.
A part runs in a process of its own, with a new cache that the parts before it have filled.
"""

import os
import subprocess
import sys
import tempfile
import time

from ..starting.courses import FILE
from ..starting.rehearsal import rehearse

# Drawing comes first: what both need is compiled by it, since it is done earlier.
PARTS = ("drawing", "walking")
_LEAST = 0.025  # of a part, from one milestone to the next


def measure(part: str) -> list[str]:
    """Return the lines of a part; the processor's time does not count that others wait for it."""
    begun = time.process_time()
    passed: dict[str, float] = {}

    def tell(name: str) -> None:
        passed.setdefault(name, time.process_time() - begun)

    rehearse(part, "walk", "software", tell)
    whole = time.process_time() - begun
    lines, last = [f"{part} {whole:.0f} seconds"], 0.0
    for name, seconds in passed.items():
        if seconds / whole >= last + _LEAST:
            last = seconds / whole
            lines.append(f"{part} {last:.3f} {name}")
    return lines


def main() -> None:
    """Measure the parts, each in another process."""
    if len(sys.argv) > 1:
        part = sys.argv[1]
        if part not in PARTS:
            sys.exit(f"part must be of {', '.join(PARTS)}, got {part!r}")
        print("\n".join(measure(part)))
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": folder, "SDL_VIDEODRIVER": "dummy"}
        command = [sys.executable, "-m", f"{__package__}.first_start"]
        lines = [
            subprocess.run(  # noqa: S603
                [*command, part], env=environment, check=True, stdout=subprocess.PIPE, text=True
            ).stdout
            for part in PARTS
        ]
    FILE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
