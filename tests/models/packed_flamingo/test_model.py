from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest

from obelics_pipeline.models.packed_flamingo.tiny import Kind
from tests.models.packed_flamingo.small import TEXTS, Document, batch, flamingo, open_gates, parts, settings

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.attention import RmsNorm
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo, target_losses

PAGES: list[Document] = [
    [TEXTS[0], 1, TEXTS[1]],
    [2, TEXTS[2], 3, 4, TEXTS[0]],
    [TEXTS[1]],
    [TEXTS[2], 5],
    [6],
    [],
]


def by_document(model: PackedFlamingo, rows: list[list[Document]], tokens: int = 0) -> list[Any]:
    """The losses of the targets of each document."""
    made = batch(model.vocabulary, rows, tokens)
    with torch.no_grad():
        losses = target_losses(model, made)
    return [losses.nll[losses.span == number] for number in range(made.n_spans)]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_packed_document_has_the_loss_that_it_has_alone(kind: Kind) -> None:
    model = flamingo(kind)
    packed = by_document(model, [PAGES[:3], PAGES[3:]], tokens=200)
    alone = [by_document(model, [[page]])[0] for page in PAGES]
    for a, b in zip(packed, alone, strict=True):
        assert len(a) == len(b) > 0
        assert (a - b).abs().max() <= 1e-5
    assert packed[0].mean() > 1


@pytest.mark.parametrize("attend", ["last", "all"])
def test_packed_with_any_attention_and_options(attend: str) -> None:
    for others in ({"attention": "eager"}, {"qk_norm": "none", "norm": "layer", "text_only_mlp": True}):
        model = flamingo(attend=attend, **others)
        packed = by_document(model, [PAGES[:3], PAGES[3:]])
        alone = [by_document(model, [[page]])[0] for page in PAGES]
        assert all((a - b).abs().max() <= 1e-5 for a, b in zip(packed, alone, strict=True))


def test_images_in_the_sequence_stand_where_their_marks_are() -> None:
    from pydantic import ValidationError

    model = flamingo(fusion="prefix", latents=1)
    assert not model.cross and any(name.startswith("into.") for name in model.trainable())
    packed = by_document(model, [PAGES[:3], PAGES[3:]], tokens=200)
    alone = [by_document(model, [[page]])[0] for page in PAGES]
    assert all((a - b).abs().max() <= 1e-5 for a, b in zip(packed, alone, strict=True))
    one, other = (by_document(model, [[[TEXTS[0], n, TEXTS[1]]]])[0] for n in (1, 2))
    before = len(model.vocabulary.encode(TEXTS[0]))
    assert torch.equal(one[:before], other[:before])  # what stands before an image knows nothing of it
    assert (one[before:] - other[before:]).abs().max() > 1e-4
    made = batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]])
    plain = flamingo(gates=0.0)
    with torch.no_grad():
        plain.embedding.weight.copy_(model.embedding.weight)
        made.picture_of.fill_(-1)  # not to be had: the mark stays a mark
        assert torch.equal(model(made), plain(made))
    with pytest.raises(ValidationError, match="latents is 64, set 1"):
        settings(fusion="prefix", latents=64)


@pytest.mark.parametrize("kind", ["llama", "opt", "gpt_neox", "gpt2"])
def test_with_closed_gates_it_is_the_language_model_bit_for_bit(kind: Kind) -> None:
    model = flamingo(kind, gates=0.0)
    made = batch(model.vocabulary, [[PAGES[0]], [PAGES[2]]])
    ids = made.ids.clamp(max=model.words - 1)
    with torch.no_grad():
        with_images = model(made)
        model.cross.requires_grad_(False)
        for block in model.language_model.modules():
            block._forward_pre_hooks.clear()
        assert torch.equal(with_images, model(made))
        words = model.logits(made)[:, :, : model.words]
        known = batch(model.vocabulary, [[PAGES[2]]])  # nothing of it is an added token
        alone = model.language_model(input_ids=known.ids, use_cache=False).logits
        assert torch.equal(model.logits(known)[:, :, : model.words], alone)
        assert words.shape[:2] == ids.shape


