"""Whether words that stand near each other are of one subject."""

import numpy as np

from obelics_pipeline.models.wording_detector.reading import read_tokens
from obelics_pipeline.models.wording_detector.subjects import of_subjects
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
