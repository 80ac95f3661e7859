"""The README is what people run: its Python blocks run, its commands are the ones CI runs."""

import re
import tomllib
from pathlib import Path

import pytest

from terrain_physics import __version__
from tests.helpers.pages import blocks, run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_one_after_another(monkeypatch):
    monkeypatch.chdir(ROOT)
    printed = list(run(ROOT / "README.md", ROOT))
    assert len(printed) >= 2
    assert [text for _, text, _ in printed] == [shown for _, _, shown in printed]


def test_ci_runs_the_two_commands_of_the_readme():
    script = "".join((ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "steps"))
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
    assert (ROOT / target.partition("#")[0]).exists()


def on_a_package_index(address: str) -> str:
    """Return the README as a package index shows it, if this is the repository's address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    *kinds, last = settings["substitutions"]
    assert last["replacement"] == r"\1\2", "the address is the publisher's; here there is none"
    text = TEXT
    for rule in kinds:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    text = re.sub(last["pattern"], rf"\1{address}\2", text)
    return text.replace("$HFPR_VERSION", __version__)


def test_on_a_package_index_pages_are_shown_and_pictures_handed_out():
    address = "https://example.invalid/"
    text = on_a_package_index(address)
    found = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)
    assert len(found) == len(re.findall(r"\]\(", TEXT))
    assert {bool(mark) for mark, _ in found} == {True, False}
    for mark, link in found:
        folder = f"{address}{'raw' if mark else 'blob'}/v{__version__}/"
        assert link.startswith(folder)
        assert (ROOT / link.removeprefix(folder).partition("#")[0]).is_file()
    plain = text.replace(f"{address}raw/v{__version__}/", "")
    assert plain.replace(f"{address}blob/v{__version__}/", "") == TEXT


def test_links_without_an_address_are_not_released():
    script = (ROOT / ".ci" / "package").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"grep -qE '(.+?)' <<<\"\$metadata\"", script)
    assert re.search(pattern, on_a_package_index(""))
    assert not re.search(pattern, on_a_package_index("https://example.invalid/"))


def test_it_is_short():
    assert TEXT.count("\n") <= 150
