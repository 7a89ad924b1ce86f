"""What a text says again, word for word or with other names and numbers: numbers by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log

import numpy as np

from obelics_pipeline.models.wording_detector.habits import GRAMMAR, UNIT, Habits
from obelics_pipeline.models.wording_detector.sentences import ends
from obelics_pipeline.models.wording_detector.shares import Numbers
from obelics_pipeline.models.wording_detector.vocabulary import NUMBER, Tokens, Whole
from obelics_pipeline.models.wording_detector.wrong import Wrong

_SPANS = (3, 5, 8)  # tokens
_SAID = 5  # tokens that are named where they are said again
_FRAMES = (5, 9)  # tokens, of which those that are seldom are any
_USUAL = 1000  # numbers of words below stand in a frame as themselves
_OPENING = 3  # tokens that a sentence begins with
_ANY = -1
_MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))  # of Fibonacci hashing: Knuth, The Art of Computer Programming 3


def of_what_is_said_again(tokens: Tokens) -> Numbers:
    """Spans, openings of sentences, words and pairs."""
    own, number, is_word = tokens.own, tokens.number, tokens.is_word
    for length in _SPANS:
        yield f"again_{length}", _again(own, length)
    frame = np.where((number > NUMBER) & (number < _USUAL), number, _ANY)
    for length in _FRAMES:
        yield f"frame_again_{length}", _again(frame, length)
    begins = [0, *(np.flatnonzero(ends(tokens)) + 1).tolist()]
    said = own.tolist()
    openings = Counter(tuple(said[place : place + _OPENING]) for place in begins if place + _OPENING <= len(said))
    yield "openings_again", 1 - len(openings) / max(1, openings.total())
    words = max(1, int(np.count_nonzero(is_word)))
    yield "distinct", len(set(own[is_word].tolist())) / words
    meaning = is_word & ~((number > NUMBER) & (number < GRAMMAR))
    times = np.sort(np.unique(own[meaning], return_counts=True)[1])[::-1]
    yield "most_said", int(times[:1].sum()) / words
    yield "three_most_said", int(times[:3].sum()) / words
    both = meaning[:-1] & meaning[1:]
    pairs = np.unique(own[:-1][both] * len(own) + own[1:][both], return_counts=True)[1]
    yield "pair_most_said", int(pairs.max(initial=0)) / words
    yield "said_once", int(np.count_nonzero(times == 1)) / max(1, int(times.sum()))


def _again(numbers: Whole, length: int) -> float:
    """The share of the spans of a length that stand elsewhere in the text too."""
    count = len(numbers) - length + 1
    if count < 1:
        return 0.0
    spans = numbers[:count].copy()
    for place in range(1, length):
        spans = spans * _MULTIPLIER + numbers[place : place + count]  # wraps round, which mixes
    spans.sort()
    return int(np.count_nonzero(spans[1:] == spans[:-1])) / count


def wrong_again(habits: Habits, tokens: Tokens) -> Iterator[Wrong]:
    """Spans of `_SAID` tokens or more that stand in a text more than once, each from a word to where they differ."""
    lower, seldom = tokens.lower, (habits.total - habits.often[tokens.number].astype(np.int64)) / UNIT
    spans = [tuple(lower[place : place + _SAID]) for place in range(len(lower) - _SAID + 1)]
    times = Counter(spans)
    done = 0
    for first, span in enumerate(spans):
        if times[span] > 1 and first >= done and tokens.is_word[first]:
            last = first
            while last + 1 < len(spans) and times[spans[last + 1]] == times[span]:
                last += 1
            done = last + _SAID
            chance = float(seldom[first:done].sum()) - log(len(lower))
            log_odds = chance + log(times[span])
            yield Wrong("words that are said again", first, done - 1, log_odds, times=times[span])
