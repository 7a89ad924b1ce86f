"""How much of a text is the small words that only sentences have."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.word_list_ratio import WordList, WordListRatio
from obelics_pipeline.filters.word_lists import stop_words


@dataclass(frozen=True, config=STRICT)
class StopwordRatio(WordListRatio):
    """Share of stop words among the words (reference statistic 5)."""

    name: ClassVar[str] = "stopword_ratio"
    bundled: ClassVar[WordList] = stop_words
