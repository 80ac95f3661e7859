"""Makes the viewer's copy of three.js: what the page's scripts use of it, in one minified file.

python -m demo.making.three_bundle

It needs node with npm. The versions are pinned, so that the same bytes come out; a test compares
them with the sums in ``terrain_physics/viewer/three.json``, which this writes too.
"""

import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

THREE, ESBUILD = "0.187.0", "0.28.2"
VIEWER = Path(__file__).resolve().parents[2] / "terrain_physics" / "viewer"

# Shared by all pages of one browser: the names that the scripts take from THREE.
_NAME = re.compile(r"\bTHREE\.(\w+)")


def main() -> None:
    """Write the bundle, its licence, and what they are."""
    scripts = (path for path in VIEWER.glob("*.js") if path.name != "three.min.js")
    used = sorted({name for path in scripts for name in _NAME.findall(path.read_text("utf-8"))})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text("{}")
        _run(folder, "npm", "install", "--ignore-scripts", f"three@{THREE}", f"esbuild@{ESBUILD}")
        (folder / "entry.js").write_text(_entry(used))
        esbuild = folder / "node_modules" / "esbuild" / "bin" / "esbuild"
        _run(
            folder,
            *("node", str(esbuild), "entry.js", "--bundle", "--minify", "--format=iife"),
            *("--global-name=THREE", "--target=es2022", "--legal-comments=none"),
            "--outfile=three.min.js",
        )
        bundle = (folder / "three.min.js").read_bytes()
        licence = (folder / "node_modules" / "three" / "LICENSE").read_bytes()
    head = f"/* three.js {THREE}, MIT licence, Copyright three.js authors */\n".encode()
    # Text of a page would end where this stands.
    content = head + bundle.replace(b"</script", b"<\\/script")
    (VIEWER / "three.min.js").write_bytes(content)
    (VIEWER / "three.LICENSE").write_bytes(licence)
    about = {
        "version": THREE,
        "esbuild": ESBUILD,
        "license": "MIT",
        "sha256": hashlib.sha256(content).hexdigest(),
        "exports": used,
    }
    (VIEWER / "three.json").write_text(json.dumps(about, indent=2) + "\n")
    print(f"three.min.js: {len(content)} bytes")


def _entry(names: list[str]) -> str:
    own = [name for name in names if name != "OrbitControls"]
    return (
        f'export {{ {", ".join(own)} }} from "three";\n'
        'export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";\n'
    )


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    main()
