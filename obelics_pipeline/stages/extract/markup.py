"""How the structure of a text is written: not at all, or as light Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Item(NamedTuple):
    """A text of a list: how deep it is nested, from 0, and its bullet or number, empty where an item goes on."""

    depth: int
    text: str
    mark: str = ""


class Markup(Protocol):
    """Writes a text of each kind."""

    def heading(self, text: str, level: int) -> str:
        """A heading of level 1 to 6."""

    def items(self, items: Sequence[Item]) -> str:
        """A list."""

    def table(self, rows: Sequence[Sequence[str]]) -> str:
        """A table of cells; empty rows go."""

    def code(self, text: str, language: str = "") -> str:
        """Preformatted text, and the name of its language where the page has it."""

    def quote(self, text: str) -> str:
        """A paragraph of a quotation."""


class Plain:
    """Nothing but the text: items on lines, indented by two spaces a level, and cells separated by tabs."""

    def heading(self, text: str, level: int) -> str:
        """The text."""
        return text

    def items(self, items: Sequence[Item]) -> str:
        """An item a line."""
        return "\n".join("  " * item.depth + line for item in items for line in item.text.split("\n")).strip()

    def table(self, rows: Sequence[Sequence[str]]) -> str:
        """A row a line; empty cells keep their place."""
        lines = ["\t".join(row).rstrip("\t") for row in rows]
        return "\n".join(line for line in lines if line.strip())

    def code(self, text: str, language: str = "") -> str:
        """The text."""
        return text

    def quote(self, text: str) -> str:
        """The text."""
        return text


class Markdown:
    """Headings, lists, tables, code and quotations as in GitHub's Markdown; signs within a text stay as they are."""

    def heading(self, text: str, level: int) -> str:
        """With a number sign for each level, on one line."""
        return "#" * level + " " + text.replace("\n", " ")

    def items(self, items: Sequence[Item]) -> str:
        """With a hyphen or a number."""
        lines: list[str] = []
        for item in items:
            indent = "  " * item.depth
            first, *others = item.text.split("\n")
            lines.append(indent + (item.mark or " ") + " " + first)
            lines += [indent + "  " + line for line in others]
        return "\n".join(lines)

    def table(self, rows: Sequence[Sequence[str]]) -> str:
        """With the first row as its head, and as many columns as the longest row."""
        full = [[cell.replace("|", "\\|") for cell in row] for row in rows if any(row)]
        width = max(map(len, full))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in full]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])

    def code(self, text: str, language: str = "") -> str:
        """Within a fence that is longer than any in it, and names the language."""
        fence = "```"
        while fence in text:
            fence += "`"
        return f"{fence}{language}\n{text}\n{fence}"

    def quote(self, text: str) -> str:
        """With a mark on each line."""
        return "\n".join("> " + line for line in text.split("\n"))
