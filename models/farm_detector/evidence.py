"""What the tokens of a text say of the whole: numbers by name, for the forest that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, fsum, log

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.counts import REPEATED, WINDOWS, Counts, count
from obelics_pipeline.models.farm_detector.heads import NAMES, columns, extremes, running
from obelics_pipeline.models.farm_detector.network import HEADS, LOG_ODDS_ONE
from obelics_pipeline.models.farm_detector.sentences import Sentences, sentences_of
from obelics_pipeline.models.farm_detector.tokens import Read, Vocabulary

Numbers = Iterator[tuple[str, float]]

_STEPS, _HIGHEST = 16, 8  # of log odds: steps of one, and where a probability is as good as 0 or 1
_PROBABILITY = np.array([1 / (1 + exp(-n / _STEPS)) for n in range(-_STEPS * _HIGHEST, _STEPS * _HIGHEST + 1)])

MISSING = -2.0  # where there is too little text for a number; no number is below -1


def evidence(
    read: Read,
    log_odds: NDArray[np.int64],
    topics: NDArray[np.int8],
    vocabulary: Vocabulary,
) -> dict[str, float]:
    """All numbers of a text with at least one token.

    `read` are the tokens as the vocabulary reads them, `log_odds` what the network says of them, `topics` its table.
    """
    probability = probabilities(log_odds)
    sentences = sentences_of(read.rows, topics, vocabulary)
    counts = count(read)
    return dict(
        [
            *_of_heads(np.ascontiguousarray(log_odds.T) / LOG_ODDS_ONE, np.ascontiguousarray(probability.T)),
            *_of_places(probability, sentences),
            *_of_looks(counts),
            *_of_diversity(counts),
            *_of_repetition(counts),
            *_of_cohesion(sentences),
        ]
    )


def probabilities(log_odds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of what the network says; the same on every machine."""
    return _PROBABILITY[_step(log_odds)]


def _step(log_odds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the table of probabilities, which are looked up: exp differs in its last digit between machines."""
    return np.clip(log_odds * _STEPS // LOG_ODDS_ONE, -_STEPS * _HIGHEST, _STEPS * _HIGHEST) + _STEPS * _HIGHEST


def _of_heads(log_odds: NDArray[np.float64], probability: NDArray[np.float64]) -> Numbers:
    """What each head says, of arrays of shape (heads, tokens)."""
    for head, row in zip(HEADS, columns(log_odds, probability).tolist(), strict=True):
        yield from zip([f"{head}_{name}" for name in NAMES], row, strict=True)


def _of_places(probability: NDArray[np.float64], found: Sentences) -> Numbers:
    """What does not follow: at the beginning of sentences, where texts are shuffled, and within them."""
    junction, replaced = probability[:, HEADS.index("junction")], probability[:, HEADS.index("replaced")]
    within = junction[found.within]
    yield "junction_at_begins", _mean(junction[found.begins])
    yield "junction_within", _mean(within)
    yield "junction_within_highest", float(extremes(running(within), 32)[0]) if len(within) else MISSING
    yield "replaced_words", _mean(replaced[found.words])
    yield "sentences_per_token", len(found.begins) / len(probability)


def _of_looks(c: Counts) -> Numbers:
    count = max(1, c.words)
    yield "marks", c.marks / c.tokens
    yield "breaks", c.breaks / c.tokens
    yield "numbers", c.numbers / c.tokens
    yield "unknown_words", c.unknown_words / count
    yield "unknown_lower", c.unknown_lower / count
    yield "unknown_endings", c.unknown_endings / count
    yield "capitals", c.capitals / count
    yield "word_length", c.letters / count
    yield "log_words", log(count)


def _of_diversity(c: Counts) -> Numbers:
    """Distinct words in windows of a fixed length."""
    found = (c.windows_50, c.distinct_50, c.lowest_50), (c.windows_150, c.distinct_150, c.lowest_150)
    for window, (windows, distinct, lowest) in zip(WINDOWS, found, strict=True):
        yield f"distinct_{window}", distinct / (window * windows) if windows else MISSING
        yield f"distinct_{window}_lowest", lowest / window if windows else MISSING


def _of_repetition(c: Counts) -> Numbers:
    """N-grams that occur again, and how much of the text the most frequent one is."""
    found = (c.different_2, c.most_2), (c.different_3, c.most_3), (c.different_4, c.most_4)
    for length, (different, most) in zip(REPEATED, found, strict=True):
        ngrams = c.words - length + 1
        yield f"repeated_{length}", 1 - different / ngrams if ngrams > 0 else 0.0
        yield f"most_repeated_{length}", most * length / c.words if most > 1 else 0.0


def _of_cohesion(found: Sentences) -> Numbers:
    """Whether sentences speak of what the others do: by the topics of their words, and by the words themselves."""
    sums = found.topics
    if len(sums) < 3:
        values: Iterable[float] = (MISSING,) * 4
    else:
        unit, rest = _unit(sums), _unit(sums.sum(axis=0) - sums)
        nearby, whole = _alike(unit[1:], unit[:-1]), _alike(unit, rest)
        values = (_mean(nearby), _mean(whole), float(np.sort(whole)[len(whole) // 10]), _ahead(unit, nearby))
    yield from zip(("topic_nearby", "topic_whole", "topic_lowest", "topic_order"), values, strict=True)
    in_each = found.in_each.tolist()
    yield "words_of_the_next", _overlap(found.next.tolist(), in_each, in_each[1:])
    yield "words_of_the_third", _overlap(found.third.tolist(), in_each, in_each[3:])
    yield "words_of_others", found.of_others / max(1, found.said)


def _ahead(unit: NDArray[np.float64], nearby: NDArray[np.float64]) -> float:
    """By how much neighbours are more alike than sentences two apart."""
    return _mean(nearby) - _mean(_alike(unit[2:], unit[:-2]))


def _overlap(both: Sequence[int], one: Sequence[int], other: Sequence[int]) -> float:
    """The share of its words that a sentence has in common with another one, on average."""
    if not other:
        return MISSING
    return fsum(b / max(1, min(first, second)) for b, first, second in zip(both, one, other, strict=False)) / len(other)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / np.maximum(lengths, 1e-6)


def _alike(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    alike: NDArray[np.float64] = (left * right).sum(axis=1)
    return alike


def _mean(values: NDArray[np.float64]) -> float:
    return float(np.add.reduce(values) / len(values)) if len(values) else MISSING  # as `mean` does, in half the time
