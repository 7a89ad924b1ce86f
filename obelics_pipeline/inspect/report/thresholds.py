"""The bounds of scores, in words and as marks of a histogram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds, Threshold
from obelics_pipeline.inspect.report.histogram import Mark
from obelics_pipeline.inspect.report.human import figure
from obelics_pipeline.inspect.report.tally import Floats
from obelics_pipeline.stages.stage import Stage

NOTHING = "drops nothing"


def document_thresholds(stages: Sequence[Stage], config: RunConfig) -> dict[str, LanguageBounds]:
    """The bounds of every score of documents that the config names, in the order in which they are applied."""
    return {score.name: score.bounds for stage in stages for score in stage.bounds(config)}


def paragraph_thresholds(config: RunConfig) -> dict[str, Threshold]:
    """The bounds of every score of paragraphs; those of the last cleaning only where the first has none by the name."""
    return {**config.finish.paragraph, **config.filters.paragraph}


def in_words(bounds: LanguageBounds) -> list[str]:
    """The bounds of a score, a line each: for all, by language, by genre, and by role."""
    general = must(bounds)
    others = len(bounds.languages) + len(bounds.genres) > 0
    if general == NOTHING:
        lines = ["elsewhere it is measured and drops nothing" if others else "measured only: it drops nothing"]
    else:
        lines = [general + (", but" if others else "")]
    of_some: tuple[tuple[str, Mapping[str, Bounds | None]], ...]
    of_some = ("language", bounds.languages), ("genre", {str(name): of for name, of in bounds.genres.items()})
    for noun, named in of_some:
        for text, names in _by_text(named).items():
            many = "s" if len(names) > 1 else ""
            lines.append(f"{noun}{many} {', '.join(names)}: {text}")
    if general == NOTHING and others:
        lines = [*lines[1:], lines[0]]
    roles = getattr(bounds, "roles", None)
    return [*lines, f"asked of: {', '.join(roles)}"] if roles is not None else lines


def must(bounds: Bounds | None) -> str:
    """The bounds of a score, as a sentence without its subject."""
    limits = " and ".join(f"{sign} {figure(value)}" for value, sign in _limits(bounds))
    shares = ", ".join(f"{share:g} at {figure(score)}" for score, share in (bounds.sample or ())) if bounds else ""
    if limits and shares:
        return f"must be {limits}, and of these a share is kept: {shares}"
    return f"must be {limits}" if limits else f"a share is kept: {shares}" if shares else NOTHING


def marks_of(bounds: LanguageBounds) -> list[Mark]:
    """The values at which a histogram shows a line, rising."""
    general = dict(_limits(bounds))
    some: dict[float, str] = {}
    for of_some in (*bounds.languages.values(), *bounds.genres.values()):
        some |= {value: sign for value, sign in _limits(of_some or Bounds()) if value not in general}
    marks = [
        Mark(value, f"{sign} {figure(value)}", side=1 if sign == "≤" else -1, faint=limits is some)
        for limits in (general, some)
        for value, sign in limits.items()
    ]
    return sorted(marks, key=lambda mark: mark.value)


def distance(bounds: Bounds | None, values: Floats) -> Floats:
    """How far each value is from the bound it is nearest to; 0 without a bound, as where a sample decided."""
    limits = [value for value, _ in _limits(bounds)] if bounds is not None else []
    if not limits:
        return np.zeros(len(values))
    nearest: Floats = np.abs(values[:, None] - np.array(limits)).min(axis=1)
    return nearest


def _limits(bounds: Bounds | None) -> Iterator[tuple[float, str]]:
    if bounds is not None:
        for sign, value in (("≥", bounds.min), ("≤", bounds.max), ("<", bounds.below)):
            if value is not None:
                yield value, sign


def _by_text(named: Mapping[str, Bounds | None]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, bounds in sorted(named.items()):
        found.setdefault(must(bounds), []).append(name)
    return found
