"""The rule of retries: a function is called for items that are drawn one by one, and those come back in their order."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from obelics_pipeline.engines.attempts import CRASHES, WorkersDie, in_order
from obelics_pipeline.engines.pool import Died


def here(function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
    """An engine of one worker that works here, and takes the next item when it is done with one."""
    while waiting:
        item = waiting.popleft()
        yield item, function(item)


def test_items_are_drawn_when_a_worker_is_free() -> None:
    drawn, done = [], []

    def items() -> Iterator[int]:
        for i in range(100):
            drawn.append(i)
            yield i

    def do(item: int) -> int:
        done.append(item)
        assert len(drawn) - len(done) <= 1
        return -item

    assert list(in_order(here, do, items())) == [-i for i in range(100)]


def test_an_item_whose_worker_died_is_tried_before_the_next() -> None:
    tried: list[int] = []

    def each(function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        while waiting:
            number, item = waiting.popleft()
            tried.append(item)
            dies = item == 3 and tried.count(3) < CRASHES
            yield (number, item), Died("died") if dies else function((number, item))

    assert list(in_order(each, str, iter(range(6)))) == [str(i) for i in range(6)]
    assert tried == [0, 1, 2, *[3] * CRASHES, 4, 5]


def test_one_that_takes_down_every_worker_ends_it() -> None:
    def each(_function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        while waiting:
            yield waiting.popleft(), Died("died")

    with pytest.raises(WorkersDie, match="12 times"):
        in_order(each, str, iter(range(2)))
