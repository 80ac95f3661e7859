"""Settings of the documentation site: ``poe docs`` builds it into ``build/docs``."""

import inspect
import math
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from pygments.lexers.special import OutputLexer
from sphinx import addnodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[2]))

from demo.making import crowd_page  # the checkout's own
from terrain_physics import __version__

project = "terrain_physics"
author = copyright = "The terrain_physics authors"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "notfound.extension",
]
exclude_patterns = ["Thumbs.db", ".DS_Store"]
language = "en"

# Pages are Markdown. Headings can be linked to by their words, as everywhere else.
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3

# Docstrings are numpydoc and give types in words. Names in backticks are links where they can be.
default_role = "py:obj"
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
add_module_names = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# Where the site will be. Without it, pages name no address, and the page for a wrong address links
# to what begins at "/".
html_baseurl = os.environ.get("TERRAIN_PHYSICS_SITE", "")
notfound_urls_prefix = urlsplit(html_baseurl).path or "/"
ogp_site_url = html_baseurl
ogp_image = "_static/card.webp"
ogp_image_alt = "People walk while pits are dug below them"
ogp_social_cards = {"enable": False}

html_theme = "furo"
html_favicon = "_static/favicon.svg"
html_title = f"terrain_physics {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f6b3c", "color-brand-content": "#2f6b3c"},
    "dark_css_variables": {"color-brand-primary": "#8fcf9b", "color-brand-content": "#8fcf9b"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
# What a program printed is not for the clipboard.
copybutton_selector = "div:not(.highlight-output) > div.highlight > pre"


_SEARCH_WORDS = "Search words: "

# Defaults as Python shows them, and as people write them.
_WRITTEN = {
    f"{0xFFFF_FFFF}": "0xFFFF_FFFF",
    f"{math.radians(30)}": "math.radians(30)",
    "mappingproxy({})": "{}",
    "=inf": "=math.inf",
}


def is_left_out(_app: Sphinx, *told: Any) -> bool | None:
    """Leave out fields of named tuples: the docstring of the tuple describes them."""
    _what, _name, value, is_skipped, _options = told
    return True if is_skipped or type(value).__name__ == "_tuplegetter" else None


def signature_of(_app: Sphinx, *told: Any) -> tuple[str, str] | None:
    """Show defaults as people write them, and of a class its own parameters, not its base's."""
    what, _name, value, _options, given, returned = told
    if not given:
        return None
    if what == "class":
        own = inspect.signature(value).parameters.values()
        plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own]
        given = str(inspect.Signature(plain))
    if given.startswith("(*_"):  # a base that nobody makes
        return "", returned
    for shown, written in _WRITTEN.items():
        given = given.replace(shown, written)
    return given, returned


def note_search_words(_app: Sphinx, page: nodes.document) -> None:
    """Make the search words, a page's last line, entries of the index for `search.js`."""
    for text in list(page.findall(nodes.Text)):
        if text.startswith(_SEARCH_WORDS):
            words = text.removeprefix(_SEARCH_WORDS).split(", ")
            entries = [("single", word, "", "main", None) for word in words]
            page.append(addnodes.index(entries=entries))


def lead_on_from_anywhere(_app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Let links of the page for a wrong address begin at the root: it is shown at any depth."""
    if page == "404":
        for link in doctree.findall(nodes.reference):
            if link.get("internal"):
                link["refuri"] = notfound_urls_prefix + link["refuri"]


def add_crowd(app: Sphinx, error: Exception | None) -> None:
    """Make the page of a crowd that the first page shows."""
    if error is None and app.builder.format == "html":
        crowd_page.make(Path(app.outdir) / "_static" / "crowd.html")


def setup(app: Sphinx) -> None:
    """Register what a recipe prints as a language, and what autodoc does not know."""
    app.add_lexer("output", OutputLexer)
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("doctree-resolved", lead_on_from_anywhere)
    app.connect("build-finished", add_crowd)
    app.connect("autodoc-process-signature", signature_of)
    app.connect("doctree-read", note_search_words)
