"""The left column: the decoded source with block elements on lines of their own and markup in grey."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from obelics_pipeline.core.html.markup import pieces, text
from obelics_pipeline.inspect.explain.source_positions import TOKEN

_INLINE = frozenset(
    "a abbr b bdi bdo big br cite code del em font i img ins kbd label mark nobr q s samp small span strike strong sub "
    "sup time tt u var wbr".split()
)
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)")
_LONG = 240  # characters of a script, a style or a comment that are shown unfolded


def raw_view(source: str, rows_at: Mapping[int, Sequence[int]]) -> str:
    """The source as HTML. `rows_at` has the tree's rows whose text or image begins at a position of the source."""
    lines = _Lines()
    end = 0
    for token in TOKEN.finditer(source):
        lines.text(source[end : token.start()], end)
        lines.markup(token[0], token.start())
        end = token.end()
    lines.text(source[end:], end)
    lines.end()
    rows: dict[int, list[int]] = {}
    for position in sorted(rows_at):
        rows.setdefault(max(0, bisect_right(lines.starts, position) - 1), []).extend(rows_at[position])
    return pieces([_line(content, rows.get(number, ())) for number, content in enumerate(lines.contents)])


def _line(content: str, rows: Sequence[int]) -> str:
    return f'<div data-r="{" ".join(map(str, rows))}">{content}</div>' if rows else f"<div>{content}</div>"


class _Lines:
    """Collects the lines, each as HTML with its position in the source."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.contents: list[str] = []
        self._line: list[str] = []

    def text(self, value: str, start: int) -> None:
        """Text between markup, a line of the source a line."""
        for number, line in enumerate(value.split("\n")):
            if number:
                self.end()
            if line.strip():
                self._add(text(line if self._line else line.lstrip()), start)
            start += len(line) + 1

    def markup(self, value: str, start: int) -> None:
        """A tag; or a comment, a script or a style, whole, that is folded where it is long."""
        tag = _TAG.match(value)
        if tag is None or tag[1].lower() not in _INLINE:
            self.end()
        if len(value) > _LONG and (tag is None or tag[1].lower() in ("script", "style")):
            opened = f"<summary>{text(value[:60])}… {len(value):,} characters</summary>"
            self._add(f"<details>{opened}{text(value)}</details>", start)
            self.end()
        else:
            self._add(f"<i>{text(value)}</i>", start)

    def end(self) -> None:
        """The line ends."""
        if self._line:
            self.contents.append("".join(self._line))
            self._line = []

    def _add(self, content: str, start: int) -> None:
        if not self._line:
            self.starts.append(start)
        self._line.append(content)
