from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from tests.models.flamingo import tiny as theirs
from tests.models.packed_flamingo.small import batch, laid_out, open_gates

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.token_loss import vision_input
from obelics_pipeline.models.flamingo.weights import put_trained, trained
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.exchange import load_open_flamingo, open_flamingo_state
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.saved import begin_with
from obelics_pipeline.models.packed_flamingo.settings import of_open_flamingo

VISION: dict[str, Any] = {**theirs.VISION, "vision_cfg": {**theirs.VISION["vision_cfg"], "image_size": 32}}
KINDS = ("gpt_neox", "opt", "mpt", "llama")


@cache
def parts(kind: str) -> Path:
    """A language model and a tokenizer, the config of a vision tower and its weights."""
    import open_clip
    from safetensors.torch import save_file

    torch.manual_seed(0)
    folder = Path(mkdtemp())
    words = theirs.tokenizer()
    if kind == "llama":
        from transformers import LlamaConfig, LlamaForCausalLM

        sizes = {"vocab_size": len(words), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
        model = LlamaForCausalLM(LlamaConfig(**sizes, intermediate_size=64))
    else:
        model = theirs.language_model(kind, len(words))
    model.save_pretrained(folder / "language_model")
    words.save_pretrained(folder / "language_model")
    (folder / "vision.json").write_text(json.dumps(VISION))
    tower = open_clip.CLIP(**VISION).visual
    save_file({name: w.contiguous() for name, w in tower.state_dict().items()}, folder / "vision.safetensors")
    return folder


def open_flamingo(kind: str, every: int = 1) -> FlamingoModel:
    """Theirs, with layers of another seed, and open gates."""
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = parts(kind)
    torch.manual_seed(every)
    language_model = AutoModelForCausalLM.from_pretrained(folder / "language_model")
    tokenizer = AutoTokenizer.from_pretrained(folder / "language_model")
    model = assemble(VISION, language_model, tokenizer, every)
    model.flamingo.vision_encoder.load_state_dict(load_file(folder / "vision.safetensors"))
    with torch.no_grad():
        model.flamingo.lang_encoder.get_input_embeddings().weight.mul_(1.5)  # it trains, there
        for block in model.flamingo.lang_encoder.gated_cross_attn_layers:
            if block is not None:
                block.attn_gate.fill_(0.7)
                block.ff_gate.fill_(0.3)
    return model


def ours(kind: str, every: int = 1, **others: Any) -> PackedFlamingo:
    folder = parts(kind)
    vision = {"vision_weights": str(folder / "vision.safetensors")}
    made = of_open_flamingo(
        str(folder / "language_model"), str(folder / "vision.json"), every, seed=7, **vision, **others
    )
    return build(made).eval()


DOCUMENT = [theirs.SENTENCES[0], 1, theirs.SENTENCES[1], 2, 3, theirs.SENTENCES[2]]


def their_logits(model: FlamingoModel, made: Any) -> Any:
    with torch.inference_mode():
        seen = vision_input(model, list(made.pictures.permute(0, 2, 3, 1).numpy()))
        mask = torch.ones_like(made.ids)
        return model.flamingo(vision_x=seen[None, :, None], lang_x=made.ids, attention_mask=mask).logits


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_open_flamingo_gives_the_same_logits(kind: str, every: int) -> None:
    theirs_, mine = open_flamingo(kind, every), ours(kind, every)
    load_open_flamingo(mine, trained(theirs_.flamingo), "theirs")
    made = batch(mine.vocabulary, [[DOCUMENT]])
    with torch.no_grad():
        logits = mine.logits(made)
    assert logits.shape[-1] == mine.words + 3
    assert (logits - their_logits(theirs_, made)).abs().max() <= 1e-4
    assert logits.std() > 0.1


def test_a_training_begins_with_a_file_of_their_trainer(tmp_path: Path) -> None:
    theirs_, mine, other = open_flamingo("gpt_neox"), ours("gpt_neox"), ours("gpt_neox")
    weights = {f"module.{name}": weight for name, weight in theirs_.flamingo.state_dict().items()}
    torch.save({"epoch": 3, "model_state_dict": weights}, tmp_path / "checkpoint_3.pt")
    begin_with(mine, tmp_path / "checkpoint_3.pt")
    load_open_flamingo(other, theirs_.flamingo.state_dict(), "theirs")
    assert all(torch.equal(p, q) for p, q in zip(mine.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_open_flamingo_loads_what_is_saved(kind: str) -> None:
    mine, theirs_ = ours(kind, 2), open_flamingo(kind, 2)
    open_gates(mine, 0.8)
    put_trained(theirs_.flamingo, open_flamingo_state(mine), Path("ours"))
    made = batch(mine.vocabulary, [[DOCUMENT]])
    with torch.no_grad():
        assert (mine.logits(made) - their_logits(theirs_, made)).abs().max() <= 1e-4


def test_a_checkpoint_of_their_trainer_with_all_its_names_is_read() -> None:
    theirs_, mine = open_flamingo("gpt_neox"), ours("gpt_neox")
    load_open_flamingo(mine, theirs_.flamingo.state_dict(), "theirs")
    again = open_flamingo_state(mine)
    for name, weight in trained(theirs_.flamingo).items():
        if "embed" in name or "perceiver" in name:
            assert torch.equal(again[name], weight), name


def test_both_lay_out_a_document_with_the_same_ids() -> None:
    theirs_, mine = open_flamingo("opt"), ours("opt")
    marks = theirs_.marks
    assert (marks.image, marks.end_of_chunk) == (mine.vocabulary.image, mine.vocabulary.end_of_chunk)
    text = DOCUMENT[0]
    assert isinstance(text, str)
    assert np.array_equal(laid_out(mine.vocabulary, text).ids[1:-1], theirs_.encoder()(text))


def test_a_model_with_other_settings_is_refused() -> None:
    with pytest.raises(UserError, match="qk_norm none, the model rms"):
        load_open_flamingo(ours("gpt_neox", qk_norm="rms"), {}, "theirs")


def test_a_checkpoint_that_lacks_a_layer_or_has_one_too_many_is_refused() -> None:
    weights = trained(open_flamingo("gpt_neox").flamingo)
    lacking = {name: w for name, w in weights.items() if "attn_gate" not in name}
    with pytest.raises(UserError, match=r"lacks gated\.0\.attn_gate"):
        load_open_flamingo(ours("gpt_neox"), lacking, "theirs")
    with pytest.raises(UserError, match="which the model does not have"):
        load_open_flamingo(ours("gpt_neox"), weights | {"perceiver.frame_embs": torch.zeros(1)}, "theirs")
    with pytest.raises(UserError, match="which the model does not have"):
        load_open_flamingo(ours("gpt_neox", 2), weights, "theirs")
