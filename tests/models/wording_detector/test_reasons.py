"""What is named are words of the text that people do not write so, the worst first, where they stand."""

import pytest

from obelics_pipeline.models.told import Told
from obelics_pipeline.models.wording_detector.english import English
from obelics_pipeline.models.wording_detector.reasons import NAMED, told, wrong_words
from obelics_pipeline.models.wording_detector.wrong import Wrong
from tests.models.wording_detector.small import PLAIN, WRONG, detector, phrasing_detector


def test_wrong_words_are_named_with_what_fits_better_and_where_they_stand() -> None:
    found = wrong_words(detector(), WRONG)
    assert 0 < len(found) <= NAMED
    assert [one.wrong.log_odds for one in found] == sorted((one.wrong.log_odds for one in found), reverse=True)
    assert len({one.words.lower() for one in found}) == len(found)
    for one in found:
        assert one.span is not None
        assert WRONG[slice(*one.span)] == one.words
        assert one.words in one.quote
        assert one.wrong.instead is None or one.wrong.instead not in one.words.split()
    named = {one.words.lower(): one.wrong.instead for one in found}
    assert named["at"] == "in"  # At the morning


def test_of_a_plain_text_nothing_is_named_nor_of_few_words() -> None:
    assert wrong_words(detector(), PLAIN) == []
    assert told(detector(), "few words") == Told([], [])


def test_pairs_that_nobody_writes_are_named() -> None:
    found = wrong_words(detector(), PLAIN.replace("old man", "man old"))
    assert {one.words for one in found if one.wrong.instead is None} & {"the man", "man old", "old ."} != set()


def test_marks_of_another_form_do_not_move_the_places() -> None:
    text = "“It’s late —  they said…”\n\n" + WRONG
    for one in wrong_words(detector(), text):
        assert one.span is not None and text[slice(*one.span)] == one.words


def test_a_mark_that_is_written_otherwise_is_not_taken_for_a_later_one() -> None:
    said = WRONG[: WRONG.index(". ") + 1]
    text = f'„{said}" {PLAIN}'  # the first mark is read as the second
    pairs = [one for one in wrong_words(phrasing_detector(), text) if one.wrong.about.startswith("pair")]
    assert pairs
    assert all(one.span is not None and one.span[1] <= len(said) for one in pairs)


def test_it_is_told_in_rows_of_three() -> None:
    rows = told(detector(), WRONG).rows
    assert {len(row) for row in rows} == {3}
    assert any(row[0] == "word of grammar that does not fit" and "fits better" in row[2] for row in rows)


def test_a_kind_that_has_many_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Wrong("many", place, place, 9.0 - place / 100) for place in range(12)]
    few = [Wrong("few", place, place, 1.0) for place in range(12, 15)]
    monkeypatch.setattr(English, "wrong", lambda habits, tokens: iter([*many, *few]))
    text = " ".join(map("word{}".format, "abcdefghijklmno")) + " plain" * 50
    found = wrong_words(detector(), text)
    assert [one.wrong.about for one in found] == ["many"] * 7 + ["few"] * 3
    assert [one.wrong for one in found[:7]] == many[:7]


def test_phrasing_names_what_a_text_says_again_and_how_often() -> None:
    (row,) = [row for row in told(phrasing_detector(), PLAIN).rows if row[0] == "words that are said again"]
    assert row[2].startswith("4 times “In the morning they went")


def test_phrasing_names_pairs_and_words_of_grammar_too() -> None:
    abouts = {row[0] for row in told(phrasing_detector(), WRONG).rows}
    assert {"pair of words that people do not write", "word of grammar that does not fit"} <= abouts
