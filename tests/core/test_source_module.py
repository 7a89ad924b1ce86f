"""A module made of its source."""

import sys

import pytest

from obelics_pipeline.core.source_module import module_of


def test_one_source_is_one_module_and_another_source_another() -> None:
    first = module_of("mine.py", "VALUE = 7\n")
    assert first.VALUE == 7
    assert module_of("mine.py", "VALUE = 7\n") is first is sys.modules[first.__name__]
    assert module_of("mine.py", "VALUE = 8\n").VALUE == 8


def test_a_source_that_fails_leaves_no_module_behind() -> None:
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        module_of("mine.py", "VALUE = 1 / 0\n")
    assert set(sys.modules) == before
