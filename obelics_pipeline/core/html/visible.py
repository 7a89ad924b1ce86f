"""Text from the web made safe to look at: what acts on a terminal, or on the text around it, is shown by its number."""

from __future__ import annotations

import re

# Controls but for tab and newline; line separators; the characters that turn the order of the text after them (an
# override in a name hides an ending, say), which are not the marks that Arabic and Hebrew are written with.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!&])")  # of Markdown
_LINE_END = re.compile(r"\r\n?")


def visible(text: str) -> str:
    """The text with each character that acts written as its number in brackets, such as ⟨U+202E⟩."""
    return _ACTING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", _LINE_END.sub("\n", text))


def on_a_line(text: str, width: int | None = None) -> str:
    """The text on one line, cut to `width` characters, the last of them an ellipsis where something is missing."""
    line = " ".join(visible(text).split())
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


def quoted(text: str, width: int = 160) -> str:
    """The text on one line of Markdown: nothing in it is markup."""
    return _MARKUP.sub(r"\\\1", on_a_line(text, width))
