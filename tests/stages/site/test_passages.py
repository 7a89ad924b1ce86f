"""Keys are of long sentences of running text; a skeleton is the same whatever names, numbers and content words are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.site.passages import (
    MIN_WORDS,
    SAMPLED,
    long_sentences,
    passages_of,
    sentence_key,
    skeleton,
    skeleton_keys,
)

TEMPLATE = "If you live in {0} and you are in need of a {1}, then it is we who can be with you in {2} days or less."


def tokens(text: str) -> list[str]:
    [(_, found)] = long_sentences([text])
    return found


def test_nothing_has_no_keys() -> None:
    found = passages_of(["", "Buy now!", "One two three."], "en")
    assert len(found.sentences) == 0
    assert found.skeletons is not None
    assert len(found.skeletons) == 0


def test_names_numbers_and_content_words_do_not_change_a_skeleton() -> None:
    one, other = (tokens(TEMPLATE.format(*words)) for words in (("Ely", "plumber", 3), ("New York", "good baker", 12)))
    assert skeleton(one, "en") == skeleton(other, "en")
    assert skeleton_keys(one, "en").tolist() == skeleton_keys(other, "en").tolist()
    assert sentence_key(one) != sentence_key(other)


def test_another_function_word_does() -> None:
    one, other = tokens(TEMPLATE), tokens(TEMPLATE.replace("who", "that").replace("and you", "but you"))
    assert skeleton(one, "en") != skeleton(other, "en")


def test_case_marks_and_white_space_do_not_change_a_sentence() -> None:
    one = tokens("The old mill stood, for years, on the far bank.")
    assert sentence_key(one) == sentence_key(tokens("the OLD mill\tstood for years  on the far bank"))
    assert sentence_key(one) != sentence_key(tokens("The old mill stood, for years, on the near bank."))


def test_a_sentence_counts_from_eight_words_on() -> None:
    words = ["word"] * (MIN_WORDS - 1)
    assert not list(long_sentences([" ".join(words)]))
    assert list(long_sentences([" ".join([*words, "more"])]))
    assert list(long_sentences(["山の向こうに古い水車小屋が川のほとりに立っていた。"]))


def test_a_language_without_stop_words_has_sentences_alone() -> None:
    found = passages_of([TEMPLATE], "xx")
    assert len(found.sentences) == 1
    assert found.skeletons is None
    with pytest.raises(ValueError, match="xx"):
        skeleton(tokens(TEMPLATE), "xx")


def test_skeletons_do_not_reach_from_one_sentence_into_the_next() -> None:
    first, second = TEMPLATE.format("Ely", "smith", 3), "We are not the ones who did it, for it was not in our hands."
    both = passages_of([f"{first} {second}"], "en").skeletons
    apart = passages_of([first, second], "en").skeletons
    assert both is not None
    assert apart is not None
    assert both.tolist() == apart.tolist()


@given(st.lists(st.text(max_size=200), max_size=4), st.sampled_from(["en", "de", "ja", None]))
def test_any_text_has_keys_that_are_sorted_and_sampled(paragraphs: list[str], language: str | None) -> None:
    found = passages_of(paragraphs, language)
    assert (np.diff(found.sentences.astype(object)) > 0).all()
    if found.skeletons is not None:
        assert (found.skeletons % np.uint64(SAMPLED) == 0).all()
