"""Causal language models: what is measured is what transformers says of the same tokens."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.language_model.columns import COLUMNS
from obelics_pipeline.models.language_model.loading import LoadLanguageModel
from obelics_pipeline.models.language_model.scorer import LanguageModelScorer
from obelics_pipeline.models.language_model.scoring import Scoring
from tests.models.language_model import tiny
from tests.models.pictures.illustrated import document

A, B, C = tiny.SENTENCES
DOCUMENTS = (document(A, "image:1", B), document(A), document(" ".join([A, B, C] * 2)), document(), document(C, B))
KINDS = ("llama", "gpt_neox", "opt")


@cache
def folder(kind: str, seed: int = 0, **other: Any) -> Path:
    return tiny.saved(Path(mkdtemp()), kind, seed, **other)


@cache
def scorer(kind: str, **scoring: Any) -> LanguageModelScorer:
    return LoadLanguageModel(str(folder(kind)), scoring=Scoring(**{"overlap": 16} | scoring), device="cpu")()


def naive(model: Any, ids: Any) -> Any:
    """Log-probabilities (tokens - 1, words) of transformers' own forward."""
    return model(input_ids=ids).logits[0, :-1].double().log_softmax(-1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_equals_what_full_logits_say_packed_and_alone(kind: str) -> None:
    from transformers import AutoModelForCausalLM

    theirs = AutoModelForCausalLM.from_pretrained(folder(kind)).eval()
    words = tiny.tokenizer()
    packed = scorer(kind).score(DOCUMENTS)
    alone = [scorer(kind).score([one])[0] for one in DOCUMENTS]
    assert all(tuple(one) == COLUMNS for one in packed)
    for one, by_itself, doc in zip(packed, alone, DOCUMENTS, strict=True):
        text = "\n\n".join(n.text for n in doc.nodes if hasattr(n, "text"))
        ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
        assert one["lm_tokens"] == ids.shape[1] - 1
        if not text:
            continue
        with torch.no_grad():
            log_p = naive(theirs, ids)
            loss = float(theirs(input_ids=ids, labels=ids).loss)
        of_target = log_p.gather(-1, ids[0, 1:, None])
        rank = (log_p > of_target).sum(-1) + 1
        p = log_p.exp()
        mean = (p * log_p).sum(-1)
        variance = (p * log_p.square()).sum(-1) - mean.square()
        expected = {
            "lm_loss": loss,
            "lm_log_rank": float(rank.log().mean()),
            "lm_entropy": float(-mean.mean()),
            "lm_curvature": float((of_target.sum() - mean.sum()) / variance.sum().sqrt()),
        }
        for name, value in expected.items():
            assert one[name] == pytest.approx(value, abs=1e-5), name
            assert by_itself[name] == pytest.approx(value, abs=1e-5), name


def test_binoculars_is_the_loss_by_the_cross_entropy_of_two_models() -> None:
    from transformers import AutoModelForCausalLM

    first, second = folder("llama"), folder("llama", 1)
    made = LoadLanguageModel(str(first), scoring=Scoring(overlap=16), second_model=str(second), device="cpu")()
    words = tiny.tokenizer()
    ids = torch.tensor([[words.bos_token_id, *words(A)["input_ids"]]])
    with torch.no_grad():
        a, b = (naive(AutoModelForCausalLM.from_pretrained(f).eval(), ids) for f in (first, second))
    expected = float(-a.gather(-1, ids[0, 1:, None]).mean() / -(a.exp() * b).sum(-1).mean())
    assert made.score([document(B), document(A)])[1]["lm_binoculars"] == pytest.approx(expected, abs=1e-5)
    assert scorer("llama").score([document(A)])[0]["lm_binoculars"] is None
