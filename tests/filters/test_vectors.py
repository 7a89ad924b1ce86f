"""What the reference computes for its own texts must be computed here, to the last digit."""

import json
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.filters import Text, build, pure
from obelics_pipeline.filters.characters import SPECIAL_BITMAP
from obelics_pipeline.filters.kenlm_text import normalized
from obelics_pipeline.filters.whitespace import standardize_whitespace
from obelics_pipeline.filters.word_lists import bundled, stop_words

LINES = (Path(__file__).parents[1] / "vectors/obelics_filter_vectors.jsonl").read_text("utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]

FILTERS: dict[str, tuple[str, dict[str, int]]] = {
    "number_words": ("word_count", {}),
    "character_repetition_ratio_10": ("character_repetition_ratio", {"n": 10}),
    "word_repetition_ratio_5": ("word_repetition_ratio", {"n": 5}),
    "special_character_ratio": ("special_character_ratio", {}),
    "stopword_ratio": ("stopword_ratio", {}),
    "flagged_word_ratio": ("flagged_word_ratio", {}),
    "punctuation_ratio_doc": ("punctuation_ratio", {}),
    "punctuation_ratio_node_min12": ("punctuation_ratio", {"min_words": 12}),
}


def test_there_are_the_vectors_of_the_reference() -> None:
    assert len(VECTORS) == 23


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
@pytest.mark.parametrize("statistic", FILTERS)
def test_each_filter_gives_the_reference_value(statistic: str, vector: dict[str, Any]) -> None:
    name, options = FILTERS[statistic]
    assert build(name, options).score(Text(vector["text"], "en")) == vector[statistic]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_the_python_statistics_give_the_reference_values(vector: dict[str, Any]) -> None:
    text = vector["text"]
    words = pure.lowered_words(text)
    stop, flagged = stop_words("en"), bundled("flagged", "en")
    marks, tokens = pure.count_punctuation(text, ",;:?!.")
    assert stop
    assert flagged
    assert len(words) == vector["number_words"]
    assert pure.character_repetition(text, 10) == vector["character_repetition_ratio_10"]
    assert pure.word_repetition(words, 5) == vector["word_repetition_ratio_5"]
    assert pure.count_characters(SPECIAL_BITMAP, text) / max(len(text), 1) == vector["special_character_ratio"]
    assert pure.count_members(words, stop) / max(len(words), 1) == vector["stopword_ratio"]
    assert pure.count_members(words, flagged) / max(len(words), 1) == vector["flagged_word_ratio"]
    assert marks / max(tokens, 1) == vector["punctuation_ratio_doc"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["words"] is not None], ids=lambda v: v["name"])
def test_words_are_those_of_the_reference(vector: dict[str, Any]) -> None:
    assert Text(vector["text"]).words == vector["words"]
    assert pure.lowered_words(vector["text"]) == vector["words"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["words"] is not None], ids=lambda v: v["name"])
def test_normalised_texts_are_those_of_the_reference(vector: dict[str, Any]) -> None:
    assert standardize_whitespace(vector["text"]) == vector["standardized_whitespace"]
    assert normalized(vector["text"]) == vector["kenlm_normalized"]
