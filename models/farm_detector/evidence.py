"""What the tokens of a text say of the whole: numbers by name, for the forest that decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp, fsum, log

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.network import HEADS, LOG_ODDS_ONE
from obelics_pipeline.models.farm_detector.tokens import (
    BREAK,
    DIGITS,
    FIRST_WORD,
    LOOKS,
    LOWER,
    MARK,
    NOT_KNOWN,
    PARAGRAPH,
    UNKNOWN,
    Read,
    Vocabulary,
)
from obelics_pipeline.models.farm_detector.tokens import BY_STEM as STEM

Numbers = Iterator[tuple[str, float]]

_STEPS, _HIGHEST = 16, 8  # of log odds: steps of one, and where a probability is as good as 0 or 1
_PROBABILITY = np.array([1 / (1 + exp(-n / _STEPS)) for n in range(-_STEPS * _HIGHEST, _STEPS * _HIGHEST + 1)])

MISSING = -2.0  # where there is too little text for a number; no number is below -1
SHARES = (0.25, 0.5, 0.8, 0.95)  # probabilities over which tokens are counted
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
WINDOWS = (16, 48, 128)  # tokens next to each other
_DIVERSITY_WINDOWS = (50, 150)  # words
_REPEATED = (2, 3, 4)  # words of an n-gram
_FUNCTION_WORDS = 150  # the most frequent words carry grammar, not meaning
_SHORTEST_SENTENCE = 4  # tokens
_MOST_WORDS = 1 << 32  # more than any vocabulary has
_ENDS = (".", "!", "?")


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
    places = _Places(read.rows, vocabulary)
    words = np.unique(read.forms[places.is_word], return_inverse=True)[1]
    return dict(
        [
            *_of_heads(log_odds.T / LOG_ODDS_ONE, probability.T.copy()),
            *_of_places(probability, places),
            *_of_looks(read, len(words)),
            *_of_diversity(words),
            *_of_repetition(words),
            *_of_cohesion(read.rows[:, 0], places, topics),
        ]
    )


def probabilities(log_odds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of what the network says; the same on every machine."""
    return _PROBABILITY[_step(log_odds)]


