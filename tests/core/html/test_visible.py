"""What acts on a terminal or on the order of text is shown by its number; everything else stays."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.html.visible import on_a_line, visible


def test_escape_sequences_and_overrides_are_shown_by_number() -> None:
    assert visible("a\x1b[2Jb") == "a⟨U+001B⟩[2Jb"
    assert visible("invoice\u202efdp.exe") == "invoice⟨U+202E⟩fdp.exe"


def test_lines_tabs_joiners_and_the_marks_of_right_to_left_scripts_stay() -> None:
    text = "שלום\u200f!\tنی\u200cم\n👩\u200d🌾"
    assert visible(text) == text


def test_line_ends_of_other_systems_are_line_ends() -> None:
    assert visible("a\r\nb\rc") == "a\nb\nc"


def test_a_long_text_is_cut_to_its_width_on_one_line() -> None:
    assert on_a_line("one\n two  three", 9) == "one two …"


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    seen = visible(text)
    assert not any(character < " " and character not in "\t\n" for character in seen)
    assert not set(seen) & set("\x7f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
