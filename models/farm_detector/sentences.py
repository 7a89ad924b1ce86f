"""Where the sentences of a text are, and which topics and words they have; compiled where that was built."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.tokens import FIRST_WORD, LOWER, MARK, PARAGRAPH, Vocabulary

try:
    from obelics_pipeline.models.farm_detector import _sentences as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

_ENDS = (".", "!", "?")
_SHORTEST = 4  # tokens of a sentence that is judged
_MEANING = FIRST_WORD + 150  # the 150 most frequent words carry grammar, not meaning
_MOST_WORDS = 1 << 32  # more than any vocabulary has

Whole = NDArray[np.int64]


class Sentences(NamedTuple):
    """Tokens by their places; what follows is of the sentences of at least `_SHORTEST` tokens, the judged ones.

    A word stands in a sentence once, and words of grammar do not count.
    """

    begins: Whole  # words that begin a sentence
    within: Whole  # all others
    words: Whole
    topics: NDArray[np.float64]  # sums of those of a sentence's words: shape (sentences, topics)
    in_each: Whole  # words of each sentence
    next: Whole  # words that the sentence after it has too, of each but the last
    third: Whole  # the same of the third after it
    said: int  # all words
    of_others: int  # those that another sentence has too


def sentences_of(rows: NDArray[np.int32], topics: NDArray[np.int8], vocabulary: Vocabulary) -> Sentences:
    """Those of tokens as the vocabulary reads them; `topics` has a row for each number of a word."""
    ends = np.array([vocabulary.number(mark) for mark in _ENDS], np.int32)
    return sentences_compiled(rows, topics, ends) if COMPILED else sentences_in_numpy(rows, topics, ends)


def sentences_compiled(rows: NDArray[np.int32], topics: NDArray[np.int8], ends: NDArray[np.int32]) -> Sentences:
    """The same, by the compiled part, where `COMPILED`; `ends` are the numbers of the marks that end a sentence.

    Raises ValueError for a number without topics.
    """
    width = topics.shape[1]
    found = compiled.read(rows, topics, width, ends, _MEANING)
    return Sentences(
        begins=_whole(found[0]),
        within=_whole(found[1]),
        words=_whole(found[2]),
        topics=np.frombuffer(found[3], np.float64).reshape(-1, width),
        in_each=_whole(found[4]),
        next=_whole(found[5]),
        third=_whole(found[6]),
        said=found[7],
        of_others=found[8],
    )


def _whole(found: bytes) -> Whole:
    return np.frombuffer(found, np.int64)


def sentences_in_numpy(rows: NDArray[np.int32], topics: NDArray[np.int8], ends: NDArray[np.int32]) -> Sentences:
    """The same, by NumPy: what both must return."""
    number, looks = rows[:, 0], rows[:, 2]
    is_word = looks >= LOWER
    words = np.flatnonzero(is_word)
    is_end = (number == PARAGRAPH) | (np.isin(number, ends) & (looks == MARK))
    first = np.searchsorted(words, np.flatnonzero(is_end) + 1)
    is_begin = np.zeros(len(rows), bool)
    is_begin[words[first[first < len(words)]]] = True
    begins = np.flatnonzero(is_begin)
    borders = np.concatenate([[0], begins, [len(rows)]])
    judged = np.diff(borders) >= _SHORTEST
    topic = topics.take(number, axis=0) * is_word[:, None]
    sums = np.add.reduceat(topic.astype(np.float64), borders[:-1], axis=0)[judged]  # whole numbers: exact
    sentence = np.cumsum(is_begin)
    kept = is_word & (number >= _MEANING) & judged[sentence]
    said = np.unique((np.cumsum(judged) - 1)[sentence[kept]] * _MOST_WORDS + number[kept])
    in_each = np.bincount(said // _MOST_WORDS, minlength=len(sums))
    times = np.unique(said % _MOST_WORDS, return_counts=True)[1]
    within = np.flatnonzero(is_word & ~is_begin)
    after, third = (_shared(said, in_each, apart) for apart in (1, 3))
    return Sentences(begins, within, words, sums, in_each, after, third, len(said), int(times[times > 1].sum()))


def _shared(said: Whole, in_each: Whole, apart: int) -> Whole:
    """How many words each sentence has in common with the one so far after it."""
    found = said[np.isin(said + apart * _MOST_WORDS, said)]
    return np.bincount(found // _MOST_WORDS, minlength=len(in_each))[: max(0, len(in_each) - apart)]
