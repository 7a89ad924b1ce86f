from __future__ import annotations

import gc
import pickle
import shutil
import sys
import weakref
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.loading import LoadLanguageModel, load
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.pictures.sources import FolderImages
from tests.models.language_model import tiny, tiny_vlm
from tests.models.pictures.illustrated import document


def test_what_makes_a_scorer_is_picklable_hashable_and_equal_likewise(tmp_path: Path) -> None:
    make = LoadLanguageModel(str(tiny.saved(tmp_path)), FolderImages(tmp_path), Scoring(overlap=16), device="cpu")
    again = pickle.loads(pickle.dumps(make))
    assert again == make and hash(again) == hash(make)
    assert again().score([document("A loaf of rye.")])[0]["lm_loss"] is not None


def test_a_model_is_loaded_once_for_all_that_hold_it_and_let_go_with_the_last(tmp_path: Path) -> None:
    folder = tiny.saved(tmp_path / "a")
    first, same = load(str(folder), device="cpu"), load(f"{folder}/../a", device="cpu")
    assert same is first
    assert load(str(folder), device="cpu", dtype="bfloat16") is not first
    gone = weakref.ref(first)
    del first, same
    gc.collect()
    assert gone() is None


def test_a_second_model_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    first, second = tiny.saved(tmp_path / "a"), tiny_vlm.saved(tmp_path / "b", "idefics3")
    with pytest.raises(UserError, match=r"b has another tokenizer than .*a; Binoculars needs two models with one"):
        LoadLanguageModel(str(first), scoring=Scoring(overlap=16), second_model=str(second), device="cpu")()


@pytest.mark.parametrize("name", ["nowhere", "./a/b", "a/b/c", "/no/such/folder"])
def test_what_is_neither_a_folder_nor_a_name_of_the_hub_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"is neither a folder nor a name of the hub \(owner/name\)"):
        load(name)


def test_a_folder_without_a_model_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"transformers cannot read .* as a causal language model, nor as one of"
    ) as told:
        load(str(tmp_path))
    assert "\n" not in str(told.value)


def test_a_folder_that_lacks_weights_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = tiny.saved(tmp_path) / "model.safetensors"
    weights = load_file(path)
    del weights["model.norm.weight"]
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(UserError, match=r"lacks model.norm.weight; fetch it again"):
        load(str(tmp_path), device="cpu")


def test_a_tokenizer_that_lacks_the_marks_of_images_is_refused(tmp_path: Path) -> None:
    folder = tiny_vlm.saved(tmp_path, "qwen2_vl")
    shutil.rmtree(folder / "tokenizer", ignore_errors=True)
    tiny.tokenizer(None).save_pretrained(folder)
    with pytest.raises(UserError, match=r"lacks <\|vision_start\|>, <\|vision_end\|>, around images"):
        load(str(folder), device="cpu")


def test_an_unknown_dtype_or_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dtype is int8; valid are auto"):
        load(str(tmp_path), dtype="int8")
    with pytest.raises(UserError, match="device cuda:99"):
        load(str(tmp_path), device="cuda:99")


def test_a_model_that_reads_images_wants_torchvision_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, images = tiny.saved(tmp_path / "text"), tiny_vlm.saved(tmp_path / "images", "smolvlm")
    monkeypatch.setitem(sys.modules, "torchvision", None)
    assert load(str(text), device="cpu").vision is None
    with pytest.raises(UserError, match=r"no module torchvision, with which images are prepared for .*images; pip"):
        load(str(images), device="cpu")
