"""A bit that flips is seen, and the rank it flipped on is named."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.training.train.guard.observation import Hardware
from obelics_pipeline.training.train.health.canary import Canary, StillWeights, differing, gradient_canary
from obelics_pipeline.training.train.health.checksum import PLACES, checksum, quick_sum
from tests.training.train.health.canary_run import flip, watched


@pytest.mark.parametrize("bit", [0, 7, 22, 23, 30])
def test_any_flipped_bit_changes_the_sum_and_flipping_it_back_restores_it(bit: int) -> None:
    tensors = [torch.randn(3, 50), torch.randn(7)]
    before = checksum(tensors)
    flip(tensors[0], 77, bit)
    assert checksum(tensors) != before
    flip(tensors[0], 77, bit)
    assert checksum(tensors) == before


def test_a_sum_knows_places_and_tensors_and_every_kind_of_number() -> None:
    a, b = torch.randn(9), torch.randn(9)
    assert checksum([a, b]) != checksum([b, a]) and checksum([a]) != checksum([a.flip(0)])
    for kind in (torch.bfloat16, torch.float16, torch.float64, torch.int8):
        assert checksum([a.to(kind)]) == checksum([a.to(kind).clone()])
    assert checksum([]) == 0


def test_a_sum_over_slices_is_that_over_one() -> None:
    words = torch.randint(-(2**31), 2**31, (PLACES * 300 + 5,), dtype=torch.int32)
    weights = 2 * (torch.arange(len(words)) % PLACES) + 1
    assert checksum([words]) == int((words.to(torch.int64) * weights).sum())


def test_the_canary_is_the_same_each_time() -> None:
    assert gradient_canary() == gradient_canary()


@pytest.mark.parametrize(
    ("sums", "first", "bad"),
    [
        ([5, 5, 5], None, []),
        ([5, 6, 5], None, [1]),
        ([5, 6], None, [0, 1]),  # of two that differ nobody knows which
        ([5, 6], 5, [1]),
        ([6, 6], 5, [0, 1]),
    ],
)
def test_the_rank_that_differs_is_named(sums: list[int], first: int | None, bad: list[int]) -> None:
    assert differing(sums, first) == bad


def test_the_first_sound_answer_is_the_measure_and_the_last_sound_step_is_known() -> None:
    canary = Canary()
    assert canary.judge(10, [7, 7]) == () and canary.first == 7
    assert canary.judge(20, [7, 8]) == (Hardware("canary", "rank 1", True, 10),)


def test_weights_that_were_not_written_stay() -> None:
    weight, still = torch.randn(30), StillWeights()
    assert still.check([weight]) == ()
    still.written(8, [weight])
    assert still.check([weight]) == ()
    flip(weight, 3, 1)
    assert still.check([weight]) == (Hardware("weights", "rank 0", True, 7),)


@pytest.mark.parametrize("size", [30, 31])
@pytest.mark.parametrize("bit", range(32))
def test_the_quick_sum_sees_any_flipped_bit_and_tensors_that_change_places(size: int, bit: int) -> None:
    weight, other = torch.randn(size), torch.randn(size)
    before = quick_sum([weight, other])
    assert quick_sum([other, weight]) != before
    weight.view(torch.int32)[size // 2] ^= -(2**31) if bit == 31 else 1 << bit
    assert quick_sum([weight, other]) != before


def test_of_two_processes_the_one_with_the_flipped_bit_is_named(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(watched, (str(tmp_path),), nprocs=2)
    for rank in range(2):
        said = eval((tmp_path / f"rank-{rank}.txt").read_text(), {"Hardware": Hardware})
        assert said["sound"] == [] and said["canary"] == []
        assert said["weights"] == [Hardware("weights", "rank 1", True, 2)]
