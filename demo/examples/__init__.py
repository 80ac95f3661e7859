"""Short scripts, one idea each; each ends by itself: ``python -m demo.examples.NAME``."""
