"""The detector of words that a program chose: how likely it is that one did, from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.chat_detector.form import FEWEST_WORDS, form_of
from obelics_pipeline.models.detector_file import read_detector, shipped, write_detector
from obelics_pipeline.models.forest import Forest, score_of
from obelics_pipeline.models.wording_detector.english import English
from obelics_pipeline.models.wording_detector.habits import Habits
from obelics_pipeline.models.wording_detector.phrasing import Phrasing
from obelics_pipeline.models.wording_detector.vocabulary import Tokens

_BUNDLED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class WordingDetector:
    """What words people put next to each other, and a forest over what a text has otherwise."""

    habits: Habits
    forest: Forest
    about: Mapping[str, Any]  # what it was made of and how, and what it is known to do

    def score(self, text: str) -> float | None:
        """From 0 (the words are a person's) to 1 (a program chose some); None for a text of too few words.

        About the share of texts of this score whose words a program chose, where half of all are of such.
        """
        log_odds = self.log_odds(text)
        return None if log_odds is None else score_of(log_odds)

    def log_odds(self, text: str) -> int | None:
        """The score's, in 1 / `forest.SCALE`."""
        numbers = self.evidence(text)
        return None if numbers is None else self.forest.log_odds_of(numbers)

    def evidence(self, text: str) -> dict[str, float] | None:
        """What the score depends on; None for a text of too few words."""
        tokens = self.read(text)
        return None if tokens is None else self.habits.evidence(tokens)

    def read(self, text: str) -> Tokens | None:
        """Words and marks of a text in the form that is judged; None of too few words."""
        tokens = self.habits.read(form_of(text))
        return tokens if np.count_nonzero(tokens.is_word) >= FEWEST_WORDS else None

    @classmethod
    def load(cls, path: Path) -> WordingDetector:
        """Read a detector of either kind of habits. Raises `UserError` for any other file."""
        return read_detector(path, cls._of, "obelics fit wording-detector or phrasing-detector")

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> WordingDetector:
        stored = json.loads(arrays["about"].tobytes())
        kind = Phrasing if "sets" in arrays else English
        habits = kind.of_file(stored["habits"], arrays)
        forest = Forest.of_arrays(stored["features"], arrays)
        forest.check_features(habits.evidence(habits.read("a")))
        return cls(habits, forest, dict(stored["about"]))

    def save(self, path: Path) -> None:
        """Write the detector: the same bytes for the same detector."""
        stored = {"features": self.forest.features, "habits": self.habits.described, "about": self.about}
        write_detector(path, stored, {**self.habits.arrays, **self.forest.arrays()})


def all_bundled() -> dict[str, str]:
    """Every detector that the package ships with habits of English, by language."""
    return shipped(_BUNDLED)


def all_of_phrasing() -> dict[str, str]:
    """Every detector that the package ships with learned habits of phrasing, by language."""
    return shipped(_BUNDLED / "phrasing")


@cache
def load(path: str) -> WordingDetector:
    """A detector, read once per process."""
    return WordingDetector.load(Path(path).expanduser())
