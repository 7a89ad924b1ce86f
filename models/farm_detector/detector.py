"""The detector of generated text: how likely it is that a program made a text, from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.array_file import json_array
from obelics_pipeline.models.detector_file import read_detector, shipped, write_detector
from obelics_pipeline.models.farm_detector.evidence import evidence
from obelics_pipeline.models.farm_detector.network import Network
from obelics_pipeline.models.farm_detector.tokens import Read, Vocabulary
from obelics_pipeline.models.forest import Forest, score_of

# Tokens of the beginning of a text that are read: some 220 words, and 670 where those do not settle it. Of texts of
# dev.jsonl and of families that the detector has not learned, 4,096 found no more than 768.
BEGINNING, TOKENS = 256, 768
SETTLED = 0  # log odds of the beginning, below which no more is read: five of six honest pages
FEWEST_WORDS = 50  # of less there is hardly anything to tell
_BUNDLED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Detector:
    """Vocabulary, network and forest of one language."""

    language: str
    vocabulary: Vocabulary
    network: Network
    forest: Forest
    about: Mapping[str, Any]  # what it was made of and how, and what it is known to do

    def score(self, text: str) -> float | None:
        """From 0 (somebody wrote it) to 1 (generated), None for a text of too few words.

        About the share of texts of this score that are generated, where half of all are.
        """
        log_odds = self.log_odds(text)
        return None if log_odds is None else score_of(log_odds)

    def log_odds(self, text: str) -> int | None:
        """The score's, in 1 / `forest.SCALE`."""
        numbers = self.evidence(text)
        return None if numbers is None else self.forest.log_odds_of(numbers)

    def evidence(self, text: str) -> dict[str, float] | None:
        """What the score depends on; None for a text of too few words."""
        return None if (found := self.reading(text)) is None else found[1]

    def reading(self, text: str) -> tuple[int, dict[str, float]] | None:
        """How many tokens are read at most, and what they say; None for a text of too few words."""
        begun = self._beginning(text, BEGINNING)
        if begun is not None and self.forest.log_odds_of(begun) < SETTLED:
            return BEGINNING, begun
        whole = self._beginning(text, TOKENS)
        return None if whole is None else (TOKENS, whole)

    def _beginning(self, text: str, tokens: int) -> dict[str, float] | None:
        read = self.vocabulary.read_first(text, tokens)
        return None if np.count_nonzero(read.letters) < FEWEST_WORDS else self._evidence(read)

    def _evidence(self, read: Read) -> dict[str, float]:
        return evidence(read, self.network.read(read.rows), self.network.topics, self.vocabulary)

    @classmethod
    def load(cls, path: Path) -> Detector:
        """Read a detector. Raises `UserError` for any other file."""
        return read_detector(path, cls._of, "obelics fit detector")

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> Detector:
        stored = json.loads(arrays["about"].tobytes())
        words = json.loads(arrays["vocabulary"].tobytes())
        network = Network.of(arrays)
        if len(network.words) != len(Vocabulary(words)):
            raise ValueError(f"{len(words)} words, and a network of {len(network.words)}")
        forest = Forest.of_arrays(stored["features"], arrays)
        made = cls(str(stored["language"]), Vocabulary(map(str, words)), network, forest, dict(stored["about"]))
        if unknown := sorted(set(forest.features) - set(made._evidence(made.vocabulary.read(["."])))):
            raise ValueError(f"it asks for {unknown[0]}, which is no evidence of this version")
        return made

    def save(self, path: Path) -> None:
        """Write the detector: the same bytes for the same detector."""
        stored = {"language": self.language, "features": self.forest.features, "about": self.about}
        write_detector(
            path,
            stored,
            {"vocabulary": json_array(self.vocabulary.words), **self.forest.arrays(), **self.network.arrays()},
        )


def all_bundled() -> dict[str, str]:
    """Every detector that the package ships, by language."""
    return shipped(_BUNDLED)


@cache
def load(path: str) -> Detector:
    """A detector, read once per process (0.1 s)."""
    return Detector.load(Path(path).expanduser())
