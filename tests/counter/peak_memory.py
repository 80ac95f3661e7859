"""Run the command line, then print on standard error how many MB it took at most.

`python -m tests.counter.peak_memory count big.in`. The system is asked through /proc: what
``getrusage`` says includes the memory of the process that started this one.
"""

import re
import sys
from pathlib import Path

from terrain_physics.__main__ import run

STATUS = Path("/proc/self/status")


def main() -> None:
    status = run(sys.argv[1:])
    sys.stdout.flush()
    found = re.search(r"VmHWM:\s*(\d+) kB", STATUS.read_text()) if STATUS.exists() else None
    sys.stderr.write(f"{int(found[1]) // 1000 if found else 'unknown'}\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
