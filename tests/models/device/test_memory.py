from __future__ import annotations

from collections.abc import Sequence

import pytest

from obelics_pipeline.models.device.memory import in_halves, is_out_of_memory

torch = pytest.importorskip("torch")


def test_the_memory_of_the_machine_can_run_out_too() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert not is_out_of_memory(RuntimeError("expected m1 and m2 to have the same dtype"))


def with_room_for(most: int, sizes: list[int]) -> object:
    def run(batch: Sequence[int]) -> list[int]:
        sizes.append(len(batch))
        if len(batch) > most:
            torch.empty(1 << 60, dtype=torch.uint8)
        return [10 * i for i in batch]

    return run


def test_a_batch_is_halved_until_it_fits_and_comes_back_in_order() -> None:
    sizes: list[int] = []
    assert in_halves(with_room_for(2, sizes), range(7)) == [10 * i for i in range(7)]  # type: ignore[arg-type]
    assert sizes == [7, 3, 1, 2, 4, 2, 2]


def test_what_does_not_fit_alone_is_raised() -> None:
    with pytest.raises(RuntimeError, match="allocate"):
        in_halves(with_room_for(0, []), range(4))  # type: ignore[arg-type]


def test_another_error_is_raised_at_once() -> None:
    calls = []

    def run(batch: Sequence[int]) -> list[int]:
        calls.append(batch)
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        in_halves(run, range(4))
    assert len(calls) == 1
