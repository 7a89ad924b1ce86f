"""The filters of a language model: what they measure on a real one, and what they say without one."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build
from obelics_pipeline.filters.registry import Filter
from obelics_pipeline.models.perplexity import SHIPPED
from tests.models.arpa import write_models

FILTERS = ("perplexity", "worse_than_unigram_ratio")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_models(tmp_path_factory.mktemp("models"))


def made(name: str, folder: Path) -> Filter:
    return build(name, {"folder": str(folder)})


def test_a_text_is_measured_in_the_form_of_the_reference(folder: Path) -> None:
    # A line end is deleted and not a space: "b\na" is one word, that nobody knows.
    assert made("perplexity", folder).score(Text("a b a b", "en")) == 2.5
    assert made("perplexity", folder).score(Text(" a\u00a0b a\tb", "en")) != 2.5  # a tab is deleted as well
    assert made("perplexity", folder).score(Text(" a\u00a0b a\u2003b\n", "en")) == 2.5
    assert made("worse_than_unigram_ratio", folder).score(Text("a b a b", "en")) == 0.25


@pytest.mark.parametrize("name", FILTERS)
def test_another_language_has_no_score(name: str, folder: Path) -> None:
    measuring = made(name, folder)
    assert [measuring.score(Text("a b", language)) for language in ("de", None)] == [None, None]


@pytest.mark.parametrize("name", FILTERS)
def test_scores_depend_on_both_files(name: str, folder: Path) -> None:
    files = made(name, folder).files()  # type: ignore[attr-defined]
    assert files == [str(folder / "en.arpa.bin"), str(folder / "en.sp.model")]


@pytest.mark.parametrize("name", FILTERS)
def test_left_out_the_folder_is_that_of_the_package(name: str) -> None:
    pytest.importorskip("kenlm")
    measuring = build(name)
    assert measuring.not_applied is None  # type: ignore[attr-defined]
    text = "She opened the door of the old house and looked for her brother in the garden."
    assert measuring.score(Text(text, "en")) == build(name, {"folder": SHIPPED}).score(Text(text, "en")) is not None
    assert [measuring.score(Text(text, language)) for language in ("xx", None)] == [None, None]
    files = set(measuring.files())  # type: ignore[attr-defined]
    assert files >= {str(Path(SHIPPED) / "en.arpa.bin"), str(Path(SHIPPED) / "en.sp.model")}


@pytest.mark.parametrize("name", FILTERS)
def test_a_folder_that_is_null_measures_nothing_and_says_so(name: str) -> None:
    measuring = build(name, {"folder": None})
    assert measuring.score(Text("any words", "en")) is None
    assert measuring.not_applied == "no model is given (options.folder)"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FILTERS)
def test_a_folder_without_models_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"filter {name}: no <language>\.arpa\.bin in .*fit kenlm.*edugp/kenlm"):
        build(name, {"folder": str(tmp_path)})


@pytest.mark.parametrize("name", FILTERS)
def test_a_broken_model_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "en.arpa.bin").write_bytes(b"no model")
    (tmp_path / "en.sp.model").write_bytes(b"no model")
    with pytest.raises(UserError, match=rf"filter {name}: .*(pip install|cannot be read)") as error:
        build(name, {"folder": str(tmp_path)})
    assert "\n" not in str(error.value)
