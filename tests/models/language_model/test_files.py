"""A name of the hub means one commit for the whole of a process, and its workers are told which."""

from __future__ import annotations

from pathlib import Path

import pytest

from obelics_pipeline.core.config import ScoringConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model import files
from obelics_pipeline.models.language_model.files import folder_of, pinned
from obelics_pipeline.stages.score.document_models import located
from obelics_pipeline.stages.score.identity import models_identity
from tests.models.language_model.hub_cache import offline, remembered

__all__ = ["offline"]  # a fixture

OLD, NEW = "a" * 40, "b" * 40


def test_a_folder_and_a_commit_stay_as_they_are(tmp_path: Path, offline: Path) -> None:
    assert pinned(str(tmp_path)) == str(tmp_path)
    assert pinned(f"owner/name@{OLD}") == f"owner/name@{OLD}"


def test_a_name_that_neither_the_hub_nor_the_cache_knows_is_refused_in_one_line(offline: Path) -> None:
    with pytest.raises(UserError, match=r"^language model: owner/name cannot be had from huggingface.co: .*$"):
        pinned("owner/name")


def test_workers_are_told_the_commit_and_a_model_that_changed_is_another(offline: Path) -> None:
    config = ScoringConfig.model_validate(
        {
            "language_model": {"model": "owner/name", "second_model": "owner/twin@v1"},
            "judge": {"model": "owner/name", "prompt": "{document}"},
        }
    )
    repository = remembered(offline, "owner/name", main=OLD)
    remembered(offline, "owner/twin", v1=NEW)
    before, told = models_identity(config), located(config)
    assert told.language_model is not None and told.judge is not None
    assert (told.language_model.model, told.language_model.second_model) == (f"owner/name@{OLD}", f"owner/twin@{NEW}")
    assert told.judge.model == f"owner/name@{OLD}"
    assert models_identity(told) == before
    (repository / "refs" / "main").write_text(NEW)
    assert models_identity(config) == before  # in this process it means what it meant
    files._commit.cache_clear()
    assert models_identity(config) != before
    assert models_identity(told) == before


def test_the_files_are_those_of_the_commit(offline: Path) -> None:
    repository = remembered(offline, "owner/name", main=NEW)
    for commit in (OLD, NEW):
        (repository / "snapshots" / commit).mkdir(parents=True)
        (repository / "snapshots" / commit / "model.safetensors").write_bytes(b"")
    assert folder_of(f"owner/name@{OLD}", False).name == OLD
    assert folder_of("owner/name", False).name == NEW
