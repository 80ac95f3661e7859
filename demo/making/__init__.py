"""Programs that make pictures and data of `assets/`: ``python -m demo.making.NAME``."""

from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets"