def _step(log_odds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the table of probabilities, which are looked up: exp differs in its last digit between machines."""
    return np.clip(log_odds * _STEPS // LOG_ODDS_ONE, -_STEPS * _HIGHEST, _STEPS * _HIGHEST) + _STEPS * _HIGHEST


class _Places:
    """Where the words are, and where sentences begin."""

    def __init__(self, rows: NDArray[np.int32], vocabulary: Vocabulary) -> None:
        number, looks = rows[:, 0], rows[:, 2]
        self.is_word = looks >= LOWER
        ends = number == PARAGRAPH
        for mark in _ENDS:
            ends |= (number == vocabulary.number(mark)) & (looks == MARK)
        words = np.flatnonzero(self.is_word)
        after = np.searchsorted(words, np.flatnonzero(ends) + 1)
        self.within = self.is_word.copy()
        self.within[words[after[after < len(words)]]] = False
        self.is_begin = self.is_word & ~self.within
        self.begins = np.flatnonzero(self.is_begin)
        self.borders = np.concatenate([[0], self.begins, [len(rows)]])
        self.long = np.diff(self.borders) >= _SHORTEST_SENTENCE


def _of_heads(log_odds: NDArray[np.float64], probability: NDArray[np.float64]) -> Numbers:
    """Means, tails, and the windows that look worst and best, of each head: shapes (heads, tokens)."""
    tokens = log_odds.shape[1]
    columns = zip(HEADS, np.sort(log_odds, axis=1), probability, _running(probability), strict=True)
    for head, values, likely, sums in columns:
        yield f"{head}_mean", _mean(likely)
        yield f"{head}_log_odds", _mean(values)
        for share in SHARES:
            yield f"{head}_over_{share:g}", np.count_nonzero(likely > share) / tokens
        for quantile in QUANTILES:
            yield f"{head}_quantile_{quantile:g}", float(values[int(quantile * (tokens - 1))])
        for window in WINDOWS:
            highest, lowest = _extremes(sums, window)
            yield f"{head}_highest_{window}", highest
            yield f"{head}_lowest_{window}", lowest


def _of_places(probability: NDArray[np.float64], places: _Places) -> Numbers:
    """What does not follow: at the beginning of sentences, where texts are shuffled, and within them."""
    junction, replaced = probability[:, HEADS.index("junction")], probability[:, HEADS.index("replaced")]
    within = junction[places.within]
    yield "junction_at_begins", _mean(junction[places.begins])
    yield "junction_within", _mean(within)
    yield "junction_within_highest", _extremes(_running(within), 32)[0] if len(within) else MISSING
    yield "replaced_words", _mean(replaced[places.is_word])
    yield "sentences_per_token", len(places.begins) / len(probability)


def _of_looks(read: Read, words: int) -> Numbers:
    number, _, looks = read.rows.T
    count = max(1, words)
    kinds = np.bincount(looks, minlength=LOOKS) / len(looks)
    yield "marks", float(kinds[MARK])
    yield "breaks", float(kinds[BREAK])
    yield "numbers", float(kinds[DIGITS])
    yield "unknown_words", np.count_nonzero((number == UNKNOWN) & (looks >= LOWER)) / count
    yield "unknown_lower", np.count_nonzero(looks == LOWER + NOT_KNOWN) / count
    yield "unknown_endings", np.count_nonzero(looks == LOWER + STEM) / count
    yield "capitals", int(read.capitals.sum()) / count
    yield "word_length", int(read.letters.sum()) / count
    yield "log_words", log(count)


def _of_diversity(words: NDArray[np.int64]) -> Numbers:
    """Distinct words in windows of a fixed length, so that long and short texts compare."""
    order = np.argsort(words, kind="stable")
    before = np.full(len(words), -1)  # where a word stood last
    again = words[order[1:]] == words[order[:-1]]
    before[order[1:][again]] = order[:-1][again]
    for window in _DIVERSITY_WINDOWS:
        if len(words) < window:
            yield from ((f"distinct_{window}", MISSING), (f"distinct_{window}_lowest", MISSING))
            continue
        windows = sliding_window_view(before, window)[:: window // 2]
        begins = np.arange(len(windows)) * (window // 2)
        distinct = np.count_nonzero(windows < begins[:, None], axis=1)
        yield f"distinct_{window}", int(distinct.sum()) / (window * len(distinct))
        yield f"distinct_{window}_lowest", int(distinct.min()) / window


def _of_repetition(words: NDArray[np.int64]) -> Numbers:
    """N-grams that occur again, and how much of the text the most frequent one is."""
    distinct = int(words.max(initial=-1)) + 1
    ngrams = words
    for length in _REPEATED:  # each by one longer; 64 bits hold four words of up to 55,000 distinct ones
        ngrams = ngrams[:-1] * distinct + words[length - 1 :]
        times = _times(ngrams)
        most = int(times.max(initial=0))
        yield f"repeated_{length}", 1 - len(times) / len(ngrams) if len(ngrams) else 0.0
        yield f"most_repeated_{length}", most * length / len(words) if most > 1 else 0.0


def _of_cohesion(number: NDArray[np.int32], places: _Places, topics: NDArray[np.int8]) -> Numbers:
    """Whether sentences speak of what the others do: by the topics of their words, and by the words themselves."""
    topic = topics.take(number, axis=0) * places.is_word[:, None]
    of_sentences = np.add.reduceat(topic.astype(np.float32), places.borders[:-1], axis=0)  # whole numbers: exact
    sums = of_sentences[places.long].astype(np.float64)
    if len(sums) < 3:
        values: Iterable[float] = (MISSING,) * 4
    else:
        unit, rest = _unit(sums), _unit(sums.sum(axis=0) - sums)
        nearby, whole = _alike(unit[1:], unit[:-1]), _alike(unit, rest)
        values = (_mean(nearby), _mean(whole), float(np.sort(whole)[len(whole) // 10]), _ahead(unit, nearby))
    yield from zip(("topic_nearby", "topic_whole", "topic_lowest", "topic_order"), values, strict=True)
    meaning = places.is_word & (number >= FIRST_WORD + _FUNCTION_WORDS)
    sentence = np.cumsum(places.long)[np.cumsum(places.is_begin)] - 1  # of long ones, the number of the last
    kept = meaning & places.long[np.cumsum(places.is_begin)]
    yield from _of_shared(sentence[kept], number[kept], int(np.count_nonzero(places.long)))


def _of_shared(sentence: NDArray[np.int64], number: NDArray[np.int32], count: int) -> Numbers:
    """Words that sentences share, of words and the sentences that they stand in."""
    all_said = np.sort(sentence * _MOST_WORDS + number)
    said = all_said[np.diff(all_said, prepend=-1) != 0]
    in_each = np.bincount(said // _MOST_WORDS, minlength=count)
    yield "words_of_the_next", _overlap(said, in_each, 1)
    yield "words_of_the_third", _overlap(said, in_each, 3)
    times = _times(said % _MOST_WORDS)
    yield "words_of_others", int(times[times > 1].sum()) / max(1, len(said))


def _ahead(unit: NDArray[np.float64], nearby: NDArray[np.float64]) -> float:
    """By how much neighbours are more alike than sentences two apart."""
    return _mean(nearby) - _mean(_alike(unit[2:], unit[:-2]))


def _overlap(said: NDArray[np.int64], in_each: NDArray[np.int64], apart: int) -> float:
    """The share of its words that a sentence has in common with one so far from it, on average."""
    if len(in_each) <= apart:
        return MISSING
    there = said + apart * _MOST_WORDS  # the same words, in the other sentence
    found = said[np.minimum(np.searchsorted(said, there), len(said) - 1)] == there if len(said) else []
    both = np.bincount(said[found] // _MOST_WORDS, minlength=len(in_each))
    fewer = np.maximum(1, np.minimum(in_each[apart:], in_each[:-apart]))
    return float(fsum((both[:-apart] / fewer).tolist()) / len(fewer))


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / np.maximum(lengths, 1e-6)


def _alike(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    alike: NDArray[np.float64] = (left * right).sum(axis=1)
    return alike


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else MISSING


def _times(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each value occurs that does."""
    ordered = np.sort(values)
    begins = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return np.diff(np.concatenate([[0], begins, [len(values)]])) if len(values) else np.zeros(0, np.int64)


def _extremes(sums: NDArray[np.float64], window: int) -> tuple[float, float]:
    """The highest and the lowest mean of a window, by running sums; of the whole where it is shorter than one."""
    window = min(window, len(sums) - 1)
    within = sums[window:] - sums[:-window]
    return float(within.max() / window), float(within.min() / window)


def _running(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Sums of all values before each place along the last axis, and of all values."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums
