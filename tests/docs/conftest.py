"""A folder for the code of pages, and the built site."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.extras import library
from tests.helpers.pages import DOCS, ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder to work in, with the land that pages read."""
    (tmp_path / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "land.png", tmp_path / "assets")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site. Sphinx has nothing to warn of."""
    library("sphinx", "docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        cwd=ROOT,
        env=dict(os.environ, PYTHONWARNINGS="ignore"),
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / "html"
