"""The language model and the classifier of the package: small, told of in full, and telling order from disorder."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters import Text, build
from obelics_pipeline.fit.farm_detector.families import WEIGHTS
from obelics_pipeline.models import perplexity, quality_classifier
from tests.prose_pages import prose_pages

KENLM, QUALITY = Path(perplexity.SHIPPED), Path(quality_classifier.SHIPPED)
DOCS = prose_pages()


def told(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def in_disorder(text: str) -> str:
    words = text.split()
    Random(1).shuffle(words)
    return " ".join(words)


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in KENLM.iterdir()) < 5 * 2**20
    assert sum(path.stat().st_size for path in QUALITY.iterdir()) < 2 * 2**20


def test_what_made_the_language_model_is_told() -> None:
    record = told(KENLM / "en.json")
    assert record["settings"]["language"] == "en"
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in record["input"])
    assert set(record["files"]) == {"en.arpa.bin", "en.sp.model"}
    for name, file in record["files"].items():
        assert (file["sha256"], file["bytes"]) == (file_sha256(KENLM / name), (KENLM / name).stat().st_size)


def test_what_made_the_classifier_is_told_back_to_the_texts() -> None:
    record, texts = told(QUALITY / "en.json"), told(QUALITY / "farm_texts.json")
    assert record["sha256"] == file_sha256(QUALITY / "en.ftz")
    of = {file["name"]: file["sha256"] for files in record["input"].values() for file in files}
    assert of == {name: file["sha256"] for name, file in texts["files"].items()}
    assert texts["families"] == list(WEIGHTS)
    assert all(len(file["sha256"]) == 64 and file["texts"] for file in (*texts["trusted"], *texts["unusual"]))
    assert all(len(digest) == 64 for digest in texts["words"].values())


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
