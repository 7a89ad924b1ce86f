"""Sentences of a text: how they begin and end."""

from __future__ import annotations

import numpy as np

from obelics_pipeline.models.wording_detector.shares import MISSING, Numbers, mean, share
from obelics_pipeline.models.wording_detector.vocabulary import Flags, Tokens

_ENDS = tuple(map(ord, ".!?"))  # of sentences, in the form that is judged
_BRACKETS = (("round", "(", ")"), ("square", "[", "]"))
_LONG, _SHORT = 40, 4  # words of a sentence


def words_of_a_sentence(tokens: Tokens) -> float:
    """How many there are in the mean."""
    return int(np.count_nonzero(tokens.is_word)) / max(1, int(np.count_nonzero(ends(tokens))))


def ends(tokens: Tokens) -> Flags:
    """Whether each ends a sentence."""
    found: Flags = np.isin(tokens.mark, _ENDS)
    return found


def of_sentences(tokens: Tokens) -> Numbers:
    """How sentences begin and end, how long they are, and whether what is opened is closed."""
    mark, is_word, is_end, count = tokens.mark, tokens.is_word, ends(tokens), len(tokens.number)
    yield "begins_lower", share(tokens.as_written[1:][is_end[:-1] & is_word[1:]])
    stops = np.concatenate([[0], np.flatnonzero(is_end), [count]])
    length = np.diff(np.concatenate([[0], np.cumsum(is_word)])[stops])
    length = length[length > 0]
    yield "short_sentences", share(length <= _SHORT)
    yield "long_sentences", share(length > _LONG)
    yield "spread_of_length", mean(np.abs(length - int(np.median(length)))) if len(length) else MISSING
    for name, opened, closed in _BRACKETS:
        is_opened, is_closed = mark == ord(opened), mark == ord(closed)
        brackets = int(np.count_nonzero(is_opened)) + int(np.count_nonzero(is_closed))
        yield f"{name}_brackets", float(brackets)
        yield f"{name}_not_closed", float(_not_closed(is_opened, is_closed)) if brackets else 0.0
    quotes, commas = int(np.count_nonzero(mark == ord('"'))), int(np.count_nonzero(mark == ord(",")))
    yield "quotes", float(quotes)
    yield "quote_left_open", float(quotes % 2)
    yield "commas", commas / max(1, count)
    yield "other_marks", (int(np.count_nonzero(tokens.is_mark & ~is_end)) - commas) / max(1, count)
    yield "twice", share((tokens.own[1:] == tokens.own[:-1]) & is_word[1:])


def _not_closed(is_opened: Flags, is_closed: Flags) -> int:
    """How many brackets have no other side, or are opened within another one."""
    depth = np.cumsum(is_opened.astype(np.int64) - is_closed)
    return abs(int(depth[-1])) + max(0, -int(depth.min())) + max(0, int(depth.max()) - 1)
