"""The page itself: one HTML file with all that it needs, which asks no other host for anything."""

import base64
import html
import re
from importlib.resources import files

from terrain_physics.viewer.clip import Clip
from terrain_physics.viewer.packing import packed

MOST_BYTES = 1 << 26
"""Limit of a page."""

MOST_FRAMED_BYTES = 1 << 23
"""Limit of a page in a frame, which a notebook keeps in its file."""

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page_of(clip: Clip) -> str:
    """Return the text of a page; ValueError for one of more than `MOST_BYTES`."""
    content = {
        "title": html.escape(clip.title),
        "style": _text("page.css"),
        "three": _text("three.min.js"),
        "script": _text("page.js"),
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
    may = 'sandbox="allow-scripts" allowfullscreen'
    return f'<iframe {may} srcdoc="{source}" style="{style}"></iframe>'


def refused(reason: str) -> str:
    """Return why there is no page, for a notebook."""
    return f"<p>{html.escape(reason)}</p>"


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
