"""Farms of strangers must be made alike each time, of what they are given, and be judged with the honest texts."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.language_farms import main
from benchmarks.stranger_farms import templated
from benchmarks.stranger_farms.chained import Chain
from benchmarks.stranger_farms.spun import others, spun
from tests.models.farm_detector.small import detector

ARTICLES = ["boat /boʊt/\nBoot <n>, Kahn, ein Schiff", "big\n1. groß, [naut.] riesig\n"]
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    at, lines = 0, []
    for article in map(str.encode, ARTICLES):
        lines.append(f"{article.split()[0].decode()}\t{number(at)}\t{number(len(article))}\n")
        at += len(article)
    (tmp_path / "words.index").write_text("".join(lines))
    (tmp_path / "words.dict.dz").write_bytes(gzip.compress("".join(ARTICLES).encode()))
    return tmp_path / "words.index"


def number(value: int) -> str:
    return DIGITS[value >> 6] + DIGITS[value & 63]


def test_words_that_translate_the_same_word_stand_for_each_other(index: Path) -> None:
    assert others(index) == {"Boot": ["Kahn"], "Kahn": ["Boot"], "groß": ["riesig"], "riesig": ["groß"]}


def test_spinning_exchanges_words_that_have_others_and_nothing_else(index: Path) -> None:
    made = {spun("Groß ist das Boot.", others(index), Random(seed)) for seed in range(40)}
    assert made == {"Groß ist das Boot.", "Riesig ist das Boot.", "Groß ist das Kahn.", "Riesig ist das Kahn."}


def test_every_word_of_a_chain_follows_the_last_two_somewhere() -> None:
    text = "the boat lies in the harbour and the boat lies in the mud and waits"
    words = Chain([text], 2, Random(1)).page(30, Random(1)).split()
    follows = set(zip(text.split(), text.split()[1:], text.split()[2:], strict=False))
    inside = [three in follows for three in zip(words, words[1:], words[2:], strict=False)]
    assert len(words) == 32
    assert sum(inside) > 20


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "pt", "ru"])
def test_a_doorway_page_fills_every_blank(language: str) -> None:
    pages = [templated.templated(language, 200, Random(seed)) for seed in range(5)]
    assert all("{" not in page and 200 <= len(page.split()) < 300 for page in pages)
    assert len(set(pages)) == 5


def test_the_benchmark_tells_what_is_found_and_what_is_taken(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    detector().save(tmp_path / "small.npz")
    rows = [{"id": str(n), "source": f"s{n % 2}", "text": f"the old boat {n} of the harbour " * 20} for n in range(40)]
    (tmp_path / "strangers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["de", str(tmp_path / "strangers.jsonl"), str(index), "--detector", str(tmp_path / "small.npz")]
    monkeypatch.setattr("sys.argv", ["x", *arguments])
    main()
    said = capsys.readouterr().out
    main()
    assert capsys.readouterr().out == said
    assert said.startswith("de: 40 honest texts, half of them above ")
    assert "40 of them are no novels; 1 % of these are above " in said
    for name in ("spun", "chained", "templated"):
        assert f"{name:10} at 1 %: " in said
    assert "honest s0" in said and "of 20" in said
