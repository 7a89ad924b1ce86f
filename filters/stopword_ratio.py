"""How much of a text is the small words that only sentences have."""

from dataclasses import field
from functools import cached_property
from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.options import STRICT
from filters.text import Text
from filters.word_list_ratio import list_ratio
from filters.word_lists import load_lists, stop_words


@dataclass(frozen=True, config=STRICT)
class StopwordRatio:
    """Share of stop words among the words (reference statistic 5).

    `paths`: word lists by language code (text files, one word a line, or JSON lists), before the bundled ones.
    """

    name: ClassVar[str] = "stopword_ratio"
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
        return list_ratio(text, self.given, stop_words)
