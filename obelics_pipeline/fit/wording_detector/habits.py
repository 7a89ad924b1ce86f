"""How people put words next to each other, counted in trusted texts: of English, and of any language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obelics_pipeline.fit.wording_detector.alike import sets_of
from obelics_pipeline.fit.wording_detector.counting import Counted
from obelics_pipeline.fit.wording_detector.shapes import count_shapes
from obelics_pipeline.fit.wording_detector.subjects import subjects_of
from obelics_pipeline.models.wording_detector.english import English
from obelics_pipeline.models.wording_detector.phrasing import Phrasing
from obelics_pipeline.models.wording_detector.vocabulary import FIRST

CHOSEN = 60  # words of grammar that are parted into sets: English has about as many that stand for each other


def count_english(texts: Sequence[str], words: int, paired: int) -> English:
    """Those of texts: of the `words` most frequent words and marks, and the pairs of the `paired` most frequent."""
    counted = Counted.of(texts, English.tokens_of, words)
    return English(**counted.tables(paired, English.choice_words))


def count_phrasing(texts: Sequence[str], words: int, paired: int) -> Phrasing:
    """Those of texts, as `count_english` has them; which words stand for each other is learned as well."""
    counted = Counted.of(texts, Phrasing.tokens_of, words)
    known = counted.vocabulary.words
    is_word = np.array([False] * FIRST + [word[0].isalpha() for word in known])
    chosen = np.flatnonzero(is_word)[:CHOSEN]
    sets = np.full(len(is_word), -1, np.int8)
    sets[chosen] = sets_of(counted.rows, chosen.tolist(), len(is_word))
    return Phrasing(
        **counted.tables(paired, [known[number - FIRST] for number in chosen.tolist() if sets[number] >= 0]),
        sets=sets,
        shapes=count_shapes(counted),
        subject=subjects_of(counted.rows, is_word),
    )
