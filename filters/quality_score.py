"""How much a text is like the documents that somebody wants."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from filters.options import STRICT
from filters.text import Text
from models.quality_classifier import POSITIVE, QualityClassifier


@dataclass(frozen=True, config=STRICT)
class QualityScore:
    """Probability of a label under a fastText classifier of documents (the paper's first selection is of this kind).

    `model` is a file as `obelics fit classifier` writes it, or another fastText classifier with its `label`. It must be
    given; an explicit `model: null` says that there is none, and nothing is measured. The paper trained on Wikipedia
    and OpenWebText against random Common Crawl, and kept 0.5 and more.
    """

    name: ClassVar[str] = "quality_score"
    model: str | None
    label: str = POSITIVE

    def __post_init__(self) -> None:
        _ = self.classifier  # a model that cannot be read must stop the run before it starts

    @cached_property
    def classifier(self) -> QualityClassifier | None:
        """The model of the config."""
        return QualityClassifier.load(self.model, self.label) if self.model else None

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return [str(Path(self.model).expanduser())] if self.model else []

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self.model else "no model is given (options.model)"

    def score(self, text: Text) -> float | None:
        """0 to 1; None for a text without a word."""
        return self.classifier.probability(text.text) if self.classifier else None
