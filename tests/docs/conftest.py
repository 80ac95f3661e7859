"""A folder for the code of pages."""

import shutil
from pathlib import Path

import pytest

from tests.helpers.pages import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to work in, with the land that pages read."""
    (tmp_path / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "land.png", tmp_path / "assets")
    monkeypatch.chdir(tmp_path)
    return tmp_path
