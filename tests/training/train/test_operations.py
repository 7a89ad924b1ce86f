"""What a step computes is counted from sizes alone, as torch counts it while it is computed."""

from __future__ import annotations

from itertools import islice

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.training_model import SMALL, batches, flamingo
from obelics_pipeline.models.packed_flamingo.model import target_losses
from obelics_pipeline.training.train.operations import Operations, peak_of

UNFROZEN = ((), ("language_model.model.layers.*",), ("vision.*",))


@pytest.mark.parametrize("unfrozen", UNFROZEN)
def test_the_operations_of_a_step_are_those_that_torch_counts(unfrozen: tuple[str, ...]) -> None:
    [batch] = islice(batches(SMALL, 256, 2), 1)
    packed, model = batch.packed, flamingo(SMALL, "cpu", "float32")
    model._freeze(unfrozen)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        losses = target_losses(model, packed, with_el2n=False)
        (losses.nll.sum() + losses.log_z.square().sum()).backward()
    rows, n = packed.ids.shape
    seen = int((packed.position[packed.segment >= 0] + 1).sum())
    unseen = 12 * SMALL.width * SMALL.layers * (rows * n * n - seen)
    sights = rows * n * packed.picture_of.shape[1] - int((packed.image_of >= 0).sum())
    unseen += 12 * SMALL.cross_heads * SMALL.cross_head_dim * SMALL.latents * len(model.cross) * sights
    expected = counter.get_total_flops() - unseen
    assert Operations(model).of([packed]) == pytest.approx(expected, rel=0.02)


def test_the_share_of_the_peak_is_that_of_the_data_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H200")
    assert peak_of(torch.device("cuda")) == 989e12
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Another")
    assert peak_of(torch.device("cuda")) is None is peak_of(torch.device("cpu"))