def test_tokens_without_an_image_get_exactly_nothing_from_either_branch() -> None:
    model, closed = flamingo(gates=0.9), flamingo(gates=0.0)
    made = batch(model.vocabulary, [[[TEXTS[0]], [TEXTS[1], 3, TEXTS[2]]]])
    with torch.no_grad():
        a, b = model(made), closed(made)
    without = made.image_of < 0
    assert torch.equal(a[without], b[without])
    assert not torch.isclose(a[~without], b[~without]).all(-1).any()


def test_every_order_of_texts_and_images_is_taken() -> None:
    model = flamingo()
    orders = [order for n in range(6) for order in product((TEXTS[0][:9], 1), repeat=n)]
    rows = [[orders[i]] for i in range(len(orders))]
    for losses in by_document(model, rows):
        assert len(losses) >= 1
        assert torch.isfinite(losses).all()


def test_only_its_own_last_image_changes_a_text() -> None:
    model = flamingo()
    one = by_document(model, [[[1, TEXTS[0], 2, TEXTS[1]], [TEXTS[2], 3, TEXTS[0]]]])
    other = by_document(model, [[[4, TEXTS[0], 2, TEXTS[1]], [TEXTS[2], 3, TEXTS[0]]]])
    n = len(by_document(model, [[[1, TEXTS[0]]]])[0]) - 1  # without the end of the document
    assert (one[0][:n] - other[0][:n]).abs().max() > 1e-4
    assert torch.equal(one[1], other[1])


def test_a_picture_that_could_not_be_had_is_none() -> None:
    model = flamingo()
    made = batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]])
    made.picture_of.fill_(-1)
    closed = batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]])
    closed.image_of.fill_(-1)
    with torch.no_grad():
        assert torch.equal(model(made), model(closed))


def test_a_batch_without_a_picture_goes_through_every_part() -> None:
    model = flamingo()
    losses = target_losses(model, batch(model.vocabulary, [[[TEXTS[0]]]]))
    losses.nll.sum().backward()
    for name, p in model.trainable().items():
        assert p.grad is not None, name
        assert torch.isfinite(p.grad).all()


def test_losses_say_whose_they_are() -> None:
    model = flamingo()
    made = batch(model.vocabulary, [PAGES[:2], PAGES[2:]])
    losses = target_losses(model, made)
    assert len(losses.nll) == int(made.target.sum())
    assert losses.span.unique().tolist() == list(range(len(PAGES)))
    assert set(losses.dataset[losses.span < 2].tolist()) == {0}
    logits = model.logits(made)[:, :-1][made.target[:, 1:]]
    labels = made.ids[:, 1:][made.target[:, 1:]]
    assert torch.allclose(losses.nll, torch.nn.functional.cross_entropy(logits, labels, reduction="none"), atol=1e-5)
    assert torch.equal(losses.top1, logits.argmax(-1))
    p = logits.softmax(-1) - torch.nn.functional.one_hot(labels, logits.shape[-1])
    assert torch.allclose(losses.el2n, p.square().sum(-1), atol=1e-5)


def test_frozen_weights_stay_and_get_no_gradient() -> None:
    model = flamingo()
    frozen = {name: p.clone() for name, p in model.named_parameters() if not p.requires_grad}
    optimizer = torch.optim.AdamW(model.trainable().values(), lr=1e-2)
    made = batch(model.vocabulary, [PAGES[:3], PAGES[3:]])
    before = target_losses(model, made).nll.mean()
    for _ in range(5):
        loss = target_losses(model, made).nll.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert loss < before
    now = dict(model.named_parameters())
    assert all(now[name].grad is None and torch.equal(now[name], p) for name, p in frozen.items())
    assert any(name.startswith("vision.") for name in frozen)
    assert any(name.startswith("language_model.") for name in frozen)


def test_frozen_weights_cost_no_gradient_of_weights() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model = flamingo()
    made = batch(model.vocabulary, [PAGES[:3], PAGES[3:]])
    with FlopCounterMode(display=False) as forward:
        loss = target_losses(model, made).nll.sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert backward.get_total_flops() < 2 * forward.get_total_flops()


