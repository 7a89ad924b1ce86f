"""How the reference joins the texts of a page: the strongest separator between two texts wins (stage 2c, 3 and 4)."""

from __future__ import annotations

import re

from obelics_pipeline.stages.extract.obelics_rules import SEPARATORS

_WHITE = re.compile(r"[\n\t ]{2,}|[\n\t]")
_TAIL = 64  # characters of a joined text that are kept apart, because its end may still be cut


def format_run(lines: list[list[str]]) -> str:
    """One text between two tags that stay: `lines` are its pieces, cut at `<br>`.

    Newlines and tabs are spaces, spaces are squeezed, each line is stripped, and one space at either end survives.
    """
    texts = [_squeeze("".join(pieces)) for pieces in lines]
    joined = "\n".join([text.strip() for text in texts])
    before = " " if texts[0].startswith(" ") else ""
    after = " " if texts[-1].endswith(" ") and (len(texts) > 1 or len(texts[0]) > 1) else ""
    return before + joined + after


def _squeeze(text: str) -> str:
    return _WHITE.sub(" ", text) if "\n" in text or "  " in text or "\t" in text else text


class JoinedText:
    """Texts joined one after the other, in time linear in their length."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._tail = ""
        self.empty = True

    def add(self, text: str, strength: int) -> None:
        """Join a text; `strength` indexes SEPARATORS and is that of the strongest tag between the two texts."""
        if self.empty:
            self._tail = text
            self.empty = False
            return
        for candidate in (3, 2, 1):
            separator = SEPARATORS[candidate]
            if self._ends_with(separator):
                strength = max(strength, candidate)
                self._tail = self._tail[: -len(separator)]
            if text.startswith(separator):
                strength = max(strength, candidate)
                text = text[len(separator) :]
        self._tail += SEPARATORS[strength] + text
        if len(self._tail) > 2 * _TAIL:
            self._pieces.append(self._tail[:-_TAIL])
            self._tail = self._tail[-_TAIL:]

    def _ends_with(self, separator: str) -> bool:
        if len(self._tail) < len(separator) and self._pieces:
            self._tail = self._pieces.pop() + self._tail
        return self._tail.endswith(separator)

    def take(self) -> str:
        """The whole text, stripped; the object is empty afterwards."""
        self._pieces.append(self._tail)
        whole = "".join(self._pieces).strip()
        self._pieces, self._tail, self.empty = [], "", True
        return whole
