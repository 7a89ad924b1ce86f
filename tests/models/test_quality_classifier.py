"""A text must reach fastText in one form, and what is no classifier of ours must be told."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.language_id import BUNDLED, model_path
from obelics_pipeline.models.quality_classifier import SHIPPED, QualityClassifier, line_of


def test_a_text_is_one_lower_cased_line_with_its_marks_apart() -> None:
    assert line_of('He said:\n"No (never)."\u3000So\x00what?') == 'he said : " no ( never ) . " so what ?'


def test_every_space_and_control_character_parts_words_once() -> None:
    assert line_of("\x1c a\u2003\u2003b\x00\x85c\x7f\t d\n") == "a b c d"


def test_what_fasttext_reads_as_its_own_is_no_more() -> None:
    assert line_of("a </s> b __label__positive c") == "a < / s > b label positive c"


@given(st.text(st.characters(exclude_categories=())))
@example("a \ud800 b")
def test_a_line_is_what_it_was_when_it_is_made_again(text: str) -> None:
    line = line_of(text)
    assert line_of(line) == line
    assert "\n" not in line
    line.encode()


@given(st.text(st.characters(exclude_categories=())))
@example("a \ud800 b")
def test_any_string_is_answered(text: str) -> None:
    probability = QualityClassifier.load(str(model_path(BUNDLED)), "en").probability(text)
    assert probability is None or 0.0 <= probability <= 1.0


def test_any_fasttext_classifier_serves_with_its_label() -> None:
    measuring = build("quality_score", {"model": str(model_path(BUNDLED)), "label": "fr"})
    score = measuring.score(Text("Le vieux port a été reconstruit au dix-neuvième siècle.", "fr"))
    assert score is not None and score > 0.8


def test_a_label_that_the_model_does_not_know_is_refused() -> None:
    with pytest.raises(UserError, match=r"has no label positive; options\.label is one of af, als, am, an, ar, …"):
        build("quality_score", {"model": str(model_path(BUNDLED))})


def test_without_a_model_nothing_is_measured_and_it_says_so() -> None:
    measuring = build("quality_score", {"model": None})
    assert measuring.score(Text("any words", "en")) is None
    assert measuring.not_applied == "no model is given (options.model)"  # type: ignore[attr-defined]
    assert measuring.files() == []  # type: ignore[attr-defined]


def test_left_out_the_models_are_those_of_the_package_each_of_its_language() -> None:
    measuring, text = build("quality_score"), "She opened the door of the old house and looked for her brother."
    assert measuring.not_applied is None  # type: ignore[attr-defined]
    files = measuring.files()  # type: ignore[attr-defined]
    assert files == sorted(str(path) for path in Path(SHIPPED).glob("*.ftz"))
    for file in files:
        score = build("quality_score", {"model": file}).score(Text(text, "en"))
        assert measuring.score(Text(text, Path(file).stem)) == score is not None
    assert [measuring.score(Text(text, language)) for language in ("xx", None)] == [None, None]


def test_a_model_of_ones_own_scores_every_language() -> None:
    measuring = build("quality_score", {"model": str(model_path(BUNDLED)), "label": "en"})
    assert all(measuring.score(Text("any words", language)) is not None for language in ("en", "de", None))


def test_a_file_that_is_missing_or_no_model_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file; obelics fit classifier makes one"):
        build("quality_score", {"model": str(tmp_path / "none.ftz")})
    (tmp_path / "bad.ftz").write_bytes(b"garbage" * 100)
    with pytest.raises(UserError, match="not a fastText model") as error:
        build("quality_score", {"model": str(tmp_path / "bad.ftz")})
    assert "\n" not in str(error.value)
