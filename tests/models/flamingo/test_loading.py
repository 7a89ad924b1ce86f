from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo import released
from obelics_pipeline.models.flamingo.assembly import FlamingoModel
from obelics_pipeline.models.flamingo.layout import lay_out
from obelics_pipeline.models.flamingo.loading import LoadFlamingo, load
from obelics_pipeline.models.flamingo.scorer import Scoring
from obelics_pipeline.models.flamingo.statistics import COLUMNS
from obelics_pipeline.models.flamingo.token_loss import encode_images, token_losses
from obelics_pipeline.models.pictures.sources import FolderImages
from tests.models.flamingo import tiny
from tests.models.flamingo.tiny_folder import save


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A folder with a tiny Flamingo, and the losses that the model had before it was saved."""
    folder = tmp_path_factory.mktemp("flamingo")
    model = save(folder)
    return folder, losses(model)


def losses(model: FlamingoModel) -> np.ndarray:
    row = lay_out([tiny.SENTENCES[0], 0, tiny.SENTENCES[1]], model.encoder(), model.marks, model.literals)
    (found,) = token_losses(model, [row], encode_images(model, [tiny.pictures(1)]), 1000)
    return found


@pytest.fixture
def folder(saved: tuple[Path, np.ndarray], tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(saved[0], tmp_path / "model"))


def change(folder: Path, **values: Any) -> None:
    path = folder / "flamingo.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_saved_model_is_loaded_as_it_was(saved: tuple[Path, np.ndarray]) -> None:
    torch.manual_seed(1234)  # nothing that is loaded may be left as it was drawn
    model = load(str(saved[0]), device="cpu")
    np.testing.assert_array_equal(losses(model), saved[1])
    assert model.dtype == torch.float32 and model.positions == 512 and model.image_side == tiny.SIDE


def test_the_type_is_the_one_asked_for_and_rotary_frequencies_stay_exact(saved: tuple[Path, np.ndarray]) -> None:
    model = load(str(saved[0]), device="cpu", dtype="bfloat16")
    assert {p.dtype for p in model.flamingo.parameters()} == {torch.bfloat16}
    frequencies = [b for name, b in model.flamingo.named_buffers() if name.endswith("inv_freq")]
    assert frequencies and all(b.dtype == torch.float32 for b in frequencies)
    assert losses(model).mean() == pytest.approx(saved[1].mean(), rel=0.02)


def test_the_checkpoint_may_be_torch_s_own_form(folder: Path, saved: tuple[Path, np.ndarray]) -> None:
    from safetensors.torch import load_file

    state = load_file(folder / "checkpoint.safetensors")
    wrapped = {"epoch": 0, "model_state_dict": {f"module.{name}": value for name, value in state.items()}}
    torch.save(wrapped, folder / "checkpoint.pt")
    hashes = json.loads((folder / "flamingo.json").read_text())["sha256"]
    change(folder, checkpoint="checkpoint.pt", sha256=hashes | {"checkpoint.pt": sha256(folder / "checkpoint.pt")})
    np.testing.assert_array_equal(losses(load(str(folder), device="cpu")), saved[1])


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Harmful:
    """Unpickled, it would say so."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('code was run')",))


@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_a_checkpoint_that_would_run_code_is_refused(folder: Path, how: str) -> None:
    path = folder / "checkpoint.pt"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Harmful()))
    else:
        torch.save({"perceiver.latents": Harmful()}, path)
    hashes = json.loads((folder / "flamingo.json").read_text())["sha256"]
    change(folder, checkpoint="checkpoint.pt", sha256=hashes | {"checkpoint.pt": sha256(path)})
    with pytest.raises(UserError, match="no weights that can be read without running code"):
        load(str(folder), device="cpu")


@pytest.mark.parametrize("name", ["vision.safetensors", "checkpoint.safetensors", "language_model/model.safetensors"])
def test_a_damaged_file_is_found(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=f"{name} is damaged or another file"):
        load(str(folder), device="cpu")


def test_weights_that_are_not_vouched_for_are_refused(folder: Path) -> None:
    hashes = json.loads((folder / "flamingo.json").read_text())["sha256"]
    change(folder, sha256={name: value for name, value in hashes.items() if not name.startswith("language_model")})
    with pytest.raises(UserError, match=r"sha256 has no entry for language_model/model\.safetensors"):
        load(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cross_attention_every": 1}, "is of another model: it lacks"),
        ({"cross_attention_every": 0}, "cross_attention_every: Input should be greater"),
        ({"colour": "red"}, "colour: Extra inputs"),
        ({"vision": "ViT-Nothing"}, "open_clip knows no vision model ViT-Nothing"),
        ({"vision": tiny.VISION | {"vision_cfg": tiny.VISION["vision_cfg"] | {"layers": 1}}}, "another vision tower"),
        ({"checkpoint": "../elsewhere.pt", "sha256": {}}, "sha256 has no entry for"),
    ],
)
def test_a_description_that_is_wrong_is_told_in_one_line(folder: Path, values: dict[str, Any], message: str) -> None:
    change(folder, **values)
    with pytest.raises(UserError, match=message) as caught:
        load(str(folder), device="cpu")
    assert "\n" not in str(caught.value)


