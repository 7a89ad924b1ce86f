"""The detector of generated text: how likely it is that a program made a text, from 0 to 1."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.array_file import json_array, read_arrays
from obelics_pipeline.models.farm_detector.evidence import evidence
from obelics_pipeline.models.farm_detector.network import Network
from obelics_pipeline.models.farm_detector.tokens import Read, Vocabulary, find_tokens
from obelics_pipeline.models.forest import Forest, score_of

TOKENS = 4096  # of the beginning of a text that are read: some 3,500 words
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
        numbers = self.evidence(text)
        return None if numbers is None else score_of(self.forest.log_odds_of(numbers))

    def evidence(self, text: str) -> dict[str, float] | None:
        """What the score depends on; None for a text of too few words."""
        read = self.vocabulary.read(find_tokens(text)[:TOKENS])
        return None if np.count_nonzero(read.letters) < FEWEST_WORDS else self._evidence(read)

    def _evidence(self, read: Read) -> dict[str, float]:
        return evidence(read, self.network.read(read.rows), self.network.topics, self.vocabulary)

    @classmethod
    def load(cls, path: Path) -> Detector:
        """Read a detector. Raises `UserError` for any other file."""
        try:
            return cls._of(read_arrays(path))
        except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"detector {path}: cannot be read ({reason}); obelics fit detector makes one") from None

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
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                allow_pickle=False,
                about=json_array(stored),
                vocabulary=json_array(self.vocabulary.words),
                **self.forest.arrays(),
                **self.network.arrays(),
            )


def bundled(language: str) -> Path | None:
    """The detector that the package ships for a language, if it does."""
    path = _BUNDLED / f"{language}.npz"
    return path if path.is_file() else None


def all_bundled() -> dict[str, str]:
    """Every detector that the package ships, by language."""
    return {path.stem: str(path) for path in sorted(_BUNDLED.glob("*.npz"))}


@cache
def load(path: str) -> Detector:
    """A detector, read once per process (0.1 s)."""
    return Detector.load(Path(path).expanduser())
