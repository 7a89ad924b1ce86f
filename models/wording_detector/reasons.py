"""Why a program may have chosen words of a text: those that people hardly write so, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from obelics_pipeline.models.told import Told
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from obelics_pipeline.models.wording_detector.wrong import Wrong

NAMED = 10  # words, pairs and spans that are named
_AROUND = 2  # tokens on either side of a word that is named
_OF_A_KIND = 4  # of these, before others of the same kind
_FARTHEST = 200  # characters in which the next word of a text is looked for
_NEXT = 3  # characters in which a mark is: one that is written otherwise must not be taken for a later one


@dataclass(frozen=True, slots=True)
class Named:
    """Words that people hardly write so, as they stand in a text."""

    wrong: Wrong
    words: str
    quote: str  # with the words around them
    span: tuple[int, int] | None  # characters of the text; None where the text is written otherwise


def wrong_words(detector: WordingDetector, text: str) -> list[Named]:
    """The worst of a text, the worst first, the same words once; none of a text of too few words."""
    tokens = detector.read(text)
    if tokens is None:
        return []
    written, spans = tokens.written, _places(text, tokens.written)
    worst: dict[str, Named] = {}
    for wrong in sorted(detector.habits.wrong(tokens), key=lambda one: -one.log_odds):
        words = " ".join(written[wrong.first : wrong.last + 1])
        quote = " ".join(written[max(0, wrong.first - _AROUND) : wrong.last + _AROUND + 1])
        worst.setdefault(words.lower(), Named(wrong, words, quote, _from(spans[wrong.first], spans[wrong.last])))
    return sorted(_of_each_kind(sorted(worst.values(), key=_rank))[:NAMED], key=_rank)


def _rank(one: Named) -> tuple[float, str]:
    return -one.wrong.log_odds, one.words


def _of_each_kind(ranked: Sequence[Named]) -> list[Named]:
    """The same, the first `_OF_A_KIND` of every kind before the others: one kind has many in any text."""
    so_far = Counter[str]()
    first, others = list[Named](), list[Named]()
    for one in ranked:
        (first if so_far[one.wrong.about] < _OF_A_KIND else others).append(one)
        so_far[one.wrong.about] += 1
    return first + others


def told(detector: WordingDetector, text: str) -> Told:
    """The worst in rows, and where they stand."""
    named = wrong_words(detector, text)
    rows = [(one.wrong.about, f"{one.wrong.log_odds:.2f}", _said(one)) for one in named]
    return Told(rows, [one.span for one in named if one.span is not None])


def _said(one: Named) -> str:
    if one.wrong.times > 1:
        return f"{one.wrong.times} times “{one.words}”"
    quote = f"{one.words}, in “{one.quote}”"
    return quote if one.wrong.instead is None else f"{quote}; “{one.wrong.instead}” fits better"


def _places(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each token stands in the text as it is written: the form that is judged has other blanks and marks."""
    plain, begin = text.replace("’", "'"), 0
    found: list[tuple[int, int] | None] = []
    for token in tokens:
        place = plain.find(token, begin, begin + (_FARTHEST if token[0].isalnum() else _NEXT))
        found.append(None if place < 0 else (place, place + len(token)))
        begin = begin if place < 0 else place + len(token)
    return found


def _from(first: tuple[int, int] | None, last: tuple[int, int] | None) -> tuple[int, int] | None:
    return None if first is None or last is None else (first[0], last[1])
