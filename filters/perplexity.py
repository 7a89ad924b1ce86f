"""How surprised a language model is by a text."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.kenlm_filter import KenlmFilter, placed
from obelics_pipeline.filters.kenlm_text import normalized
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class Perplexity(KenlmFilter):
    """Perplexity under a KenLM model of SentencePiece pieces (reference statistic 10; the paper keeps up to 1500).

    `folder` holds `<language>.arpa.bin` and `<language>.sp.model`, as `obelics fit kenlm` writes them and `edugp/kenlm`
    names them. Left out, it is the package's own, of small models: a bound for another model, such as the paper's, does
    not hold for them. With an explicit `folder: null` nothing is measured.
    """

    name: ClassVar[str] = "perplexity"

    def score(self, text: Text) -> float | None:
        """1 and up, rounded to one decimal as the reference does; None where the language has no model."""
        model = self.model_of(text)
        return None if model is None else model.perplexity(normalized(text.text))

    def spans(self, text: Text) -> list[Span]:
        """The tenth of the pieces that are least likely where they stand."""
        model = self.model_of(text)
        return [] if model is None else placed(text.text, model.least_likely(normalized(text.text)))
