from __future__ import annotations

import threading

import pytest

from obelics_pipeline.models.device.ahead import one_ahead


def test_items_come_prepared_and_in_order() -> None:
    assert list(one_ahead(lambda i: i * 10, range(5))) == [0, 10, 20, 30, 40]
    assert list(one_ahead(str, [])) == []


def test_the_next_item_is_prepared_while_this_one_is_in_hand_and_no_more() -> None:
    started = [threading.Event() for _ in range(4)]

    def prepare(i: int) -> int:
        started[i].set()
        return i

    ready = one_ahead(prepare, range(4))
    assert next(ready) == 0
    assert started[1].wait(60)
    assert not started[2].is_set()


def test_an_error_is_raised_at_its_item() -> None:
    ready = one_ahead(lambda i: 1 // i, [1, 0, 1])
    assert next(ready) == 1
    with pytest.raises(ZeroDivisionError):
        next(ready)
