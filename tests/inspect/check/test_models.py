"""What a config says of models is looked at before a run, and on the machine of a run they are loaded."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.inspect.check.models import model_findings
from obelics_pipeline.stages.score.value import check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A Flamingo's folder that says of itself what it should, and holds no weights."""
    (tmp_path / "language_model").mkdir()
    names = ["vision.safetensors", "checkpoint.safetensors"]
    for name in names:
        (tmp_path / name).write_bytes(b"no weights")
    about = {"vision": "ViT-L-14", "cross_attention_every": 1, "sha256": dict.fromkeys(names, "0" * 64)}
    (tmp_path / "flamingo.json").write_text(json.dumps(about))
    return tmp_path


def told(score: dict[str, object], engine: str = "local") -> list[tuple[str, str]]:
    found = model_findings(RunConfig.model_validate({"score": score}), engine)
    return [(finding.state, finding.text) for finding in found]


def test_nothing_is_said_where_no_model_is_named() -> None:
    assert told({}) == []


def test_a_wrong_column_and_a_missing_model_are_told() -> None:
    [(state, text)] = told({"document": {"flamingo_loss": {"max": 3}}})
    assert (state, "no model is named" in text) == ("missing", True)
    [(state, text)] = told({"flamingo": {"model": "/no/folder"}}, "ray")
    assert (state, "/no/folder is neither" in text) == ("missing", True)


def test_for_a_cluster_models_are_not_loaded_here_and_time_is_never_told(folder: Path) -> None:
    assert [state for state, _ in told({"flamingo": {"model": str(folder)}}, "ray")] == ["ok", "warning"]


@pytest.fixture
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the hub nor its cache knows a model."""
    hub = pytest.importorskip("huggingface_hub")

    def no_route(*arguments: object, **named: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr(import_module("huggingface_hub.constants"), "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.HfApi, "model_info", no_route)


@pytest.mark.usefixtures("no_hub")
def test_a_name_that_the_hub_does_not_tell_is_missing_here_and_a_warning_for_a_cluster() -> None:
    score = {"language_model": {"model": "nobody/no-model"}}
    [(state, text)] = told(score)
    assert (state, "no route" in text) == ("missing", True)
    assert told(score, "ray") == []
    [warning] = check(RunConfig.model_validate({"score": score}))
    assert "no route" in warning


def test_on_this_machine_they_are_loaded(folder: Path) -> None:
    pytest.importorskip("torch")
    [(state, text)] = told({"flamingo": {"model": str(folder), "device": "cpu"}})
    assert state == "missing"
    assert "sha256" in text or "no module" in text
