from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a plan and parts, and the config of a training on them."""
    pytest.importorskip("torch")
    from tests.train.trainable import make_training

    folder = tmp_path_factory.mktemp("training")
    return folder, make_training(folder)


@pytest.fixture(scope="session")
def undisturbed(training: tuple[Path, dict[str, Any]]) -> Path:
    """A training on it from start to end, in one process."""
    from tests.train.trainable import run, write_config

    folder, config = training
    run(write_config(folder, config), folder / "undisturbed")
    return folder / "undisturbed"
