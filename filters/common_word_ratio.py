"""How much of a text is words that are known to exist."""

from functools import cached_property
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.filters.text import Text
from obelics_pipeline.filters.word_list_ratio import list_ratio, list_spans
from obelics_pipeline.filters.word_lists import load_lists


@dataclass(frozen=True, config=STRICT)
class CommonWordRatio:
    """Share of common words among the words (reference statistic 8).

    The reference's list was never published, so `paths`, word lists by language code, must be given. The paper's way to
    make one: words that are seen at least twice in 10 million documents, lower-cased, without punctuation. With an
    explicit `paths: null` nothing is measured.
    """

    name: ClassVar[str] = "common_word_ratio"
    paths: dict[str, str] | None

    def __post_init__(self) -> None:
        _ = self.given  # a list that cannot be read must stop the run before it starts

    @cached_property
    def given(self) -> dict[str, frozenset[str]]:
        """The lists that the config names."""
        return load_lists(self.name, self.paths or {})

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self.paths else "no word list is given (options.paths)"

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted((self.paths or {}).values())

    def score(self, text: Text) -> float | None:
        """0 to 1; None where the language has no list."""
        return list_ratio(text, self.given, _no_list)

    def spans(self, text: Text) -> list[Span]:
        """The common words."""
        return list_spans(text, self.given, _no_list)


def _no_list(language: str) -> None:
    return None
