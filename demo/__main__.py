"""`python -m demo`."""

import sys

from .running.command_line import main

if __name__ == "__main__":
    sys.exit(main())
