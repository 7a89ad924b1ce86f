"""What a filter is, and the two thin coats that make one: of a plain function, and for a plain string."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, cast, runtime_checkable

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.text import Text

NO_FILTER = "is no filter: give a class with a method score(text), or a function of a text that returns a number"


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


class OfAnyText:
    """A filter that takes a plain string as well as a `Text`; all else is that of the filter inside."""

    def __init__(self, inner: Filter) -> None:
        self.inner = inner

    def score(self, text: Text | str) -> float | None:
        """Measure a text. A plain string has no language: word lists do not apply, and give None."""
        return self.inner.score(Text(text, segment=True) if isinstance(text, str) else text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "inner":  # asked for by copy and pickle before there is an inner one
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __repr__(self) -> str:
        return repr(self.inner)


class OfFunction:
    """A filter made of a function `(text, option=…) -> float | None`."""

    def __init__(self, function: Callable[..., float | None], options: dict[str, Any]) -> None:
        self._function, self._options = function, options

    def score(self, text: Text) -> float | None:
        """What the function returns, as a float."""
        value = self._function(text, **self._options)
        return None if value is None else float(value)


def factory_of(thing: Any, place: str) -> Callable[..., Filter]:
    """What makes the filter from its options: a class itself, and a function of a text. `place` is for messages.

    Raises UserError for anything else.
    """
    if inspect.isclass(thing):
        if not callable(getattr(thing, "score", None)):
            raise UserError(f"{place} {NO_FILTER}; the class has no method score")
        return cast(Callable[..., Filter], thing)
    if not inspect.isfunction(thing):
        raise UserError(f"{place} {NO_FILTER}; it is {type(thing).__name__}")
    parameters = list(inspect.signature(thing).parameters.values())
    if not parameters or parameters[0].kind not in (parameters[0].POSITIONAL_ONLY, parameters[0].POSITIONAL_OR_KEYWORD):
        raise UserError(f"{place} {NO_FILTER}; the function takes no text")

    def make(**options: Any) -> Filter:
        return OfFunction(thing, options)

    make.__signature__ = inspect.Signature(parameters[1:])  # type: ignore[attr-defined] # the valid options
    return make
