"""Lines that tell how far it is: at most one in ten seconds, and one for each file."""

import sys
import time
from pathlib import Path

from terrain_physics._build.linking import Linking
from terrain_physics._build.lowered_functions import LoweredFunctions
from terrain_physics._build.workers import WorkerProcesses

_SECONDS_BETWEEN_LINES = 10.0


class BuildProgress:
    """Counts what this process does, and tells it beside what the others do."""

    def __init__(
        self, workers: WorkerProcesses, linking: Linking, lowered: LoweredFunctions
    ) -> None:
        self._workers = workers
        self._linking = linking
        self._lowered = lowered
        self._began = self._told = time.monotonic()
        self._files: set[Path] = set()

    def tell(self) -> None:
        """Tell which files are new; else the state, if nothing was told for a while."""
        for module in self._linking.made:
            if module.file not in self._files:
                self._files.add(module.file)
                size = module.file.stat().st_size / 1e6
                self._say(f"{module.target}: {module.place}: {size:.2f} MB")
        if time.monotonic() > self._told + _SECONDS_BETWEEN_LINES:
            self._say(self._state())

    def _state(self) -> str:
        optimized = [f"{done} for {name}" for name, done in self._workers.optimized.items()]
        return (
            f"{self._lowered.kernels} of {self._lowered.all_kernels} kernels typed; "
            f"of {self._lowered.functions} functions optimized: {', '.join(optimized)}"
        )

    def _say(self, text: str) -> None:
        self._told = time.monotonic()
        sys.stdout.write(f"{self._told - self._began:5.0f} s  {text}\n")
        sys.stdout.flush()
