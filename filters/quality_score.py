"""How much a text is like the documents that somebody wants."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.quality_classifier import ENDING, POSITIVE, SHIPPED, QualityClassifier


@dataclass(frozen=True, config=STRICT)
class QualityScore:
    """Probability of a label under a fastText classifier of documents (the paper's first selection is of this kind).

    `model` is a file as `obelics fit classifier` writes it, or another fastText classifier with its `label`; it scores
    texts of every language. A folder has `<language>.ftz`, each for its own language only. Left out, it is the
    package's own folder: how much a text is like those that people wrote, and unlike what content farms make of them.
    With an explicit `model: null` nothing is measured. The paper trained on Wikipedia and OpenWebText against random
    Common Crawl, and kept 0.5 and more.
    """

    name: ClassVar[str] = "quality_score"
    model: str | None = SHIPPED
    label: str = POSITIVE
    sha256: Sha256 | None = None  # of the model's file, compared before it is read

    def __post_init__(self) -> None:
        if self.sha256 is not None and self.model:
            check(Path(self.model).expanduser(), self.sha256)
        _ = self.classifiers  # a model that cannot be read must stop the run before it starts

    @cached_property
    def classifiers(self) -> dict[str | None, QualityClassifier]:
        """The models of the config, by language; None is that of every other language."""
        return {
            file.stem if self._of_languages else None: QualityClassifier.load(str(file), self.label)
            for file in map(Path, self.files())
        }

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        if not self.model:
            return []
        given = Path(self.model).expanduser()
        return sorted(map(str, given.glob(f"*{ENDING}"))) if self._of_languages else [str(given)]

    @property
    def _of_languages(self) -> bool:
        return Path(self.model or "").expanduser().is_dir()

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self.model else "no model is given (options.model)"

    def score(self, text: Text) -> float | None:
        """0 to 1; None for a text without a word, and in a language that a folder has no model for."""
        classifier = self.classifiers.get(text.language if self._of_languages else None)
        return None if classifier is None else classifier.probability(text.text)
