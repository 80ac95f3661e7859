"""Tells PyInstaller what a frozen game needs of this package; it finds this by an entry point."""

from pathlib import Path


def get_hook_dirs() -> list[str]:
    """Return the folder of the hook."""
    return [str(Path(__file__).parent)]
