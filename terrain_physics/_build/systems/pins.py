"""The compilers, each in one version: for it the suite has shown the same bits on each level."""

from importlib.metadata import PackageNotFoundError, version

COMPILERS = ("numba==0.68.1", "llvmlite==0.50.0")
ZIG = "ziglang==0.17.1"
"""A C compiler for all systems, from the package index."""


def not_installed() -> list[str]:
    """Return what wheels of all systems need and this Python does not have in that version."""
    return [pin for pin in (*COMPILERS, ZIG) if pin != f"{_name(pin)}=={_version(_name(pin))}"]


def _name(pin: str) -> str:
    return pin.partition("==")[0]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
