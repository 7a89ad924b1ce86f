"""How much a text is like the documents that somebody wants."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.quality_classifier import POSITIVE, SHIPPED, SHIPPED_LANGUAGE, QualityClassifier


@dataclass(frozen=True, config=STRICT)
class QualityScore:
    """Probability of a label under a fastText classifier of documents (the paper's first selection is of this kind).

    `model` is a file as `obelics fit classifier` writes it, or another fastText classifier with its `label`; it scores
    texts of every language. Left out, it is the package's own, which scores English only: how much a text is like those
    that people wrote, and unlike what content farms make of them. With an explicit `model: null` nothing is
    measured. The paper trained on Wikipedia and OpenWebText against random Common Crawl, and kept 0.5 and more.
    """

    name: ClassVar[str] = "quality_score"
    model: str | None = SHIPPED
    label: str = POSITIVE
    sha256: Sha256 | None = None  # of the model's file, compared before it is read

    def __post_init__(self) -> None:
        if self.sha256 is not None and self.model:
            check(Path(self.model).expanduser(), self.sha256)
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
        """0 to 1; None for a text without a word, and with the package's own model in another language than its own."""
        foreign = self.model == SHIPPED and text.language != SHIPPED_LANGUAGE
        return None if self.classifier is None or foreign else self.classifier.probability(text.text)
