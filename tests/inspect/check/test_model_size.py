"""The size of a model is told without loading it: by its files, else its config.json, else its name."""

import json
import struct
from pathlib import Path

import pytest

from obelics_pipeline.inspect.check.model_size import size_of

# The config.json of SmolLM2-135M and the tower of Qwen2-VL-2B: what their makers published.
TEXT = {
    "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9,
    "num_key_value_heads": 3, "vocab_size": 49152, "tie_word_embeddings": True, "hidden_act": "silu",
}  # fmt: skip
QWEN_TOWER = {
    "depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "hidden_size": 1536, "patch_size": 14, "spatial_merge_size": 2,
}  # fmt: skip


def model(folder: Path, config: object, **shapes: list[int]) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if shapes:
        header = {name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]} for name, shape in shapes.items()}
        told = json.dumps(header | {"__metadata__": {"format": "pt"}}).encode()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(told)) + told)
    return str(folder)


def test_parameters_are_counted_in_the_files_where_there_are_some(tmp_path: Path) -> None:
    found = size_of(model(tmp_path, TEXT, a=[3, 4], b=[5], c=[]))
    assert found is not None
    assert (found.parameters, found.source, found.width) == (12 + 5 + 1, "its files", 576)


def test_without_files_config_json_tells_them_to_a_percent(tmp_path: Path) -> None:
    found = size_of(model(tmp_path, TEXT))
    assert found is not None
    assert found.parameters == pytest.approx(134_515_008, rel=0.01)  # SmolLM2-135M, as its safetensors say
    assert (found.source, found.sees, found.image_tokens(147456)) == ("its config.json", False, 0)


def test_a_tower_of_any_size_sees_so_many_pixels_and_one_of_a_fixed_size_its_own(tmp_path: Path) -> None:
    qwen = size_of(model(tmp_path / "q", TEXT | {"vision_config": QWEN_TOWER}))
    fixed, latents = {"image_size": 384, "patch_size": 14}, {"resampler_n_latents": 64}
    smol = size_of(model(tmp_path / "s", {"text_config": TEXT, "scale_factor": 3, "vision_config": fixed}))
    idefics = size_of(
        model(tmp_path / "i", {"text_config": TEXT, "vision_config": QWEN_TOWER, "perceiver_config": latents})
    )
    assert qwen is not None and smol is not None and idefics is not None
    assert qwen.tower == 32 * 12 * 1280**2
    assert qwen.image_tokens(280 * 280) == 100
    assert smol.image_tokens(10**6) == 27**2 / 3**2
    assert idefics.image_tokens(10**6) == 64


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Qwen/Qwen2-VL-2B-Instruct", 2e9),
        ("openflamingo/OpenFlamingo-3B-vitl-mpt1b", 3e9),
        ("HuggingFaceTB/SmolVLM-500M-Instruct", 5e8),
        ("HuggingFaceTB/SmolVLM2-2.2B-Instruct", 2.2e9),
        ("HuggingFaceTB/SmolVLM-Instruct", None),
    ],
)
def test_a_name_tells_what_it_says_and_no_more(name: str, parameters: float | None) -> None:
    found = size_of(name)
    assert (found and found.parameters) == parameters


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0[]"])
def test_a_damaged_file_tells_nothing(tmp_path: Path, content: bytes) -> None:
    folder = model(tmp_path, TEXT)
    (tmp_path / "model.safetensors").write_bytes(content)
    found = size_of(folder)
    assert found is not None and found.source == "its config.json"
    (tmp_path / "config.json").write_bytes(content)
    assert size_of(folder) is None
