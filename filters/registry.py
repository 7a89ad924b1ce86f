"""Filters by name: those of this package, and those of other packages, by entry point."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

from pydantic import ValidationError

from filters.character_repetition_ratio import CharacterRepetitionRatio
from filters.common_word_ratio import CommonWordRatio
from filters.distinct_word_ratio import DistinctWordRatio
from filters.farm_score import FarmScore
from filters.flagged_word_ratio import FlaggedWordRatio
from filters.image_count import ImageCount
from filters.language_score import LanguageScore
from filters.lexical_cohesion import LexicalCohesion
from filters.main_content_confidence import MainContentConfidence
from filters.perplexity import Perplexity
from filters.punctuation_ratio import PunctuationRatio
from filters.quality_score import QualityScore
from filters.spam_word_ratio import SpamWordRatio
from filters.special_character_ratio import SpecialCharacterRatio
from filters.stopword_ratio import StopwordRatio
from filters.text import Text
from filters.word_count import WordCount
from filters.word_repetition_ratio import WordRepetitionRatio
from filters.worse_than_unigram_ratio import WorseThanUnigramRatio
from obelics_pipeline.errors import UserError

GROUP = "obelics_pipeline.filters"  # the entry point group: name = "package.module:factory"


@runtime_checkable
class Filter(Protocol):
    """What measures a text. None: the filter does not apply to it, and drops nothing.

    Optional: `reasons(text)` gives what there is to tell of a score, in rows of words, all of one length.
    `spans(text) -> Sequence[tuple[int, int]]` gives the ranges (begin, end) of characters of `text.text` that made the
    score what it is, rising, not overlapping and at most `filters.spans.MOST`.
    """

    def score(self, text: Text) -> float | None:
        """Measure a text."""
        ...


BUILT_IN: dict[str, Callable[..., Filter]] = {
    kind.name: kind
    for kind in (
        WordCount,
        CharacterRepetitionRatio,
        WordRepetitionRatio,
        SpecialCharacterRatio,
        StopwordRatio,
        FlaggedWordRatio,
        PunctuationRatio,
        CommonWordRatio,
        LanguageScore,
        Perplexity,
        WorseThanUnigramRatio,
        QualityScore,
        SpamWordRatio,
        ImageCount,
        MainContentConfidence,
        FarmScore,
        DistinctWordRatio,
        LexicalCohesion,
    )
}


def names() -> list[str]:
    """Every name that can be asked for, ours first; nothing of another package is imported."""
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - set(BUILT_IN))]


def build(name: str, options: Mapping[str, Any] | None = None) -> Filter:
    """The filter of that name with its options. A name of ours cannot be taken by another package.

    Raises `UserError`, in one line, for an unknown name, an option that is unknown, missing or out of range, and an
    entry point that cannot be loaded.
    """
    factory = BUILT_IN.get(name) or _from_elsewhere(name)
    options = dict(options or {})
    _check_options(name, factory, options)
    try:
        made = factory(**options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise UserError(f"filter {name}: option {place}: {first['msg']}, got {first['input']!r}") from None
    except UserError:
        raise
    except Exception as error:  # the code of another package may raise anything
        raise UserError(f"filter {name}: cannot be made with options {options}: {_one_line(error)}") from None
    if not isinstance(made, Filter):
        raise UserError(f"filter {name}: {type(made).__name__} has no method score(text)")
    return made


def _from_elsewhere(name: str) -> Callable[..., Filter]:
    points = sorted(entry_points(group=GROUP, name=name), key=lambda point: point.value)
    if not points:
        near = difflib.get_close_matches(name, names(), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UserError(f"filter {name}: unknown; valid names: {', '.join(names())}{hint}")
    if len({point.value for point in points}) > 1:
        raise UserError(f"filter {name}: two packages offer it ({points[0].value}, {points[1].value}); uninstall one")
    return _load(points[0])


def _load(point: EntryPoint) -> Callable[..., Filter]:
    try:
        factory = point.load()
    except Exception as error:  # importing another package may raise anything
        raise UserError(
            f"filter {point.name}: entry point {point.value} cannot be loaded: {_one_line(error)}"
        ) from None
    if not callable(factory):
        raise UserError(f"filter {point.name}: entry point {point.value} is no class or function that makes a filter")
    made: Callable[..., Filter] = factory
    return made


def _check_options(name: str, factory: Callable[..., Filter], options: Mapping[str, Any]) -> None:
    """Name what is unknown or missing, and what is valid."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return  # made in C, say: it must check for itself
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    valid = [p.name for p in parameters]
    said = f"valid options: {', '.join(valid)}" if valid else "it has none"
    for option in options:
        if option not in valid:
            raise UserError(f"filter {name}: unknown option {option}; {said}")
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.name not in options and parameter.kind != 2:
            hint = HINTS.get(name, said)
            raise UserError(f"filter {name}: option {parameter.name} is missing; {hint}")


HINTS = {
    "common_word_ratio": "give options.paths: {en: words.txt}, common words by language (docs/filters.md says how to "
    "make a list), or paths: null to go without",
}


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
