"""How sure the language model is of a text's language."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.language_id import BUNDLED, LanguageModel, model_path


@dataclass(frozen=True, config=STRICT)
class LanguageScore:
    """Probability that a text is in the language of its document (reference statistic 9).

    A document has been identified before any filter, so for it this is the score of `language`. A paragraph is
    identified by itself (`model`: as `language.model`) and scores 0 where it is in another language than its document.
    """

    name: ClassVar[str] = "language_score"
    model: str = BUNDLED

    def __post_init__(self) -> None:
        model_path(self.model)  # a missing model must stop the run before it starts

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return [str(model_path(self.model))]

    def score(self, text: Text) -> float | None:
        """0 to 1."""
        if text.document is not None:
            return text.document.scores.get(self.name)
        language, probability = LanguageModel.load(self.model).predict(text.text)
        return probability if language == text.language else 0.0
