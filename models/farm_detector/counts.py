"""What is counted of the tokens of a text, in whole numbers; compiled where that was built, else with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.tokens import (
    BREAK,
    BY_STEM,
    DIGITS,
    LOOKS,
    LOWER,
    MARK,
    NOT_KNOWN,
    UNKNOWN,
    Read,
)

try:
    from obelics_pipeline.models.farm_detector import _counts as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

WINDOWS = (50, 150)  # words
REPEATED = (2, 3, 4)  # words in a row


class Counts(NamedTuple):
    """Counts of at least one token; `_counts.c` has them in the same order."""

    tokens: int
    marks: int
    breaks: int
    numbers: int
    words: int
    unknown_words: int
    unknown_lower: int  # in small letters
    unknown_endings: int  # words that are known without their ending
    capitals: int  # words that begin with one
    letters: int  # of all words
    windows_50: int  # of so many words, half of which are the next one's too
    distinct_50: int  # different words of each window, all in all
    lowest_50: int  # of the window with the fewest
    windows_150: int
    distinct_150: int
    lowest_150: int
    different_2: int  # words in a row that are not the same
    most_2: int  # how often the most frequent ones occur
    different_3: int
    most_3: int
    different_4: int
    most_4: int


def count(read: Read) -> Counts:
    """Those of tokens."""
    return count_compiled(read) if COMPILED else count_in_numpy(read)


def count_compiled(read: Read) -> Counts:
    """The same, by the compiled part, where `COMPILED`."""
    return Counts(*compiled.count(*read))


def count_in_numpy(read: Read) -> Counts:
    """The same, by NumPy: what both must return."""
    words = np.unique(read.forms[read.rows[:, 2] >= LOWER], return_inverse=True)[1]
    return Counts(*_of_looks(read, len(words)), *_of_diversity(words), *_of_repetition(words))


def _of_looks(read: Read, words: int) -> Iterator[int]:
    number, _, looks = read.rows.T
    kinds = np.bincount(looks, minlength=LOOKS)
    yield len(looks)
    yield int(kinds[MARK])
    yield int(kinds[BREAK])
    yield int(kinds[DIGITS])
    yield words
    yield int(np.count_nonzero((number == UNKNOWN) & (looks >= LOWER)))
    yield int(kinds[LOWER + NOT_KNOWN])
    yield int(kinds[LOWER + BY_STEM])
    yield int(read.capitals.sum())
    yield int(read.letters.sum())


def _of_diversity(words: NDArray[np.int64]) -> Iterator[int]:
    """Of windows of a fixed length, so that long and short texts compare."""
    order = np.argsort(words, kind="stable")
    before = np.full(len(words), -1)  # where a word stood last
    again = words[order[1:]] == words[order[:-1]]
    before[order[1:][again]] = order[:-1][again]
    for window in WINDOWS:
        windows = sliding_window_view(before, window)[:: window // 2] if len(words) >= window else np.empty((0, window))
        begins = np.arange(len(windows)) * (window // 2)
        distinct = np.count_nonzero(windows < begins[:, None], axis=1)
        yield len(windows)
        yield int(distinct.sum())
        yield int(distinct.min(initial=window))


def _of_repetition(words: NDArray[np.int64]) -> Iterator[int]:
    distinct = int(words.max(initial=-1)) + 1
    ngrams = words
    for length in REPEATED:  # each by one longer; 64 bits hold four words of up to 55,000 distinct ones
        ngrams = ngrams[:-1] * distinct + words[length - 1 :]
        times = np.unique(ngrams, return_counts=True)[1]
        yield len(times)
        yield int(times.max(initial=0))
