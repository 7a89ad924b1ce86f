"""Words are counted as they are, whatever the order of the documents, and what tells nothing apart is left out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.inspect.map.words import CHARACTERS, Words, count_words

texts = st.lists(st.text("ab \n", max_size=12), max_size=8)


def rows(words: Words) -> list[dict[str, float]]:
    cuts = zip(words.starts[:-1], words.starts[1:], strict=True)
    return [{words.vocabulary[c]: float(n) for c, n in zip(words.columns[a:b], words.counts[a:b])} for a, b in cuts]  # noqa: B905


def test_each_row_has_its_words_and_how_often() -> None:
    counted = count_words(["b a b", "", "a c"])
    assert counted.vocabulary == ["a", "b", "c"]
    assert rows(counted) == [{"a": 1.0, "b": 2.0}, {}, {"a": 1.0, "c": 1.0}]


def test_words_of_most_or_hardly_any_documents_are_left_out() -> None:
    counted = count_words([f"everywhere {'some' if i % 3 == 0 else ''} only{i}" for i in range(12)])
    assert counted.vocabulary == ["some"]


def test_scripts_without_spaces_are_cut_into_words() -> None:
    assert "東京" in count_words(["東京は日本の首都です"]).vocabulary


def test_a_long_document_is_read_to_a_bound() -> None:
    assert count_words(["a " * (CHARACTERS // 2) + "beyond"]).vocabulary == ["a"]


@given(texts, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_nothing(found: list[str], random: object) -> None:
    order = list(range(len(found)))
    random.shuffle(order)  # type: ignore[attr-defined]
    there, shuffled = count_words(found), count_words([found[i] for i in order])
    assert there.vocabulary == shuffled.vocabulary
    assert rows(there.take(np.array(order, np.int64))) == rows(shuffled)


def test_documents_that_have_a_word_are_counted_once_each() -> None:
    assert count_words(["a a b", "b"]).in_documents().tolist() == [1, 2]
