import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.obelics_rules import SEPARATORS
from obelics_pipeline.stages.extract.obelics_texts import JoinedText, format_run


def joined(*texts: tuple[str, int]) -> str:
    whole = JoinedText()
    for text, strength in texts:
        whole.add(text, strength)
    return whole.take()


def by_the_book(texts: list[tuple[str, int]]) -> str:
    """The reference's rule on plain strings: cut what both ends bring, join by the strongest."""
    whole = texts[0][0]
    for text, strength in texts[1:]:
        for candidate in (3, 2, 1):
            separator = SEPARATORS[candidate]
            if whole.endswith(separator):
                strength, whole = max(strength, candidate), whole.removesuffix(separator)
            if text.startswith(separator):
                strength, text = max(strength, candidate), text.removeprefix(separator)
        whole += SEPARATORS[strength] + text
    return whole.strip()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([("a ", 0), ("b", 0)], "a b"),
        ([("a", 0), (" b", 0)], "a b"),
        ([("a ", 0), (" b", 2)], "a\nb"),
        ([("a\n", 0), ("b", 0)], "a\nb"),
        ([("a", 0), ("\n\nb", 2)], "a\n\nb"),
        ([("a", 0), ("b", 0)], "ab"),
    ],
)
def test_the_strongest_separator_wins(texts: list[tuple[str, int]], expected: str) -> None:
    assert joined(*texts) == expected


@given(
    st.lists(
        st.tuples(st.text("a \n", min_size=1, max_size=4).map(lambda t: t * 9 if "a" in t else t), st.integers(0, 3)),
        min_size=1,
    )
)
def test_joining_in_pieces_is_joining_the_whole(texts: list[tuple[str, int]]) -> None:
    assert joined(*texts) == by_the_book(texts)


def test_a_run_keeps_one_space_at_either_end() -> None:
    assert format_run([["  a\n", "\tb "]]) == " a b "
    assert format_run([["a "], [" b"]]) == "a\nb"
    assert format_run([[], []]) == "\n"
    assert format_run([[" "]]) == " "
