"""The compiled statistics and those in Python must agree on every string there can be."""

from collections import Counter
from functools import partial
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.filters import pure, statistics
from obelics_pipeline.filters.characters import SPECIAL, SPECIAL_BITMAP

compiled = pytest.importorskip("obelics_pipeline.filters._statistics", reason="the extension was not built")

any_text = st.text(st.characters(exclude_categories=()))  # every code point: surrogates, NUL and astral ones too
odd_text = st.text(st.sampled_from("aA1 \n\t.,'_!é\u00a0\u0130\u03a3。文\ud800\udfff\U0001f600\U0003ffff\0-"))
long_text = st.builds(lambda text, n: text * n, odd_text.filter(bool), st.integers(40, 400))
texts = st.one_of(any_text, odd_text, long_text)
lengths = st.integers(1, 12)


def all_grams(units: list[str] | str, n: int) -> list[int]:
    """Frequencies of the n-grams, counted in the plainest way."""
    return list(Counter(tuple(units[i : i + n]) for i in range(len(units) - n + 1)).values())


def test_the_compiled_statistics_are_used_where_they_were_built() -> None:
    assert statistics.COMPILED
    assert statistics.character_repetition is compiled.character_repetition


@given(texts)
def test_words_agree(text: str) -> None:
    assert compiled.lowered_words(SPECIAL_BITMAP, text) == pure.lowered_words(text)


def test_every_character_is_lowered_as_python_does() -> None:
    every = [f"a{chr(point)}\u03b1" for point in range(0x110000) if not chr(point).isspace()]
    for first in range(0, len(every), 4096):  # pieces, most of them without the two characters that need Python's help
        text = "\n".join(every[first : first + 4096])
        assert compiled.lowered_words(b"", text) == text.lower().split("\n")


def test_a_word_is_the_same_string_whatever_stood_beside_it() -> None:
    found = compiled.lowered_words(
        SPECIAL_BITMAP, "\u212a \u212b \u0410 \U0001d400"
    )  # Kelvin and Angstrom become narrow
    assert found == ["k", "\xe5", "\u0430", "\U0001d400"]
    assert [frozenset(("k", "\xe5")).issuperset([word]) for word in found] == [True, True, False, False]
    assert compiled.word_repetition([*found, "k", "\xe5"], 2) == 2 / 5


class Shouted(str):
    """A str whose own lower() is none of ours to call."""

    def lower(self) -> str:
        return "changed"


@pytest.mark.parametrize("text", ["ONE \u03a3", "ONE two"])
def test_a_subclass_of_str_is_lowered_as_a_str(text: str) -> None:
    assert compiled.lowered_words(SPECIAL_BITMAP, Shouted(text)) == pure.lowered_words(text)


@given(texts)
def test_words_follow_the_rule(text: str) -> None:
    tokens = [t for line in text.lower().split("\n") for tab in line.split("\t") for t in tab.split(" ")]
    expected = [w for t in tokens if (w := t.strip("".join(SPECIAL)))]
    assert pure.lowered_words(text) == expected


@given(texts)
def test_special_characters_agree(text: str) -> None:
    expected = sum(c in SPECIAL for c in text)
    assert compiled.count_characters(SPECIAL_BITMAP, text) == expected
    assert pure.count_characters(SPECIAL_BITMAP, text) == expected


@given(texts, st.text(st.sampled_from(",;:?!. 。،']^-\\a\U0001f600"), max_size=8))
def test_punctuation_agrees(text: str, marks: str) -> None:
    assert compiled.count_punctuation(text, marks) == pure.count_punctuation(text, marks)


@given(texts, lengths)
@settings(max_examples=150)
def test_character_repetition_agrees(text: str, n: int) -> None:
    frequencies = sorted(all_grams(text, n), reverse=True)
    repeated = [f for f in frequencies if f > 1]
    expected = sum(repeated[: isqrt(len(frequencies))]) / max(len(text) - n + 1, 1)
    assert compiled.character_repetition(text, n) == pure.character_repetition(text, n) == expected


@given(texts, lengths)
@settings(max_examples=150)
def test_word_repetition_agrees(text: str, n: int) -> None:
    words = pure.lowered_words(text)
    expected = sum(f for f in all_grams(words, n) if f > 1) / max(len(words) - n + 1, 1)
    assert compiled.word_repetition(words, n) == pure.word_repetition(words, n) == expected


@given(texts, st.frozensets(st.sampled_from(["a", "é", "文", "a.a", "1a"])))
def test_members_agree(text: str, members: frozenset[str]) -> None:
    words = pure.lowered_words(text)
    assert compiled.count_members(words, members) == pure.count_members(words, members)


@pytest.mark.parametrize("module", [compiled, pure])
@pytest.mark.parametrize("n", [0, -1, 101])
def test_a_length_out_of_range_is_refused(module: object, n: int) -> None:
    with pytest.raises(ValueError, match="n must be 1 to 100"):
        module.character_repetition("some text", n)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="n must be 1 to 100"):
        module.word_repetition(["some", "text"], n)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "call",
    [
        partial(compiled.lowered_words, SPECIAL_BITMAP, b"bytes"),
        partial(compiled.count_characters, SPECIAL_BITMAP, None),
        partial(compiled.count_members, ("a",), frozenset()),
        partial(compiled.count_members, ["a"], {"a"}),
        partial(compiled.count_members, [1], frozenset()),
        partial(compiled.word_repetition, [[]], 1),
        partial(compiled.character_repetition, "a", "1"),
        partial(compiled.count_punctuation, "a"),
    ],
)
def test_what_is_no_text_is_refused(call: partial[object]) -> None:
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("module", [compiled, pure])
@pytest.mark.parametrize(
    ("text", "expected"),
    [("a" * 1_000_000, 1.0), ("ab" * 500_000, 0.5), ("".join(map(chr, range(0x10000, 0x10000 + 500_000))), 0.0)],
    ids=["one letter", "two letters", "all different"],
)
def test_a_huge_text_is_measured(module: object, text: str, expected: float) -> None:
    assert module.character_repetition(text, 10) == pytest.approx(expected, abs=1e-5)  # type: ignore[attr-defined]


def test_equal_hashes_of_different_grams_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "abcdefghij" * 50 + "klmnop"
    expected = pure.character_repetition(text, 3)
    monkeypatch.setattr(pure, "_same_units", lambda *_: False)  # what a collision of hashes leads to
    assert pure.character_repetition(text, 3) == expected


def test_what_falls_into_one_place_of_the_table_is_told_apart() -> None:
    letters = "".join(map(chr, range(0x21, 0x7F)))
    for n in range(1, 8):  # the last byte alone differs
        text = "".join("#" * (n - 1) + letter for letter in letters)
        frequencies = sorted(all_grams(text, n), reverse=True)
        repeated = [f for f in frequencies if f > 1]
        assert compiled.character_repetition(text, n) == sum(repeated[: isqrt(len(frequencies))]) / (len(text) - n + 1)
    for letter in letters:  # the first byte is the same, the width is not
        assert not any(compiled.word_repetition([letter, chr(ord(letter) + 256 * k)], 1) for k in range(1, 16))
