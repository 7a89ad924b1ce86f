"""The table of lessons is whole: every lesson has a row, every row tests that are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TABLE = Path(__file__).parent / "lessons.md"
LESSONS = {"M": 25, "L": 12, "O": 23, "N": 16, "R": 26, "D": 25, "E": 15}
MOST_LEFT_OUT = 15
MOST_WORDS = 15
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(TABLE.read_text("utf-8"))


@cache
def named_in(path: str) -> set[str]:
    file = ROOT / path
    return set(re.findall(r"^def (test_\w+)\(", file.read_text("utf-8"), re.MULTILINE)) if file.is_file() else set()


def test_every_lesson_has_one_row() -> None:
    assert [name for name, _, _ in rows()] == [
        f"{part}{n}" for part, most in LESSONS.items() for n in range(1, most + 1)
    ]


def test_a_lesson_is_said_in_a_few_words() -> None:
    assert not [name for name, said, _ in rows() if len(said.split()) > MOST_WORDS or not said.endswith(".")]


def test_few_are_left_out_and_each_says_why() -> None:
    left_out = [shown for _, _, shown in rows() if shown.startswith("left out: ")]
    assert len(left_out) <= MOST_LEFT_OUT
    assert all(len(why.split()) > 5 for why in left_out)


@pytest.mark.parametrize(("name", "shown"), [(name, shown) for name, _, shown in rows()])
def test_its_tests_are_there(name: str, shown: str) -> None:
    if shown.startswith("left out: "):
        return
    named = re.findall(r"`([^`]+)`", shown)
    assert named
    for test in named:
        path, _, function = test.partition("::")
        assert path.startswith("tests/")
        assert function in named_in(path), f"{name}: {test} is not there"
