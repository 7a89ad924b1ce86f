"""Habits of any language that parts words by blanks: all of them are learned from trusted texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.array_file import json_array
from obelics_pipeline.models.wording_detector.again import of_what_is_said_again, wrong_again
from obelics_pipeline.models.wording_detector.choices import of_choices, wrong_choices
from obelics_pipeline.models.wording_detector.habits import SETS, Habits
from obelics_pipeline.models.wording_detector.pairs import of_pairs, wrong_pairs
from obelics_pipeline.models.wording_detector.reading import read_any
from obelics_pipeline.models.wording_detector.sentences import of_sentences, words_of_a_sentence
from obelics_pipeline.models.wording_detector.shapes import Shapes, of_shapes, wrong_shapes
from obelics_pipeline.models.wording_detector.subjects import of_subjects
from obelics_pipeline.models.wording_detector.tokens import tokens_of
from obelics_pipeline.models.wording_detector.vocabulary import FIRST, Tokens
from obelics_pipeline.models.wording_detector.words import of_words
from obelics_pipeline.models.wording_detector.wrong import Wrong


@dataclass(frozen=True)
class Phrasing(Habits):
    """What words people put next to each other, which of their shapes agree, and which are of one subject.

    `sets`: of each number the set of words that stand for each other, or -1, shape (numbers,). `subject`: a direction
    of each number, the same for words of one subject, shape (numbers, directions), zero for words of grammar.
    """

    sets: NDArray[np.int8]
    shapes: Shapes
    subject: NDArray[np.int8]

    def __post_init__(self) -> None:
        """Raises ValueError for tables of other shapes: files of others are not trusted."""
        known = len(self.vocabulary)
        if self.sets.shape != (known,) or self.subject.shape[:-1] != (known,):
            raise ValueError(f"tables of {self.sets.shape}, {self.subject.shape} for {known} words")
        if not -1 <= int(self.sets.min()) <= int(self.sets.max()) < SETS:
            raise ValueError(f"sets: valid are -1 to {SETS - 1}")
        if self.shapes.shaped > known:
            raise ValueError(f"{self.shapes.shaped} shapes for {known} words")
        super().__post_init__()

    tokens_of = staticmethod(tokens_of)

    @cached_property
    def choice_words(self) -> tuple[str, ...]:
        """The words of grammar that are in a set."""
        words = self.vocabulary.words
        return tuple(words[place] for place in np.flatnonzero(self.sets[FIRST:] >= 0).tolist())

    @cached_property
    def set_of(self) -> NDArray[np.int8]:
        """The set of each of these."""
        return self.sets[FIRST:][self.sets[FIRST:] >= 0]

    def read(self, form: str) -> Tokens:
        """Words, numbers and marks of a text in the form that is judged."""
        return read_any(form, self.vocabulary)

    def evidence(self, tokens: Tokens) -> dict[str, float]:
        """Words, sentences and what they say again, choices and pairs, shapes and subjects.

        Words that were exchanged stand beside words that people do not put there, and their endings do not agree. In a
        chain words that stand near each other agree and others do not, and nobody closes its brackets. A form says the
        same again.
        """
        return dict(
            [
                *of_words(self, tokens),
                ("words_of_a_sentence", words_of_a_sentence(tokens)),
                *of_sentences(tokens),
                *of_choices(self, tokens),
                *of_pairs(self, tokens),
                *of_shapes(self.shapes, tokens),
                *of_subjects(self.subject, tokens),
                *of_what_is_said_again(tokens),
            ]
        )

    def wrong(self, tokens: Tokens) -> Iterator[Wrong]:
        """Choices and pairs, words that do not agree, and what is said again."""
        yield from wrong_choices(self, tokens)
        yield from wrong_pairs(self, tokens)
        yield from wrong_shapes(self.shapes, tokens)
        yield from wrong_again(self, tokens)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file holds of them as arrays."""
        shape = json_array({"shaped": self.shapes.shaped, "endings": self.shapes.endings})
        own = {"sets": self.sets, "agree": self.shapes.agree, "subject": self.subject, "shape": shape}
        return super().arrays | own

    @staticmethod
    def _more(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        shape = json.loads(arrays["shape"].tobytes())
        shapes = Shapes(int(shape["shaped"]), tuple(map(str, shape["endings"])), arrays["agree"])
        return {"sets": arrays["sets"], "shapes": shapes, "subject": arrays["subject"]}
