"""The README is what people run: its Python blocks run, its commands are the ones CI runs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_python_blocks_run_one_after_another(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    code = blocks("python")
    assert len(code) >= 2
    names: dict[str, Any] = {}
    for block in code:
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102
    assert capsys.readouterr().out.startswith("32 (32, 3, 3) (32, 3)")


def test_ci_runs_the_two_commands_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install, test = blocks("sh")[0].splitlines()
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
