"""A text must be cut into words once, by the rule that was asked for."""

import pytest

from filters import Text, statistics


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
    monkeypatch.delattr(statistics, "words")
    assert text.words is first
