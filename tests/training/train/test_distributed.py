"""Blocks that are compiled compute the same, and are looked into on sampled steps alone."""

from functools import partial
from itertools import islice

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from benchmarks.training import ALONE, model_and_optimizer
from benchmarks.training_model import SMALL, batches, flamingo
from obelics_pipeline.models.packed_flamingo.model import target_losses
from obelics_pipeline.training.train.distributed import distribute
from obelics_pipeline.training.train.instruments import Instruments


def test_a_batch_that_is_moved_knows_where_its_targets_are() -> None:
    [batch] = islice(batches(SMALL, 64, 2), 1)
    moved = batch.packed.to("cpu")
    assert batch.packed.places is None
    assert moved.places is not None
    assert torch.equal(moved.places, batch.packed.target[:, 1:].flatten().nonzero().squeeze(-1))


def test_hooks_are_there_on_sampled_steps_alone() -> None:
    made = model_and_optimizer(SMALL, el2n=True)
    watching = Instruments(made, every=10)
    [batch] = islice(batches(SMALL, 64, 2), 1)

    def hooked() -> bool:
        return any(module._forward_hooks for name, module in made.model.named_modules() if name.startswith("cross."))

    for step, sampled in ((9, False), (10, True)):
        watching.start(step)
        assert hooked() is sampled
        _, norm = made.gradient([batch], watching.first_micro_batch)
        found = watching.read(float(norm), 1, 1)
        assert bool(found) is sampled
        assert not hooked()
    assert all(of["rms"] > 0 for name, of in found["activations"].items() if name.endswith(".q"))
    assert found["attention"]


@pytest.mark.slow
def test_compiled_blocks_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))  # what is traced, in seconds
    [batch] = islice(batches(SMALL, 64, 2), 1)
    losses = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = distribute(flamingo(SMALL, "cpu", "float32"), ALONE, "float32", compiled)
        with torch.no_grad():
            for layer in model.cross.values():  # or what stands before a block would change nothing
                layer.attention_gate.weight.fill_(1)
        losses.append(target_losses(model, batch.packed).nll)
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=1e-5)
