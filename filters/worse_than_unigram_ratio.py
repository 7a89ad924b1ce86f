"""How much of a text a language model finds less likely where it stands than it would be anywhere."""

from functools import cached_property
from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.kenlm_text import normalized
from filters.options import STRICT
from filters.text import Text
from models.perplexity import PerplexityModel, model_files


@dataclass(frozen=True, config=STRICT)
class WorseThanUnigramRatio:
    """Share of pieces whose probability after those before them is lower than their own, after nothing.

    Where a word does not belong, the context makes it less likely, not more. Unlike the mean of perplexity, a share is
    not carried by a few rare words. Measured with the models of the filter perplexity, under the same `folder`; an
    explicit `folder: null` says that there is none, and nothing is measured.
    """

    name: ClassVar[str] = "worse_than_unigram_ratio"
    folder: str | None

    def __post_init__(self) -> None:
        _ = self.models  # a model that cannot be read must stop the run before it starts

    @cached_property
    def models(self) -> dict[str, PerplexityModel]:
        """The models of the folder, by language."""
        return PerplexityModel.load_folder(self.folder, self.name) if self.folder else {}

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return model_files(self.folder, self.name) if self.folder else []

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self.folder else "no model is given (options.folder)"

    def score(self, text: Text) -> float | None:
        """0 to 1; 0 for a text without pieces; None where the language has no model."""
        model = self.models.get(text.language or "")
        return None if model is None else model.worse_than_unigram_ratio(normalized(text.text))
