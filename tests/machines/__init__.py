"""Machine code for other processors, run by an emulator."""
