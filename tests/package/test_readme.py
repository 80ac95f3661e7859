"""The README is what people run: its Python blocks run, its commands are the ones CI runs."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.helpers.pages import blocks, run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_one_after_another(monkeypatch):
    monkeypatch.chdir(ROOT)
    printed = list(run(ROOT / "README.md", ROOT))
    assert len(printed) >= 2
    assert [text for _, text, _ in printed] == [shown for _, _, shown in printed]


def test_ci_runs_the_two_commands_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = next(block for block in blocks(TEXT) if block.language == "sh")
    install, test = commands.code.splitlines()
    assert '-e ".[demo,test]"' in install
    assert '-e ".[demo,test]"' in script
    assert "-m terrain_physics count < assets/contest/sample.in" in install
    assert "assets/contest/sample.in" in script
    assert test.endswith("-m pytest -n auto")
    assert f"'{test}'" in script


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_links_lead_somewhere(target):
    assert (ROOT / target).exists()


def test_on_a_package_index_links_get_an_address():
    """The address is whoever's that publishes; here there is none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    (rule,) = settings["substitutions"]
    assert re.sub(rule["pattern"], rule["replacement"], TEXT) == TEXT
    address = "https://example.invalid/"
    there = re.sub(rule["pattern"], rule["replacement"] + address, TEXT)
    links = re.findall(r"\]\(([^)]+)\)", there)
    assert links
    assert all(link.startswith(("https://", "#")) for link in links)
    assert there.replace(address, "") == TEXT


def test_it_is_short():
    assert TEXT.count("\n") < 170
