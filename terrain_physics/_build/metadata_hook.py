"""Gives the package's metadata the address of its repository: URLs, and links of the README.

On a package index the README stands alone, so its links and pictures need an address. The publisher
fills in one setting, ``repository`` in pyproject.toml; `.ci/package --release` refuses to go on
without.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)(?P<words>\[[^\[\]]*\])\((?![a-z]+:|#)(?P<path>[^)]+)\)")


class RepositoryHook(MetadataHookInterface):
    """Adds what depends on where the repository is."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the URLs and the README."""
        given = self.config["repository"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if given:
            if not re.fullmatch(r"https://[^\s()]+", given):
                raise ValueError(
                    "repository of tool.hatch.metadata.hooks.custom must be an address that begins "
                    f"with https://, such as that of GitHub, got {given!r}"
                )
            address = given.rstrip("/")
            metadata["urls"] = urls(address, metadata["version"])
            text = with_address(text, address, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def urls(address: str, version: str) -> dict[str, str]:
    """Return the addresses that a package index shows."""
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/v{version}/demo/docs/index.md",
        "Changelog": f"{address}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_address(text: str, address: str, version: str) -> str:
    """Return a page of Markdown whose links lead to a version of the repository.

    GitHub shows pages below ``blob/`` and hands out pictures below ``raw/``.
    """

    def whole(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        path = f"{address}/{kind}/v{version}/{link['path']}"
        return f"{link['picture']}{link['words']}({path})"

    return _LINK.sub(whole, text)
