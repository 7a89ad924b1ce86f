"""Architectures of many kinds: each is packed where that changes nothing; others are read document by document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model import probe
from obelics_pipeline.models.language_model.loading import LoadLanguageModel
from obelics_pipeline.models.language_model.scorer import LanguageModelScorer
from obelics_pipeline.models.language_model.scoring import Scoring
from tests.models.language_model import tiny
from tests.models.pictures.illustrated import document

A, B, C = tiny.SENTENCES
DOCUMENTS = [document(A, B), document(C), document(B)]


def scorer(folder: Path) -> LanguageModelScorer:
    return LoadLanguageModel(str(folder), scoring=Scoring(overlap=16), device="cpu")()


def theirs(folder: Path, text: str) -> float:
    from transformers import AutoModelForCausalLM

    words = tiny.tokenizer()
    ids = torch.tensor([[words.bos_token_id, *words(text)["input_ids"]]])
    with torch.no_grad():
        return float(AutoModelForCausalLM.from_pretrained(folder).eval()(input_ids=ids, labels=ids).loss)


@pytest.mark.parametrize(
    ("kind", "packs", "other"),
    [
        ("llama", True, {}),
        ("qwen2", True, {}),
        ("gpt_neox", True, {}),
        ("opt", True, {}),
        ("mistral", True, {"sliding_window": 8}),
        ("gemma", True, {}),
        ("gemma2", False, {"sliding_window": 8, "attn_logit_softcapping": 1.0, "final_logit_softcapping": 2.0}),
        ("mpt", False, {}),
        ("mamba", False, {}),
    ],
)
def test_packed_or_not_the_loss_is_that_of_transformers(
    kind: str, packs: bool, other: dict[str, Any], tmp_path: Path
) -> None:
    folder = tiny.saved(tmp_path, kind, **other)
    made = scorer(folder)
    assert made.model.packs is packs
    for one, doc in zip(made.score(DOCUMENTS), DOCUMENTS, strict=True):
        text = "\n\n".join(node.text for node in doc.nodes)  # type: ignore[union-attr]
        assert one["lm_loss"] == pytest.approx(theirs(folder, text), abs=1e-5)


@pytest.mark.parametrize("kind", ["llama", "mamba"])
def test_in_bfloat16_the_same_is_packed(kind: str, tmp_path: Path) -> None:
    made = LoadLanguageModel(
        str(tiny.saved(tmp_path, kind)), scoring=Scoring(overlap=16), device="cpu", dtype="bfloat16"
    )
    assert made().model.packs is (kind == "llama")


def test_a_model_whose_weights_are_damaged_is_refused(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny.saved(tmp_path))
    with torch.no_grad():
        model.model.norm.weight.fill_(torch.nan)
    model.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"LlamaForCausalLM gives NaN or infinity; its weights are damaged"):
        scorer(tmp_path)


def test_a_model_that_does_more_to_its_logits_than_is_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_theirs", lambda model, whole, window: torch.ones(len(window.ids) - 1, 1))
    with pytest.raises(UserError, match=r"LlamaForCausalLM does more to its logits than is known here; use a causal"):
        scorer(tiny.saved(tmp_path))
