from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.language_model import head
from obelics_pipeline.models.language_model.head import Head, measures

WORDS, WIDTH, COUNT = 50, 8, 21


def layer(words: int = WORDS, seed: int = 0) -> torch.nn.Linear:
    torch.manual_seed(seed)
    made = torch.nn.Linear(WIDTH, words)
    with torch.no_grad():
        made.weight.mul_(5)
    return made


def naive(x: torch.Tensor, targets: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Word by word, in float64."""
    rows = []
    for logits, target, other in zip(x.double(), targets, y.double(), strict=True):
        p, log_p, log_q = logits.softmax(0), logits.log_softmax(0), other.log_softmax(0)
        rank = 1 + sum(float(v) > float(logits[target]) for v in logits)
        mean = float((p * log_p).sum())
        rows.append(
            [
                -float(log_p[target]),
                float(torch.tensor(rank).log()),
                -mean,
                float((p * log_p**2).sum()) - mean**2,
                -float((p[: len(other)] * log_q).sum()),
            ]
        )
    return torch.tensor(rows)


@pytest.mark.parametrize("size", [1 << 26, WORDS * 4, 1])
def test_each_part_is_that_of_full_logits_however_tokens_are_sliced(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head, "VALUES", size)
    first, second = layer(), layer(WORDS - 2, 1)  # embeddings of twins may be padded to different sizes
    with torch.no_grad():
        hidden, other = torch.randn(2, COUNT, WIDTH)
        targets = torch.randint(0, WORDS - 2, (COUNT,))
        found = measures(Head(first), hidden, targets, Head(second), other)
        expected = naive(first(hidden), targets, second(other))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_logits_are_scaled_and_capped_as_the_model_does() -> None:
    made = layer()
    hidden = torch.randn(COUNT, WIDTH)
    with torch.no_grad():
        found = Head(made, scale=0.5, cap=2.0).logits(hidden)
        torch.testing.assert_close(found, 2 * torch.tanh(made(hidden) / 4))


def test_a_word_that_cannot_come_leaves_the_rest_as_it_is() -> None:
    made = layer()
    with torch.no_grad():
        made.bias[-1] = -torch.inf
        hidden, targets = torch.randn(COUNT, WIDTH), torch.randint(0, WORDS - 1, (COUNT,))
        found = measures(Head(made), hidden, targets)
        less = torch.nn.Linear(WIDTH, WORDS - 1)
        less.weight.copy_(made.weight[:-1])
        less.bias.copy_(made.bias[:-1])
        torch.testing.assert_close(found, measures(Head(less), hidden, targets))


def test_a_number_that_is_not_finite_shows() -> None:
    with torch.no_grad():
        hidden = torch.randn(2, WIDTH)
        hidden[0] = torch.nan
        found = measures(Head(layer()), hidden, torch.tensor([1, 2]))
    assert found[0].isnan().any() and found[1].isfinite().all()


def test_no_tokens_have_no_measures() -> None:
    assert measures(Head(layer()), torch.zeros(0, WIDTH), torch.zeros(0, dtype=torch.long)).shape == (0, 5)
