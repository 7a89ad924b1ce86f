"""The language model and the classifier of the package: small, told of in full, and telling order from disorder."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

import obelics_pipeline.models as models_package
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.farm_detector.families import IMPLEMENTATIONS
from obelics_pipeline.models import perplexity, quality_classifier
from tests.prose_pages import prose_pages

KENLM, QUALITY = Path(perplexity.SHIPPED), Path(quality_classifier.SHIPPED)
LANGUAGES = sorted(path.name.removesuffix(perplexity.ARPA) for path in KENLM.glob(f"*{perplexity.ARPA}"))
CLASSIFIED = sorted(path.stem for path in QUALITY.glob(f"*{quality_classifier.ENDING}"))
DOCS = prose_pages()
# Sentences of our own, so that they are in no corpus.
SENTENCES = {
    "de": "Am Abend ging sie noch einmal durch den Garten, weil sie den Brief suchte, den der Bruder verloren hatte.",
    "fr": "Le soir, elle traversa encore une fois le jardin, car elle cherchait la lettre que son frère avait perdue.",
    "es": "Por la noche volvió a pasar por el jardín, porque buscaba la carta que su hermano había perdido allí.",
    "it": "La sera passò ancora una volta per il giardino, perché cercava la lettera che il fratello aveva perduto.",
    "pt": "À noite passou outra vez pelo jardim, porque procurava a carta que o irmão lá tinha perdido.",
    "ru": "Вечером она ещё раз прошла по саду, потому что искала письмо, которое потерял там её младший брат.",
}


def told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def in_disorder(text: str) -> str:
    words = text.split()
    Random(1).shuffle(words)
    return " ".join(words)


def test_all_models_of_the_package_are_small() -> None:
    models = Path(models_package.__file__).parent
    files = [path for path in models.rglob("*") if path.suffix in (".npz", ".bin", ".model", ".ftz")]
    assert sum(path.stat().st_size for path in files) <= 40 * 10**6
    for language in set(LANGUAGES) - {"en"}:
        assert sum(path.stat().st_size for path in files if path.name.startswith(f"{language}.")) <= 4.5 * 10**6


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_made_the_language_model_is_told(language: str) -> None:
    record = told(KENLM / f"{language}.json")
    assert record["settings"]["language"] == language
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in record["input"])
    assert set(record["files"]) == {f"{language}.arpa.bin", f"{language}.sp.model"}
    for name, file in record["files"].items():
        assert (file["sha256"], file["bytes"]) == (file_sha256(KENLM / name), (KENLM / name).stat().st_size)


@pytest.mark.parametrize("language", CLASSIFIED)
def test_what_made_the_classifier_is_told_back_to_the_texts(language: str) -> None:
    record = told(QUALITY / f"{language}.json")
    texts = told(QUALITY / ("farm_texts.json" if language == "en" else f"farm_texts.{language}.json"))
    assert record["sha256"] == file_sha256(QUALITY / f"{language}.ftz")
    of = {file["name"]: file["sha256"] for files in record["input"].values() for file in files}
    assert of == {name: file["sha256"] for name, file in texts["files"].items()}
    assert texts["families"] == list(IMPLEMENTATIONS["first"])
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*texts["trusted"], *texts["unusual"]))
    assert all(len(digest) == 64 for digest in texts["words"].values())


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *(("perplexity", KENLM / f"{language}{perplexity.ARPA}") for language in LANGUAGES),
        *(("quality_score", QUALITY / f"{language}{quality_classifier.ENDING}") for language in CLASSIFIED),
    ],
)
def test_every_language_is_scored_by_a_model_of_its_own(name: str, file: Path) -> None:
    pytest.importorskip("kenlm")
    measuring = build(name)
    assert str(file) in measuring.files()  # type: ignore[attr-defined]
    assert measuring.score(Text("In Berlin, Lisboa, Paris, Roma e Madrid.", file.name.split(".")[0])) is not None


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) & set(SENTENCES)))
def test_words_of_a_language_out_of_order_surprise_its_model(language: str) -> None:
    pytest.importorskip("kenlm")
    measuring = build("perplexity")
    ordered, disordered = (
        measuring.score(Text(text, language)) for text in (SENTENCES[language], in_disorder(SENTENCES[language]))
    )
    assert ordered is not None and disordered is not None
    assert ordered < disordered


@pytest.mark.parametrize("name", ["perplexity", "worse_than_unigram_ratio"])
def test_words_out_of_order_surprise_the_language_model(name: str) -> None:
    pytest.importorskip("kenlm")
    measuring = build(name)
    for path in DOCS:
        text = path.read_text("utf-8")
        ordered, disordered = (measuring.score(Text(made, "en")) for made in (text, in_disorder(text)))
        assert ordered is not None and disordered is not None
        assert ordered < disordered, path.name


def test_stuffed_text_is_of_lower_quality_than_these_docs() -> None:
    measuring = build("quality_score")
    docs = [measuring.score(Text(path.read_text("utf-8"), "en")) or 0.0 for path in DOCS]
    stuffed = "Best boat in Leeds 2020. You can buy boat online or at a boat store near you. " * 8
    below = measuring.score(Text(stuffed, "en"))
    assert below is not None and below < sorted(docs)[len(docs) // 4]
