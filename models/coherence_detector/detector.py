"""The detector of sentences that do not belong together: how likely a program put them so, from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.coherence_detector.comparison import centred_of
from obelics_pipeline.models.coherence_detector.evidence import evidence, names
from obelics_pipeline.models.coherence_detector.reading import FEWEST, read
from obelics_pipeline.models.coherence_detector.sentences import sentences_of, traits_of
from obelics_pipeline.models.coherence_detector.vectors import Vectors
from obelics_pipeline.models.detector_file import read_detector, shipped, write_detector
from obelics_pipeline.models.forest import Forest, score_of

JUMPS = 3  # that are named
_BUNDLED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class CoherenceDetector:
    """Which sentences people write after which, and a forest over what a text has otherwise."""

    vectors: Vectors
    forest: Forest
    about: Mapping[str, Any]  # what it was made of and how, and what it is known to do

    def score(self, text: str) -> float | None:
        """From 0 (a person wrote it in this order) to 1 (a program put it together); None of too few sentences.

        About the share of texts of this score that a program put together, where half of all are of such.
        """
        log_odds = self.log_odds(text)
        return None if log_odds is None else score_of(log_odds)

    def log_odds(self, text: str) -> int | None:
        """The score's, in 1 / `forest.SCALE`."""
        numbers = self.evidence(text)
        return None if numbers is None else self.forest.log_odds_of(numbers)

    def evidence(self, text: str) -> dict[str, float] | None:
        """What the score depends on; None for a text of fewer than eight sentences."""
        found = read(text, self.vectors)
        return None if found is None else evidence(self.vectors, found)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The sentences that follow worst from the one before, the worst first: characters, to one after the last."""
        sentences = sentences_of(text)
        if len(sentences) < FEWEST:
            return []
        follow = self.vectors.follow(self.vectors.read(traits_of(sentences)))
        worst = np.argsort(np.diagonal(centred_of(follow), 1), kind="stable")[:JUMPS]
        return [(sentences[place + 1].begin, sentences[place + 1].end) for place in worst.tolist()]

    @classmethod
    def load(cls, path: Path) -> CoherenceDetector:
        """Read a detector. Raises `UserError` for any other file."""
        return read_detector(path, cls._of, "obelics fit coherence-detector")

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> CoherenceDetector:
        stored = json.loads(arrays["about"].tobytes())
        vectors = Vectors.of_arrays(stored["traits"], arrays)
        forest = Forest.of_arrays(stored["features"], arrays)
        if unknown := sorted(set(forest.features) - names(vectors)):
            raise ValueError(f"it asks for {unknown[0]}, which is no number of this version")
        return cls(vectors, forest, dict(stored["about"]))

    def save(self, path: Path) -> None:
        """Write the detector: the same bytes for the same detector."""
        stored = {"features": self.forest.features, "traits": self.vectors.traits, "about": self.about}
        write_detector(path, stored, {**self.vectors.arrays(), **self.forest.arrays()})


def all_bundled() -> dict[str, str]:
    """Every detector that the package ships, by language."""
    return shipped(_BUNDLED)


@cache
def load(path: str) -> CoherenceDetector:
    """A detector, read once per process."""
    return CoherenceDetector.load(Path(path).expanduser())
