from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo, parts

torch = pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.saved import (
    DESCRIPTION,
    WEIGHTS,
    load,
    put_trained,
    save_trained,
    trained_state,
)


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
    with pytest.raises(UserError, match=r"trained\.safetensors\.orig is not part"):
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


def losses(model: Any) -> Any:
    with torch.no_grad():
        return model.eval()(batch(model.vocabulary, [[[TEXTS[0], 1, TEXTS[1]]]]))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Parts and a saved model below one folder, the parts named from that folder, as a training config names them."""
    whole = tmp_path / "project"
    for name, part in zip(("language", "vision"), parts(), strict=True):
        shutil.copytree(part, whole / "parts" / name)
    monkeypatch.chdir(whole)
    model = flamingo(gates=0.4, language_model="parts/language", vision="parts/vision")
    save_trained(model, whole / "run" / "model")
    return whole


def test_a_model_opens_from_any_working_folder_and_after_all_was_moved(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = losses(load(project / "run" / "model"))
    monkeypatch.chdir(tmp_path)
    assert torch.equal(losses(load(project / "run" / "model")), before)
    project.rename(tmp_path / "elsewhere")
    assert torch.equal(losses(load(Path("elsewhere/run/model"))), before)


def test_a_model_that_was_moved_by_itself_opens_once_it_is_told_where_its_parts_are(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = losses(load(project / "run" / "model"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(project / "run" / "model", tmp_path / "alone" / "deep" / "down")
    alone = tmp_path / "alone" / "deep" / "down"
    with pytest.raises(
        UserError, match=r"language_model: not found at parts/language or at .*settings\.language_model"
    ):
        load(alone)
    about = json.loads((alone / DESCRIPTION).read_text())
    for part, name in (("language_model", "language"), ("vision", "vision")):
        about["settings"][part] = str(project / "parts" / name)
    (alone / DESCRIPTION).write_text(json.dumps(about))
    assert torch.equal(losses(load(alone)), before)


def test_a_description_that_names_parts_by_their_paths_is_taken_still(saved: Path) -> None:
    about = json.loads((saved / DESCRIPTION).read_text())
    folders = {part: about["settings"][part] for part in ("language_model", "vision")}
    about["parts"] = {f"{folders[name.split('/')[0]]}/{name.split('/')[1]}": h for name, h in about["parts"].items()}
    del about["places"]
    (saved / DESCRIPTION).write_text(json.dumps(about))
    load(saved)


def test_weights_of_a_part_that_are_gone_or_more_are_refused(project: Path) -> None:
    more = project / "parts" / "language" / "more.bin"
    more.write_bytes(b"")
    with pytest.raises(UserError, match=r"parts/language/more\.bin is another file than"):
        load(project / "run" / "model")
    more.unlink()
    (project / "parts" / "vision" / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"parts/vision/model\.safetensors is not there"):
        load(project / "run" / "model")


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
