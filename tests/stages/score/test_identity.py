"""Scores are measured anew where what they depend on changes, and only there; what is missing is told at the start."""

import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import ScoringConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.unit import digest
from obelics_pipeline.models.pictures.sources import no_images
from obelics_pipeline.stages.fetch.run_images import RunImages
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.stages.score.identity import check_bounds, models_identity


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What is told from a Flamingo's folder without reading weights."""
    path = tmp_path / "model"
    (path / "language_model").mkdir(parents=True)
    names = ["vision.safetensors", "checkpoint.safetensors", "language_model/model.safetensors"]
    for name in names:
        (path / name).write_bytes(b"weights")
    (path / "language_model" / "tokenizer.json").write_text("{}")
    about = {"vision": "ViT-L-14", "cross_attention_every": 1, "sha256": dict.fromkeys(names, "0" * 64)}
    (path / "flamingo.json").write_text(json.dumps(about))
    return path


def scoring(folder: Path | str, **values: Any) -> ScoringConfig:
    return ScoringConfig.model_validate({"flamingo": {"model": str(folder)} | values})


def test_a_model_is_the_same_wherever_it_lies_and_wherever_it_runs(folder: Path, tmp_path: Path) -> None:
    same = models_identity(scoring(folder))
    assert models_identity(scoring(shutil.copytree(folder, tmp_path / "elsewhere"))) == same
    for setting in ({"device": "cuda:1"}, {"batch_tokens": 1000}, {"batch_images": 3}):
        assert models_identity(scoring(folder, **setting)) == same
    elsewhere = ScoringConfig.model_validate(
        {"flamingo": {"model": str(folder)}, "workers": 3, "threads": 2, "document": {"flamingo_loss": {"max": 3}}}
    )
    assert models_identity(elsewhere) == same


@pytest.mark.parametrize(
    "setting", [{"window_tokens": 100}, {"overlap": 7}, {"max_images": 3}, {"image_gain": False}, {"dtype": "bfloat16"}]
)
def test_what_changes_scores_is_another_model(folder: Path, setting: Mapping[str, Any]) -> None:
    assert models_identity(scoring(folder, **setting)) != models_identity(scoring(folder))


def test_other_weights_another_tokenizer_and_other_counts_are_another_model(folder: Path, tmp_path: Path) -> None:
    found = [models_identity(scoring(folder))]
    counts = tmp_path / "counts.npy"
    for content in (b"1", b"2"):
        counts.write_bytes(content)
        found.append(models_identity(scoring(folder, token_counts=str(counts))))
    (folder / "language_model" / "tokenizer.json").write_text('{"other": 1}')
    found.append(models_identity(scoring(folder)))
    about = json.loads((folder / "flamingo.json").read_text())
    about["sha256"]["checkpoint.safetensors"] = "1" * 64
    (folder / "flamingo.json").write_text(json.dumps(about))
    found.append(models_identity(scoring(folder)))
    assert len(set(found)) == 5


@pytest.fixture
def language_model(tmp_path: Path) -> Path:
    path = tmp_path / "lm"
    path.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (path / name).write_text("{}")
    return path


def language_scoring(folder: Path | str, **values: Any) -> ScoringConfig:
    return ScoringConfig.model_validate({"language_model": {"model": str(folder)} | values})


def test_a_language_model_is_the_same_wherever_it_lies_and_runs(language_model: Path, tmp_path: Path) -> None:
    same = models_identity(language_scoring(language_model))
    assert models_identity(language_scoring(shutil.copytree(language_model, tmp_path / "elsewhere"))) == same
    for setting in ({"device": "cuda:1"}, {"batch_tokens": 1000}, {"batch_images": 3}):
        assert models_identity(language_scoring(language_model, **setting)) == same


def test_what_changes_the_scores_of_a_language_model_is_another(language_model: Path, tmp_path: Path) -> None:
    found = [models_identity(language_scoring(language_model))]
    changed: list[dict[str, Any]] = [
        {"window_tokens": 100}, {"overlap": 7}, {"max_images": 3}, {"image_pixels": 100}, {"image_gain": False},
        {"dtype": "bfloat16"}, {"second_model": str(language_model)},
    ]  # fmt: skip
    found += [models_identity(language_scoring(language_model, **setting)) for setting in changed]
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (language_model / name).write_text('{"other": 1}')
        found.append(models_identity(language_scoring(language_model)))
    assert len(set(found)) == len(found)


