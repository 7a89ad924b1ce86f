"""Word lists must be found by language, and a file that is none be told in one line."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.word_lists import bundled, load_lists, stop_words


def test_the_english_lists_are_those_of_the_reference() -> None:
    sizes = {kind: len(bundled(kind, "en") or ()) for kind in ("stopwords", "flagged", "spam")}
    assert sizes == {"stopwords": 301, "flagged": 67, "spam": 40}


def test_english_stop_words_are_the_reference_and_not_those_of_the_package() -> None:
    assert stop_words("en") == bundled("stopwords", "en")


@pytest.mark.parametrize(
    ("language", "word"), [("de", "und"), ("fr", "dans"), ("ja", "です"), ("zh", "因为"), ("ru", "и")]
)
def test_other_languages_have_stop_words(language: str, word: str) -> None:
    assert word in (stop_words(language) or ())


@pytest.mark.parametrize("language", ["xx", "und", "", "../en"])
def test_a_language_without_a_list_has_none(language: str) -> None:
    assert stop_words(language) is None
    assert bundled("spam", language) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("words.txt", "Eins\n zwei \n\ndrei"),
        ("words.json", '["Eins", "zwei", "drei"]'),
        ("words.json", '{"eins": 4, "zwei": 3, "drei": 2}'),
    ],
)
def test_a_list_is_a_text_file_or_json(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert load_lists("f", {"de": str(tmp_path / name)}) == {"de": frozenset({"eins", "zwei", "drei"})}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.txt", None, "No such file"),
        ("empty.txt", b"\n \n", "has no words"),
        ("latin.txt", b"caf\xe9", "UnicodeDecodeError"),
        ("broken.json", b"[", "JSONDecodeError"),
        ("number.json", b"3", "is no list of words"),
        ("numbers.json", b"[1, 2]", "is no list of words"),
    ],
)
def test_a_file_that_is_no_list_is_told_in_one_line(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as error:
        load_lists("stopword_ratio", {"de": str(tmp_path / name)})
    assert said in str(error.value)
    assert str(error.value).startswith("filter stopword_ratio, paths.de: ")
    assert "\n" not in str(error.value)
