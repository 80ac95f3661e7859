"""The hook of PyInstaller: public names load on first use, so no import shows their modules."""

from importlib.util import find_spec

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

from terrain_physics._kernels import _native

# The best level saves little time, and its processors run the next one with the same bits: so a
# game is smaller by that.
_LEFT_OUT = (
    "terrain_physics._build",
    "terrain_physics._pyinstaller",
    "terrain_physics._kernels._native_v4",
)


def _is_of_a_game(name: str) -> bool:
    return not name.startswith(_LEFT_OUT)


datas = collect_data_files("terrain_physics.viewer")  # the files of its page
hiddenimports = collect_submodules("terrain_physics", filter=_is_of_a_game)
_levels = (f"terrain_physics._kernels._native_{level}" for level in _native.LEVELS)
if any(map(find_spec, _levels)):  # the wheel holds machine code
    excludedimports = ["numba", "llvmlite"]
