"""The wheels of all systems are made by one command, and read. Most cannot be run here."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

from tests.helpers import elf_file, mach_o_file, pe_file
from tests.helpers.environments import IS_NATIVE, ROOT, environment, run

platforms = pytest.importorskip("terrain_physics._build.platforms")

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.long,  # all kernels are optimized for four processors: minutes
    pytest.mark.skipif(not IS_NATIVE, reason="no machine code is made here"),
]

MOST_BYTES = 6_000_000
PLACES = ("terrain_physics/_kernels", "terrain_physics_demo/renderers")
TARGETS = sorted(platforms.WITH_WHEELS)
MACHINES = {
    "linux-x86_64": elf_file.X86_64,
    "linux-aarch64": elf_file.AARCH64,
    "musllinux-x86_64": elf_file.X86_64,
    "musllinux-aarch64": elf_file.AARCH64,
    "darwin-x86_64": mach_o_file.X86_64,
    "darwin-arm64": mach_o_file.ARM64,
    "win32-amd64": pe_file.X86_64,
}


OWNERS = {
    "dllcrt2.obj": {"mingw-w64"},
    "libmingw32.lib": {"mingw-w64", "musl"},
    "zigc.lib": {"zig", "musl"},
    "compiler_rt.lib": {"zig"},
    "libcompiler_rt.a": {"zig"},
    # glibc's, whose exception lets anybody link it; modules take nothing of it.
    "libc_nonshared.a": set(),
}
"""Whose code is in what `ziglang` links in, by the names of licences."""
OF_THE_SYSTEM = (
    "api-ms-win-*.lib",
    "advapi32.lib",
    "kernel32.lib",
    "ntdll.lib",
    "shell32.lib",
    "user32.lib",
)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with what makes wheels."""
    place = tmp_path_factory.mktemp("compilers")
    return environment(place, "-e", f"{ROOT}[wheels]", "abi3audit") / "python"


@pytest.fixture(scope="module")
def wheels(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Return the wheels by platform: given ones, or made now."""
    if given := os.environ.get("TERRAIN_PHYSICS_TEST_WHEELS"):
        folder = Path(given)
    else:
        folder = tmp_path_factory.mktemp("wheels")
        python = request.getfixturevalue("python")
        run([python, "-m", "terrain_physics._build", "--all", folder], cwd=ROOT)
    return {
        target: wheel for wheel in folder.glob("*.whl") for target in TARGETS if fits(wheel, target)
    }


def fits(wheel: Path, target: str) -> bool:
    """Tell whether a wheel has all tags of a platform."""
    tags = {Tag("cp311", "abi3", tag) for tag in platforms.PLATFORMS[target].tags}
    return parse_wheel_filename(wheel.name)[3] == tags


def modules_of(wheel: Path, target: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and file of each extension module that the table asks for."""
    platform = platforms.PLATFORMS[target]
    with zipfile.ZipFile(wheel) as archive:
        places = {
            f"{place}/_native_{level.name}{platform.suffix}"
            for place in PLACES
            for level in platform.levels
        }
        assert {name for name in archive.namelist() if "/_native_" in name} == places
        for place in sorted(places):
            yield place.rpartition("/")[2].partition(".")[0], Path(archive.extract(place, folder))


def test_there_is_one_for_each_row_of_the_table(wheels: dict[str, Path]) -> None:
    assert sorted(wheels) == TARGETS
    assert all(wheel.stat().st_size < MOST_BYTES for wheel in wheels.values())


@pytest.mark.parametrize("target", TARGETS)
def test_modules_are_for_the_system_and_load_what_it_has(
    wheels: dict[str, Path], target: str, tmp_path: Path
) -> None:
    platform = platforms.PLATFORMS[target]
    for name, file in modules_of(wheels[target], target, tmp_path):
        if platform.system == "win32":
            module = pe_file.read(file)
            assert (module.flags & pe_file.IS_LIBRARY, module.format) == (
                pe_file.IS_LIBRARY,
                pe_file.PE32_PLUS,
            )
            assert module.exported == [f"PyInit_{name}"]
            assert "PyModule_Create2" in module.imported["python3.dll"]
            machine, imported = module.machine, list(module.imported)
        elif platform.system == "darwin":
            library = mach_o_file.read(file)
            assert (library.name, library.oldest) == (f"@rpath/{file.name}", (11, 0))
            assert library.is_signed or target == "darwin-x86_64"
            assert f"_PyInit_{name}\0".encode() in file.read_bytes()
            machine, imported = library.machine, library.imported
        else:
            shared = elf_file.read(file)
            assert shared.glibc <= (2, 17)
            machine, imported = shared.machine, shared.imported
        assert machine == MACHINES[target]
        unknown = [
            one for one in imported if not any(fnmatch(one, known) for known in platform.imports)
        ]
        assert not unknown


@pytest.mark.parametrize("target", TARGETS)
def test_no_module_tells_where_it_was_made(
    wheels: dict[str, Path], target: str, tmp_path: Path
) -> None:
    for _, file in modules_of(wheels[target], target, tmp_path):
        texts = re.findall(rb"[\x20-\x7e]{5,}", file.read_bytes())
        places = [str(ROOT), str(Path.home()), "/tmp/", "site-packages", "ziglang"]  # noqa: S108
        assert not [text for text in texts if any(place.encode() in text for place in places)]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_linked_in_has_its_licence_in_the_wheel(
    wheels: dict[str, Path], python: Path, target: str, tmp_path: Path
) -> None:
    (tmp_path / "module.c").write_text("#include <stdlib.h>\nvoid *f(void) { return malloc(1); }\n")
    command = [python, "-m", "ziglang", "cc", "-target", platforms.PLATFORMS[target].zig]
    options = ["-O2", "-g0", "-shared", "module.c", "-o", "module.so"]
    told = subprocess.run(
        [*command, *options],
        cwd=tmp_path,
        env=os.environ | {"ZIG_VERBOSE_LINK": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr.splitlines()[-1]
    names = [Path(part).name for part in told.split() if re.search(r"\.(o|obj|a|lib)$", part)]
    linked = [one for one in names if not any(fnmatch(one, known) for known in OF_THE_SYSTEM)]
    assert set(linked) - {"module.o", "module.obj"} <= set(OWNERS)
    owners = {"numba", "numpy"}.union(*(OWNERS.get(name, set()) for name in linked))
    with zipfile.ZipFile(wheels[target]) as archive:
        licences = {Path(name).stem for name in archive.namelist() if "/_build/licenses/" in name}
    assert owners <= licences


def test_they_use_pythons_stable_interface_only(wheels: dict[str, Path], python: Path) -> None:
    run([python, "-m", "abi3audit", "--strict", *wheels.values()], cwd=ROOT)


def test_another_folder_gives_the_same_bytes(
    wheels: dict[str, Path], python: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere"
    names = run(["git", "ls-files"], cwd=ROOT).decode().splitlines()
    for name in names:
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    env = {"TERRAIN_PHYSICS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(copy)}
    command = [python, "-m", "terrain_physics._build", "--all", tmp_path / "made"]
    run([*command, "--only", "linux-aarch64"], cwd=copy, env=env)
    (again,) = (tmp_path / "made").iterdir()
    first = wheels["linux-aarch64"]
    assert (again.name, again.read_bytes()) == (first.name, first.read_bytes())
