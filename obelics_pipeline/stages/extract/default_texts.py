"""Text of the default rule set: white space as a browser shows it, code as written."""

from __future__ import annotations

LINE_BREAK = "\0"  # a <br> among the pieces of a paragraph; no page text holds it, for HTML has no U+0000
SOFT_HYPHEN = "\u00ad"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


def squeeze(text: str) -> str:
    """White space, no-break and ideographic spaces included, becomes single spaces; soft hyphens go."""
    if SOFT_HYPHEN in text:
        text = text.replace(SOFT_HYPHEN, "")
    text = " ".join(text.split())
    return text if text.isascii() or text.strip(INVISIBLE) else ""


def code(pieces: list[str]) -> str:
    """Preformatted text with its lines and indentation; blank ends and trailing spaces go."""
    text = "".join(pieces).replace(LINE_BREAK, "\n").replace("\u00a0", " ")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    start = next((i for i, line in enumerate(lines) if line), 0)
    return "\n".join(lines[start:])
