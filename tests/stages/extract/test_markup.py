import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.markup import Item, Markdown, Plain

ITEMS = [Item(0, "one\nmore", "-"), Item(1, "deep", "1."), Item(0, "goes on")]
ROWS = [["a|b", ""], [], ["", ""], ["1", "2", "3"]]


def test_plain_is_the_default_and_adds_nothing() -> None:
    plain = Plain()
    assert ExtractionConfig().markup == "plain"
    assert plain.heading("A\nB", 2) == "A\nB"
    assert plain.items(ITEMS) == "one\nmore\n  deep\ngoes on"
    assert plain.table(ROWS) == "a|b\n1\t2\t3"
    assert plain.code("x") == plain.quote("x") == "x"


def test_plain_keeps_empty_cells_in_place() -> None:
    assert Plain().table([["", "b"], ["a", ""], ["", "", "c"]]) == "\tb\na\n\t\tc"


def test_markdown_marks_what_a_text_is() -> None:
    markdown = Markdown()
    assert markdown.heading("A\nB", 3) == "### A B"
    assert markdown.items(ITEMS) == "- one\n  more\n  1. deep\n  goes on"
    assert markdown.quote("a\nb") == "> a\n> b"
    assert markdown.code("x = 1") == "```\nx = 1\n```"


def test_a_markdown_table_has_a_head_and_equal_rows() -> None:
    assert Markdown().table(ROWS) == "| a\\|b |  |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |"


def test_a_fence_is_longer_than_any_in_the_code() -> None:
    assert Markdown().code("````\nx") == "`````\n````\nx\n`````"


@pytest.mark.parametrize("text", ["*a* _b_ [c](d) #e 1. <f> `g` \\h | i", "# no heading", "- no item"])
def test_markdown_escapes_nothing_in_a_text(text: str) -> None:
    assert Markdown().heading(text, 1) == "# " + text
    assert Markdown().quote(text) == "> " + text
    assert Markdown().items([Item(0, text, "-")]) == "- " + text
