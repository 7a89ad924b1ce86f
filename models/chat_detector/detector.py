"""The detector of text that chat models wrote: how likely it is that one did, from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.chat_detector import word_habits
from obelics_pipeline.models.chat_detector.form import FEWEST_WORDS, form_of, tokens_of
from obelics_pipeline.models.chat_detector.predictability import names, numbers_of
from obelics_pipeline.models.chat_detector.style import style_of
from obelics_pipeline.models.chat_detector.word_habits import SLOTS
from obelics_pipeline.models.detector_file import read_detector, shipped, write_detector
from obelics_pipeline.models.forest import Forest, score_of
from obelics_pipeline.models.perplexity import PerplexityModel

MIX_ONE = 1024  # a share of 1 in `Mix`
_BUNDLED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Mix:
    """How much of each log odds is in the detector's, in 1 / `MIX_ONE`, and what is added, as log odds are counted."""

    words: int
    forest: int
    bias: int


@dataclass(frozen=True, slots=True)
class Settled:
    """What words alone settle: where their log odds are below `words`, the forest is taken to say `forest`."""

    words: int
    forest: int


NOTHING = Settled(-(1 << 62), 0)  # is settled by words alone


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is measured of a text: log odds by its words, and numbers for the forest, where words do not settle it."""

    words: int
    numbers: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class ChatDetector:
    """Weights of words, a forest over what a language model foresees and how a text is written, and their mix."""

    weights: NDArray[np.int8]  # of `SLOTS` slots
    unit: int  # a weight of 1
    forest: Forest
    mix: Mix
    settled: Settled
    about: Mapping[str, Any]  # what it was made of and how, and what it is known to do

    def __post_init__(self) -> None:
        """Raises ValueError for weights of another type or shape: files of others are not trusted."""
        if self.weights.dtype != np.int8 or self.weights.shape != (SLOTS,) or self.unit < 1:
            raise ValueError(f"weights: {self.weights.dtype} of shape {self.weights.shape}, not int8 of ({SLOTS},)")

    @property
    def needs_model(self) -> bool:
        """Whether the forest asks how predictable a text is: without a language model there is no score then."""
        return not set(self.forest.features) <= set(style_of([]))

    def score(self, text: str, model: PerplexityModel | None) -> float | None:
        """From 0 (a person wrote it) to 1 (a chat model did); None for a text of too few words.

        About the share of texts of this score that chat models wrote, where half of all are theirs.
        """
        said = self.log_odds(text, model)
        return None if said is None else score_of(said)

    def log_odds(self, text: str, model: PerplexityModel | None = None) -> int | None:
        """The score's, in 1 / `SCALE`."""
        found = self.evidence(text, model)
        return None if found is None else self.mixed(found)

    def evidence(self, text: str, model: PerplexityModel | None) -> Evidence | None:
        """What the score depends on; None for a text of too few words."""
        form = form_of(text)
        read = word_habits.read(self.weights, form)
        if read.words < FEWEST_WORDS:
            return None
        words = read.log_odds(self.unit)
        if words < self.settled.words:
            return Evidence(words, None)
        numbers = numbers_for_forest(form, tokens_of(form), model)
        return None if numbers is None else Evidence(words, numbers)

    def mixed(self, found: Evidence) -> int:
        """The log odds of both parts together, in 1 / `SCALE`."""
        return (self.mix.words * found.words + self.mix.forest * self.of_forest(found)) // MIX_ONE + self.mix.bias

    def of_forest(self, found: Evidence) -> int:
        """The log odds by how predictable a text is and how it is written, before they are mixed, in 1 / `SCALE`."""
        if found.numbers is None:
            return self.settled.forest
        return self.forest.log_odds_of(found.numbers)

    @classmethod
    def load(cls, path: Path) -> ChatDetector:
        """Read a detector. Raises `UserError` for any other file."""
        return read_detector(path, cls._of, "obelics fit chat-detector")

    @classmethod
    def _of(cls, arrays: Mapping[str, NDArray[Any]]) -> ChatDetector:
        stored = json.loads(arrays["about"].tobytes())
        forest = Forest.of_arrays(stored["features"], arrays)
        forest.check_features(names_of_numbers())
        mix = Mix(**{name: int(value) for name, value in stored["mix"].items()})
        settled = Settled(**{name: int(value) for name, value in stored["settled"].items()})
        return cls(arrays["weights"], int(stored["unit"]), forest, mix, settled, dict(stored["about"]))

    def save(self, path: Path) -> None:
        """Write the detector: the same bytes for the same detector."""
        stored = {
            "features": self.forest.features,
            "unit": self.unit,
            "mix": asdict(self.mix),
            "settled": asdict(self.settled),
            "about": self.about,
        }
        write_detector(path, stored, {"weights": self.weights, **self.forest.arrays()})


def numbers_for_forest(form: str, tokens: Sequence[str], model: PerplexityModel | None) -> dict[str, float] | None:
    """How a text in the form that is judged is written, and with a model how predictable; None of too few pieces."""
    numbers = {} if model is None else numbers_of(model.read(form))
    return None if numbers is None else numbers | style_of(tokens)


def names_of_numbers() -> set[str]:
    """Those that a forest may ask for."""
    return names() | set(style_of([]))


def all_bundled() -> dict[str, str]:
    """Every detector that the package ships and that needs a language model, by language."""
    return shipped(_BUNDLED)


def all_without_model() -> dict[str, str]:
    """Every detector that the package ships and that needs no language model, by language."""
    return shipped(_BUNDLED / "without_model")


@cache
def load_without_model(path: str) -> ChatDetector:
    """A detector that needs no language model, read once per process. Raises UserError for another."""
    found = load(path)
    if found.needs_model:
        raise UserError(f"detector {path}: it needs KenLM, so give it to chat_score; obelics fit makes one without")
    return found


@cache
def load(path: str) -> ChatDetector:
    """A detector, read once per process."""
    return ChatDetector.load(Path(path).expanduser())
