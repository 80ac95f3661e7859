"""Compares recorded bits with those of this machine: ``python -m tests.machines.compare [--all]``.

Without ``--all`` it leaves out the rows of behaviour, which take most of the time. It prints the
groups that differ.
"""

import sys
import traceback

from terrain_physics._kernels import _native
from tests.helpers.recorded_bits import GROUPS, bits_of, recorded
from tests.helpers.row_bits import GROUPS as ROWS


def main() -> None:
    """Compare, and tell which kernels had no machine code."""
    wanted = recorded()
    chosen = [name for name in GROUPS if "--all" in sys.argv or name not in ROWS]
    for name in chosen:
        try:
            found = bits_of(name)
        except Exception:  # other groups are told of, too
            found = traceback.format_exc()
        if found != wanted[name]:
            sys.stdout.write(f"{name}: {found}\n")
    fallen_back = _native.fallbacks
    sys.stdout.write(f"{len(chosen)} groups compared; without machine code: {fallen_back}\n")


if __name__ == "__main__":
    main()
