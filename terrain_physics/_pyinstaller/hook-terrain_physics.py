"""The hook of PyInstaller: public names load on first use, so no import shows their modules."""

from importlib.util import find_spec

from PyInstaller.utils.hooks import collect_data_files, collect_submodules


def _is_of_a_game(name: str) -> bool:
    return not name.startswith(("terrain_physics._build", "terrain_physics._pyinstaller"))


datas = collect_data_files("terrain_physics.viewer")  # the files of its page
hiddenimports = collect_submodules("terrain_physics", filter=_is_of_a_game)
if find_spec("terrain_physics._kernels._native_v2") is not None:  # the wheel holds machine code
    excludedimports = ["numba", "llvmlite"]
