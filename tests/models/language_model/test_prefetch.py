from __future__ import annotations

import threading

import pytest

from obelics_pipeline.models.language_model.prefetch import Prefetch


def test_each_is_prepared_in_order() -> None:
    assert list(Prefetch(lambda n: n * n)([1, 2, 3])) == [1, 4, 9]
    assert list(Prefetch(lambda n: n)([])) == []


def test_the_next_is_prepared_while_the_caller_has_one() -> None:
    begun = {n: threading.Event() for n in range(3)}

    def prepare(n: int) -> int:
        begun[n].set()
        return n

    for n in Prefetch(prepare)(range(3)):
        assert n == 2 or begun[n + 1].wait(10)


def test_an_error_comes_at_the_item_it_belongs_to() -> None:
    def prepare(n: int) -> int:
        return 1 // n

    found = Prefetch(prepare)([1, 0])
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)
