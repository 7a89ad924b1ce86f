"""How much of a text is words that only pornography has in number."""

from functools import partial
from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.options import STRICT
from filters.word_list_ratio import WordList, WordListRatio
from filters.word_lists import bundled


@dataclass(frozen=True, config=STRICT)
class FlaggedWordRatio(WordListRatio):
    """Share of flagged words among the words (reference statistic 6). Only English has a bundled list."""

    name: ClassVar[str] = "flagged_word_ratio"
    bundled: ClassVar[WordList] = partial(bundled, "flagged")
