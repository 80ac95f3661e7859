"""axe-core, which finds what keeps people from using a page; loaded from npm's index by `npm`.

`python -m tests.helpers.axe_core` loads it and tells by its status whether it is to be had.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.14.1"
SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"


class NotToBeHadError(Exception):
    """Nothing was loaded: there is no npm, or it reaches no index."""


def loaded() -> str:
    """Return the script; ValueError if npm has another one than was pinned."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotToBeHadError("there is no npm")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"axe-core@{VERSION}"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise NotToBeHadError(f"npm does not load it: {ended.stderr.strip()}")
        (archive,) = Path(folder).iterdir()
        if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
            raise ValueError(f"axe-core {VERSION} must have the sum {SHA256}")
        with tarfile.open(archive) as files:
            script = files.extractfile("package/axe.min.js")
            assert script is not None
            return script.read().decode("utf-8")


if __name__ == "__main__":
    try:
        loaded()
    except NotToBeHadError as error:
        sys.exit(f"axe-core: {error}")
