"""How much of a text a language model finds less likely where it stands than it would be anywhere."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.kenlm_filter import KenlmFilter, placed
from obelics_pipeline.filters.kenlm_text import normalized
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class WorseThanUnigramRatio(KenlmFilter):
    """Share of pieces whose probability after those before them is lower than their own, after nothing.

    Where a word does not belong, the context makes it less likely, not more. Unlike the mean of perplexity, a share is
    not carried by a few rare words. Measured with the models of the filter perplexity, under the same `folder`: left
    out, the package's own for English; with an explicit `folder: null` nothing is measured.
    """

    name: ClassVar[str] = "worse_than_unigram_ratio"

    def score(self, text: Text) -> float | None:
        """0 to 1; 0 for a text without pieces; None where the language has no model."""
        model = self.model_of(text)
        return None if model is None else model.worse_than_unigram_ratio(normalized(text.text))

    def spans(self, text: Text) -> list[Span]:
        """The pieces that are counted."""
        model = self.model_of(text)
        return [] if model is None else placed(text.text, model.worse_than_unigram(normalized(text.text)))
