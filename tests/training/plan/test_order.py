from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from obelics_pipeline.training.plan.chance import key
from obelics_pipeline.training.plan.order import chunk_of, dealt, merged, passes, taken, wanted_tokens


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


class Rows:
    """Rows of three data sets with tokens and images by chance, dealt to steps of 64."""

    def __init__(self, chunk: int) -> None:
        chance = np.random.default_rng(0)
        self.counts = [5000, 2000, 300]
        n = sum(self.counts)
        self.tokens, self.images = chance.integers(1900, 2049, n), chance.poisson(chance.gamma(2, 3, n))
        starts = np.cumsum([0, *self.counts])
        self.sequences = [chance.permutation(c) + s for c, s in zip(self.counts, starts, strict=False)]
        self.owner, self.place = dealt(self.sequences, self.tokens, self.images, 64, chunk, key(0))
        self.rows = np.array([self.sequences[o][p] for o, p in zip(self.owner, self.place, strict=True)])


@pytest.mark.parametrize("chunk", [1, 16, 256])
def test_no_row_is_lost_and_none_leaves_the_steps_it_is_dealt_among(chunk: int) -> None:
    made = Rows(chunk)
    assert sorted(made.rows.tolist()) == list(range(sum(made.counts)))
    assert [np.bincount(made.owner[i : i + 64], minlength=3).tolist() for i in range(0, 6400, 64)] == [
        np.bincount(merged(made.counts)[i : i + 64], minlength=3).tolist() for i in range(0, 6400, 64)
    ]
    seen = [0, 0, 0]
    for first in range(0, len(made.rows), 64 * chunk):
        steps = slice(first, first + 64 * chunk)
        for number in range(3):
            places = np.sort(made.place[steps][made.owner[steps] == number])
            assert places.tolist() == list(range(seen[number], seen[number] + len(places)))
            seen[number] += len(places)


@pytest.mark.parametrize(("chunk", "most"), [(16, 0.35), (256, 0.05)])
def test_steps_have_nearly_the_same_images_per_token(chunk: int, most: float) -> None:
    made = Rows(chunk)
    whole = len(made.rows) // 64 * 64
    images, tokens, rows = made.images, made.tokens, made.rows
    ratio = images[rows[:whole]].reshape(-1, 64).sum(1) / tokens[rows[:whole]].reshape(-1, 64).sum(1)
    unsorted = images[:whole].reshape(-1, 64).sum(1) / tokens[:whole].reshape(-1, 64).sum(1)
    assert ratio.std() <= most * unsorted.std()


def test_rows_come_again_after_a_quarter_of_a_pass() -> None:
    found = passes(120, np.array([0, 50, 120]), 4, key(0))
    for before, after in pairwise(found):
        assert (np.argsort(after) + 120 - np.argsort(before)).min() >= 30
        assert sorted(after[:50].tolist()) == list(range(50))


def test_rows_are_dealt_among_few_steps_where_passes_must_stay_apart() -> None:
    assert chunk_of(1000, [1.0, 0.5]) == 256
    assert chunk_of(1000, [1.0, 3.0]) == 13
    assert chunk_of(10, [3.0]) == 1
