"""What a text says again, word for word or with other names and numbers: numbers by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

import numpy as np

from obelics_pipeline.models.wording_detector.habits import GRAMMAR, UNIT, Habits
from obelics_pipeline.models.wording_detector.sentences import ends
from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, compiled
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
    said = said_compiled(tokens) if COMPILED else said_in_numpy(tokens)
    *spans, openings, other_openings, words, distinct, most, three_most, pair_most, once, meant = said
    kinds = *(("again", length) for length in _SPANS), *(("frame_again", length) for length in _FRAMES)
    for (name, length), again in zip(kinds, spans, strict=True):
        yield f"{name}_{length}", again / max(1, len(tokens.own) - length + 1)
    words = max(1, words)
    yield "openings_again", 1 - other_openings / max(1, openings)
    yield "distinct", distinct / words
    yield "most_said", most / words
    yield "three_most_said", three_most / words
    yield "pair_most_said", pair_most / words
    yield "said_once", once / max(1, meant)


def said_compiled(tokens: Tokens) -> Sequence[int]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.again(tokens.own, tokens.number, tokens.is_word, tokens.lowered, tokens.lower_begins)


def said_in_numpy(tokens: Tokens) -> Sequence[int]:
    """The same, by NumPy: what both must return.

    Spans and frames of each length that stand earlier in the text too; openings, and how many differ; words, and how
    many differ; of the words of a meaning, how often the most frequent one, three and pair stand there, how many stand
    there once, and all of them.
    """
    own, number, is_word = tokens.own, tokens.number, tokens.is_word
    frame = np.where((number > NUMBER) & (number < _USUAL), number, _ANY)
    begins = [0, *(np.flatnonzero(ends(tokens)) + 1).tolist()]
    said = own.tolist()
    openings = Counter(tuple(said[place : place + _OPENING]) for place in begins if place + _OPENING <= len(said))
    meaning = is_word & ~((number > NUMBER) & (number < GRAMMAR))
    times = np.sort(np.unique(own[meaning], return_counts=True)[1])[::-1]
    both = meaning[:-1] & meaning[1:]
    pairs = np.unique(own[:-1][both] * len(own) + own[1:][both], return_counts=True)[1]
    return [
        *(_again(own, length) for length in _SPANS),
        *(_again(frame, length) for length in _FRAMES),
        openings.total(),
        len(openings),
        int(np.count_nonzero(is_word)),
        len(set(own[is_word].tolist())),
        int(times[:1].sum()),
        int(times[:3].sum()),
        int(pairs.max(initial=0)),
        int(np.count_nonzero(times == 1)),
        int(times.sum()),
    ]


def _again(numbers: Whole, length: int) -> int:
    """How many spans of a length stand earlier in the text too."""
    count = max(0, len(numbers) - length + 1)
    spans = numbers[:count].copy()
    for place in range(1, length):
        spans = spans * _MULTIPLIER + numbers[place : place + count]  # wraps round, which mixes
    spans.sort()
    return int(np.count_nonzero(spans[1:] == spans[:-1]))


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
