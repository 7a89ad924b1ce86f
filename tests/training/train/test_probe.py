"""Before a long run: what is broken is seen in a minute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch")

from obelics_pipeline.cli.main import main
from obelics_pipeline.training.train import step
from tests.training.train.trainable import write_config

Training = tuple[Path, dict[str, Any]]


def probed(training: Training, output: Path, only: str, *changes: str, **config: Any) -> tuple[int, dict[str, Any]]:
    path = write_config(output, training[1] | config)
    sets = [part for change in changes for part in ("--set", change)]
    code = main(["probe", path, "--output", str(output), "--only", only, *sets])
    (found,) = json.loads((output / "probe.json").read_text())
    return code, found


def test_a_sound_model_learns_eight_documents_by_heart(training: Training, tmp_path: Path) -> None:
    code, found = probed(training, tmp_path, "overfit")
    assert code == 0 and found["amiss"] == []
    assert found["found"]["documents"] == 8
    assert found["losses"][-1] <= 0.5 * found["losses"][0]


@pytest.mark.parametrize("bug", ["gradient", "targets"])
def test_a_broken_trainer_is_stopped_before_it_starts(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    whole = step.target_losses

    def broken(model: Any, batch: Any, **options: Any) -> Any:
        losses = whole(model, batch, **options)
        if bug == "gradient":  # of another sign, as a wrong reduction across ranks makes it
            return losses.__class__(**{**losses.__dict__, "nll": 2 * losses.nll.detach() - losses.nll})
        mixed = torch.rand(batch.ids.shape, generator=torch.Generator().manual_seed(int(losses.nll.sum() * 1e4)))
        ids = (mixed * model.vocabulary.words).long()  # other targets each time: nothing can be learned
        return whole(model, batch.__class__(**{**batch.__dict__, "ids": ids}), **options)

    monkeypatch.setattr(step, "target_losses", broken)
    code, found = probed(training, tmp_path, "overfit")
    assert code == 1
    assert "8 documents are not learned" in found["amiss"][0]


def test_the_range_ends_where_the_loss_breaks(
    training: Training, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = probed(training, tmp_path, "range")
    rates, losses = found["rates"], found["losses"]
    assert code == 0
    assert len(rates) == len(losses) <= 60
    assert rates == sorted(rates) and rates[0] == pytest.approx(1e-6)
    assert 1e-3 < found["found"]["lowest_loss_at"] <= found["found"]["highest"] <= 1
    assert found["found"]["broke"] == (losses[-1] is None or losses[-1] > 1.5 * min(x for x in losses if x))
    out = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("range: ") and "#" in line for line in out) >= len(rates) - 1


def scaled_tower(folder: Path, vision: str, factor: float) -> str:
    """A vision tower whose features are larger: the last block's outputs, and what it hands on."""
    from transformers import CLIPVisionModel

    model = CLIPVisionModel.from_pretrained(vision)
    with torch.no_grad():
        inner = getattr(model, "vision_model", model)
        for name, p in inner.named_parameters():
            if "pre_layrnorm" in name or "out_proj" in name or "fc2" in name:
                p.mul_(factor)
    model.save_pretrained(folder)
    about = Path(vision) / "preprocessor_config.json"
    (folder / about.name).write_bytes(about.read_bytes())
    return str(folder)


def test_a_tower_of_another_scale_is_flagged_and_the_right_one_is_not(training: Training, tmp_path: Path) -> None:
    code, usual = probed(training, tmp_path / "usual", "stability")
    assert (code, usual["amiss"]) == (0, [])
    assert len(usual["losses"]) == 50
    model = training[1]["model"]
    other = model | {"vision": scaled_tower(tmp_path / "tower", model["vision"], 100.0)}
    code, found = probed(training, tmp_path / "other", "stability", model=other)
    assert code == 1
    assert "the vision tower's features have the size" in found["amiss"][0]
    assert found["found"]["features_rms"] == pytest.approx(100 * usual["found"]["features_rms"], rel=0.3)


def test_a_rate_that_breaks_it_is_flagged(training: Training, tmp_path: Path) -> None:
    code, found = probed(training, tmp_path, "stability", "schedule.peak=1.0", "schedule.warmup_steps=0")
    assert code == 1 and found["amiss"]


def test_each_probe_begins_anew(training: Training, tmp_path: Path) -> None:
    _, alone = probed(training, tmp_path / "alone", "stability")
    path = write_config(tmp_path / "all", training[1])
    main(["probe", path, "--output", str(tmp_path / "all")])
    made = {one["name"]: one for one in json.loads((tmp_path / "all/probe.json").read_text())}
    assert list(made) == ["overfit", "range", "stability"]
    assert made["stability"]["losses"] == alone["losses"]
    assert yaml.safe_load(Path(path).read_text())["plan"] == training[1]["plan"]
