"""Settings for all tests."""

from hypothesis import settings

from terrain_physics import _threads

# What is far too little to be shared out in a game is shared out in tests.
_threads._SHORTEST_TASK = 1_000

# The first call of a kernel compiles it: no example has a deadline.
settings.register_profile("explore", deadline=None)
# The same examples in every run, so that a change is told from chance.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
