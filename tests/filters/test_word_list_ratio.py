"""The four filters by word list: which list counts, and when there is none."""

from pathlib import Path

import pytest

from obelics_pipeline.filters import Text, build


@pytest.mark.parametrize("name", ["stopword_ratio", "flagged_word_ratio", "spam_word_ratio"])
def test_they_do_not_apply_to_a_language_without_a_list(name: str) -> None:
    measuring = build(name)
    assert measuring.score(Text("irgend ein Text", "xx")) is None
    assert measuring.score(Text("irgend ein Text", None)) is None
    assert measuring.score(Text("", "en")) == 0.0


def test_each_language_has_its_own_stop_words() -> None:
    measuring = build("stopword_ratio")
    assert measuring.score(Text("der Hund und die Katze", "de")) == 3 / 5
    assert measuring.score(Text("der Hund und die Katze", "en")) == 0.0


def test_a_list_in_a_segmented_language_is_met_by_its_words() -> None:
    score = build("stopword_ratio").score(Text("因为我们没有时间", "zh", segment=True))
    assert score is not None
    assert score >= 0.5


def test_a_given_list_replaces_the_bundled_one(tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text("banana\n")
    for name in ("stopword_ratio", "flagged_word_ratio", "spam_word_ratio", "common_word_ratio"):
        measuring = build(name, {"paths": {"en": str(file), "xx": str(file)}})
        assert measuring.score(Text("the banana", "en")) == 0.5
        assert measuring.score(Text("Banana!", "xx")) == 1.0
        assert measuring.files() == [str(file), str(file)]  # type: ignore[attr-defined]


def test_flagged_and_spam_words_are_counted() -> None:
    assert build("spam_word_ratio").score(Text("You might like the view", "en")) == 2 / 5
    assert build("flagged_word_ratio").score(Text("an xxx site", "en")) == 1 / 3


def test_common_words_are_not_measured_without_a_list_and_say_so() -> None:
    measuring = build("common_word_ratio", {"paths": None})
    assert measuring.score(Text("any words", "en")) is None
    assert measuring.not_applied == "no word list is given (options.paths)"  # type: ignore[attr-defined]
