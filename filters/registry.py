"""Filters by name: those of this package, and those of other packages, by entry point."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import ValidationError

from obelics_pipeline.core.config.own_filter import OwnFilter
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.filters.built_in import BUILT_IN
from obelics_pipeline.filters.measuring import Filter, OfAnyText
from obelics_pipeline.filters.own import GROUP, REGISTERED, check_name, load_own

__all__ = ["BUILT_IN", "GROUP", "Filter", "build", "make", "names"]


def names() -> list[str]:
    """Every name that can be asked for, ours first; nothing of another package is imported."""
    elsewhere = {*REGISTERED.factories, *(point.name for point in entry_points(group=GROUP))}
    return [*BUILT_IN, *sorted(elsewhere - set(BUILT_IN))]


def build(name: str, options: Mapping[str, Any] | None = None) -> OfAnyText:
    """The filter of that name with its options, for plain strings too. See `make` for the errors.

    >>> from obelics_pipeline import filters
    >>> filters.build("word_count").score("some text")
    2.0
    """
    return OfAnyText(make(name, options))


def make(name: str, options: Mapping[str, Any] | None = None, own: OwnFilter | None = None) -> Filter:
    """The filter of that name with its options, or `own` under that name. A name of ours cannot be taken.

    Raises `UserError`, in one line, for an unknown name and an option that is unknown, missing or out of range; also
    for an entry point, file or module that cannot be loaded, and an `own` whose name another filter or a column has.
    """
    if own is None:
        factory = BUILT_IN.get(name) or REGISTERED.factories.get(name) or _from_elsewhere(name)
    else:
        check_name(name, f"filter {name}")
        factory = load_own(own, f"filter {name}")
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
        raise UserError(f"filter {name}: unknown{did_you_mean(name, names())}; valid names: {', '.join(names())}")
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
