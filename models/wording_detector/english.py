"""Habits of English: which words of grammar stand for each other is set here, not learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import tokens_of
from obelics_pipeline.models.wording_detector.choices import of_choices, wrong_choices
from obelics_pipeline.models.wording_detector.habits import Habits
from obelics_pipeline.models.wording_detector.pairs import of_pairs, wrong_pairs
from obelics_pipeline.models.wording_detector.reading import read_english
from obelics_pipeline.models.wording_detector.sentences import words_of_a_sentence
from obelics_pipeline.models.wording_detector.vocabulary import Tokens
from obelics_pipeline.models.wording_detector.words import of_words
from obelics_pipeline.models.wording_detector.wrong import Wrong

# Words of grammar that stand for each other: who translates word by word, or at random, takes the wrong one.
_SETS = (
    "of in at by to for from on with about into as",
    "the a an one this that some",
    "is are was were be been am",
    "i you he she it we they",
    "my your his her its our their",
    "and but or so because",
)


@dataclass(frozen=True)
class English(Habits):
    """What words people put next to each other in English."""

    choice_words: ClassVar[tuple[str, ...]] = tuple(word for words in _SETS for word in words.split())
    set_of: ClassVar[NDArray[np.int64]] = np.array([kind for kind, words in enumerate(_SETS) for _ in words.split()])
    tokens_of = staticmethod(tokens_of)

    def read(self, form: str) -> Tokens:
        """Words, numbers and marks of a text in the form that is judged."""
        return read_english(form, self.vocabulary)

    def evidence(self, tokens: Tokens) -> dict[str, float]:
        """Words, pairs and choices: what is usual of pairs depends on the words."""
        return dict(
            [
                *of_words(self, tokens),
                ("words", float(np.count_nonzero(tokens.is_word))),
                ("words_of_a_sentence", words_of_a_sentence(tokens)),
                *of_choices(self, tokens),
                *of_pairs(self, tokens),
            ]
        )

    def wrong(self, tokens: Tokens) -> Iterator[Wrong]:
        """Choices and pairs."""
        yield from wrong_choices(self, tokens)
        yield from wrong_pairs(self, tokens)
