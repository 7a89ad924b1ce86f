"""The detector of exchanged words: how likely it is that a program put words in the place of others, from 0 to 1."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.array_file import json_array, read_arrays
from obelics_pipeline.models.chat_detector.form import form_of, tokens_of
from obelics_pipeline.models.forest import Forest, score_of
from obelics_pipeline.models.wording_detector.evidence import evidence, names
from obelics_pipeline.models.wording_detector.habits import Habits

FEWEST_WORDS = 50  # of less there is hardly anything to tell
_BUNDLED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class WordingDetector:
    """What words people put next to each other, and a forest over what a text has otherwise."""

    habits: Habits
    forest: Forest
    about: Mapping[str, Any]  # what it was made of and how, and what it is known to do

    def score(self, text: str) -> float | None:
        """From 0 (the words are a person's) to 1 (a program exchanged some); None for a text of too few words.

        About the share of texts of this score whose words were exchanged, where half of all are of such.
        """
        numbers = self.evidence(text)
        return None if numbers is None else score_of(self.forest.log_odds_of(numbers))

    def evidence(self, text: str) -> dict[str, float] | None:
        """What the score depends on; None for a text of too few words."""
        tokens = read(text)
        return None if tokens is None else evidence(self.habits, tokens)

    @classmethod
    def load(cls, path: Path) -> WordingDetector:
        """Read a detector. Raises `UserError` for any other file."""
        try:
            return cls._of(read_arrays(path))
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"detector {path}: cannot be read ({reason}); obelics fit wording-detector makes one"
            ) from None

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> WordingDetector:
        stored = json.loads(arrays["about"].tobytes())
        habits = Habits.of_arrays(stored["habits"], arrays)
        forest = Forest.of_arrays(stored["features"], arrays)
        if unknown := sorted(set(forest.features) - names(habits)):
            raise ValueError(f"it asks for {unknown[0]}, which is no number of this version")
        return cls(habits, forest, dict(stored["about"]))

    def save(self, path: Path) -> None:
        """Write the detector: the same bytes for the same detector."""
        habits = {"words": self.habits.words, "total": self.habits.total, "paired": self.habits.paired}
        stored = {"features": self.forest.features, "habits": habits, "about": self.about}
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                about=json_array(stored),
                **self.habits.arrays(),
                **self.forest.arrays(),
            )


def read(text: str) -> Sequence[str] | None:
    """Words and marks of a text in the form that is judged; None of too few words."""
    tokens = tokens_of(form_of(text))
    return None if sum(token[0].isalpha() for token in tokens) < FEWEST_WORDS else tokens


def bundled(language: str) -> Path | None:
    """The detector that the package ships for a language, if it does."""
    path = _BUNDLED / f"{language}.npz"
    return path if path.is_file() else None


@cache
def load(path: str) -> WordingDetector:
    """A detector, read once per process."""
    return WordingDetector.load(Path(path).expanduser())
