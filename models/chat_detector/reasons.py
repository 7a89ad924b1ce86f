"""What of a text speaks for a chat model."""

from __future__ import annotations

import re

from obelics_pipeline.models.chat_detector.detector import MIX_ONE, ChatDetector
from obelics_pipeline.models.chat_detector.form import form_of, tokens_of
from obelics_pipeline.models.chat_detector.word_habits import heaviest
from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.models.perplexity import PerplexityModel
from obelics_pipeline.models.told import Told

NAMED = 8  # words and pairs that are named


def told(detector: ChatDetector, text: str, model: PerplexityModel | None = None) -> Told:
    """The words and pairs that speak most for one, and the log odds of both parts of the detector; where they stand."""
    found = detector.evidence(text, model)
    if found is None:
        return Told()
    named = heaviest(detector.weights, tokens_of(form_of(text).lower()), NAMED)
    words = f"{detector.mix.words * found.words / MIX_ONE / SCALE:.2f}"
    forest = f"{detector.mix.forest * detector.of_forest(found) / MIX_ONE / SCALE:.2f}"
    measured = "" if found.numbers else "taken from people's: the words settle it"
    what = "style" if model is None else "predictability and style"
    rows = [("word or pair that chat models use", "", one) for one in named]
    rows += [("log odds of all words and pairs", words, ""), (f"log odds by {what}", forest, measured)]
    places = (_pattern(one).search(text) for one in named)
    return Told(rows, [place.span() for place in places if place is not None])


def _pattern(words: str) -> re.Pattern[str]:
    """What finds a word or a pair in a text as it is written."""
    found = r"\s*".join(map(re.escape, words.split()))
    return re.compile(rf"(?<!\w){found}(?!\w)", re.IGNORECASE)
