"""Words that stand in the same texts have the same direction."""

from random import Random

import numpy as np

from obelics_pipeline.fit.wording_detector.subjects import DIRECTIONS, subjects_of

GRAMMAR = 150  # numbers of words without a subject


def test_words_of_one_subject_are_more_alike_than_words_of_two() -> None:
    random = Random(2)
    subjects = [range(GRAMMAR + 20 * number, GRAMMAR + 20 * number + 20) for number in range(4)]
    rows = [
        np.array(random.choices(range(GRAMMAR), k=50) + random.choices(random.choice(subjects), k=30))
        for _ in range(200)
    ]
    found = subjects_of(rows, np.ones(GRAMMAR + 80, bool)).astype(int)
    assert found.shape == (GRAMMAR + 80, DIRECTIONS)
    assert not found[:GRAMMAR].any()
    like = found[GRAMMAR:] @ found[GRAMMAR:].T
    inside = np.kron(np.eye(4), np.ones((20, 20))) > 0
    assert like[inside].mean() > like[~inside].mean() + 3000  # of 10,000 for the same direction


def test_of_a_few_words_nothing_is_told() -> None:
    assert not subjects_of([np.arange(160)], np.ones(160, bool)).any()
