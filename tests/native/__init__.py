"""Machine code that comes with a wheel: the list of it, the build of it, and its loading."""
