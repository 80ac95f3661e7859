"""Lines that tell how far it is: at most one in ten seconds, and one for each file."""

import sys
import time

from terrain_physics._build.workers import WorkerProcesses

_SECONDS_BETWEEN_LINES = 10.0


class BuildProgress:
    """Counts what this process does, and tells it beside what the others do."""

    def __init__(self, workers: WorkerProcesses, kernels: int) -> None:
        self._workers = workers
        self._all_kernels = kernels
        self._began = self._told = time.monotonic()
        self._files: set[str] = set()
        self.kernels = 0
        self.functions = 0

    def tell(self) -> None:
        """Tell which files are new; else the state, if nothing was told for a while."""
        for place, file in self._workers.made.items():
            if place not in self._files:
                self._files.add(place)
                self._say(f"{place}: {file.stat().st_size / 1e6:.2f} MB")
        if time.monotonic() > self._told + _SECONDS_BETWEEN_LINES:
            self._say(self._state())

    def _state(self) -> str:
        optimized = [f"{done} for {name}" for name, done in self._workers.optimized.items()]
        return (
            f"{self.kernels} of {self._all_kernels} kernels typed; "
            f"of {self.functions} functions optimized: {', '.join(optimized)}"
        )

    def _say(self, text: str) -> None:
        self._told = time.monotonic()
        sys.stdout.write(f"{self._told - self._began:5.0f} s  {text}\n")
        sys.stdout.flush()
