from __future__ import annotations

import pytest

from obelics_pipeline.models.packed_flamingo.settings import QkNorm
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo, settings

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.attention import Attention, watched_attention


def largest(kind: QkNorm, factor: float) -> float:
    torch.manual_seed(0)
    attention = Attention(settings(qk_norm=kind), 32, 24)
    with torch.no_grad():
        attention.q.weight.mul_(factor)
        attention.k.weight.mul_(factor)
        x, seen = torch.randn(2, 5, 32), torch.randn(2, 7, 24)
        with watched_attention(attention) as found:
            attention(x, seen)
            shape = found[""].watched
            assert shape is not None
            return float(shape.largest)


@pytest.mark.parametrize("kind", ["rms", "layer", "l2"])
def test_normed_queries_and_keys_do_not_explode(kind: QkNorm) -> None:
    assert largest(kind, 100) == pytest.approx(largest(kind, 1), rel=1e-2)


def test_without_a_norm_logits_grow_with_both_weights() -> None:
    assert largest("none", 100) == pytest.approx(1e4 * largest("none", 1), rel=1e-3)


def test_attention_is_that_of_a_textbook() -> None:
    torch.manual_seed(0)
    attention = Attention(settings(qk_norm="none"), 32, 24)
    x, seen, mask = torch.randn(2, 5, 32), torch.randn(2, 7, 24), torch.rand(2, 1, 5, 7) > 0.3
    layers = ((attention.q, x), (attention.k, seen), (attention.v, seen))
    q, k, v = (layer(y).unflatten(-1, (2, 16)) for layer, y in layers)
    logits = torch.einsum("bnhd,bmhd->bhnm", q, k) / 4
    p = logits.masked_fill(~mask, float("-inf")).softmax(-1)
    expected = attention.o(torch.einsum("bhnm,bmhd->bnhd", p, v).flatten(2))
    assert torch.allclose(attention(x, seen, mask), expected, atol=1e-6)


def test_attention_to_one_thing_has_no_entropy() -> None:
    torch.manual_seed(0)
    model = flamingo(qk_norm="none")
    made = batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]])
    with torch.no_grad():
        entropies = []
        for factor in (0.0, 100.0):
            model.cross["0"].attention.q.weight.mul_(factor if factor else 1)
            with watched_attention(model) as found:
                model(made)
                entropies.append({name: part.watched.entropy.item() for name, part in found.items() if part.watched})
    assert len(entropies[0]) == 4
    assert entropies[1]["cross.0.attention"] < 0.3 * entropies[0]["cross.0.attention"]
    assert not any(part.watching for part in model.modules() if isinstance(part, Attention))


def test_large_numbers_in_bfloat16_stay_finite() -> None:
    attention = Attention(settings(head_dim=128), 32, 32).to(torch.bfloat16)
    x = torch.full((1, 64, 32), 1e4, dtype=torch.bfloat16)
    assert torch.isfinite(attention(x, x)).all()
