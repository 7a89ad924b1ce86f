"""A dictionary of dictd's format is read; what is none is refused."""

import gzip
from pathlib import Path
from random import Random

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.marked_text import plain
from obelics_pipeline.fit.farm_detector.translating import Translator
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def number(value: int) -> str:
    return (number(value // 64) if value >= 64 else "") + DIGITS[value % 64]


def dictionary(folder: Path, name: str, articles: dict[str, str]) -> Path:
    body, index = b"", ""
    for word, article in articles.items():
        text = f"{word} /sound/\n{article}\n".encode()
        index += f"{word}\t{number(len(body))}\t{number(len(text))}\n"
        body += text
    (folder / f"{name}.dict.dz").write_bytes(gzip.compress(body))
    (folder / f"{name}.index").write_text(index, encoding="utf-8")
    return folder / f"{name}.index"


THERE = {"boat": "1. Boot <neut>\n2. Schiff, Kahn [naut.]", "old": 'alt\n"an old boat"\nSynonym: aged', "00info": "x"}
BACK = {"boot": "boot\nboat", "schiff": "ship, vessel", "kahn": "barge", "alt": "ancient (adj.); to age"}


def test_translations_are_what_stands_between_the_signs(tmp_path: Path) -> None:
    found = Dictionary.load(dictionary(tmp_path, "there", THERE))
    assert found.entries == {"boat": ["Boot", "Schiff", "Kahn"], "old": ["alt"]}
    assert found.of("harbour") == []


def test_words_go_there_and_back_and_are_marked(tmp_path: Path) -> None:
    there, back = dictionary(tmp_path, "there", THERE), dictionary(tmp_path, "back", BACK)
    translator = Translator(Dictionary.load(there), Dictionary.load(back))
    texts = TrustedTexts(["The old boats of the harbour lie there and wait for the tide, as old boats do. " * 3])
    made = [translator.make(texts, Random(seed)) for seed in range(60)]
    words = {piece.text for text in made for piece in text if piece.replaced}
    assert words >= {"ships", "barge", "ancient", "age"}
    assert {piece.text for text in made for piece in text if piece.is_word and not piece.replaced} <= {
        *"The the old boats of harbour lie there and wait for tide as do".split()
    }
    assert any("The" not in plain(text).split()[:1] for text in made)  # another order, or no article


def test_a_dictionary_is_read_from_the_other_side(tmp_path: Path) -> None:
    turned = Dictionary.load(dictionary(tmp_path, "there", THERE)).turned_round()
    assert turned.entries == {"boot": ["boat"], "schiff": ["boat"], "kahn": ["boat"], "alt": ["old"]}


@pytest.mark.parametrize("index", [b"boat", b"boat\t?\tA\n", b"\xff\tA\tA\n"])
def test_what_is_no_dictionary_is_refused(index: bytes, tmp_path: Path) -> None:
    path = dictionary(tmp_path, "broken", THERE)
    path.write_bytes(index)
    with pytest.raises(UserError, match=r"broken\.index: not dictd's"):
        Dictionary.load(path)
    path.with_suffix(".dict.dz").write_bytes(b"no gzip")
    with pytest.raises(UserError, match=r"broken\.index: not dictd's"):
        Dictionary.load(path)
