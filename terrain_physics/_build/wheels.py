"""Makes the wheels of all systems: the package's own files, and each system's extension modules.

For WebAssembly, where no wheel could be used, it makes the module of the library's kernels alone.

The same sources give the same bytes, wherever and whenever they are made.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from terrain_physics._build import making
from terrain_physics._build.packages import PACKAGES, ROOT
from terrain_physics._build.platforms import PLATFORMS, Wanted
from terrain_physics._build.systems import headers, pins
from terrain_physics._build.systems.c_compiler import Linker, zig
from terrain_physics._build.systems.linking import Module

_TIME = (2020, 2, 2, 0, 0, 0)
"""That of all files in a wheel; hatchling's own where nobody says another."""


def what_is_missing() -> str:
    """Return what must be installed before wheels can be made, nothing if all is there."""
    if lacking := headers.missing():
        return lacking
    missing = pins.not_installed()
    if find_spec("hatchling") is None:
        missing.append("hatchling")
    if not missing:
        return ""
    return f"wheels need `{sys.executable} -m pip install {' '.join(missing)}`"


def make(targets: Sequence[str], folder: Path) -> None:
    """Make a wheel for each of these platforms, or what it has in place of one."""
    wanted = [Wanted(target, level) for target in targets for level in PLATFORMS[target].levels]
    with tempfile.TemporaryDirectory() as name, ExitStack() as block:
        plain = _without_machine_code(Path(name))
        modules = block.enter_context(making.made(wanted, lambda work: _linkers(targets, work)))
        for target in targets:
            own = [module for module in modules if module.target == target]
            if PLATFORMS[target].is_for_python:
                made = _assembled(plain, target, own, Path(name))
            else:
                made = own[0].file.rename(Path(name, _named(plain, f"{target}.wasm")))
            making.put(made, folder / made.name)
            sys.stdout.write(f"{made.name}: {made.stat().st_size / 1e6:.2f} MB\n")


def _linkers(targets: Iterable[str], work: Path) -> Mapping[str, Linker]:
    found = headers.for_all_systems(work)
    linkers = {}
    for target in targets:
        command, libraries = zig(target), None
        if "-lpython3" in PLATFORMS[target].linking:
            libraries = work / target
            libraries.mkdir()
            headers.make_import_library(libraries, command, found)
        linkers[target] = Linker(target, command, found, libraries)
    return linkers


def _without_machine_code(folder: Path) -> Path:
    """Make the wheel that serves each system by numba."""
    env = os.environ | {"TERRAIN_PHYSICS_NATIVE": "0"}
    env.pop("SOURCE_DATE_EPOCH", None)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    (wheel,) = folder.glob("*-none-any.whl")
    return wheel


def _named(plain: Path, rest: str) -> str:
    """Return the name of a file of this version."""
    name, version = plain.name.split("-")[:2]
    return f"{name}-{version}-{rest}"


def _assembled(plain: Path, target: str, modules: Sequence[Module], folder: Path) -> Path:
    """Add extension modules to a wheel."""
    tags = [f"cp311-abi3-{tag}" for tag in PLATFORMS[target].tags]
    name, version = plain.name.split("-")[:2]
    about = f"{name}-{version}.dist-info"
    _refuse_others(target, [module.place for module in modules])
    made = folder / _named(plain, f"cp311-abi3-{'.'.join(PLATFORMS[target].tags)}.whl")
    with zipfile.ZipFile(plain) as given:
        files = {one: given.read(one) for one in given.namelist()}
    del files[f"{about}/RECORD"]
    for module in modules:
        files[place_in_wheel(module.place)] = module.file.read_bytes()
    files[f"{about}/WHEEL"] = _tagged(files[f"{about}/WHEEL"].decode(), tags).encode()
    # Installers read the folder with what is about the wheel last.
    ordered = sorted(files, key=lambda one: (one.startswith(f"{about}/"), one))
    record = [f"{one},sha256={_digest(files[one])},{len(files[one])}" for one in ordered]
    files[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for one in [*ordered, f"{about}/RECORD"]:
            entry = zipfile.ZipInfo(one, _TIME)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[one], compresslevel=9)
    return made


def _refuse_others(target: str, found: Sequence[str]) -> None:
    """Refuse other modules than one of each package for each level of a platform."""
    levels = PLATFORMS[target].levels
    files = [Wanted(target, level).file for level in levels]
    expected = {f"{package.place}/{file}" for package in PACKAGES for file in files}
    if missing := expected.difference(found):
        raise FileNotFoundError(f"the wheel for {target} lacks {', '.join(sorted(missing))}")
    if len(found) > len(expected):
        raise FileExistsError(f"the wheel for {target} would hold more: {', '.join(found)}")


def place_in_wheel(place: str) -> str:
    """Return where a module goes in a wheel, which has the demo under another name."""
    return place.replace("demo/", "terrain_physics_demo/", 1)


def _tagged(text: str, tags: Iterable[str]) -> str:
    """Return what a wheel says about itself, with other tags."""
    text = re.sub(r"^Tag: .*\n", "", text, flags=re.MULTILINE).rstrip("\n")
    text = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    return "\n".join([text, *(f"Tag: {tag}" for tag in tags), ""])


def _digest(content: bytes) -> str:
    digest = hashlib.sha256(content).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
