from __future__ import annotations

import json
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.language_model.identity import identity
from tests.models.language_model.hub_cache import offline, remembered

__all__ = ["offline"]  # a fixture


def model(folder: Path, weights: bytes = b"weights") -> str:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return str(folder)


def test_a_folder_is_what_is_in_it_wherever_it_is(tmp_path: Path) -> None:
    here, there = model(tmp_path / "a"), model(tmp_path / "b")
    assert identity(here, False) == identity(there, False)
    assert json.loads(json.dumps(identity(here, False))) == identity(here, False)


def test_other_weights_of_the_same_size_are_another_model(tmp_path: Path) -> None:
    assert identity(model(tmp_path / "a"), False) != identity(model(tmp_path / "b", b"Weights"), False)


def test_a_model_of_the_hub_is_its_name_and_commit(offline: Path) -> None:
    remembered(offline, "owner/name", main="a" * 40, v2="b" * 40)
    assert identity("owner/name", False) == {"hub": f"owner/name@{'a' * 40}", "trust_remote_code": False}
    assert (
        identity("owner/name@main", False) == identity(f"owner/name@{'a' * 40}", False) == identity("owner/name", False)
    )
    assert identity("owner/name", False) != identity("owner/name", True)
    assert identity("owner/name@v2", False) == {"hub": f"owner/name@{'b' * 40}", "trust_remote_code": False}


def test_another_name_is_refused() -> None:
    with pytest.raises(UserError, match="nowhere is neither a folder nor a name of the hub"):
        identity("nowhere", False)
