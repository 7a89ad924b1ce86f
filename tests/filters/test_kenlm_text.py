"""The models' form of a text must follow the reference's order of steps."""

import pytest

from obelics_pipeline.filters.kenlm_text import normalized


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("end of one\n\nStart of next", "end of oneStart of next"),
        ("“Yes” — he said…", '"Yes"  -  he said...'),
        ("１２３ and ٣", "000 and 0"),  # digits before punctuation: the table's full-width 1 is never reached
        ("\x00 a\u00a0b\x7f ", "a b"),
        ("【全角】％、。", "[全角]%,."),
        ("Case Stays", "Case Stays"),
    ],
)
def test_normalised_text(text: str, expected: str) -> None:
    assert normalized(text) == expected
