"""Code of a user's own is found once, and made again of its source where it is needed."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.origin import origin_of


def test_a_file_is_carried_with_its_text_and_made_of_that(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("VALUE = 7\n")
    origin = origin_of(f"{path}:VALUE", "")
    path.unlink()
    assert origin.load() == 7


def test_another_source_is_another_identity(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("VALUE = 7\n")
    first = origin_of(f"{path}:VALUE", "")
    path.write_text("VALUE = 8\n")
    second = origin_of(f"{path}:VALUE", "")
    assert first.sha256 != second.sha256
    assert (first.load(), second.load()) == (7, 8)


def test_a_dataclass_in_a_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n"
                    "@dataclass\nclass Own:\n    n: int = 3\n\n\nVALUE = Own()\n")  # fmt: skip
    assert origin_of(f"{path}:VALUE", "").load().n == 3


@pytest.mark.parametrize("text", ["raise SystemExit(3)", "1 / 0"])
def test_a_module_that_ends_the_program_or_fails_is_told_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UserError, match=r"^here: .*mine.py cannot be imported: (SystemExit|ZeroDivisionError)"):
        origin_of(f"{path}:VALUE", "").imported("here")


@pytest.mark.parametrize("use", [None, "mine.py", "mine.py:", ":VALUE", "mine.py:no name", "no_such_module:VALUE"])
def test_what_names_nothing_is_refused_with_what_to_give(use: object) -> None:
    with pytest.raises(ValueError, match=r"; give FILE:NAME$"):
        origin_of(use, "give FILE:NAME")
