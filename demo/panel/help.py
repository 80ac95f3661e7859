"""What keys, mouse and gamepad do, in words, by the user's own bindings."""

from .bindings import Bindings
from .tables import Row, Words, pairs
from .widgets import FAINT

Rows = list[tuple[str, str]]

# What is in braces is a label of the bindings.
_KEYS = (
    ("{ahead} {left} {behind} {right}", "walk; without a player, move the camera"),
    ("{jump}, {run}", "jump, run"),
    ("{jump}", "(world: in the air, opens a glider)"),
    ("right mouse", "look around: hold, or click; {escape} frees the mouse"),
    ("wheel", "zoom"),
    (
        "left mouse",
        "what is there? (digging, world: dig, {run} raises; digging: {hole} makes a hole)",
    ),
    ("", "(paths: walk there, {hole} digs a trench, {run} and {hole} fill it)"),
    ("{throw}, {drop}", "throw a ball, drop a box"),
    ("1 to 9, 0", "the first ten scenes; {previous_scene} {next_scene} previous, next"),
    ("{pause}, {single}", "pause, one step"),
    ("{back} {forward}", "one step back, forward"),
    ("{restart}", "restart"),
    ("{camera}, {home}", "camera mode, camera home"),
    ("{menu}", "menu"),
    ("{panel}", "panel with figures and sliders"),
    ("F2 to F9, {grid}", "views, grid"),
    ("{sound}", "footstep sounds on, off"),
    ("{screenshot}", "screenshot"),
    ("{help}", "this help"),
    ("{escape}", "close, free the mouse, then quit"),
)
# Of a gamepad, with the actions that it must have for a row.
_PAD = (
    (("move",), "{move}", "walk; without a player, move the camera"),
    (("look",), "{look}", "look around"),
    (("jump",), "{jump}", "jump; choose in the menu"),
    (("run",), "{run}", "run; leave the menu"),
    (("throw",), "{throw}", "throw a ball"),
    (("drop",), "{drop}", "drop a box"),
    (("previous_scene", "next_scene"), "{previous_scene}, {next_scene}", "previous, next scene"),
    (("menu",), "{menu}", "menu: scenes, pause, camera, panel, quit"),
    (("pause",), "{pause}", "pause"),
    (("help",), "{help}", "this help"),
)
_WALKING = (
    ("{ahead} {left} {behind} {right}", "walk"),
    ("{jump}", "jump"),
    ("hold the right mouse button", "look around"),
)
_FLYING = (
    ("{ahead} {left} {behind} {right}", "move the camera"),
    ("{up}, {down}", "up, down"),
    ("hold the right mouse button", "look around"),
)
_PAD_WALKING = (("{move}", "walk"), ("{jump}", "jump"), ("{look}", "look around"))
_PAD_FLYING = (("{move}", "move the camera"), ("{look}", "look around"))


def help_of(bindings: Bindings, *, pad: bool = False) -> Rows:
    """Return keys, or buttons of a gamepad, and what they do."""
    labels = bindings.pad_labels() if pad else bindings.labels()
    if not pad:
        return [(keys.format_map(labels), words.format_map(labels)) for keys, words in _KEYS]
    return [
        (keys.format_map(labels), words)
        for needed, keys, words in _PAD
        if labels.keys() >= set(needed)
    ]


def hints_of(bindings: Bindings, *, pad: bool, player: bool) -> tuple[Row, ...]:
    """Return the few rows that a first look needs."""
    labels = bindings.pad_labels() if pad else bindings.labels()
    if pad:
        rows = _PAD_WALKING if player else _PAD_FLYING
    else:
        rows = _WALKING if player else _FLYING
    shown = [(keys.format_map(labels), words) for keys, words in rows]
    return (*pairs(shown), (Words(way_to_help(bindings, pad=pad), FAINT),))


def way_to_help(bindings: Bindings, *, pad: bool = False) -> str:
    """Return the words that lead to everything else."""
    labels = bindings.pad_labels() if pad else bindings.labels()
    return f"{labels.get('help', bindings.labels()['help'])}: all {'buttons' if pad else 'keys'}"
