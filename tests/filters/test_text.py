"""A text must be cut into words once, by the rule that was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.filters import Text, statistics


def test_without_segmentation_a_sentence_without_spaces_is_one_word() -> None:
    assert Text("中文文本没有空格", "zh").words == ["中文文本没有空格"]


def test_with_segmentation_it_is_many_words() -> None:
    assert Text("中文文本没有空格", "zh", segment=True).words == ["中文", "文本", "没有", "空格"]


def test_segmentation_leaves_scripts_with_spaces_alone() -> None:
    text = "It's the well-known café, naïve résumé. Привет, мир! 한국어 문장입니다."
    assert Text(text, segment=True).words == Text(text).words


def test_words_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Text("some words here")
    first = text.words
    monkeypatch.delattr(statistics, "lowered_words")
    assert text.words is first


paragraphs = st.lists(st.text(st.sampled_from("aB\u0130\u03a3. \n'中文สวัสดี\u00a0-")).map(lambda text: text * 3))


@given(paragraphs, st.booleans())
def test_the_words_of_a_text_are_those_of_its_paragraphs(found: list[str], segment: bool) -> None:
    text = PARAGRAPH_SEPARATOR.join(found)
    parts = [Text(paragraph, segment=segment) for paragraph in found]
    assert Text(text, segment=segment, paragraphs=parts).words == Text(text, segment=segment).words
