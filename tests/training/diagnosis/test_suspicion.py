"""The planted document stands among the first three, whatever it is, however long, and wherever it stands."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from obelics_pipeline.training.diagnosis.sightings import Sightings
from obelics_pipeline.training.diagnosis.suspicion import replayed, suspicions, timing_of
from tests.training.diagnosis.bigram import KINDS, Bigram, Language, Trial, trained, trial


@functools.cache
def learned() -> tuple[Language, Bigram]:
    language = Language(3)
    return language, trained(language, 4)


def rank(found: Trial, onset: int) -> int:
    """Of the planted document among all, from 0, by what was seen up to a step."""
    seen = found.seen.take(found.seen.step <= onset)
    scores = suspicions(seen, np.zeros(len(seen), np.int64), onset).score
    return int(np.count_nonzero(scores > scores[seen.document == found.planted].max()))


def ranks(seeds: range) -> list[int]:
    """Over kinds, sizes, steps, places in the batch, and steps that pass before the alarm."""
    language, model = learned()
    found = []
    for seed in seeds:
        one = trial(language, model, KINDS[seed % len(KINDS)], seed)
        found.append(rank(one, one.step + seed // len(KINDS) % 4))
    return found


def test_planted_documents_are_in_the_first_three() -> None:
    assert sum(place < 3 for place in ranks(range(200, 215))) >= 14


@pytest.mark.by_hand
def test_planted_documents_are_in_the_first_three_in_95_of_100_trials() -> None:
    assert sum(place < 3 for place in ranks(range(1000, 1100))) >= 95


def test_sums_would_rank_long_documents_first() -> None:
    language, model = learned()
    lower = 0
    for seed in range(300, 305):
        one = trial(language, model, "one word", seed)
        sums = one.seen.loss * one.seen.n_targets
        lower += int(np.count_nonzero(sums > sums[one.seen.document == one.planted].max())) > 3
    assert lower >= 4  # of 5


def made(loss: list[float], n: list[int], step: list[int] | None = None) -> Sightings:
    size = len(loss)
    numbers = np.arange(size)
    return Sightings(
        np.array(step or [1] * size), numbers, numbers, np.zeros(size, np.int64), np.array(n), np.array(loss),
        0.3 * np.array(loss), np.full(size, 5.0),
    )  # fmt: skip


def test_both_sides_count_each_in_spreads_of_its_own() -> None:
    chance = np.random.default_rng(1)
    loss = [*(3 + 0.2 * chance.normal(size=60)), 0.4, 6.0]
    found = suspicions(made(loss, [100] * 62), np.zeros(62, np.int64), 1)
    assert set(np.argsort(-found.score)[:2].tolist()) == {60, 61}
    assert found.low[60] > 6
    assert found.high[61] > 6


def test_a_document_is_compared_with_those_of_its_data_set_and_length() -> None:
    chance = np.random.default_rng(2)
    n = np.exp(chance.uniform(3, 6, 400)).astype(int)
    dataset = np.arange(400) % 2
    loss = 6 - 0.5 * np.log(n) - 2 * dataset + 0.1 * chance.normal(size=400)
    loss[7] = 3.0  # of the lower data set: usual in the other one, whose losses are 2 higher
    n[7] = 100
    found = suspicions(made(loss.tolist(), n.tolist()), dataset, 1)
    assert int(found.score.argmax()) == 7
    assert found.expected[7] == pytest.approx(6 - 0.5 * np.log(100) - 2, abs=0.15)


def test_a_document_that_is_alone_in_its_data_set_is_compared_with_those_of_others() -> None:
    chance = np.random.default_rng(4)
    loss = [*(3 + 0.2 * chance.normal(size=60)), 6.0]
    found = suspicions(made(loss, [100] * 61), np.array([0] * 60 + [1]), 1)
    assert int(found.score.argmax()) == 60
    assert found.expected[60] == pytest.approx(3, abs=0.2)


def test_what_all_documents_of_a_step_have_in_common_makes_none_of_them_guilty() -> None:
    chance = np.random.default_rng(3)
    step = np.repeat(np.arange(1, 21), 12)
    loss = 3 + 0.2 * chance.normal(size=240) + np.where(step == 20, 4.0, 0.0)  # after a bad update
    loss[200] = 6.5  # in step 17
    found = suspicions(made(loss.tolist(), [100] * 240, step.tolist()), np.zeros(240, np.int64), 20)
    assert int(found.score.argmax()) == 200


def test_what_stood_just_before_the_spike_counts_more_than_what_came_long_before_or_after() -> None:
    timing = timing_of(np.array([100, 99, 60, 1]), 100)
    assert timing[0] == 1
    assert sorted(timing.tolist(), reverse=True) == timing.tolist()
    chance = np.random.default_rng(6)
    loss = [*(3 + 0.2 * chance.normal(size=60)), 6.0, 6.0]
    found = suspicions(made(loss, [100] * 62, [99] * 60 + [98, 101]), np.zeros(62, np.int64), 100)
    assert found.score[60] > 3 * found.score[61]


def test_a_gradient_that_is_far_above_others_makes_guilty_whatever_the_loss() -> None:
    chance = np.random.default_rng(7)
    n = np.exp(chance.uniform(3, 6, 62)).astype(int)
    seen = made([3.0] * 62, n.tolist())
    gradient = np.exp(0.2 * chance.normal(size=62)) / n**0.5
    gradient[[7, 9]] = 6 * gradient[7], np.nan
    plain = suspicions(seen, np.zeros(62, np.int64), 1)
    found = replayed(plain, seen, gradient)
    assert int(found.score.argmax()) == 7
    assert found.score[9] == plain.score[9]
    assert np.array_equal(replayed(plain, seen, np.full(62, np.nan)).score, plain.score)


def test_nothing_is_infinite_where_all_are_equal_or_there_is_one() -> None:
    for size in (1, 2, 50):
        found = suspicions(made([3.0] * size, [10] * size), np.zeros(size, np.int64), 1)
        assert np.isfinite(found.score).all()
        assert found.score.max() == 0
