from dataclasses import dataclass

from obelics_pipeline.jobs.score_rows.in_workers import BYTES_PER_BATCH, windows


@dataclass
class Rows:
    """A batch of which only the size matters."""

    bytes: int

    def __len__(self) -> int:
        return 1

    def size(self) -> int:
        return self.bytes

    def sent(self) -> "Rows":
        return self

    def halves(self) -> "tuple[Rows, Rows]":
        raise NotImplementedError


def sizes(batches: list[Rows], at_once: int) -> list[int]:
    found = list(windows(batches, at_once))
    assert [batch for window in found for batch in window] == batches
    return [len(window) for window in found]


def test_as_many_batches_are_held_as_asked_for() -> None:
    assert sizes([Rows(10)] * 7, 3) == [3, 3, 1]
    assert sizes([], 3) == []


def test_fewer_are_held_where_rows_are_large() -> None:
    large = Rows(2 * BYTES_PER_BATCH)
    assert sizes([large] * 5, 4) == [2, 2, 1]
    assert sizes([Rows(1), Rows(32 * BYTES_PER_BATCH), Rows(1)], 4) == [2, 1]


def test_nothing_is_read_ahead_of_a_window() -> None:
    taken = 0

    def endless():  # type: ignore[no-untyped-def]
        nonlocal taken
        while True:
            taken += 1
            yield Rows(1)

    next(windows(endless(), 5))
    assert taken == 5
