"""Whether a snippet is in a text, whatever its spacing, punctuation and typography."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cached_property

from obelics_pipeline.fit.alignment import UNSPACED

_SHORT = 12  # letters; what has fewer is looked for as whole words, or "ice" would be found in "nice"


class SearchedText:
    """A text that can be asked for snippets."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._letters = _letters(text)

    def has(self, snippet: str) -> bool:
        """Whether the letters and digits of the snippet follow each other in the text. One without any is in none.

        A short snippet must be there as whole words, in its own capitals.
        """
        snippet = html.unescape(snippet)
        letters = _letters(snippet)
        if not letters or letters not in self._letters:
            return False
        if len(letters) >= _SHORT or UNSPACED.search(snippet):
            return True
        return re.search(_whole_words(unicodedata.normalize("NFC", snippet)), self._composed) is not None

    @cached_property
    def _composed(self) -> str:
        return unicodedata.normalize("NFC", self._text)


def _whole_words(snippet: str) -> str:
    return r"(?<!\w)" + r"\s+".join(map(re.escape, snippet.split())) + r"(?!\w)"


def _letters(text: str) -> str:
    """Letters and digits, in one form and one case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
