"""How much of a text is the small words that only sentences have."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.options import STRICT
from filters.word_list_ratio import WordList, WordListRatio
from filters.word_lists import stop_words


@dataclass(frozen=True, config=STRICT)
class StopwordRatio(WordListRatio):
    """Share of stop words among the words (reference statistic 5)."""

    name: ClassVar[str] = "stopword_ratio"
    bundled: ClassVar[WordList] = stop_words
