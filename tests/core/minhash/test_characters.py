"""How characters are compared."""

import pytest

from obelics_pipeline.core.minhash.characters import (
    ALONE,
    IDEOGRAPHS,
    KIND_SHIFT,
    MARK,
    SEPARATOR,
    SKIPPED,
    TABLE_SIZE,
    WORD,
    entry,
    table,
)


@pytest.mark.parametrize(
    ("characters", "kind", "folded"),
    [
        ("aA\uff21ÅåÀ", WORD, "a"),
        ("ｂＢ", WORD, "b"),
        ("1¹①１", WORD, "1"),
        ("éÉÈ", WORD, "e"),
        ("дД", WORD, "д"),
        ("한", WORD, "한"),
        ("ß", WORD, "ß"),
        ("ﬁ", WORD, "ﬁ"),
        ("中", ALONE, "中"),
        ("カｶガ", ALONE, "カ"),
        ("ก", ALONE, "ก"),
        ("\u093e", MARK, "\u093e"),  # Devanagari vowel sign aa
        ("\u0e31", MARK, "\u0e31"),  # Thai mai han-akat
    ],
)
def test_letters_and_digits_are_folded(characters: str, kind: int, folded: str) -> None:
    assert [entry(ord(c)) for c in characters] == [kind << KIND_SHIFT | ord(folded)] * len(characters)


@pytest.mark.parametrize("character", "\u0301\u0327\u094d\u00ad\u200d\ufeff\u202e")
def test_accents_and_what_has_no_width_are_skipped(character: str) -> None:
    assert entry(ord(character)) >> KIND_SHIFT == SKIPPED


@pytest.mark.parametrize("character", " \n\u00a0\u3000.,-_'’…，。|€+😀\u2028\x00\ud800\ue000")
def test_all_else_separates(character: str) -> None:
    assert entry(ord(character)) >> KIND_SHIFT == SEPARATOR


def test_the_table_has_an_entry_for_each_code_point_below_the_ideographs() -> None:
    entries = memoryview(table()).cast("I")
    assert len(entries) == TABLE_SIZE < IDEOGRAPHS
    assert [entries[ord(c)] for c in "Éa中 "] == [entry(ord(c)) for c in "Éa中 "]
