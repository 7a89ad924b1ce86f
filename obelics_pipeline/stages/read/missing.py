"""Inputs that are not there, told together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from obelics_pipeline.core.errors import UserError

SHOWN = 5
WHAT_TO_DO = "give a path, a glob in quotes, or a URL"
Item = TypeVar("Item")


class MissingInputs(UserError):
    """Inputs that name no file, each with a reason. The message lists the first few and the number of the others."""

    def __init__(self, missing: Sequence[str]) -> None:
        self.missing = tuple(missing)
        several = f"{len(missing):,} inputs are missing:" if len(missing) > 1 else "input"
        more = f"; and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        super().__init__(f"{several} {'; '.join(self.missing[:SHOWN])}{more}; {WHAT_TO_DO}")


def together(parts: Iterable[Iterable[Item]]) -> Iterator[Item]:
    """All items of all parts; then one MissingInputs for what any of them missed."""
    missing: list[str] = []
    for part in parts:
        try:
            yield from part
        except MissingInputs as error:
            missing += error.missing
    if missing:
        raise MissingInputs(missing)
