"""What stands before a number, as far as it counts."""

from obelics_pipeline.policy.personal_data.cues import before


def test_32_characters_before_a_number_count_and_no_more() -> None:
    text = "a" * 8 + "b" * 32 + "555"
    assert before(text, 40) == "b" * 32
    assert before(text, 5) == "a" * 5


def test_neither_another_line_counts_nor_what_is_another_value() -> None:
    assert before("card\nno 555", 8) == "no "
    assert before("card 4111 and 555", 14, since=9) == " and "
