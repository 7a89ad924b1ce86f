"""The share of a text's words that a list holds: what the four filters by word list have in common."""

from __future__ import annotations

from collections.abc import Callable

from filters import statistics
from filters.text import Text

WordList = Callable[[str], frozenset[str] | None]


def list_ratio(text: Text, given: dict[str, frozenset[str]], otherwise: WordList) -> float | None:
    """Words in the list of the text's language / words; 0 without words, None where the language has no list.

    `given` are the lists that the config names, by language; `otherwise` finds any other.
    """
    language = text.language
    if language is None:
        return None
    members = given[language] if language in given else otherwise(language)
    if members is None:
        return None
    words = text.words
    return statistics.count_members(words, members) / len(words) if words else 0.0
