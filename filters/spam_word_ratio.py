"""How much of a text is the vocabulary of buttons and notices."""

from functools import partial
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.word_list_ratio import WordList, WordListRatio
from obelics_pipeline.filters.word_lists import bundled


@dataclass(frozen=True, config=STRICT)
class SpamWordRatio(WordListRatio):
    """Share of spam words among the words (reference statistic 11). Only English has a bundled list."""

    name: ClassVar[str] = "spam_word_ratio"
    bundled: ClassVar[WordList] = partial(bundled, "spam")
