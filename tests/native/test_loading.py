"""Load machine code; a library without one that fits compiles, and says so.

In a tiny package, whose extension modules are written in Python.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.examples import rest_is_full
from tests.helpers.tiny_package import REPORT, RESULT, Tiny, preceded_by

ANSWER = 99.0

MODULES = """
import sys, types
from tiny import _sources

def add(level, digest=None):
    module = types.ModuleType(f"tiny._native_{level}")
    module.DIGEST = _sources.digest() if digest is None else digest
    module.COMPILED_BY = "numba"
    module.level = level
    module.kernel = kernel
    sys.modules[module.__name__] = module

def kernel(within, name, fallback, module):
    if (within, name, module) == ("caller", "total", "tiny.caller"):
        return lambda *values: 99.0 if type(values[0]) is float else fallback(*values)
    return None
"""

LOADED = """
import json
full = report()
from tiny import _jit, _native
full["level"] = _jit.native and _jit.native.level
full["numba"] = "numba" in sys.modules
full["fell_back"] = _native.fallbacks
print(json.dumps(full))
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path)


def run(tiny: Tiny, modules: str, code: str = "", *, alone: bool = False, **env: str) -> Any:
    """Run the report where these modules are there, and then some code."""
    report = REPORT.partition("if __name__")[0]
    return tiny.run(MODULES + modules + report + code + LOADED, env=env, alone=alone)


def test_machine_code_is_used_and_numba_is_not_imported(tiny):
    report = run(tiny, "add('v3')", alone=True)
    assert report["result"] == ANSWER
    assert report["level"] == "v3"
    assert not report["numba"]
    assert not report["warnings"]
    assert report["cached_before"]


def test_the_best_level_is_used_and_another_can_be_chosen(tiny):
    modules = "add('v2'); add('v3'); add('v4')"
    assert run(tiny, modules)["level"] == "v4"
    assert run(tiny, modules, TERRAIN_PHYSICS_NATIVE_LEVEL="v2")["level"] == "v2"


def test_a_level_that_the_processor_lacks_gives_way_in_silence(tiny):
    (tiny.package / "_native_v4.py").write_text("raise ImportError('the processor is below v4')")
    report = run(tiny, "add('v3')")
    assert (report["level"], report["warnings"]) == ("v3", [])


@pytest.mark.parametrize(
    "setting",
    rest_is_full(["TERRAIN_PHYSICS_NATIVE=0", "TERRAIN_PHYSICS_CHECK=1", "NUMBA_DISABLE_JIT=1"]),
)
def test_settings_leave_it_out(tiny, setting):
    name, _, value = setting.partition("=")
    report = run(tiny, "add('v3')", **{name: value})
    assert (report["level"], report["result"]) == (None, RESULT)
    assert report["compiled"] == (find_spec("numba") is not None and not name.startswith("NUMBA"))


def test_machine_code_of_other_sources_is_not_used_and_says_so(tiny):
    report = run(tiny, "add('v3', 'of another version')")
    assert (report["level"], report["result"]) == (None, RESULT)
    assert "is of other sources" in report["warnings"][0]


def test_in_a_checkout_it_is_passed_over_with_one_line(tiny):
    (tiny.path / "_build").mkdir()
    terminal = """
import io, sys
class Terminal(io.StringIO):
    def isatty(self):
        return True
stderr, sys.stderr = sys.stderr, Terminal()
"""
    line = "machine code of other sources is passed over; `poe native` makes it anew"
    look = f"""
report()
assert sys.stderr.getvalue() == "terrain_physics: {line}\\n", sys.stderr.getvalue()
sys.stderr = stderr
"""
    report = run(tiny, f"{terminal}add('v3', 'of before the edit')\n", look)
    assert (report["level"], report["result"], report["warnings"]) == (None, RESULT, [])


def test_an_edited_source_is_another(tiny):
    digest = run(tiny, "add('v3')", "\nsys.stdout.write('')\n")
    assert digest["level"] == "v3"
    code = "digest = _sources.digest(); add('v3', digest)\n"
    edit = f"open({str(tiny.package / 'callee.py')!r}, 'a').write('# edited')\n"
    report = run(tiny, code + edit)
    assert (report["level"], report["result"]) == (None, RESULT)


def test_a_package_without_sources_is_trusted(tiny):
    report = run(tiny, "_sources.digest = lambda _: ''; add('v3', 'of whoever froze it')")
    assert report["level"] == "v3"


@pytest.mark.parametrize(
    "content", rest_is_full(["\x7fELF cut short", "", "not an extension module"])
)
def test_a_damaged_module_says_what_to_do_and_the_library_runs(tiny, content):
    (tiny.package / "_native_v3.abi3.so").write_text(content)
    report = run(tiny, "")
    assert (report["level"], report["result"]) == (None, RESULT)
    (text, *_) = report["warnings"]
    assert "cannot be used" in text
    assert "install it again" in text


def test_other_types_fall_back_with_one_warning_that_names_them(tiny):
    code = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from tiny.caller import total
    assert [total(3, 5), total(3, 5)] == [2 * 3.0 + 1.0 + 2 * 5.0 + 1.0] * 2
    texts = [str(warning.message) for warning in caught]
assert len(texts) == 1 and "tiny.caller.total(int, int)" in texts[0], texts
"""
    if find_spec("numba") is not None:
        code += "assert 'it runs by numba' in texts[0]\n"
        code += "assert sys.modules['tiny_by_numba.caller'].total.signatures\n"
    assert run(tiny, "add('v3')", code)["fell_back"] == ["tiny.caller.total(int, int)"]


def test_no_module_is_no_reason_for_a_word(tiny):
    report = tiny.run(preceded_by("import json"))
    assert report["result"] == RESULT
    assert not report["warnings"]