def test_patterns_unfreeze() -> None:
    model = flamingo(unfreeze=("language_model.*norm*",))
    names = [name for name in model.trainable() if name.startswith("language_model.")]
    assert len(names) == 5
    target_losses(model, batch(model.vocabulary, [PAGES[:2]])).nll.mean().backward()
    assert all(model.trainable()[name].grad is not None for name in names)


@pytest.mark.parametrize("pattern", ["language_model.*embed*", "language_model.lm_head.weight", "vision.*"])
def test_any_part_can_train(pattern: str) -> None:
    model = flamingo(unfreeze=(pattern,))
    target_losses(model, batch(model.vocabulary, [PAGES[:2]])).nll.mean().backward()
    names = [name for name in model.trainable() if name.startswith(("language_model.", "vision."))]
    used = [name for name in names if model.trainable()[name].grad is not None]
    assert used
    assert model.trainable()[used[0]].grad.abs().max() > 0


def test_decay_is_for_matrices_of_layers() -> None:
    decayed, others = flamingo(bias=True, gate="vector").parameter_groups()
    assert "cross.0.attention.q.weight" in decayed
    assert {"embedding.weight", "head.weight", "resampler.latents", "cross.0.attention_gate.weight"} <= set(others)
    assert "cross.0.attention.q.bias" in others
    assert not set(decayed) & set(others)


def test_what_is_new_has_no_bias_and_rms_norms_unless_asked() -> None:
    model = flamingo()
    assert not [name for name in model.trainable() if name.endswith("bias")]
    kinds = {type(part) for name, part in model.cross.named_modules() if name.endswith("norm")}
    assert kinds == {RmsNorm}


OPTIONS = [
    {"qk_norm": "layer"},
    {"qk_norm": "l2"},
    {"qk_norm": "none"},
    {"norm": "layer", "bias": True},
    {"gate": "vector"},
    {"post_norm": True},
    {"cross_every": 2},
    {"cross_start": 1},
    {"attend": "all"},
    {"activation": "gelu_tanh"},
    {"activation": "silu"},
    {"activation": "relu"},
    {"depth_scaled_init": False},
    {"checkpointing": True},
    {"text_only_mlp": True},
    {"fusion": "prefix", "latents": 1},
]


@pytest.mark.parametrize("others", OPTIONS, ids=lambda o: "-".join(f"{k}={v}" for k, v in o.items()))
def test_every_option_builds_and_trains(others: dict[str, Any]) -> None:
    model = flamingo(**others).train()
    optimizer = torch.optim.AdamW(model.trainable().values(), lr=3e-3)
    made = batch(model.vocabulary, [PAGES[:2]])
    losses = []
    for _ in range(4):
        loss = target_losses(model, made).nll.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_activations_computed_again_give_the_same_gradients() -> None:
    grads = []
    for checkpointing in (False, True):
        model = flamingo(checkpointing=checkpointing).train()
        target_losses(model, batch(model.vocabulary, [PAGES[:2]])).nll.mean().backward()
        grads.append({name: p.grad for name, p in model.trainable().items()})
    for name, grad in grads[0].items():
        assert torch.allclose(grad, grads[1][name], atol=1e-7), name


def test_first_weights_are_as_wide_as_said_and_narrower_where_they_add_up() -> None:
    model = build(settings(init_std=0.05))
    q, o = model.cross["0"].attention.q.weight, model.cross["0"].attention.o.weight
    assert q.std().item() == pytest.approx(0.05, rel=0.1)
    assert o.std().item() == pytest.approx(0.05 / 2, rel=0.1)  # two layers
    assert not any(p.any() for name, p in model.trainable().items() if name.endswith("gate.weight"))


def test_the_same_seed_draws_the_same_weights() -> None:
    a, b, c = flamingo(), flamingo(), flamingo(seed=1)
    for (name, x), y, z in zip(a.trainable().items(), b.trainable().values(), c.trainable().values(), strict=True):
        assert torch.equal(x, y), name
        constant = name.endswith(("norm.weight", "gate.weight")) or name.startswith(("embedding.", "head."))
        assert constant or not torch.equal(x, z), name


