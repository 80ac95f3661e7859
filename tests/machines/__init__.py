"""Machine code for other processors and systems, run by emulators."""
