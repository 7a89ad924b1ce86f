from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.language_model.attention import _apart, documents

LENGTHS = (5, 1, 9)


class Block(torch.nn.Module):
    num_key_value_groups = 2


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int | None) -> torch.Tensor:
    """With a mask of all tokens by all."""
    document = torch.repeat_interleave(torch.arange(len(LENGTHS)), torch.tensor(LENGTHS))
    at = torch.arange(len(document))
    behind = at[:, None] - at
    allowed = (document[:, None] == document) & (behind >= 0)
    if window is not None:
        allowed &= behind < window
    k, v = (part.repeat_interleave(2, 1) for part in (k, v))
    logits = (q @ k.transpose(-1, -2) * 0.3).masked_fill(~allowed, -torch.inf)
    return (logits.softmax(-1) @ v).transpose(1, 2)


@pytest.mark.parametrize("window", [None, 3, 100])
def test_each_document_looks_at_itself_and_back_as_far_as_the_window(window: int | None) -> None:
    q, k, v = torch.randn(1, 4, 15, 8), torch.randn(1, 2, 15, 8), torch.randn(1, 2, 15, 8)
    with documents(LENGTHS):
        found, _ = _apart(Block(), q, k, v, None, scaling=0.3, sliding_window=window)
    torch.testing.assert_close(found, reference(q, k, v, window))


@pytest.mark.parametrize("name", ["softcap", "s_aux", "position_bias"])
def test_what_the_kernel_lacks_is_refused(name: str) -> None:
    part = torch.zeros(1, 2, 15, 8)
    with documents(LENGTHS), pytest.raises(ValueError, match=f"Block has {name}"):
        _apart(Block(), part, part, part, None, **{name: 1.0})
