"""Lines that tell how far it is: at most one in ten seconds, and one for each file."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from terrain_physics._build.systems.linking import Module

_SECONDS_BETWEEN_LINES = 10.0


class BuildProgress:
    """Tells what the processes do."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._files: set[Path] = set()

    def tell(self, lowered: str, optimized: Mapping[str, int], made: Iterable[Module]) -> None:
        """Tell which files are new; else the state, if nothing was told for a while."""
        for module in made:
            if module.file not in self._files:
                self._files.add(module.file)
                size = module.file.stat().st_size / 1e6
                self._say(f"{module.target}: {module.place}: {size:.2f} MB")
        if time.monotonic() > self._told + _SECONDS_BETWEEN_LINES:
            done = [f"{done} for {name}" for name, done in optimized.items()]
            self._say(f"{lowered}; optimized: {', '.join(done) or 'all, in an earlier build'}")

    def _say(self, text: str) -> None:
        self._told = time.monotonic()
        sys.stdout.write(f"{self._told - self._began:5.0f} s  {text}\n")
        sys.stdout.flush()
