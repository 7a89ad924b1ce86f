"""Filters of a user's own: named in a config by file or module, or registered in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, TypeVar

from obelics_pipeline.core.config.own_filter import OwnFilter
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.built_in import BUILT_IN
from obelics_pipeline.filters.measuring import Filter, factory_of

GROUP = "obelics_pipeline.filters"  # the entry point group: name = "package.module:factory"
NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")  # of a column and of a reason
PREFIXES = ("personal_", "site_")  # of columns that stages make
Kind = TypeVar("Kind", bound=Callable[..., Any])


class Registered:
    """The filters that this process registered by `filter`, and how often one was."""

    def __init__(self) -> None:
        self.factories: dict[str, Callable[..., Filter]] = {}
        self.times = 0


REGISTERED = Registered()


def filter(kind: Kind, /) -> Kind:
    """Register a function or class as a filter of this process, by its name; returns it as it is. A decorator.

    A function takes a `filters.Text` and returns a float, or None where it does not apply; further parameters are
    options. A class has a method `score(text)`, and parameters of its `__init__` are options. Registering the name
    once more replaces the filter. It works in `filters.build` and in `measure`. A run has worker processes, which do
    not have it: put it in a file there, and name it in the config by `use: my_filters.py:shouting_ratio`.

    Raises `UserError` for what is no filter, and for a name that a filter or a column has.

    >>> import obelics_pipeline as op
    >>> @op.filter
    ... def shouting_ratio(text: op.filters.Text) -> float | None:
    ...     return sum(c.isupper() for c in text.text) / len(text.text) if text.text else None
    >>> op.filters.build("shouting_ratio").score("STOP it")
    0.5714285714285714
    """
    name = getattr(kind, "name", None) if isinstance(kind, type) else None
    name = name if isinstance(name, str) else getattr(kind, "__name__", "")
    factory = factory_of(kind, f"filter {name}:")
    check_name(name, f"filter {name}")
    REGISTERED.factories[name] = factory
    REGISTERED.times += 1
    return kind


def refuse_registered(names: Iterable[str]) -> None:
    """Raise UserError for a filter that only this process has, where worker processes would have to have it."""
    for name in names:
        if name in REGISTERED.factories:
            raise UserError(
                f"filter {name}: is registered in this process, and worker processes do not have it; put it in a file "
                f"and give the config use: my_filters.py:{name}, under another name"
            )


def check_name(name: str, place: str) -> None:
    """Raise UserError for a name that cannot be that of a filter of a user's own."""
    from obelics_pipeline.core.shards.index import NAMES
    from obelics_pipeline.core.tables import document_schema

    if not NAME.fullmatch(name):
        raise UserError(f"{place}: a filter's name is small letters, digits and _, at most 63, a letter first")
    if name in BUILT_IN or any(entry_points(group=GROUP, name=name)):
        raise UserError(f"{place}: the name is taken by a filter that is there already; give another")
    columns = {*NAMES, *document_schema((), ()).names}
    if name in columns or name.startswith(PREFIXES):
        raise UserError(f"{place}: the name is taken by a column of the documents; give another")


def load_own(own: OwnFilter, place: str) -> Callable[..., Filter]:
    """What makes the filter that a config names by file or module. Raises UserError, which begins with `place`."""
    origin = own.origin
    module = origin.imported(place)
    if not hasattr(module, origin.name):
        valid = ", ".join(found for found, thing in vars(module).items() if _is_offered(module, found, thing))
        raise UserError(f"{place}: {origin.module} has no {origin.name}; it has {valid or 'no function and no class'}")
    return factory_of(getattr(module, origin.name), f"{place}: {own.name}")


def _is_offered(module: ModuleType, name: str, thing: Any) -> bool:
    return callable(thing) and getattr(thing, "__module__", "") == module.__name__ and not name.startswith("_")
