"""The parts of a page: nothing from elsewhere, and nothing that a name could break."""

import hashlib
import json
import os
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import PurePath
from urllib.parse import unquote_to_bytes

import pytest

from terrain_physics.viewer.page import embedding, framed, page_of
from tests.helpers.clips import clip
from tests.oracles.clip import clip_of

SCRIPTS = ("ground.js", "way.js", "camera.js", "address.js", "page.js")
FOLDER = files("terrain_physics.viewer")


class Seen(HTMLParser):
    """Notes tags, and what they refer to."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.references, self.attributes, self.title = [], [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= dict(attributes)
        self.references += [
            value for name, value in attributes if name in {"src", "href", "srcset", "action"}
        ]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "title":
            self.title += data.strip()


@pytest.fixture(scope="module")
def page():
    return page_of(clip(5, 3, 4))


def test_a_page_asks_nobody_for_anything(page):
    seen = Seen(page)
    assert seen.references == ["data:,"]
    (policy,) = re.findall(r'Content-Security-Policy"\s+content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy
    for name in (*SCRIPTS, "page.css", "page.html"):
        assert "//" not in re.sub(
            r"^\s*//.*$| // .*$",
            "",
            FOLDER.joinpath(name).read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    assert not re.search(r"\{\{\w+\}\}", page)


def test_titles_and_names_are_text_only():
    nasty = '</script><script>alert("&amp;")</script><!-- {{clip}}'
    given = clip(5, 1, 4)._replace(title=nasty)
    given.bodies.names[:] = [nasty]
    page = page_of(given)
    assert page.count("<script") == page_of(clip(5, 1, 4)).count("<script")
    assert Seen(page).title == nasty
    header, _ = clip_of(page)
    assert (header["names"], header["title"]) == ([nasty], nasty)


def test_a_frame_holds_the_page(page):
    frame = Seen(framed(page))
    assert frame.tags == ["iframe"]
    (source,) = re.findall(r'srcdoc="([^"]*)"', framed(page))
    assert len(source) > len(page)


def test_three_is_what_its_sum_says_and_all_that_the_page_uses():
    about = json.loads(FOLDER.joinpath("three.json").read_text(encoding="utf-8"))
    content = FOLDER.joinpath("three.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == about["sha256"]
    assert content.startswith(f"/* three.js {about['version']}, MIT".encode())
    assert b"</script" not in content
    assert b"Permission is hereby granted" in FOLDER.joinpath("three.LICENSE").read_bytes()
    scripts = "".join(FOLDER.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    assert sorted(set(re.findall(r"\bTHREE\.(\w+)", scripts))) == about["exports"]


def test_all_scripts_of_the_folder_are_in_the_page(page):
    names = {entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".js")}
    assert names == {*SCRIPTS, "three.min.js"}
    for name in SCRIPTS:
        assert FOLDER.joinpath(name).read_text(encoding="utf-8") in page


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("page.html", "page"),
        ("out/a crowd & a lift #1 (50%).html", 'He said: "<b>5 > 3</b>" & left'),
        ("/home/größe/a:b?c.html", "Größe · 走る\n\ttwo lines"),
        ('it\'s "so".html', "it's {{clip}} </iframe>"),
        (os.fsdecode(b"odd \xff.html"), "odd"),
    ],
)
def test_the_line_to_copy_is_one_line_of_ascii_that_says_file_and_title(file, title):
    line = embedding(file, title)
    assert line.isascii()
    assert line.isprintable()
    seen = Seen(line)
    assert seen.tags == ["iframe"]
    assert seen.attributes.pop("title") == title
    source = seen.attributes.pop("src")
    assert unquote_to_bytes(source) == os.fsencode(PurePath(file).name)
    assert not set(source) & set(":?#\"'<>& ")
    assert seen.attributes == {"width": "960", "height": "600", "loading": "lazy"}