def test_a_language_model_with_a_weight_missing_is_not_filled_up_at_random(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "language_model" / "model.safetensors"
    state = load_file(path)
    missing = next(name for name in sorted(state) if name.endswith("mlp.dense_h_to_4h.weight"))
    save_file({name: value for name, value in state.items() if name != missing}, path, {"format": "pt"})
    hashes = json.loads((folder / "flamingo.json").read_text())["sha256"]
    change(folder, sha256=hashes | {"language_model/model.safetensors": sha256(path)})
    with pytest.raises(UserError, match=f"language_model lacks {missing}"):
        load(str(folder), device="cpu")


def test_a_worker_makes_one_scorer_and_the_transform_of_beam_gets_its_columns(saved: tuple[Path, np.ndarray]) -> None:
    pytest.importorskip("apache_beam")
    from obelics_pipeline.beam_jobs.elements import from_bytes, to_bytes
    from obelics_pipeline.beam_jobs.score_documents import score_group

    make = LoadFlamingo(str(saved[0]), FolderImages(saved[0]), Scoring(overlap=16), device="cpu")
    sent = pickle.loads(pickle.dumps(make))
    assert sent == make and hash(sent) == hash(make)
    text = Document("d", "", "a", 0, 1, [TextNode(tiny.SENTENCES[0])])
    (scored,) = map(from_bytes, score_group([to_bytes(text)], sent()))
    assert set(scored.scores) == set(COLUMNS) and scored.scores["flamingo_loss"] is not None


def test_files_outside_the_folder_are_refused(folder: Path) -> None:
    outside = folder.parent / "other.pt"
    outside.write_bytes(b"")
    hashes = json.loads((folder / "flamingo.json").read_text())["sha256"]
    change(folder, sha256=hashes | {"../other.pt": sha256(outside)})
    with pytest.raises(UserError, match="outside the folder"):
        load(str(folder), device="cpu")


def test_a_folder_without_a_description_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"flamingo\.json cannot be read"):
        load(str(tmp_path), device="cpu")


def test_settings_that_do_not_exist_are_told() -> None:
    with pytest.raises(UserError, match="dtype is int8; valid are auto, float32, bfloat16, float16"):
        load("x", dtype="int8")
    with pytest.raises(UserError, match="device abacus: "):
        load("x", device="abacus")
    with pytest.raises(UserError, match="neither a folder nor a released model"):
        load("x/y", device="cpu")


def test_code_of_a_repository_is_not_run_unasked() -> None:
    with pytest.raises(UserError, match="runs Python code from the repository anas-awadalla/mpt-1b"):
        load("openflamingo/OpenFlamingo-3B-vitl-mpt1b", device="cpu")


def test_where_the_hub_cannot_be_reached_a_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        UserError, match=r"RedPajama-INCITE-Base-3B-v1 cannot be had from huggingface\.co: .* local folder"
    ):
        load("openflamingo/OpenFlamingo-4B-vitl-rpj3b", device="cpu")


def test_a_file_of_the_hub_s_cache_is_checked_by_the_name_of_its_blob(tmp_path: Path) -> None:
    good, bad = tmp_path / hashlib.sha256(b"weights").hexdigest(), tmp_path / hashlib.sha256(b"others").hexdigest()
    for blob in (good, bad):
        blob.write_bytes(b"weights")
        (tmp_path / f"{blob.name[:4]}.safetensors").symlink_to(blob)
    released.check_cached(tmp_path / f"{good.name[:4]}.safetensors")
    with pytest.raises(UserError, match="is damaged or another file"):
        released.check_cached(tmp_path / f"{bad.name[:4]}.safetensors")


def test_new_words_get_the_same_embeddings_in_every_process() -> None:
    from obelics_pipeline.models.flamingo.assembly import grow

    torch.manual_seed(0)
    original = tiny.language_model("gpt_neox", 40)
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        made = tiny.language_model("gpt_neox", 40)
        made.load_state_dict(original.state_dict())
        grow(made, 43)
        found.append(made)
    for one, other in zip(found[0].parameters(), found[1].parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    new = found[0].get_output_embeddings().weight[40:]
    torch.testing.assert_close(new, original.get_output_embeddings().weight.mean(0).expand(3, -1))