def test_under_bfloat16_losses_are_float32_and_differ() -> None:
    model = flamingo().train()
    optimizer = torch.optim.AdamW(model.trainable().values(), lr=1e-4)
    made = batch(model.vocabulary, [PAGES[:3]])
    seen = set()
    for _ in range(30):
        with torch.autocast("cpu", torch.bfloat16):
            losses = target_losses(model, made)
        assert losses.nll.dtype == losses.log_z.dtype == losses.el2n.dtype == torch.float32
        loss = losses.nll.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.add(loss.item())
    assert len(seen) >= 29


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_frozen_weights_may_be_half_as_long(dtype: str) -> None:
    full, half = flamingo(), flamingo(dtype=dtype)
    assert {p.dtype for p in half.trainable().values()} == {torch.float32}
    assert {str(p.dtype) for p in half.language_model.parameters()} == {f"torch.{dtype}"}
    made = batch(full.vocabulary, [PAGES[:2]])
    a, b = target_losses(full, made).nll.mean(), target_losses(half, made).nll.mean()
    b.backward()
    assert a.item() == pytest.approx(b.item(), rel=2e-2)


def test_a_pattern_that_names_nothing_is_refused() -> None:
    from obelics_pipeline.core.errors import UserError

    with pytest.raises(UserError, match="names no parameter"):
        flamingo(unfreeze=("lm.nothing",))


def test_a_copy_of_a_model_is_its_own() -> None:
    from copy import deepcopy

    model = flamingo()
    made = batch(model.vocabulary, [PAGES[:2]])
    copied = deepcopy(model)
    with torch.no_grad():
        assert torch.equal(model(made), copied(made))
        open_gates(copied, 0.0)
        assert not torch.equal(model(made), copied(made))


def test_parts_that_are_missing_are_named() -> None:
    from obelics_pipeline.core.errors import UserError

    with pytest.raises(UserError, match="vision"):
        flamingo(vision="no-such-model")
    with pytest.raises(UserError, match="cross_start is 9"):
        flamingo(cross_start=9)
    assert parts()


@pytest.mark.slow
def test_compiled_blocks_give_the_same_without_a_break() -> None:
    made = batch(flamingo().vocabulary, [PAGES[:2], PAGES[2:]])
    results = []
    for compiled in (False, True):
        model = flamingo().train()
        if compiled:
            for block in model.blocks():
                block.compile(backend="aot_eager", fullgraph=True)
        losses = target_losses(model, made)
        losses.nll.sum().backward()
        results.append((losses.nll.detach(), {name: p.grad for name, p in model.trainable().items()}))
    assert torch.allclose(results[0][0], results[1][0], atol=1e-6)
    for name, grad in results[0][1].items():
        assert torch.allclose(grad, results[1][1][name], atol=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "opt"])
def test_without_a_mask_of_tokens_by_tokens_losses_are_the_same(kind: Kind) -> None:
    model, other = flamingo(kind), flamingo(kind, attention="flex_attention")
    made = batch(model.vocabulary, [PAGES[:3], PAGES[3:]], tokens=256)
    with torch.no_grad():
        assert torch.allclose(target_losses(model, made).nll, target_losses(other, made).nll, atol=1e-5)


@pytest.mark.slow
def test_without_a_mask_of_tokens_by_tokens_gradients_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU torch has no kernel for the gradient, but the formulas that its kernels are tested by."""
    from torch.nn.attention import flex_attention as torchs
    from transformers.integrations import flex_attention as of_transformers

    prepared = torchs._apply_kernel_options
    monkeypatch.setattr(torchs, "_validate_device", lambda *_: None)  # it refuses
    monkeypatch.setattr(torchs, "_apply_kernel_options", lambda *a, **k: prepared(*a, **k) | {"OUTPUT_LOGSUMEXP": True})
    monkeypatch.setattr(of_transformers.WrappedFlexAttention, "__call__", lambda _: torchs.flex_attention)
    found = []
    for attention in ("sdpa", "flex_attention"):
        model = flamingo(attention=attention, unfreeze=("language_model.*",)).train()
        made = batch(model.vocabulary, [PAGES[:3], PAGES[3:]], tokens=256)
        target_losses(model, made).nll.mean().backward()
        found.append({name: p.grad for name, p in model.trainable().items()})
    for name, grad in found[0].items():
        assert torch.allclose(grad, found[1][name], atol=1e-5), name
