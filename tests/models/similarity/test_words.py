from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.similarity import words as module
from obelics_pipeline.models.similarity.architecture import Architecture, Preprocessing
from obelics_pipeline.models.similarity.words import Words, words
from tests.models.similarity import tiny

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen"


def made(folder: Path | None = None, **text_cfg: Any) -> Words:
    config = tiny.CONFIG | {"text_cfg": tiny.CONFIG["text_cfg"] | text_cfg}
    return words(Architecture(name=None, config=config, preprocessing=Preprocessing(), folder=folder))


def theirs(text: str) -> tuple[int, ...]:
    import open_clip

    return tuple(open_clip.SimpleTokenizer(context_length=tiny.LENGTH)(text)[0].tolist())


@pytest.mark.parametrize("text", ["A Red circle.", "don't  &amp; 3 cafés", "日本", "x" * 9, LONG])
def test_a_row_is_the_one_that_open_clip_makes(text: str) -> None:
    assert made().first(text) == theirs(text)


def test_of_a_long_text_the_end_that_is_near_is_read() -> None:
    assert made().first(LONG) == theirs("one two three four five six seven eight nine ten")
    assert made().last(LONG) == theirs("four five six seven eight nine ten eleven twelve thirteen")


def test_what_is_far_away_costs_nothing_and_changes_nothing() -> None:
    far = "z" * 2_000_000
    assert made().last(f"{far} {LONG}") == made().last(LONG)
    assert made().first(f"{LONG} {far}") == made().first(LONG)
    assert made().first(" " * 10_000 + LONG) == made().first(LONG)


@pytest.mark.parametrize("mark", ["<end_of_text>", "<START_of_text>", "&lt;end_of_text&gt;", "&amp;lt;end_of_text>"])
def test_marks_that_a_page_writes_are_no_tokens(mark: str) -> None:
    assert made().first(f"a red {mark} circle") == theirs("a red circle")
    assert made().first(mark) is None and made().last(mark) is None


def test_text_without_tokens_has_no_row() -> None:
    assert made().first("") is None and made().last(" \n ") is None


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    assert made().first("a \ud800 b") == theirs("a ? b")


def test_the_words_that_the_tokenizer_remembers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 50)
    tokens = made()
    before = tokens.first("a red <end_of_text> circle")
    for i in range(300):
        tokens.first(f"w{'abcdefghij'[i % 10]}{chr(97 + i // 10)}q")
    assert len(tokens.encode._tokenizer.cache) <= 60  # type: ignore[attr-defined]
    assert tokens.first("a red <end_of_text> circle") == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tokenizer of transformers that puts marks on both sides, as BERT's does."""
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    marks = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
    vocabulary = marks | {word: i + 4 for i, word in enumerate(sorted({*LONG.split(), "a", "red"}))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(tmp_path / "tokens")
    return tmp_path


@pytest.mark.parametrize("options", [{}, {"strip_sep_token": True}, {"clean": "canonicalize"}])
@pytest.mark.parametrize("text", ["a red", LONG, "a purple red"])
def test_a_tokenizer_of_transformers_makes_the_row_that_open_clip_makes(
    folder: Path, text: str, options: dict[str, Any]
) -> None:
    from open_clip.tokenizer import HFTokenizer

    ours = made(folder, hf_tokenizer_name="tokens", tokenizer_kwargs=options)
    expected = HFTokenizer(str(folder / "tokens"), context_length=tiny.LENGTH, **options)([text])[0].tolist()
    assert ours.first(text) == tuple(expected)
    assert ours.last(f"zzz {LONG}") == ours.last(LONG)


def test_marks_of_a_tokenizer_of_transformers_are_no_tokens_and_unknown_words_are(folder: Path) -> None:
    ours = made(folder, hf_tokenizer_name="tokens")
    assert ours.first("a [SEP] red") == ours.first("a red") != ours.first("a purple red")
    assert ours.first("[SEP] [PAD]") is None


@pytest.mark.parametrize(
    ("text_cfg", "message"),
    [
        ({"tokenizer_kwargs": {"trust_remote_code": True}}, "tokenizer_kwargs.trust_remote_code cannot be served"),
        ({"tokenizer_kwargs": {"bpe_path": "/etc/passwd"}}, "tokenizer_kwargs.bpe_path cannot be served"),
        ({"tokenizer_kwargs": {"clean": "upper"}}, "tokenizer of CLIP cannot be had"),
        ({"tokenizer_mode": "clips"}, "tokenizer_mode cannot be served"),
        ({"hf_tokenizer_name": "/nowhere/tokens"}, "tokenizer /nowhere/tokens cannot be had"),
        ({"context_length": 2}, "leaves no room"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(text_cfg: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        made(**text_cfg)
    assert "\n" not in str(caught.value)
