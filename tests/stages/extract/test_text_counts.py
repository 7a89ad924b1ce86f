import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.text_counts import count_linked, count_text

NAMES = ("characters", "linked", "words", "commas", "stops", "digits", "capitals", "wide", "ends")


def counts(text: str, linked: int = 0) -> dict[str, int]:
    return dict(zip(NAMES, count_text(text, linked), strict=True))


def test_what_is_counted() -> None:
    assert counts("In 1987, Ann went.\nWhy?", 5) == {
        "characters": 19, "linked": 5, "words": 5, "commas": 1, "stops": 2, "digits": 4, "capitals": 3, "wide": 0,
        "ends": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wide"), [("日本語です。", 6), ("한국어", 3), ("ภาษาไทย", 7), ("русский", 0), ("é", 0)]
)
def test_scripts_without_spaces_are_wide(text: str, wide: int) -> None:
    assert counts(text)["wide"] == wide


@pytest.mark.parametrize(
    ("text", "ends"),
    [("He said so.", 1), ("(He said so.)", 1), ("“So.”", 1), ("終わり。」", 1), ("And…", 1), ("Home", 0), ("So,", 0),
     ("", 0), ("”", 0)],
)  # fmt: skip
def test_the_end_of_a_sentence_may_be_quoted(text: str, ends: int) -> None:
    assert counts(text)["ends"] == ends


def test_commas_and_stops_of_other_scripts_count() -> None:
    assert (counts("一、二，三。")["commas"], counts("一、二，三。")["stops"]) == (2, 1)
    assert counts("هذا، نص؟")["commas"] == 1


@given(st.text(), st.integers(0, 50))
def test_no_count_exceeds_the_characters(text: str, linked: int) -> None:
    found = counts(text, linked)
    assert found["characters"] == len("".join(text.split()))
    assert all(0 <= value <= found["characters"] for value in found.values())


def test_soft_hyphens_in_links_do_not_count() -> None:
    assert count_linked("so\u00adft link ") == 8
