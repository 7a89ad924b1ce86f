"""The weights of words that tell machines from people."""

import numpy as np

from obelics_pipeline.fit.chat_detector.word_weights import WordTable, fit_weights
from obelics_pipeline.models.chat_detector.word_habits import LIMIT, read, slots_of

FORMS = ["they delve into boats", "we delve in stone", "they go into boats", "we look in stone"] * 5
MACHINE = np.array([True, True, False, False] * 5)


def test_words_that_only_machines_use_weigh_the_most() -> None:
    weights, unit = fit_weights(WordTable.of(FORMS), MACHINE, np.full(20, 0.05))
    (delve,), (they,), (look,) = (slots_of([word])[0] for word in ("delve", "they", "look"))
    assert weights[delve] == np.abs(weights).max() <= LIMIT
    assert weights[look] < 0 < weights[delve] and abs(int(weights[they])) <= 1
    assert read(weights, "delve").log_odds(unit) > 0


def test_the_same_texts_give_the_same_weights() -> None:
    found = [fit_weights(WordTable.of(FORMS), MACHINE, np.full(20, 0.05))[0] for _ in range(2)]
    assert np.array_equal(found[0], found[1])


def test_a_table_of_some_texts_is_that_of_these_texts() -> None:
    some, alone = WordTable.of(FORMS).take(np.array([2, 1])), WordTable.of([FORMS[2], FORMS[1]])
    for name in ("slots", "values", "borders"):
        assert np.array_equal(getattr(some, name), getattr(alone, name))


def test_vectors_have_length_one() -> None:
    table = WordTable.of(["the boat and the house and the boat", "a"])
    lengths = np.bincount(table.rows(), table.values**2)
    assert np.allclose(lengths, 1, atol=0.01)
