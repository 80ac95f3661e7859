"""What a test does without a library of an extra: it is skipped, or fails where it is promised."""

import pytest

from tests.helpers import extras


def test_a_library_that_is_there_is_imported() -> None:
    assert extras.library("json", "demo").dumps(1) == "1"


def test_a_test_without_its_library_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(extras.PROMISED, "demo")
    with pytest.raises(
        pytest.skip.Exception, match=r"nothing_here is not installed \(extra data\)"
    ):
        extras.library("nothing_here.inside", "data")


def test_it_fails_where_the_extra_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(extras.PROMISED, "demo data")
    with pytest.raises(pytest.fail.Exception, match=r"nothing_here .*, and extra data is promised"):
        extras.library("nothing_here.inside", "data")
