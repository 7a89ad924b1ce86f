"""How much of a text is words that only pornography has in number."""

from functools import partial
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.word_list_ratio import WordList, WordListRatio
from obelics_pipeline.filters.word_lists import bundled


@dataclass(frozen=True, config=STRICT)
class FlaggedWordRatio(WordListRatio):
    """Share of flagged words among the words (reference statistic 6). Only English has a bundled list."""

    name: ClassVar[str] = "flagged_word_ratio"
    bundled: ClassVar[WordList] = partial(bundled, "flagged")
