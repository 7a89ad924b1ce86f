"""The generated pages name every command and every key; the check of the built site sees what loads from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

import obelics_pipeline
from docs import docstring_examples, offline, reference_pages
from obelics_pipeline.core.config.run import RunConfig

PAGES = dict(reference_pages.pages())


def test_every_command_has_a_section() -> None:
    sections = set(re.findall(r"^## obelics ([\w-]+)", PAGES["reference/commands.md"], re.M))
    assert {"run", "check", "tune", "forget", "train", "explain-spike", "fit"} <= sections


def test_every_key_of_a_run_has_a_row_with_a_description() -> None:
    rows = re.findall(r"^\| `([\w.\[\]]+)` \| `[^`]+` \| .* \| (.*) \|$", PAGES["reference/config.md"], re.M)
    assert set(RunConfig.model_fields) <= {key for key, _ in rows}
    assert {"fetch.per_host", "dedup.text.threshold", "filters.document.NAME.min"} <= {key for key, _ in rows}
    assert [key for key, described in rows if not described.strip()] == []


def test_a_default_has_a_column_and_is_not_said_again() -> None:
    page = PAGES["reference/commands.md"]
    assert "| `--sample N` | `5` | units to measure |" in page
    assert re.search(r"^\| `--workers N` \| one per CPU core \| ", page, re.M)
    assert "(default" not in page


def test_keys_that_stand_deep_are_listed_once_and_linked_from_their_other_places() -> None:
    page = PAGES["reference/config.md"]
    linked = re.findall(r"^The keys of \[`([\w.\[\]]+)`\]\(#([\w-]+)\)", page, re.M)
    assert ("filters.paragraph.NAME.languages.NAME", "filtersparagraphnamelanguagesname") in linked
    assert all(re.search(rf"^## {re.escape(path)}\n\n(?!The keys of)", page, re.M) for path, _ in linked)


def test_every_public_name_is_in_the_python_reference() -> None:
    page = PAGES["reference/python.md"]
    shown = [line.removeprefix("::: ") for line in page.splitlines() if line.startswith("::: ")]
    missing = [
        name
        for name, module in obelics_pipeline._MODULES.items()
        if not {f"obelics_pipeline.{module}", f"obelics_pipeline.{module}.{name}"} & set(shown)
    ]
    assert missing == []
    assert len(shown) == len(set(shown))


def test_an_example_of_a_docstring_is_code_to_the_next_blank_line() -> None:
    docstring = "What it does.\n\n>>> 1 + 1\n2\n\nMore words."
    assert docstring_examples.fenced(docstring) == "What it does.\n\n```python\n>>> 1 + 1\n2\n```\n\nMore words."
    assert docstring_examples.fenced("No example: a >>> b.") == "No example: a >>> b."


def test_pages_do_not_depend_on_the_machine() -> None:
    assert not [name for name, text in PAGES.items() if str(Path.home()) in text or str(reference_pages.ROOT) in text]


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://unpkg.com/a.js"></script>',
        '<link href="https://fonts.example/a.css" rel="stylesheet">',
        '<img alt="x" src="//cdn.example/a.png">',
        "<style>@import url(https://cdn.example/a.css);</style>",
    ],
)
def test_what_loads_from_the_network_is_found(tmp_path: Path, markup: str) -> None:
    (tmp_path / "page.html").write_text(f"<html>{markup}</html>", "utf-8")
    assert len(offline.loaded_from_elsewhere(tmp_path)) >= 1


def test_a_link_that_a_reader_follows_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<a href="https://example.org/">x</a><script src="a.js"></script>', "utf-8")
    assert offline.loaded_from_elsewhere(tmp_path) == []
