"""Whether words that stand near each other are of one subject."""

import numpy as np
import pytest

from obelics_pipeline.models.wording_detector.reading import read_tokens
from obelics_pipeline.models.wording_detector.shares import COMPILED, compiled
from obelics_pipeline.models.wording_detector.subjects import nearness_compiled, nearness_in_numpy, of_subjects
from obelics_pipeline.models.wording_detector.vocabulary import FIRST, Vocabulary

SEA, FIELD = ["storm", "sail", "anchor"], ["plough", "furrow", "ear"]
KNOWN = Vocabulary(("the", *SEA, *FIELD))
SUBJECT = np.array([[0, 0]] * (FIRST + 1) + [[100, 0]] * 3 + [[0, 100]] * 3, np.int8)


def measured(words: list[str]) -> dict[str, float]:
    return dict(of_subjects(SUBJECT, read_tokens(words, KNOWN)))


def test_a_text_that_keeps_to_a_subject_is_told_from_one_that_changes_it_at_each_word() -> None:
    kept, mixed = measured(SEA * 20 + FIELD * 20), measured([*SEA[:1], *FIELD, *SEA[1:]] * 20)
    assert kept["one_subject_near"] > mixed["one_subject_near"]
    assert kept["subject_lost_far"] > mixed["subject_lost_far"]


def test_words_of_grammar_part_no_words_of_a_subject() -> None:
    assert measured(["the", *SEA, "the"] * 20) == measured(SEA * 20)


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_compiled_subjects_are_compared_as_by_numpy() -> None:
    drawn = np.random.default_rng(3)
    subject = drawn.integers(-128, 128, SUBJECT.shape, np.int8)
    for count in (0, 1, 2, 8, 9, 41, 42, 300):
        tokens = read_tokens(drawn.choice(["the", *SEA, *FIELD, "unknown"], count).tolist(), KNOWN)
        for table in (SUBJECT, subject):
            assert list(nearness_compiled(table, tokens)) == nearness_in_numpy(table, tokens), count


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_a_table_that_lacks_a_word_is_refused() -> None:
    tokens = read_tokens([*SEA, *FIELD], KNOWN)
    with pytest.raises(ValueError, match="do not fit together"):
        compiled.subjects(tokens.number, SUBJECT[:-1], SUBJECT.shape[1])
