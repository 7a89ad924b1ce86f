import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.training.train.health.update_bounds import UpdateBounds, largest_step


def trained(bounds_of, steps: int = 60, rate: float = 1e-2):
    """Every update of a small training whose gradients are wild, and what is said of it."""
    draw = torch.Generator().manual_seed(3)
    weights = {"a": torch.nn.Parameter(torch.randn(20, 30, generator=draw)), "b": torch.nn.Parameter(torch.zeros(7))}
    optimizer = torch.optim.AdamW(weights.values(), lr=rate, betas=(0.9, 0.95), weight_decay=0.1)
    bounds = UpdateBounds(weights, 0.9, 0.95)
    bounds.written()
    for step in range(steps):
        for w in weights.values():
            size = 10.0 ** float(torch.randint(-6, 6, (), generator=draw))
            w.grad = size * torch.randn(w.shape, generator=draw) if step % 3 else torch.full_like(w, size)
        optimizer.step()
        with torch.no_grad():
            bounds_of(step, weights)
        yield bounds.moved(rate, 0.1)


def test_no_update_of_the_optimiser_is_called_too_far_however_wild_its_gradients() -> None:
    assert set(trained(lambda step, weights: None)) == {None}


@pytest.mark.parametrize("factor", [1.02, 0.9, 20, float("nan")])
def test_a_matrix_that_was_multiplied_is_named(factor: float) -> None:
    said = list(trained(lambda step, weights: weights["a"].mul_(factor) if step == 30 else None, steps=31))
    assert said[:30] == [None] * 30 and said[30] == "a"


def test_one_weight_out_of_all_proportion_is_seen() -> None:
    def flip(step: int, weights) -> None:
        if step == 30:
            weights["b"][2] = 40.0

    assert list(trained(flip, steps=31))[30] == "b"


def test_after_a_checkpoint_was_read_nothing_is_held_against_it() -> None:
    weights = {"a": torch.ones(5)}
    bounds = UpdateBounds(weights, 0.9, 0.95)
    assert bounds.moved(1e-3, 0.0) is None  # nothing is known of before
    weights["a"].mul_(9)
    bounds.written()
    assert bounds.moved(1e-3, 0.0) is None


def test_the_most_that_adam_moves_a_weight() -> None:
    assert largest_step(0.9, 0.95) == pytest.approx(1.1650, abs=1e-3)
    assert largest_step(0.9, 0.5) == float("inf")
    m = v = 0.0
    worst = 0.0
    for step in range(1, 200):
        # the gradients that Cauchy and Schwarz have equality for: old ones weigh as they do in both moments
        gradient = (0.95 / 0.9) ** step
        m, v = 0.9 * m + 0.1 * gradient, 0.95 * v + 0.05 * gradient**2
        worst = max(worst, (m / (1 - 0.9**step)) / (v / (1 - 0.95**step)) ** 0.5)
    assert 1.1 < worst <= largest_step(0.9, 0.95)
