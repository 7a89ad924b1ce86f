"""Odd spaces must become plain ones, and nothing else may change."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.filters.whitespace import standardize_whitespace

ODD = "\u2009\u200a\u202f\u2005\u3000\u2002\u2008\u2003\ufffc\u0084\u00a0"  # the reference's


@given(st.one_of(st.text(), st.text(st.sampled_from(f"ab {ODD}\u20ac"))))
def test_whitespace_is_replaced_one_for_one(text: str) -> None:
    changed = standardize_whitespace(text)
    assert len(changed) == len(text)
    assert all(new == (" " if old in ODD else old) for old, new in zip(text, changed, strict=True))


def test_newlines_tabs_and_zero_width_spaces_stay() -> None:
    assert standardize_whitespace("a\n\t\r\u200b\u2028b") == "a\n\t\r\u200b\u2028b"
