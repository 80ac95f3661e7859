"""Where the demo's pictures and data are."""

from pathlib import Path

_DEMO = Path(__file__).resolve().parents[1]

# In a wheel, what the demo needs of them is beside it.
ASSETS = _DEMO / "assets" if (_DEMO / "assets").is_dir() else _DEMO.parent / "assets"
