"""The share of a text's words that a list holds: what the four filters by word list have in common."""

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span, capped, placed_words
from obelics_pipeline.filters.text import Text
from obelics_pipeline.filters.word_lists import load_lists

WordList = Callable[[str], frozenset[str] | None]


def list_ratio(text: Text, given: dict[str, frozenset[str]], otherwise: WordList) -> float | None:
    """Words in the list of the text's language / words; 0 without words, None where the language has no list.

    `given` are the lists that the config names, by language; `otherwise` finds any other.
    """
    members = _members(text, given, otherwise)
    if members is None:
        return None
    words = text.words
    return statistics.count_members(words, members) / len(words) if words else 0.0


def list_spans(text: Text, given: dict[str, frozenset[str]], otherwise: WordList) -> list[Span]:
    """Where the words that `list_ratio` counts are."""
    members = _members(text, given, otherwise) or frozenset()
    return capped(span for word, span in placed_words(text) if word in members) if members else []


def _members(text: Text, given: dict[str, frozenset[str]], otherwise: WordList) -> frozenset[str] | None:
    language = text.language
    if language is None:
        return None
    return given[language] if language in given else otherwise(language)


@dataclass(frozen=True, config=STRICT)
class WordListRatio:
    """A filter whose lists may be given by the config, and are otherwise those of `bundled`.

    `paths`: word lists by language code (text files, one word a line, or JSON lists), before the bundled ones.
    """

    name: ClassVar[str]
    bundled: ClassVar[WordList]
    paths: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.given  # a list that cannot be read must stop the run before it starts

    @cached_property
    def given(self) -> dict[str, frozenset[str]]:
        """The lists that the config names."""
        return load_lists(self.name, self.paths)

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted(self.paths.values())

    def score(self, text: Text) -> float | None:
        """0 to 1; None where the language has no list."""
        return list_ratio(text, self.given, type(self).bundled)

    def spans(self, text: Text) -> list[Span]:
        """The words that are in the list."""
        return list_spans(text, self.given, type(self).bundled)
