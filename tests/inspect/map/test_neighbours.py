"""The nearest vectors are the nearest, by whatever blocks and threads they are looked for."""

import numpy as np
import pytest

from obelics_pipeline.inspect.map import neighbours
from obelics_pipeline.inspect.map.neighbours import nearest


def vectors(n: int) -> np.ndarray:
    made = np.random.default_rng(5).normal(size=(n, 6)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 4), (130, 3), (1500, 15), (1501, 15)])
def test_they_are_those_of_a_full_comparison(n: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "ROWS", 128)
    made = vectors(n)
    near = made.astype(np.float64) @ made.T.astype(np.float64)
    np.fill_diagonal(near, -np.inf)
    expected = np.sort(np.argsort(-near, axis=1)[:, :k], axis=1)
    assert (np.sort(nearest(made, k, 2, lambda *_: None), axis=1) == expected).all()


def test_threads_change_nothing_and_progress_ends_at_all() -> None:
    made, told = vectors(1200), list[tuple[int, int]]()
    one = nearest(made, 5, 1, lambda *at: told.append(at))
    assert (one == nearest(made, 5, 3, lambda *_: None)).all()
    assert told[-1] == (1200, 1200)
