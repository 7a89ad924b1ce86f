"""`obelics probe`: the config and the plan of a training tried for a minute, before it takes a month."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from obelics_pipeline.core.config.yaml_file import bundled_configs, read_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.plan.tokenizer import refuse_other

PROBES = ("overfit", "range", "stability")
FILE = "probe.json"
Say = Callable[[str], None]


def probe(config: str, overrides: Sequence[str], output: Path, only: Sequence[str], say: Say) -> int:
    """Run the probes, in this process alone, and write what they found; 0 where nothing is amiss, else 1.

    Raises UserError for a config or a plan that cannot be used.
    """
    try:
        import torch

        mend_torchvision()
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(f"probe needs the package {error.name}: pip install 'obelics-pipeline[train]'") from None
    from obelics_pipeline.models.packed_flamingo.builder import build
    from obelics_pipeline.training.train.config import TrainConfig
    from obelics_pipeline.training.train.feed import Feed
    from obelics_pipeline.training.train.health.preflight import cores
    from obelics_pipeline.training.train.model_and_optimizer import configured_model_and_optimizer
    from obelics_pipeline.training.train.probe import Bench, Probed, overfit, rate_range, stability
    from obelics_pipeline.training.train.processes import Processes, device_of
    from obelics_pipeline.training.train.state import schedule
    from obelics_pipeline.training.train.stored_rows import RowReader

    settings = read_config(TrainConfig, config, overrides, bundled_configs() / "training")
    plan = open_plan(Path(settings.plan))
    torch.set_num_threads(settings.threads or cores())
    processes = Processes(0, 1, torch.device(device_of(settings.device)))
    model = build(settings.model.model_copy(update={"seed": settings.seed})).to(processes.device)
    refuse_other(model.vocabulary, plan.about["tokenizer"])
    model_and_optimizer = configured_model_and_optimizer(model, settings, plan.datasets, processes)
    reader = RowReader(plan, model.vocabulary, model.vision.side)
    feed = Feed(plan, reader, processes, settings.micro_rows, settings.loader)
    bench = Bench(model_and_optimizer, feed, plan, settings.optimizer.clip)
    planned = settings.schedule.of(plan.steps)
    probes: dict[str, Callable[[], Probed]] = {
        "overfit": lambda: overfit(bench, settings.schedule.peak),
        "range": lambda: rate_range(bench),
        "stability": lambda: stability(bench, lambda step: schedule.lr(step, planned)),
    }
    made = [probes[name]() for name in PROBES if name in only]
    output.mkdir(parents=True, exist_ok=True)
    write_bytes(output / FILE, (json.dumps([one.record() for one in made], indent=1) + "\n").encode())
    for one in made:
        for line in shown(one):
            say(line)
    return int(any(one.amiss for one in made))


def shown(probed: object) -> list[str]:
    """A probe in lines for a person; the range with its curve."""
    from obelics_pipeline.training.train.probe import Probed

    assert isinstance(probed, Probed)
    lines = []
    if probed.rates:
        top = max((loss for loss in probed.losses if loss == loss), default=1.0)
        for rate, loss in zip(probed.rates, probed.losses, strict=True):
            lines.append(f"range: {rate:9.2e}  {loss:8.4f}  {'#' * (round(40 * loss / top) if loss <= top else 40)}")
    found = ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in probed.found.items())
    lines.append(f"{probed.name}: {found}")
    return [*lines, *(f"{probed.name}: AMISS: {text}" for text in probed.amiss)]
