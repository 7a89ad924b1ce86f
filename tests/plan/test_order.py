from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from obelics_pipeline.plan.chance import key
from obelics_pipeline.plan.order import chunk_of, dealt, merged, passes, taken, wanted_tokens


def test_the_scarcest_data_set_says_how_long_the_plan_is() -> None:
    half = Fraction(1, 2)
    assert wanted_tokens([100, 900], [half, half], None) == [100, 100]
    assert wanted_tokens([100, 900], [None, None], None) == [100, 900]
    assert wanted_tokens([100, 600, 300], [Fraction(1, 10), None, None], None) == [100, 600, 300]
    assert wanted_tokens([100, 600, 300], [half, None, None], None) == [100, Fraction(200, 3), Fraction(100, 3)]
    assert wanted_tokens([100, 900], [None, None], 500) == [50, 450]
    assert wanted_tokens([0, 900], [None, None], None) == [0, 900]


def test_rows_are_taken_to_the_nearest_row() -> None:
    tokens = np.array([10, 10, 10])
    assert [taken(tokens, Fraction(n)) for n in (0, 4, 6, 14, 16, 30, 99)] == [0, 0, 1, 1, 2, 3, 3]


def test_every_beginning_has_all_sequences_in_proportion_to_a_row() -> None:
    counts = [700, 200, 77, 1, 0]
    owner = merged(counts)
    for number, count in enumerate(counts):
        so_far = np.cumsum(owner == number)
        assert so_far[-1] == count
        assert np.abs(so_far - np.arange(1, len(owner) + 1) * count / len(owner)).max() <= 1.5


@pytest.mark.parametrize("chunk", [1, 16, 256])
def test_steps_have_nearly_the_same_images_per_token_and_lose_no_row(chunk: int) -> None:
    chance = np.random.default_rng(0)
    counts = [5000, 2000, 300]
    n = sum(counts)
    tokens, images = chance.integers(1900, 2049, n), chance.poisson(chance.gamma(2, 3, n))
    sequences = [chance.permutation(c) + s for c, s in zip(counts, np.cumsum([0, *counts]), strict=False)]
    owner, place = dealt(sequences, tokens, images, 64, chunk, key(0))
    rows = np.array([sequences[o][p] for o, p in zip(owner, place, strict=True)])
    assert sorted(rows.tolist()) == list(range(n))
    assert [np.bincount(owner[i : i + 64], minlength=3).tolist() for i in range(0, 6400, 64)] == [
        np.bincount(merged(counts)[i : i + 64], minlength=3).tolist() for i in range(0, 6400, 64)
    ]
    whole = n // 64 * 64
    ratio = images[rows[:whole]].reshape(-1, 64).sum(1) / tokens[rows[:whole]].reshape(-1, 64).sum(1)
    unsorted = images[:whole].reshape(-1, 64).sum(1) / tokens[:whole].reshape(-1, 64).sum(1)
    wanted = {1: np.inf, 16: 0.35, 256: 0.05}[chunk]
    assert ratio.std() <= wanted * unsorted.std()


def test_rows_come_again_after_a_quarter_of_a_pass() -> None:
    found = passes(120, np.array([0, 50, 120]), 4, key(0))
    for before, after in zip(found, found[1:], strict=False):
        assert (np.argsort(after) + 120 - np.argsort(before)).min() >= 30
        assert sorted(after[:50].tolist()) == list(range(50))


def test_rows_are_dealt_among_few_steps_where_passes_must_stay_apart() -> None:
    assert chunk_of(1000, [1.0, 0.5]) == 256
    assert chunk_of(1000, [1.0, 3.0]) == 13
    assert chunk_of(10, [3.0]) == 1
