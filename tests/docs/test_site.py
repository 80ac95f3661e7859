"""The built site: Sphinx has nothing to warn of, and every link leads to a place that is there."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.pages import DOCS, PAGES

pytestmark = pytest.mark.docs


class Page(HTMLParser):
    """The links of a page of HTML, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.places.add(value)
            elif value and name in {"href", "src"}:
                self.targets.add(value)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}


def test_each_source_became_a_page(site: Path, pages: dict[Path, Page]) -> None:
    for source in PAGES:
        assert site / source.relative_to(DOCS).with_suffix(".html") in pages


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    wrong = []
    for file, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            folder = site if parts.path.startswith("/") else file.parent  # of the page for no page
            place = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else file
            there = pages.get(place)
            if not place.is_file() or (
                there is not None and unquote(parts.fragment) not in there.places
            ):
                wrong.append(f"{file.name}: {target}")
    assert not wrong


def test_nothing_comes_from_another_host(site: Path) -> None:
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        for tag in ("<script", "<link", "<img", "<iframe"):
            for piece in text.split(tag)[1:]:
                assert "://" not in piece.partition(">")[0], f"{file.name}: {tag}{piece[:120]}"


def test_the_first_page_says_and_shows_what_it_is(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    for name in ('name="description"', 'property="og:description"', 'property="og:title"'):
        (tag,) = (tag for tag in re.findall(r"<meta [^>]*>", text) if name in tag)
        assert "errain" in tag
    (picture,) = re.findall(r'<meta property="og:image" content="([^"]+)"', text)
    assert (site / picture).stat().st_size < 300_000
    assert re.search(r'<link rel="(?:shortcut )?icon" href="_static/favicon\.svg"', text)
    assert len(re.findall(r'class="sd-btn', text)) + text.count("sd-btn-") >= 3
    (crowd,) = re.findall(r'<iframe [^>]*src="([^"]+)"', text)
    page = (site / crowd).read_text(encoding="utf-8")
    assert "300 go through one door" in page
    assert len(page) < 3_000_000


def test_a_wrong_address_leads_on_from_any_depth(pages: dict[Path, Page]) -> None:
    (wrong,) = (page for file, page in pages.items() if file.name == "404.html")
    here = {target for target in wrong.targets if not urlsplit(target).scheme}
    assert "/cookbook/index.html" in here
    assert all(target.startswith(("/", "#")) for target in here)
