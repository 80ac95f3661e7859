"""Tests of the library and of its demo."""

import os

# Before the library is loaded: tests compare what programs write.
os.environ.setdefault("TERRAIN_PHYSICS_QUIET", "1")
