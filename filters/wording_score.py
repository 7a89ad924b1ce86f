"""How likely it is that a program put words of a text in the place of others."""

from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.device.weight_files import check
from obelics_pipeline.models.wording_detector.detector import all_bundled, load


@dataclass(frozen=True, config=STRICT)
class WordingScore:
    """From 0 to 1. `paths`: detectors by language, of `obelics fit wording-detector` or `phrasing-detector`.

    They go before those that the package ships, which are heads of `farm_score` too. `sha256`: of these files, by
    language, compared before they are read.
    """

    name: ClassVar[str] = "wording_score"
    paths: dict[str, str] = field(default_factory=dict)
    sha256: dict[str, Sha256] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for language, expected in self.sha256.items():
            check(Path(self._paths.get(language, language)).expanduser(), expected)
        for path in self.files():
            load(path)  # a detector that cannot be read must stop the run before it starts

    def files(self) -> list[str]:
        """The files that the scores depend on."""
        return sorted(self._paths.values())

    @cached_property
    def _paths(self) -> dict[str, str]:
        return all_bundled() | self.paths

    @property
    def not_applied(self) -> str | None:
        """Why nothing is measured; None where something is."""
        return None if self._paths else "no detector is given (options.paths)"

    def score(self, text: Text) -> float | None:
        """None in a language without a detector, and for a text of fewer than 50 words."""
        path = self._paths.get(text.language or "")
        return None if path is None else load(path).score(text.text)
