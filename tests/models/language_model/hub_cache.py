"""The hub's cache on this machine, as huggingface_hub lays it out, without a hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.models.language_model import files


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and no hub."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    files._commit.cache_clear()
    yield tmp_path / "hub"
    files._commit.cache_clear()


def remembered(cache: Path, name: str, **commits: str) -> Path:
    """What revisions of a repository were when they were last asked for; the folder of the repository."""
    folder = cache / f"models--{name.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    for revision, commit in commits.items():
        (folder / "refs" / revision).write_text(commit)
    return folder
