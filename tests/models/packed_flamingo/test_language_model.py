"""What a training config may name as a language model: what cannot be one is refused in one line that says what can."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import UserError
from tests.models.packed_flamingo.small import parts, settings

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.builder import build

SMALL: dict[str, Any] = {"vocab_size": 320, "hidden_size": 32}


def copied(folder: Path, config: Callable[[Any], Any] | None = None) -> Path:
    """The tokenizer of the small language model, beside another model or beside its own."""
    shutil.copytree(parts()[0], folder)
    if config is not None:
        import transformers

        (folder / "model.safetensors").unlink()
        config(transformers).save_pretrained(folder)
    return folder


def bloom(t: Any) -> Any:
    return t.BloomForCausalLM(t.BloomConfig(**SMALL, n_layer=2, n_head=2))


def encoder(t: Any) -> Any:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    return t.BertForMaskedLM(t.BertConfig(**SMALL, **sizes))


def encoder_decoder(t: Any) -> Any:
    return t.T5ForConditionalGeneration(
        t.T5Config(vocab_size=320, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0)
    )


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (bloom, "BloomForCausalLM cannot be run on packed documents"),
        (encoder, "BertLMHeadModel"),
        (encoder_decoder, "is of type t5, not causal"),
    ],
)
def test_another_architecture_is_refused_in_one_line_that_names_valid_ones(
    config: Callable[[Any], Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as error:
        build(settings(language_model=str(copied(tmp_path / "lm", config))))
    assert said in str(error.value) and "such as llama" in str(error.value) and "\n" not in str(error.value)


def rewritten(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def test_weights_that_are_missing_are_not_drawn_at_random(tmp_path: Path) -> None:
    folder = copied(tmp_path / "lm")
    rewritten(folder, lambda weights: weights.pop("model.layers.1.mlp.up_proj.weight"))
    with pytest.raises(UserError, match=r"lacks weights that its config wants: model\.layers\.1\.mlp\.up_proj\.weight"):
        build(settings(language_model=str(folder)))


def test_weights_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    folder = copied(tmp_path / "lm")
    rewritten(folder, lambda weights: weights["model.norm.weight"].fill_(torch.nan))
    with pytest.raises(UserError, match="gives NaN or infinity; its weights are damaged"):
        build(settings(language_model=str(folder)))


def test_code_in_a_folder_is_never_run_and_nobody_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    folder = copied(tmp_path / "lm")
    about = json.loads((folder / "config.json").read_text())
    about |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(about))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(UserError):
        build(settings(language_model=str(folder)))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("layers", [0, -1])
def test_a_language_model_without_blocks_is_refused(layers: int, tmp_path: Path) -> None:
    folder = copied(tmp_path / "lm")
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(about | {"num_hidden_layers": layers}))
    with pytest.raises(UserError, match=f"has {layers} blocks"):
        build(settings(language_model=str(folder)))
