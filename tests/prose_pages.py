"""Pages of the documentation as texts that people wrote."""

from pathlib import Path

_MOST_IN_TABLES = 0.75  # of a page's words: a list of names has no order of words that a model could miss


def prose_pages() -> list[Path]:
    """The pages of `docs/` that are not tables for the most part."""
    pages = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
    return [page for page in pages if _share_in_tables(page.read_text("utf-8")) < _MOST_IN_TABLES]


def _share_in_tables(text: str) -> float:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return sum(len(row.split()) for row in rows) / len(text.split())
