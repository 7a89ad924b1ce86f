"""The prose check finds what it names, where it stands, and the pages and docstrings pass it."""

from __future__ import annotations

import pytest

from docs import prose


def found_in(page: str) -> list[tuple[int, str]]:
    return [(f.line, f.found) for f in prose.check("page.md", prose.page_prose(page))]


def test_the_repository_breaks_no_rule() -> None:
    assert [f"{f.path}:{f.line}: {f.found!r}. {f.advice}" for f in prose.findings()] == []


@pytest.mark.parametrize(
    "phrase",
    ["What is none is skipped.", "The row is passed over.", "It is the how manieth slot.", "What became of it."],
)
def test_a_riddle_is_found_on_its_line(phrase: str) -> None:
    assert next(line for line, _ in found_in(f"# Title\n\nA plain line.\n{phrase}\n")) == 4


def test_a_long_sentence_is_found_where_it_begins() -> None:
    long = "One short. " + "word " * prose.MOST_WORDS + "end."
    assert [line for line, _ in found_in(f"Plain.\n\n{long}\n")] == [3]
    assert found_in("word " * (prose.MOST_WORDS - 1) + "end.\n") == []


def test_code_and_tables_of_a_page_are_not_prose() -> None:
    assert found_in("```sh\nwhat is none\n```\n\n| what is none |\n\n    what is none\n\n`is none` is code.\n") == []


def test_docstrings_and_messages_are_read_and_comments_are_not() -> None:
    source = '"""Plain."""\n\n\ndef f():\n    """What is none."""\n    # is none\n    raise UserError(f"{x} is none")\n'
    assert sorted({f.line for f in prose.check("code.py", prose.code_prose(source))}) == [5, 7]
