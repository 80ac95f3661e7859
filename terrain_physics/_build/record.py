"""Lists the kernels to compile by running the suite: ``python -m terrain_physics._build.record``.

Arguments are pytest's. With some, only a part of the suite runs and the lists only grow.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from terrain_physics._build import callers, signatures
from terrain_physics._build.packages import PACKAGES, KernelPackage


def main() -> None:
    """Run the suite with a new kernel cache, which then holds the kernels of all processes."""
    chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        settings = {"TERRAIN_PHYSICS_CACHE_DIR": name, "TERRAIN_PHYSICS_NATIVE": "0"}
        settings |= {"TERRAIN_PHYSICS_RECORDING": "1"}  # an unlisted kernel is no failure now
        command = [sys.executable, "-m", "pytest", "-q", *chosen]
        subprocess.run(command, env=os.environ | settings, check=True)  # noqa: S603
        for package in PACKAGES:
            _write(package, set(lines_in(Path(name), package)), only_grows=bool(chosen))


def _write(package: KernelPackage, found: set[str], *, only_grows: bool) -> None:
    used = callers.used_kernels(package)
    found = {line for line in found if line.partition("(")[0] in used}
    before = signatures.read(package)
    signatures.write(found | set(before) if only_grows else found, package)
    after = signatures.read(package)
    sys.stdout.writelines(f"+ {line}\n" for line in after if line not in before)
    sys.stdout.writelines(f"- {line}\n" for line in before if line not in after)


def lines_in(cache: Path, package: KernelPackage) -> Iterator[str]:
    """Yield a line for each kernel of a package in a cache that Python has called."""
    for file in cache.glob("kernels-*/*.bin"):
        if ".inside-" not in file.name:
            _, (_, function, _, signature, *_) = pickle.loads(file.read_bytes()[32:])  # noqa: S301
            if function.modname.startswith(f"{package.name}."):
                kernel = signatures.kernel_named(function.modname, function.qualname)
                yield signatures.line_of(kernel, signature.args)


if __name__ == "__main__":
    main()
