"""A Python of Debian for ARM processors, in a folder of its own, run by qemu.

It takes apt and dpkg-deb, which need no rights here: packages are only unpacked. What it installs
comes from Python's package index, as wheels.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.helpers.environments import HIDDEN, ROOT, run

_PACKAGES = ("python3-minimal", "libpython3-stdlib", "libstdc++6")

_PLATFORMS = [
    part
    for version in ("2_28", "2_27", "2_17")
    for part in ("--platform", f"manylinux_{version}_aarch64")
]

what_is_missing = "" if shutil.which("apt-get") and shutil.which("dpkg-deb") else "apt and dpkg-deb"


class ArmPython:
    """A Python for ARM, with a wheel, what that needs, and the tests and the demo of this checkout.

    Parameters
    ----------
    folder : Path
        An empty one.
    wheel : Path
        The library's, for Linux on aarch64.
    """

    def __init__(self, folder: Path, wheel: Path) -> None:
        self._root, self._packages, self._checkout = (
            folder / name for name in ("root", "packages", "checkout")
        )
        for part in ("root", "checkout", "apt"):
            (folder / part).mkdir()
        self._emulator = emulator(folder)
        _unpack(_downloaded(folder / "apt", *_PACKAGES), self._root)
        self._install(wheel, "pytest", "hypothesis")  # which modules of tests import
        for name in ("tests", "demo", "assets"):  # but not the library
            (self._checkout / name).symlink_to(ROOT / name)

    def _install(self, *packages: object) -> None:
        version = self.run("-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", self._packages]
        only = ["--only-binary", ":all:", *_PLATFORMS, "--python-version", version]
        run([*pip, *only, *packages], cwd=ROOT)

    def run(self, *arguments: object) -> str:
        """Run ``python arguments`` to its end, which must be a good one; return what it printed."""
        path = f"PYTHONPATH={self._packages}:{self._checkout}"
        hidden = [part for name in HIDDEN for part in ("-U", name) if name != "PYTHONPATH"]
        emulated = [self._emulator, "-L", self._root, *hidden, "-E", path]
        python = self._root / "usr" / "bin" / "python3"
        return run([*emulated, python.resolve(), *arguments], cwd=self._checkout).decode()


def emulator(folder: Path) -> Path:
    """Return the emulator: the system's, or one from its packages."""
    if found := shutil.which("qemu-aarch64-static"):
        return Path(found)
    (place := folder / "emulator").mkdir()
    subprocess.run(["apt-get", "download", "-qq", "qemu-user-static"], cwd=place, check=True)
    _unpack(place.glob("*.deb"), place)
    return place / "usr" / "bin" / "qemu-aarch64-static"


def _downloaded(place: Path, *packages: str) -> Sequence[Path]:
    """Return packages for ARM and what they need, by an apt that knows no installed one."""
    folders = {"Dir::State::lists": "lists", "Dir::Cache": "cache", "Dir::Cache::archives": "debs"}
    for name in folders.values():
        (place / name / "partial").mkdir(parents=True)
    (place / "status").touch()
    settings = {name: place / folder for name, folder in folders.items()} | {
        "Dir::State::status": place / "status",
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    run([*apt, "update"], cwd=place)
    run([*apt, "--download-only", "--yes", "install", *packages], cwd=place)
    return sorted((place / "debs").glob("*.deb"))


def _unpack(packages: Iterable[Path], place: Path) -> None:
    for package in packages:
        run(["dpkg-deb", "-x", package, place], cwd=place)
