from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan, a run that has learned what captions say of colours, and a task of naming them."""
    pytest.importorskip("torch")
    from obelics_pipeline.training.train.command import train
    from tests.training.train.coloured import make_coloured, make_task
    from tests.training.train.trainable import write_config

    folder = tmp_path_factory.mktemp("coloured")
    config = make_coloured(folder, repeat=40)
    changes = ["steps=120", "model.init_std=0.1", "checkpoint.every_steps=40", "evaluation.rows=8"]
    assert train(write_config(folder, config), folder / "run", changes, None, lambda _: None) == 0
    make_task(folder / "task")
    return folder
