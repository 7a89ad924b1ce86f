from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.errors import UserError
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo, parts

torch = pytest.importorskip("torch")

from models.packed_flamingo.saved import DESCRIPTION, WEIGHTS, load, put_trained, save_trained, trained_state


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_trained(flamingo(gates=0.4, unfreeze=("language_model.*",)), tmp_path / "saved")
    return tmp_path / "saved"


def test_what_is_saved_is_loaded(saved: Path) -> None:
    model, again = flamingo(gates=0.4, unfreeze=("language_model.*",)), load(saved).eval()
    made = batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]])
    with torch.no_grad():
        assert torch.equal(model(made), again(made))


def test_the_same_model_is_saved_as_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    save_trained(load(saved), tmp_path / "again")
    for name in (DESCRIPTION, WEIGHTS):
        assert (saved / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_only_what_trains_is_saved() -> None:
    model = flamingo()
    assert trained_state(model).keys() == model.trainable().keys()
    assert not any(name.startswith(("vision.", "language_model.")) for name in trained_state(model))


def test_the_type_of_numbers_that_the_language_model_came_in_is_noted(saved: Path) -> None:
    assert json.loads((saved / DESCRIPTION).read_text())["source_dtype"] == "float32"


def test_a_stray_a_missing_and_a_damaged_file_are_refused(saved: Path) -> None:
    (saved / "trained.safetensors.orig").write_bytes(b"")
    with pytest.raises(UserError, match=r"trained\.safetensors\.orig is no part"):
        load(saved)
    (saved / "trained.safetensors.orig").unlink()
    raw = bytearray((saved / WEIGHTS).read_bytes())
    raw[-1] ^= 1
    (saved / WEIGHTS).write_bytes(raw)
    with pytest.raises(UserError, match="damaged"):
        load(saved)
    (saved / WEIGHTS).unlink()
    with pytest.raises(UserError, match="cannot be read"):
        load(saved)


def test_a_description_that_is_wrong_is_refused(saved: Path) -> None:
    about = json.loads((saved / DESCRIPTION).read_text())
    (saved / DESCRIPTION).write_text(json.dumps(about | {"colour": 1}))
    with pytest.raises(UserError, match="colour"):
        load(saved)
    (saved / DESCRIPTION).unlink()
    with pytest.raises(UserError, match="cannot be read"):
        load(saved)


def test_another_backbone_than_it_was_trained_with_is_refused(tmp_path: Path) -> None:
    vision = tmp_path / "vision"
    shutil.copytree(parts()[1], vision)
    save_trained(flamingo(vision=str(vision)), tmp_path / "saved")
    weights = vision / "model.safetensors"
    raw = bytearray(weights.read_bytes())
    raw[-1] ^= 1
    weights.write_bytes(raw)
    with pytest.raises(UserError, match="another file than"):
        load(tmp_path / "saved")


def test_weights_of_another_model_are_refused() -> None:
    model = flamingo()
    weights = trained_state(model)
    name = "cross.0.attention.q.weight"
    with pytest.raises(UserError, match=f"lacks {name}"):
        put_trained(model, {n: w for n, w in weights.items() if n != name}, "there")
    with pytest.raises(UserError, match="holds stray"):
        put_trained(model, weights | {"stray": weights[name]}, "there")
    with pytest.raises(UserError, match=r"is \(1, 2\) instead of"):
        put_trained(model, weights | {name: torch.zeros(1, 2)}, "there")


def test_any_change_of_the_settings_shows_in_the_description() -> None:
    one = FlamingoSettings(language_model="a", vision="b")
    changed = {"qk_norm": "layer", "norm": "layer", "bias": True, "gate": "vector", "post_norm": True, "latents": 8}
    changed |= {"init_std": 0.01, "depth_scaled_init": False, "cross_every": 2, "attend": "all", "seed": 1}
    shown = {one.model_copy(update={name: value}).model_dump_json() for name, value in changed.items()}
    assert len(shown | {one.model_dump_json()}) == len(changed) + 1
