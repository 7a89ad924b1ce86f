from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo import head as module
from obelics_pipeline.models.packed_flamingo.head import Head, Measures, _of_slice


def drawn(count: int = 9, words: int = 11, added: int = 3, width: int = 4, bias: bool = True) -> list[Any]:
    torch.manual_seed(0)
    shapes = [(count, width), (words, width), (words,), (added, width)]
    hidden, rows, b, new = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    labels = torch.arange(count) % (words + added)
    labels[0] = words  # of an added token
    return [hidden, labels, rows, b if bias else None, new]


def textbook(hidden: Any, labels: Any, rows: Any, bias: Any, new: Any, cap: float | None = None) -> Measures:
    whole = None if bias is None else torch.cat([bias, bias.new_zeros(len(new))])
    return _of_slice(hidden, labels, rows, whole, new, cap, True)


@pytest.fixture(autouse=True)
def _slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE", 4)


@pytest.mark.parametrize("cap", [None, 2.0])
@pytest.mark.parametrize("bias", [True, False])
def test_losses_and_gradients_are_those_of_a_textbook(cap: float | None, bias: bool) -> None:
    given = drawn(bias=bias)
    weights = torch.rand(2, 9, dtype=torch.float64)
    results = []
    for made in (Head(None, 1.0, cap)(*given, with_el2n=True), textbook(*given, cap)):
        total = (weights[0] * made[0] + weights[1] * made[1].square()).sum()
        leaves = [x for x in given if x is not None and x.requires_grad]
        results.append((made, torch.autograd.grad(total, leaves)))
    (one, of_one), (two, of_two) = results
    for a, b in zip(one[:3], two[:3], strict=True):
        assert torch.allclose(a, b, atol=1e-12)
    assert torch.equal(one[3], two[3])
    for a, b in zip(of_one, of_two, strict=True):
        assert torch.allclose(a, b, atol=1e-12)


def test_gradients_are_those_of_small_steps() -> None:
    hidden, labels, rows, _, new = drawn(bias=False)

    def losses(h: Any, w: Any, n: Any) -> Any:
        return Head(None, 1.5, None)(h, labels, w, None, n, with_el2n=False)[:2]

    assert torch.autograd.gradcheck(losses, (hidden, rows, new))


def test_the_gradient_of_z_loss_is_twice_log_z_times_the_softmax() -> None:
    hidden, labels, rows, _, new = drawn(bias=False)
    _, log_z, _, _ = Head(None, 1.0, None)(hidden, labels, rows, None, new, with_el2n=False)
    (grad,) = torch.autograd.grad(log_z.square().sum(), hidden)
    every = torch.cat([rows, new])
    p = (hidden @ every.t()).softmax(-1)
    assert torch.allclose(log_z, (hidden @ every.t()).logsumexp(-1))
    assert torch.allclose(grad, 2 * log_z[:, None] * (p @ every))


def test_without_targets_there_is_nothing_and_gradients_are_zero() -> None:
    for cap in (None, 1.0):
        given = drawn(count=9)
        hidden, labels, rows, bias, new = given
        made = Head(None, 1.0, cap)(hidden[:0], labels[:0], rows, bias, new, with_el2n=True)
        assert [len(part) for part in made] == [0, 0, 0, 0]
        (grad,) = torch.autograd.grad(made[0].sum() + made[1].sum(), new, allow_unused=True)
        assert grad is None or not grad.any()


def test_logits_of_bfloat16_are_read_in_float32() -> None:
    given = [x.detach().bfloat16() if x is not None and x.is_floating_point() else x for x in drawn(bias=False)]
    nll, log_z, el2n, _ = Head(None, 1.0, None)(*given, with_el2n=True)
    assert nll.dtype == log_z.dtype == el2n.dtype == torch.float32


def test_a_sure_and_right_prediction_has_no_error_and_a_sure_and_wrong_one_two() -> None:
    rows = torch.eye(3, dtype=torch.float64)
    hidden = 100 * torch.eye(3, dtype=torch.float64)[:1].repeat(2, 1)
    made = Head(None, 1.0, None)(hidden, torch.tensor([0, 1]), rows, None, rows[:0], with_el2n=True)
    assert made[2].tolist() == pytest.approx([0, 2], abs=1e-9)
