"""Names of scenes and views: known before anything of them is loaded."""

from typing import NamedTuple

# Each is a module of `demo.playground`. The first ten have the keys 1 to 9 and 0, in this order:
# what one plays comes first, and what checks the library last.
SCENES = (
    "walk", "stairs", "slopes", "digging", "lift", "doorway", "crowd", "paths", "world",
    "reference", "counter", "edges",
)  # fmt: skip


class View(NamedTuple):
    """A way to look at the machinery; `demo.scenery.views` draws it."""

    key: str
    name: str
    title: str


VIEWS = (
    View("F2", "candidates", "triangles of the broad phase"),
    View("F3", "contacts", "contacts and normals"),
    View("F4", "boxes", "bounds of bodies"),
    View("F5", "wireframe", "wireframe"),
    View("F6", "planes", "constraint planes"),
    View("F7", "normals", "ground normal and slope"),
    View("F8", "trail", "path"),
    View("F9", "blocks", "least and greatest heights"),
)
VIEW_NAMES = tuple(view.name for view in VIEWS)
