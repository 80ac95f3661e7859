"""Settings for all tests."""

from hypothesis import settings

# The first call of a kernel compiles it: no example has a deadline.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
