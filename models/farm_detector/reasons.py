"""Why a text has the score that it has: its least likely words, its worst stretch, and the numbers that decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.detector import Detector
from obelics_pipeline.models.farm_detector.evidence import probabilities
from obelics_pipeline.models.farm_detector.network import HEADS
from obelics_pipeline.models.farm_detector.plain_words import in_plain_words
from obelics_pipeline.models.farm_detector.tokens import find_spans, is_word, lowered
from obelics_pipeline.models.forest import Forest, score_of
from obelics_pipeline.models.told import Told

SUSPECTS = 10  # words that are named
STRETCH = 16  # tokens of the stretch that is quoted: the shortest window of the evidence
NUMBERS = 3  # numbers that are named
_AROUND = 3  # tokens on either side of a word that is named


@dataclass(frozen=True, slots=True)
class Suspect:
    """A word that is hardly the writer's, where it is least likely to be."""

    word: str
    quote: str  # with the words around it
    probability: float  # that it was put in another one's place
    span: tuple[int, int]  # characters of the text, from the first to one after the last


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens next to each other of which more than anywhere else are wrong."""

    quote: str
    share: float  # of its tokens, as expected, that are another's or do not follow
    span: tuple[int, int]  # as that of a suspect


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the evidence that speaks for a program, told by what the score would be were it another."""

    name: str
    value: float
    other: float  # the value, among all that the forest tells apart, with which the score would be lowest
    score: float  # with it


@dataclass(frozen=True, slots=True)
class Reasons:
    """What made a score, the weightiest first. `numbers` are fewer where fewer of them raise the score."""

    score: float
    suspects: Sequence[Suspect]
    stretch: Stretch
    numbers: Sequence[Number]


def reasons(detector: Detector, text: str) -> Reasons | None:
    """What made the score of a text; None where it has none. Quotes are the text's own and are not made safe."""
    read = detector.reading(text)
    if read is None:
        return None
    tokens, evidence = read
    score = score_of(detector.forest.log_odds_of(evidence))
    suspects, stretch = _named(detector, text, tokens)
    numbers = _deciding(detector.forest, [evidence[name] for name in detector.forest.features], score)
    return Reasons(score, suspects, stretch, numbers)


def told(detector: Detector, text: str) -> Told:
    """The reasons in rows, and where the words and the stretch stand."""
    found = reasons(detector, text)
    if found is None:
        return Told()
    rows = [
        ("word that does not fit", f"{one.probability:.2f}", f"{one.word}, in “{one.quote}”") for one in found.suspects
    ]
    rows.append(("worst stretch", f"{found.stretch.share:.2f}", f"“{found.stretch.quote}”"))
    for number in found.numbers:
        otherwise = f"if it were {number.other:.3g}, this head would say {number.score:.3g}"
        rows.append((in_plain_words(number.name), f"{number.value:.3g}", otherwise))
    return Told(rows, [*(one.span for one in found.suspects), found.stretch.span])


def _named(detector: Detector, text: str, count: int) -> tuple[list[Suspect], Stretch]:
    """The words and the stretch of the first so many tokens of a text that has a score."""
    places = find_spans(text)[:count]
    tokens = [text[begin:end] for begin, end in places]
    likely = probabilities(detector.network.read(detector.vocabulary.read(tokens).rows))
    replaced, junction = likely[:, HEADS.index("replaced")], likely[:, HEADS.index("junction")]
    quotes = _Quotes(text, places)
    return list(_suspects(tokens, replaced, quotes)), _worst(1 - (1 - replaced) * (1 - junction), quotes)


class _Quotes:
    """The text from token to token."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        self._text, self._spans = text, spans

    def of(self, begin: int, end: int) -> str:
        """The text from one token to before another, with a space for each gap between words."""
        first, last = self.span(begin, end)
        return " ".join(self._text[first:last].split())

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """The characters from one token to before another."""
        return self._spans[max(0, begin)][0], self._spans[min(end, len(self._spans)) - 1][1]


def _suspects(tokens: Sequence[str], replaced: NDArray[np.float64], quotes: _Quotes) -> Iterator[Suspect]:
    """Different words, each where it is least likely."""
    named: set[str] = set()
    for place in np.argsort(-replaced, kind="stable").tolist():
        word = tokens[place]
        if is_word(word) and lowered(word) not in named and len(named) < SUSPECTS:
            named.add(lowered(word))
            quote = quotes.of(place - _AROUND, place + _AROUND + 1)
            yield Suspect(word, quote, round(float(replaced[place]), 2), quotes.span(place, place + 1))


def _worst(wrong: NDArray[np.float64], quotes: _Quotes) -> Stretch:
    window = min(STRETCH, len(wrong))
    sums = np.concatenate([[0.0], np.cumsum(wrong)])
    means = (sums[window:] - sums[:-window]) / window
    begin = int(np.argmax(means))
    share = round(float(means[begin]), 2)
    return Stretch(quotes.of(begin, begin + window), share, quotes.span(begin, begin + window))


def _deciding(forest: Forest, values: Sequence[float], score: float) -> list[Number]:
    """The numbers with which the score falls furthest if each alone is another."""
    found = [_best_other(forest, np.array(values, np.float32), place) for place in range(len(values))]
    lower = [number for number in found if number is not None and number.score < score]
    return sorted(lower, key=lambda number: (number.score, number.name))[:NUMBERS]


def _best_other(forest: Forest, values: NDArray[np.float32], place: int) -> Number | None:
    """Of all values that the forest tells apart, that with the lowest score, the nearest of several."""
    bounds = np.unique(forest.nodes["threshold"][forest.nodes["feature"] == place])
    if not len(bounds):
        return None
    others = np.append(bounds, np.nextafter(bounds[-1], np.float32(np.inf)))  # a bound itself goes to the left
    rows = np.repeat(values[None], len(others), axis=0)
    rows[:, place] = others
    log_odds = forest.log_odds(rows)
    best = min(range(len(others)), key=lambda n: (int(log_odds[n]), abs(float(others[n] - values[place]))))
    return Number(forest.features[place], float(values[place]), float(others[best]), score_of(int(log_odds[best])))