def test_a_config_without_a_language_model_has_the_identity_that_it_had_before_there_were_any() -> None:
    assert models_identity(ScoringConfig()) == digest({"flamingo": None, "similarity": None})


def test_a_file_of_similarity_counts_by_its_content(tmp_path: Path) -> None:
    found = []
    weights = tmp_path / "clip.safetensors"
    for content in (b"1", b"2"):
        weights.write_bytes(content)
        for more in ({}, {"sha256": "0" * 64}, {"max_images": 3}, {"batch": 7}):
            values = {"similarity": {"model": "ViT-B-32", "weights": str(weights)} | more}
            found.append(models_identity(ScoringConfig.model_validate(values)))
    assert found[0] == found[3] != found[2]  # a batch changes rounding only
    assert found[0] != found[4]
    assert found[1] == found[5]  # the sha256 is what loading compares


def test_what_is_missing_is_told_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nobody/none is neither a folder nor a released model \(openflamingo/"):
        models_identity(scoring("nobody/none"))
    with pytest.raises(UserError, match="set trust_remote_code"):
        models_identity(scoring("openflamingo/OpenFlamingo-3B-vitl-mpt1b"))
    with pytest.raises(UserError, match=re.escape(f"score.flamingo.token_counts: {tmp_path}/no.npy cannot be read")):
        models_identity(scoring(folder, token_counts=f"{tmp_path}/no.npy"))
    (folder / "vision.safetensors").unlink()
    with pytest.raises(UserError, match=r"vision.safetensors is missing; .*flamingo.json names it"):
        models_identity(scoring(folder))
    (folder / "flamingo.json").unlink()
    with pytest.raises(UserError, match=r"flamingo.json cannot be read"):
        models_identity(scoring(folder))


def test_bounds_of_a_column_that_nobody_measures_are_refused(folder: Path) -> None:
    bounds = {"document": {"flamingo_los": {"max": 3}}}
    with pytest.raises(
        UserError, match=r"flamingo_los: no such column; did you mean flamingo_loss\?; valid are flamingo_tokens, "
    ):
        check_bounds(ScoringConfig.model_validate({"flamingo": {"model": str(folder)}} | bounds))
    with pytest.raises(UserError, match=r"lm_loss: no model is named that measures it; .*score.language_model="):
        check_bounds(ScoringConfig.model_validate({"document": {"lm_loss": {"max": 3}}}))
    with pytest.raises(UserError, match="no such column; no model is named"):
        check_bounds(ScoringConfig.model_validate(bounds))
    with pytest.raises(UserError, match=r"filters\.document\.flamingo_loss: a model measures a column of this name"):
        check_bounds(scoring(folder), ["word_count", "flamingo_loss"])
    check_bounds(scoring(folder), ["word_count"])


def test_a_worker_in_another_folder_finds_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    config = located(scoring("model"))
    assert config.flamingo is not None
    assert config.flamingo.model == str(folder)
    released = located(scoring("openflamingo/OpenFlamingo-4B-vitl-rpj3b"))
    assert released.flamingo is not None
    assert released.flamingo.model == "openflamingo/OpenFlamingo-4B-vitl-rpj3b"
    make = LoadDocumentModels(config.model_dump_json(), RunImages(folder))
    assert make == LoadDocumentModels(config.model_dump_json(), RunImages(folder))
    assert hash(make) == hash(LoadDocumentModels(config.model_dump_json(), RunImages(folder)))


def test_a_missing_package_is_told_in_one_line_with_what_installs_it(
    language_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    make = LoadDocumentModels(language_scoring(language_model).model_dump_json(), no_images)
    with pytest.raises(
        UserError, match=r"^language model: no module torch; pip install 'obelics-pipeline\[language-mod"
    ):
        make()


def test_the_columns_are_those_of_the_models_that_are_named() -> None:
    assert model_columns(ScoringConfig()) == []
    models = {
        "flamingo": {"model": "f"},
        "language_model": {"model": "l"},
        "similarity": {"model": "s", "weights": "w"},
    }
    columns = model_columns(ScoringConfig.model_validate(models))
    assert columns[0] == "flamingo_tokens"
    assert {"images_seen", "lm_images_seen", "image_text_similarity"} <= set(columns)
    assert len(set(columns)) == len(columns)
