"""Rows that are written together: as many as fit into memory well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def grouped(items: Iterable[Item], size_of: Callable[[Item], int], most: int, most_bytes: int) -> Iterator[list[Item]]:
    """Items in their order, in groups of at most `most` and `most_bytes`; one that is larger stands alone."""
    group: list[Item] = []
    held = 0
    for item in items:
        size = size_of(item)
        if group and (len(group) == most or held + size > most_bytes):
            yield group
            group, held = [], 0
        group.append(item)
        held += size
    if group:
        yield group
