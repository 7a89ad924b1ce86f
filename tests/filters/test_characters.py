"""The reference's classes of characters must be complete."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.filters.characters import SPECIAL, SPECIAL_BITMAP


def test_there_are_all_special_characters_of_the_reference() -> None:
    assert len(SPECIAL) == 1598
    assert {"\t", " ", "!", "0", "9", "~", "\u200b", "。", "😀", "\U0001faf6"} <= SPECIAL
    assert not SPECIAL & set("azAZéßжא中あ한\u00a0\ufe0f")


@given(st.characters(exclude_categories=()))
def test_the_bitmap_is_the_set(character: str) -> None:
    place = ord(character)
    bit = place >> 3 < len(SPECIAL_BITMAP) and SPECIAL_BITMAP[place >> 3] >> (place & 7) & 1
    assert bool(bit) == (character in SPECIAL)
