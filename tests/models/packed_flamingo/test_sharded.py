from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from obelics_pipeline.models.packed_flamingo.tiny import Kind
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo

torch = pytest.importorskip("torch")
distributed = pytest.importorskip("torch.distributed")

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo, target_losses
from obelics_pipeline.models.packed_flamingo.saved import put_trained, trained_state

if not distributed.is_available():
    pytest.skip("torch without its distributed part", allow_module_level=True)

ROWS = [[[TEXTS[0], 1, TEXTS[1]], [TEXTS[2]]], [[2, TEXTS[1], 3]]]


@pytest.fixture(scope="module", autouse=True)
def _group() -> Iterator[None]:
    """One process that speaks to itself."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def sharded(model: PackedFlamingo, **policy: Any) -> PackedFlamingo:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh("cpu", (1,))
    for block in [*model.blocks(), model]:
        fully_shard(block, mesh=mesh, mp_policy=MixedPrecisionPolicy(**policy))
    return model


def step(model: PackedFlamingo) -> tuple[Any, dict[str, Any]]:
    """Losses and gradients of two batches, the second without a picture."""
    found = []
    for rows in (ROWS, [[[TEXTS[0]]]]):
        losses = target_losses(model, batch(model.vocabulary, rows))
        (losses.nll.sum() + 1e-4 * losses.log_z.square().sum()).backward()
        found.append(losses.nll.detach())
    grads = {name: p.grad for name, p in model.trainable().items() if p.grad is not None}
    return torch.cat(found), {name: g.full_tensor() if hasattr(g, "full_tensor") else g for name, g in grads.items()}


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("llama", {}),
        ("opt", {}),
        ("gpt_neox", {"checkpointing": True}),
        ("llama", {"unfreeze": ("language_model.*norm*", "vision.*norm*")}),
        ("opt", {"unfreeze": ("language_model.*embed_tokens*",)}),
    ],
)
def test_a_sharded_model_has_the_losses_and_gradients_of_a_whole_one(kind: Kind, others: dict[str, Any]) -> None:
    plain = step(flamingo(kind, **others).train())
    losses, grads = step(sharded(flamingo(kind, **others).train()))
    assert torch.allclose(losses, plain[0], atol=1e-5)
    assert grads.keys() == plain[1].keys()
    for name, grad in plain[1].items():
        assert torch.allclose(grads[name], grad, atol=1e-4, rtol=1e-4), name


def test_frozen_weights_of_a_sharded_model_get_no_gradient() -> None:
    model = sharded(flamingo().train())
    step(model)
    for name, p in model.named_parameters():
        assert (p.grad is None) == (not p.requires_grad), name


def test_weights_are_float32_and_the_work_bfloat16() -> None:
    model = sharded(flamingo().train(), param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    seen = set()
    model.cross["0"].attention.q.register_forward_hook(lambda _, __, out: seen.add(out.dtype))
    losses, grads = step(model)
    assert seen == {torch.bfloat16}
    assert losses.dtype == torch.float32
    assert {g.dtype for g in grads.values()} == {p.dtype for p in model.trainable().values()} == {torch.float32}
    whole, _ = step(flamingo())
    assert losses.mean().item() == pytest.approx(whole.mean().item(), rel=2e-2)


def test_frozen_weights_in_bfloat16_are_sharded_beside_masters_in_float32() -> None:
    model = sharded(
        flamingo(dtype="bfloat16", unfreeze=("language_model.*norm*",)).train(),
        param_dtype=torch.bfloat16,
        reduce_dtype=torch.float32,
    )
    losses, grads = step(model)
    assert torch.isfinite(losses).all()
    assert {g.dtype for g in grads.values()} == {torch.float32}


def test_what_a_sharded_model_has_learned_is_saved_whole_and_loaded() -> None:
    state = trained_state(sharded(flamingo()))
    for other in (flamingo(seed=3), sharded(flamingo(seed=3))):
        put_trained(other, state, "there")
        assert all(torch.equal(a, b) for a, b in zip(trained_state(other).values(), state.values(), strict=True))


def test_the_language_model_trains_as_a_whole_where_it_is_asked_to() -> None:
    model = sharded(flamingo(unfreeze=("language_model.*",)).train())
    _, grads = step(model)
    assert "language_model.lm_head.weight" in grads
    assert "language_model.model.layers.0.mlp.down_proj.weight" in grads
