"""Makes extension modules: lowers once, optimizes for each processor, links for each system."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from terrain_physics._build.lowered import packed
from terrain_physics._build.packages import PACKAGES, KernelPackage
from terrain_physics._build.platforms import Wanted
from terrain_physics._build.systems.c_compiler import Linker
from terrain_physics._build.systems.linking import Linking, Module

if TYPE_CHECKING:
    from terrain_physics._build.build_cache import BuildCache


@contextmanager
def made(
    wanted: Sequence[Wanted],
    linkers: Callable[[Path], Mapping[str, Linker]],
    packages: Sequence[KernelPackage] = PACKAGES,
) -> Iterator[list[Module]]:
    """Make all wanted modules, whose files are there until the end of the block.

    The linkers may have files in the folder that they are made with.
    """
    os.environ |= {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CHECK": "0"}
    from terrain_physics._build import build_cache

    cache = build_cache.BuildCache(build_cache.folder())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            modules = _made(folder, wanted, linkers(folder), packages, cache)
        finally:
            cache.forget_oldest()
        yield modules


def _made(
    folder: Path,
    wanted: Sequence[Wanted],
    linkers: Mapping[str, Linker],
    packages: Sequence[KernelPackage],
    cache: "BuildCache",
) -> list[Module]:
    from terrain_physics._build import workers
    from terrain_physics._build.llvm.lowered_functions import LoweredFunctions
    from terrain_physics._build.progress import BuildProgress

    with (
        workers.started(wanted, cache) as processes,
        Linking(linkers, folder, processes.at_once) as linking,
    ):
        lowered = LoweredFunctions(packages, cache)
        progress = BuildProgress()

        def tell() -> None:
            progress.tell(lowered.state, processes.optimized, linking.made)

        for order in lowered:
            processes.order(order.data)
            if order.extension is not None:
                linking.compile(order.extension)
            tell()
        processes.order(packed(None))
        for _ in processes.rest():
            for code in processes.new():
                linking.link(code)
            tell()
        linking.wait(tell)
        return linking.made


def put(file: Path, place: Path) -> None:
    """Put a file in its place as a whole; a process that has loaded the old one keeps it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        shutil.copy(file, part)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
