"""The generated pages name every command and every key; the check of the built site sees what loads from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

from docs import offline, reference_pages
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
