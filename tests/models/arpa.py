"""A language model of three words, written by hand, so that every figure can be worked out on paper."""

import io
from pathlib import Path

import pytest

# log10 probability, n-gram, log10 backoff
BIGRAMS = """\\data\\
ngram 1=5
ngram 2=4

\\1-grams:
-1.0\t<unk>\t0
-99\t<s>\t-0.5
-0.7\t</s>\t0
-0.6\t▁a\t-0.3
-0.8\t▁b\t-0.2

\\2-grams:
-0.2\t<s> ▁a
-0.4\t▁a ▁b
-0.9\t▁b ▁a
-0.1\t▁b </s>

\\end\\
"""


def write_models(folder: Path, language: str = "en") -> Path:
    """The two files of a language; the KenLM one is ARPA text, which KenLM reads as it does its own binary form."""
    pytest.importorskip("kenlm")
    sentencepiece = pytest.importorskip("sentencepiece")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{language}.arpa.bin").write_text(BIGRAMS, "utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"] * 20),
        model_writer=model,
        vocab_size=6,
        model_type="word",
        minloglevel=2,
    )
    (folder / f"{language}.sp.model").write_bytes(model.getvalue())
    return folder
