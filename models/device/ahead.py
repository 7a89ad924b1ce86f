"""The CPU's part of the work, done while the device is busy with what was prepared before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


def one_ahead(prepare: Callable[[Item], Prepared], items: Sequence[Item]) -> Iterator[Prepared]:
    """`prepare` of each item, in order; a thread prepares the next one while the caller has this one.

    Raises what `prepare` raises, at the item it raised it for.
    """
    with ThreadPoolExecutor(1) as thread:
        waiting = [thread.submit(prepare, item) for item in items[:1]]
        for i in range(len(items)):
            ready = waiting.pop().result()
            waiting += [thread.submit(prepare, item) for item in items[i + 1 : i + 2]]
            yield ready
