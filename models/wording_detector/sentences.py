"""Sentences of a text: how they begin and end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, Part, compiled, of_parts, sum_of
from obelics_pipeline.models.wording_detector.vocabulary import Flags, Tokens

_ENDS = tuple(map(ord, ".!?"))  # of sentences, in the form that is judged
_BRACKETS = (("(", ")"), ("[", "]"))
_LONG, _SHORT = 40, 4  # words of a sentence


def words_of_a_sentence(tokens: Tokens) -> float:
    """How many there are in the mean."""
    where = tokens.number, tokens.lowered, tokens.lower_begins, tokens.is_word
    sentences = compiled.ends(*where) if COMPILED else int(np.count_nonzero(ends(tokens)))
    return int(np.count_nonzero(tokens.is_word)) / max(1, sentences)


def ends(tokens: Tokens) -> Flags:
    """Whether each ends a sentence."""
    found: Flags = np.isin(tokens.mark, _ENDS)
    return found


def of_sentences(tokens: Tokens) -> Numbers:
    """How sentences begin and end, how long they are, and whether what is opened is closed."""
    counts = counts_compiled(tokens) if COMPILED else counts_in_numpy(tokens)
    *lengths, round_ones, square_ones, (quotes, commas), (others, count), twice = counts
    yield from of_parts(("begins_lower", "short_sentences", "long_sentences", "spread_of_length"), lengths)
    for name, (brackets, not_closed) in (("round", round_ones), ("square", square_ones)):
        yield f"{name}_brackets", float(brackets)
        yield f"{name}_not_closed", float(not_closed)
    yield "quotes", float(quotes)
    yield "quote_left_open", float(quotes % 2)
    yield "commas", commas / max(1, count)
    yield "other_marks", (others - commas) / max(1, count)
    yield from of_parts(("twice",), [twice])


def counts_compiled(tokens: Tokens) -> Sequence[Part]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    where = tokens.own, tokens.lowered, tokens.lower_begins
    return compiled.sentences(*where, tokens.is_word, tokens.is_mark, tokens.as_written)


def counts_in_numpy(tokens: Tokens) -> Sequence[Part]:
    """The same, by NumPy: what both must return.

    Sums, and of how many: sentences that begin in lower case, short and long ones, how far lengths are from the middle
    one; then pairs of numbers: brackets of each kind and those not closed, quotes and commas, marks that end no
    sentence and tokens; and words that stand twice.
    """
    mark, is_word, is_end, count = tokens.mark, tokens.is_word, ends(tokens), len(tokens.number)
    stops = np.concatenate([[0], np.flatnonzero(is_end), [count]])
    length = np.diff(np.concatenate([[0], np.cumsum(is_word)])[stops])
    length = length[length > 0]
    return [
        sum_of(tokens.as_written[1:][is_end[:-1] & is_word[1:]]),
        sum_of(length <= _SHORT),
        sum_of(length > _LONG),
        sum_of(np.abs(length - int(np.median(length)))) if len(length) else (0, 0),
        *(_brackets(mark == ord(opened), mark == ord(closed)) for opened, closed in _BRACKETS),
        (int(np.count_nonzero(mark == ord('"'))), int(np.count_nonzero(mark == ord(",")))),
        (int(np.count_nonzero(tokens.is_mark & ~is_end)), count),
        sum_of((tokens.own[1:] == tokens.own[:-1]) & is_word[1:]),
    ]


def _brackets(is_opened: Flags, is_closed: Flags) -> Part:
    """How many brackets there are, and how many have no other side, or are opened within another one."""
    depth = np.cumsum(is_opened.astype(np.int64) - is_closed)
    count = int(np.count_nonzero(is_opened)) + int(np.count_nonzero(is_closed))
    return count, (abs(int(depth[-1])) + max(0, -int(depth.min())) + max(0, int(depth.max()) - 1)) if count else 0
