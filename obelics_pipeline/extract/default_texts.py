"""Text of the default rule set: white space as a browser shows it, lists as lines, code as written."""

from __future__ import annotations

from obelics_pipeline.document import TextNode
from obelics_pipeline.extract.default_rules import LONG_ITEMS

LINE_BREAK = "\0"  # a <br> among the pieces of a paragraph; no page text holds it, for HTML has no U+0000
SOFT_HYPHEN = "\u00ad"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


def squeeze(text: str) -> str:
    """White space, no-break and ideographic spaces included, becomes single spaces; soft hyphens go."""
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    text = " ".join(text.split())
    return text if text.isascii() or text.strip(INVISIBLE) else ""


def paragraphs(pieces: list[str]) -> list[str]:
    """The paragraphs of a block: a line break ends a line, two or more end a paragraph."""
    whole = "".join(pieces)
    if LINE_BREAK not in whole:
        text = squeeze(whole)
        return [text] if text else []
    found: list[list[str]] = [[]]
    for line in map(squeeze, whole.split(LINE_BREAK)):
        if line:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


def code(pieces: list[str]) -> str:
    """Preformatted text with its lines and indentation; blank ends and trailing spaces go."""
    text = "".join(pieces).replace(LINE_BREAK, "\n").replace("\u00a0", " ")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    start = next((i for i, line in enumerate(lines) if line), 0)
    return "\n".join(lines[start:])


class ListText:
    """The items of a list, nested lists included, until they become text nodes."""

    def __init__(self) -> None:
        self.items: list[tuple[int, str]] = []  # depth from 0, text

    def add(self, depth: int, text: str) -> None:
        """An item, or a further line of one."""
        self.items.append((depth, text))

    def take(self) -> list[TextNode]:
        """One node with an item a line, indented by two spaces a level; or a paragraph each where items are long."""
        items, self.items = self.items, []
        if not items:
            return []
        if sum(len(text) for _, text in items) > LONG_ITEMS * len(items):
            return [TextNode(text) for _, text in items]
        lines = ["  " * depth + line for depth, text in items for line in text.split("\n")]
        return [TextNode("\n".join(lines).strip(), "list")]
