"""The filter chat_score: which texts it measures, what it depends on, and what it refuses before a run starts."""

from dataclasses import replace
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.filters.registry import Filter
from tests.models.arpa import write_models
from tests.models.chat_detector.small import CHATTY, PLAIN, detector

ARPA = "en.arpa.bin"
KNOWN = "a b " * 30  # pieces that the small language model knows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_models(tmp_path / "kenlm")


@pytest.fixture
def made(tmp_path: Path, folder: Path) -> Filter:
    replace(detector(), about={"kenlm": {ARPA: file_sha256(folder / ARPA)}}).save(tmp_path / "small.npz")
    return build("chat_score", {"paths": {"en": str(tmp_path / "small.npz")}, "folder": str(folder)})


def test_words_of_chat_models_raise_the_score(made: Filter) -> None:
    plain, chatty = (made.score(Text(KNOWN + text, "en")) for text in (PLAIN, CHATTY))
    assert plain is not None and chatty is not None
    assert plain < chatty


def test_the_reasons_name_the_words_of_chat_models_and_what_each_part_adds(made: Filter) -> None:
    rows = list(made.reasons(Text(KNOWN + CHATTY, "en")))  # type: ignore[attr-defined]
    assert [what for _, _, what in rows[:2]] == ["delve", "vibrant"]
    assert [about for about, _, _ in rows[2:]] == [
        "log odds of all words and pairs",
        "log odds by predictability and style",
    ]
    assert float(rows[2][1]) > 0
    of_plain = list(made.reasons(Text(KNOWN + PLAIN, "en")))  # type: ignore[attr-defined]
    assert len(of_plain) == 2 and float(of_plain[0][1]) == 0
    assert not list(made.reasons(Text("few words", "en")))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "language"), [("", "en"), ("few words", "en"), (KNOWN + CHATTY, "de"), (KNOWN + CHATTY, None)]
)
def test_short_texts_and_other_languages_have_no_score(made: Filter, text: str, language: str | None) -> None:
    assert made.score(Text(text, language)) is None


def test_scores_depend_on_the_detector_and_on_the_language_model(made: Filter, tmp_path: Path, folder: Path) -> None:
    files = made.files()  # type: ignore[attr-defined]
    assert files == sorted(map(str, (tmp_path / "small.npz", folder / ARPA, folder / "en.sp.model")))


def test_another_language_model_than_it_was_fitted_with_is_refused(tmp_path: Path, folder: Path) -> None:
    replace(detector(), about={"kenlm": {ARPA: "0" * 64}}).save(tmp_path / "other.npz")
    with pytest.raises(UserError, match=rf"filter chat_score: .*other\.npz was fitted with another {ARPA}") as error:
        build("chat_score", {"paths": {"en": str(tmp_path / "other.npz")}, "folder": str(folder)})
    assert "\n" not in str(error.value)


def test_a_detector_with_another_sum_is_refused(tmp_path: Path, folder: Path) -> None:
    detector().save(tmp_path / "small.npz")
    options = {"paths": {"en": str(tmp_path / "small.npz")}, "folder": str(folder), "sha256": {"en": "0" * 64}}
    with pytest.raises(UserError, match="sha256"):
        build("chat_score", options)
