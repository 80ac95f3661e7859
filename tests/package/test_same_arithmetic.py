"""No arithmetic of C libraries, BLAS, LAPACK or PyGLM gives answers, verdicts or states.

All of these round as they like, each processor and system in another way. The modules of the
library are read: what they may call is listed here, or known to be exact.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import terrain_physics

PACKAGE = Path(terrain_physics.__file__).parent
MODULES = sorted(
    file.relative_to(PACKAGE).as_posix()
    for file in PACKAGE.rglob("*.py")
    if not {"_build", "_pyinstaller"} & set(file.relative_to(PACKAGE).parts)
)

OF_MATH = {
    "ceil", "copysign", "floor", "frexp", "fsum", "gcd", "inf", "isfinite", "isinf", "isnan",
    "isqrt", "ldexp", "nan", "nextafter", "pi", "prod", "radians", "sqrt", "tau",
}  # fmt: skip
"""What is exact, or rounded correctly everywhere."""

OF_PYGLM = {
    "array", "dmat3", "dmat4", "dquat", "dvec2", "dvec3", "mat3", "mat4", "quat", "vec2", "vec3",
}  # fmt: skip
"""Types, which hold numbers."""

NOT_OF_NUMPY = {
    "arccos", "arcsin", "arctan", "arctan2", "cbrt", "convolve", "correlate", "corrcoef", "cos",
    "cosh", "cov", "dot", "einsum", "exp", "exp2", "expm1", "fft", "float_power", "geomspace",
    "hypot", "inner", "interp", "kron", "linalg", "log", "log10", "log1p", "log2", "logaddexp",
    "logspace", "matmul", "matvec", "polyfit", "power", "pow", "sin", "sinc", "sinh", "std", "tan",
    "tanh", "tensordot", "trapezoid", "var", "vdot", "vecdot", "vecmat",
}  # fmt: skip
"""What goes to a C library, to BLAS or to LAPACK."""

METHODS = {"dot", "standard_normal", "std", "var"}

SUSPECT = re.compile(
    rf"math\.(?!(?:{'|'.join(OF_MATH)})\b)|glm\.(?!(?:{'|'.join(OF_PYGLM)})\b)"
    rf"|np\.(?:{'|'.join(NOT_OF_NUMPY)})\b|\.(?:{'|'.join(METHODS)})\("
    r"|[\w)\]](?<!2\.0) ?\*\*|pow\(| @=? |from (?:math|cmath|statistics|pyglm\.glm) import"
)
"""A module without any of this need not be parsed."""

WHOLE = {"BLOCK", "side", "_units"}
"""Names of whole numbers, whose powers are exact."""


def found_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give lines that use what rounds as it likes, and what they use."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if name not in OF_MATH:
                yield node.lineno, f"math.{name}"
            case ast.Attribute(value=ast.Name(id="glm"), attr=name) if name not in OF_PYGLM:
                yield node.lineno, f"glm.{name}"
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
                if name in NOT_OF_NUMPY:
                    yield node.lineno, f"np.{name}"
            case ast.ImportFrom(module="math" | "cmath" | "statistics" as module, names=names):
                bad = {own.name for own in names} - (OF_MATH if module == "math" else set())
                yield from ((node.lineno, f"{module}.{name}") for name in sorted(bad))
            case ast.ImportFrom(module="pyglm.glm"):
                yield node.lineno, "names of glm"
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                yield node.lineno, f".{name}()"
            case ast.Call(func=ast.Name(id="pow")):
                yield node.lineno, "pow()"
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield node.lineno, "@"
            case ast.BinOp(op=ast.Pow(), left=base) if not is_exact(base):
                yield node.lineno, "**"
            case ast.AugAssign(op=ast.Pow()):
                yield node.lineno, "**="


def is_exact(base: ast.expr) -> bool:
    """Tell whether the powers of a number are exact: it is whole, or 2.0."""
    if isinstance(base, ast.Constant):
        return isinstance(base.value, int) or base.value == 2.0
    names = [node for node in ast.walk(base) if isinstance(node, (ast.Name, ast.Attribute))]
    last = {node.attr if isinstance(node, ast.Attribute) else node.id for node in names[:1]}
    return last <= WHOLE and bool(last)


@pytest.mark.parametrize("folder", sorted({name.partition("/")[0] for name in MODULES}))
def test_no_module_uses_what_rounds_as_it_likes(folder: str) -> None:
    found = []
    for name in MODULES:
        if name.partition("/")[0] != folder:
            continue
        text = (PACKAGE / name).read_text(encoding="utf-8")
        if SUSPECT.search(text):
            found += [f"{name}:{line}: {what}" for line, what in found_in(ast.parse(text))]
    assert not found


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("math.cos(x)", "math.cos"),
        ("math.hypot(x, z)", "math.hypot"),
        ("glm.length(v)", "glm.length"),
        ("glm.quat_cast(m)", "glm.quat_cast"),
        ("np.linalg.det(m)", "np.linalg"),
        ("np.hypot(a, b)", "np.hypot"),
        ("a.dot(b)", ".dot()"),
        ("draws.standard_normal(3)", ".standard_normal()"),
        ("a @ b", "@"),
        ("a @= b", "@"),
        ("x**2", "**"),
        ("x**0.5", "**"),
        ("10.0**k", "**"),
        ("pow(x, 2)", "pow()"),
        ("from math import sin, sqrt", "math.sin"),
    ],
)
def test_what_rounds_as_it_likes_is_found(line: str, what: str) -> None:
    assert list(found_in(ast.parse(line))) == [(1, what)]
    assert SUSPECT.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "math.sqrt(x)",
        "from math import inf, isqrt",
        "np.sqrt(x * x).sum(axis=1)",
        "glm.vec3(x, y, z) + 0.0",
        "dot(a, b)",
        "2.0**-53",
        "2**number",
        "16 * self.side**2",
        "(shape.side + 1) ** 2",
        "blocks.BLOCK ** (level + 1)",
    ],
)
def test_what_is_exact_is_allowed(line: str) -> None:
    assert not list(found_in(ast.parse(line)))
