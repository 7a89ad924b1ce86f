"""Punctuation is counted among marks and words, by the marks that are asked for."""

import pytest

from obelics_pipeline.filters import Text, build


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("Yes, it is.", {}, 2 / 5),
        ("don't stop", {}, 0.0),
        ("one two", {"min_words": 3}, 1.0),
        ("one two three", {"min_words": 3}, 0.0),
        ("one, two", {"min_words": 3}, 1 / 3),  # marks count as tokens
        ("", {"min_words": 3}, 0.0),
        ("这是，真的。", {}, 0.0),
        ("这是，真的。", {"marks": "，。"}, 0.5),
    ],
)
def test_ratio(text: str, options: dict[str, object], expected: float) -> None:
    assert build("punctuation_ratio", options).score(Text(text)) == expected
