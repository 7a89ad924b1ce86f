"""How well a language model foresees a text, piece by piece: numbers by name, for the forest that decides.

Log probabilities are taken in whole thousandths, so that sums are exact and every machine finds the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.perplexity import Reading

FEWEST_PIECES = 40
MISSING = -100_000.0  # where there is too little text for a number
_UNIT = 1000  # of log10 probabilities
_RARE = -3500  # as a piece alone, in thousandths: about one in 3,000 pieces
_WINDOWS = (16, 48)  # pieces next to each other
_SHORTEST_SENTENCE = 5  # pieces
_LIKELY, _UNLIKELY = (-250, -500, -1000), (-3000, -4000, -5000)
_IN_CONTEXT, _GAINED, _ALONE = (5, 10, 25, 50, 75, 90, 95), (5, 25, 50, 75, 95), (10, 25, 50, 75, 90)  # percent

Numbers = Iterator[tuple[str, float]]
Whole = NDArray[np.int64]


def numbers_of(reading: Reading) -> dict[str, float] | None:
    """All numbers of a text; None of one of fewer than `FEWEST_PIECES` pieces."""
    if len(reading.pieces) < FEWEST_PIECES:
        return None
    known, alone = _thousandths(reading.log10), _thousandths(reading.log10_alone)
    order = np.array(reading.lengths)
    return dict(
        [
            *_spread("known", known, _IN_CONTEXT),
            *_spread("gained", known - alone, _GAINED),
            *_spread("alone", alone, _ALONE),
            *_of_shares(known, alone, order),
            *_of_kinds(reading.pieces, known, alone),
            *_of_windows(known, order),
            *_of_sentences(reading.pieces, known),
        ]
    )


def names() -> set[str]:
    """Those of all numbers."""
    count = FEWEST_PIECES
    return set(numbers_of(Reading(["."] * count, [0.0] * count, [0.0] * count, [1] * count)) or ())


def _thousandths(log10: Sequence[float]) -> Whole:
    return np.rint(np.array(log10, np.float64) * _UNIT).astype(np.int64)


def _spread(name: str, values: Whole, percents: Sequence[int]) -> Numbers:
    ranked = np.sort(values)
    yield f"{name}_mean", _mean(values)
    yield f"{name}_deviation", _deviation(values)
    for percent in percents:
        yield f"{name}_{percent}_percent", float(ranked[percent * (len(ranked) - 1) // 100])


def _of_shares(known: Whole, alone: Whole, order: NDArray[np.int64]) -> Numbers:
    """Pieces that are likely, unlikely, and found with so many pieces before them."""
    count = len(known)
    yield "worse_than_alone", int((known < alone).sum()) / count
    yield "of_alone", int(known.sum()) / (int(alone.sum()) or -1)
    for over in _LIKELY:
        yield f"over_{-over}", int((known > over).sum()) / count
    for under in _UNLIKELY:
        yield f"under_{-under}", int((known < under).sum()) / count
    for length in (1, 2, 3):
        yield f"order_{length}", int((order == length).sum()) / count
        yield f"known_of_order_{length}", _mean(known[order == length])


def _of_kinds(pieces: Sequence[str], known: Whole, alone: Whole) -> Numbers:
    """Pieces that begin a word, stand within one, are marks, are rare."""
    begins = np.array([piece.startswith("▁") for piece in pieces])
    marks = np.array([not any(map(str.isalnum, piece)) for piece in pieces])
    rare = alone < _RARE
    yield "begins", int(begins.sum()) / len(pieces)
    yield "known_of_begins", _mean(known[begins])
    yield "known_within", _mean(known[~begins & ~marks])
    yield "known_of_marks", _mean(known[marks])
    yield "rare", int(rare.sum()) / len(pieces)
    yield "known_of_rare", _mean(known[rare])
    yield "known_of_others", _mean(known[~rare])


def _of_windows(known: Whole, order: NDArray[np.int64]) -> Numbers:
    """Whether what is hard to foresee stands together."""
    count, total = len(known), int(known.sum())
    around = known * count - total  # deviations times the count: whole
    around //= _UNIT  # so that products fit
    yield "follows", int((around[1:] * around[:-1]).sum()) / max(1, int((around * around).sum()))
    for window in _WINDOWS:
        means, found = _windows(known, window), _windows((order == 3).astype(np.int64), window)
        ranked = np.sort(means)
        yield f"window_{window}_deviation", _deviation(means) / window
        yield f"window_{window}_low", float(ranked[(len(ranked) - 1) // 10]) / window
        yield f"window_{window}_high", float(ranked[(len(ranked) - 1) * 9 // 10]) / window
        yield f"window_{window}_found_deviation", _deviation(found) / window
    ends = np.flatnonzero(np.diff(np.concatenate([[0], order == 3, [0]])))
    runs = ends[1::2] - ends[::2]
    yield "run", _mean(runs) if len(runs) else 0.0


def _of_sentences(pieces: Sequence[str], known: Whole) -> Numbers:
    """Whether sentences differ in how well they are foreseen."""
    ends = [place + 1 for place, piece in enumerate(pieces) if piece.strip("▁\"')") in {".", "!", "?"}]
    borders = [0, *ends, len(pieces)]
    sentences = [known[a:b] for a, b in pairwise(borders) if b - a >= _SHORTEST_SENTENCE]
    means = np.array([int(one.sum()) // len(one) for one in sentences], np.int64)
    ranked, enough = np.sort(means), len(means) > 2
    yield "sentence_deviation", _deviation(means) if enough else MISSING
    yield "sentence_step", _mean(np.abs(np.diff(means))) if enough else MISSING
    yield "sentence_low", float(ranked[(len(means) - 1) // 10]) if enough else MISSING
    yield "sentence_high", float(ranked[(len(means) - 1) * 9 // 10]) if enough else MISSING
    yield "known_of_firsts", _mean(known[[end for end in ends if end < len(pieces)]])


def _windows(values: Whole, window: int) -> Whole:
    """Sums of windows, half of each shared with the next; of all where there is not one window."""
    sums = np.concatenate([[0], np.cumsum(values)])
    window = min(window, len(values))
    found: Whole = (sums[window:] - sums[:-window])[:: max(1, window // 2)]
    return found


def _mean(values: Whole) -> float:
    return int(values.sum()) / len(values) if len(values) else MISSING


def _deviation(values: Whole) -> float:
    """The standard deviation: a square root is the same on every machine, as are sums of whole numbers."""
    count, total, squares = len(values), int(values.sum()), int((values * values).sum())
    return sqrt(count * squares - total * total) / count
