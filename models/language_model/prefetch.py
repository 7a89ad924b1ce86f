"""The CPU's part of the work done ahead, by a thread that lives as long as the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


class Prefetch(Generic[Item, Prepared]):
    """`prepare` of one item after the other, each while the caller has the one before."""

    def __init__(self, prepare: Callable[[Item], Prepared]) -> None:
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1)

    def __call__(self, items: Sequence[Item]) -> Iterator[Prepared]:
        """What `prepare` makes of each, in order. Raises what it raises, at the item it raised it for."""
        waiting = [self._thread.submit(self._prepare, item) for item in items[:1]]
        for i in range(len(items)):
            ready = waiting.pop().result()
            waiting += [self._thread.submit(self._prepare, item) for item in items[i + 1 : i + 2]]
            yield ready
