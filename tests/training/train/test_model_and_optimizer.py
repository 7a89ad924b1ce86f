"""What a config asks of the device that trains is refused before the first step where it cannot be had."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.model_and_optimizer import configured_model_and_optimizer
from obelics_pipeline.training.train.processes import Processes
from tests.models.packed_flamingo.small import flamingo


def test_attention_without_a_gradient_on_a_cpu_is_refused() -> None:
    model = flamingo()
    config = TrainConfig(plan="plan", model=model.settings.model_copy(update={"attention": "flex_attention"}))
    with pytest.raises(UserError, match="flex_attention has no gradient on a CPU; valid there are sdpa and eager"):
        configured_model_and_optimizer(model, config, ["web"], Processes(0, 1, torch.device("cpu")))
