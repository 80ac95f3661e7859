"""The page itself: one HTML file with all that it needs, which asks no other host for anything."""

import base64
import html
import os
import re
from importlib.resources import files
from pathlib import PurePath
from urllib.parse import quote

from terrain_physics.viewer.clip import Clip
from terrain_physics.viewer.packing import packed

MOST_BYTES = 1 << 26
"""Limit of a page."""

MOST_FRAMED_BYTES = 1 << 23
"""Limit of a page in a frame, which a notebook keeps in its file."""

_SCRIPTS = (
    "ground.js",
    "way.js",
    "camera.js",
    "address.js",
    "page.js",
)  # one module, in this order

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page_of(clip: Clip) -> str:
    """Return the text of a page; ValueError for one of more than `MOST_BYTES`."""
    content = {
        "title": html.escape(clip.title),
        "style": _text("page.css"),
        "three": _text("three.min.js"),
        "script": "\n".join(map(_text, _SCRIPTS)),
        "clip": base64.b64encode(packed(clip)).decode("ascii"),
    }
    page = _PLACE.sub(lambda place: content[place[1]], _text("page.html"))
    size = len(page.encode())
    if size > MOST_BYTES:
        raise ValueError(
            f"a page must have at most {MOST_BYTES} bytes, got {size}: record fewer "
            "characters, a shorter time, or a smaller ground"
        )
    return page


def title_of(file: str, title: str | None) -> str:
    """Return the title of a page in a file: the one given, or the name without its suffix."""
    shown = PurePath(file).stem if title is None else title
    # Bytes of a path that are no UTF-8 are lone surrogates, which no page holds.
    return shown.encode("utf-8", "replace").decode("utf-8")


def embedding(file: str, title: str) -> str:
    """Return the line of HTML that shows the page of a file within another page beside it.

    It is ASCII without a line break, whatever the name and the title are: any terminal prints it.
    """
    source = quote(os.fsencode(PurePath(file).name))
    shown = html.escape(title).encode("ascii", "xmlcharrefreplace").decode("ascii")
    shown = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"&#{ord(found[0])};", shown)
    size = 'width="960" height="600"'
    return f'<iframe src="{source}" title="{shown}" {size} loading="lazy"></iframe>'


def framed(page: str) -> str:
    """Return a page as a frame for a notebook; ValueError for more than `MOST_FRAMED_BYTES`."""
    size = len(page.encode())
    if size > MOST_FRAMED_BYTES:
        raise ValueError(
            f"a page in a notebook must have at most {MOST_FRAMED_BYTES} bytes, got {size}: "
            "save_html writes it to a file"
        )
    source = html.escape(page, quote=True)
    style = "width:100%;height:480px;border:0;border-radius:8px"
    may = 'sandbox="allow-scripts" allowfullscreen title="recording"'
    return f'<iframe {may} srcdoc="{source}" style="{style}"></iframe>'


def refused(reason: str) -> str:
    """Return why there is no page, for a notebook."""
    return f"<p>{html.escape(reason)}</p>"


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
