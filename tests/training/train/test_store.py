"""A training whose shards lie in an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from obelics_pipeline.training.plan.command import make_plan
from tests.core.storage.conftest import new_bucket
from tests.training.train.trainable import curve, recipe_of, run, write_config


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_shards_in_a_bucket_train_as_shards_on_a_disk(
    training: tuple[Path, dict[str, Any]], undisturbed: Path, s3: str, tmp_path: Path, workers: int
) -> None:
    folder, config = training
    bucket = new_bucket(f"shards-{workers}")
    for name in ("web", "wiki"):
        bucket.fs.put(str(folder / name), (bucket / name).path, recursive=True)
    make_plan(recipe_of(bucket, folder / "parts" / "language_model"), tmp_path / "plan")
    changed = config | {"plan": str(tmp_path / "plan"), "loader": {"workers": workers}, "steps": 12}
    run(write_config(tmp_path, changed), tmp_path / "run")
    expected = curve(undisturbed)
    assert curve(tmp_path / "run") == {step: expected[step] for step in range(1, 13)}
