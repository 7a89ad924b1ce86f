"""How likely it is that a text was made by a program: a page of a content farm."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.prose import Prose
from obelics_pipeline.filters.spans import Span, capped, joined
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.farm_detector.detector import Detector, all_bundled, load
from obelics_pipeline.models.farm_detector.plain_words import in_plain_words
from obelics_pipeline.models.farm_detector.reasons import reasons, spans

FEWEST = 100  # words of prose: of the texts that judge detectors, none has fewer


@dataclass(frozen=True, config=STRICT)
class FarmScore:
    """From 0 to 1, of the prose of a text (`prose.Prose`).

    `paths`: detectors by language, as `obelics fit detector` makes them. They go before those that the package ships.
    `sha256`: of these files, by language, compared before they are read.
    """

    name: ClassVar[str] = "farm_score"
    paths: dict[str, str] | None = None
    sha256: dict[str, Sha256] | None = None

    def __post_init__(self) -> None:
        for language, expected in (self.sha256 or {}).items():
            check(Path(self._paths.get(language, language)).expanduser(), expected)
        for path in self.files():
            load(path)  # a detector that cannot be read must stop the run before it starts

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted({str(path) for path in self._paths.values()})

    @cached_property
    def _paths(self) -> dict[str, str]:
        return all_bundled() | (self.paths or {})

    def _judged(self, text: Text) -> tuple[Detector, Prose] | None:
        """The detector and what it reads of a text; None where there is no score."""
        path, prose = self._paths.get(text.language or ""), Prose.of(text)
        return None if path is None or len(prose.text.split()) < FEWEST else (load(path), prose)

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self._paths else "no detector is given (options.paths)"

    def score(self, text: Text) -> float | None:
        """None in a language without a detector, and for a text with fewer than 100 words of prose."""
        judged = self._judged(text)
        return None if judged is None else judged[0].score(judged[1].text)

    def spans(self, text: Text) -> list[Span]:
        """The words that `reasons` names and the worst stretch."""
        judged = self._judged(text)
        if judged is None:
            return []
        detector, prose = judged
        return capped(prose.in_whole(joined(sorted(spans(detector, prose.text)))))

    def reasons(self, text: Text) -> Iterator[tuple[str, str, str]]:
        """What made the score: what it is about, a number, and a quote of the text or what would be otherwise."""
        judged = self._judged(text)
        found = None if judged is None else reasons(judged[0], judged[1].text)
        if found is None:
            return
        for suspect in found.suspects:
            yield "word that does not fit", f"{suspect.probability:.2f}", f"{suspect.word}, in “{suspect.quote}”"
        yield "worst stretch", f"{found.stretch.share:.2f}", f"“{found.stretch.quote}”"
        for number in found.numbers:
            otherwise = f"if it were {number.other:.3g}, the score would be {number.score:.3g}"
            yield in_plain_words(number.name), f"{number.value:.3g}", otherwise
