"""`obelics ablate`: runs the trainings of an experiment one after the other, and reports how their arms differ."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.training.diagnosis.chronicle import chronicle
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from obelics_pipeline.training.experiments.ablate.arms import clean_recipe, parts_of, recipe_of, training_of
from obelics_pipeline.training.experiments.ablate.experiment import Experiment, Parts, load_experiment
from obelics_pipeline.training.experiments.ablate.markdown import markdown
from obelics_pipeline.training.experiments.ablate.outcome import Outcome, outcome_of
from obelics_pipeline.training.experiments.ablate.page import page
from obelics_pipeline.training.experiments.ablate.plans import (
    Planned,
    in_order,
    plan_of,
    refuse_other_words,
    refuse_seen,
    refuse_unequal,
    threshold_of,
)
from obelics_pipeline.training.experiments.ablate.result import AblationResult, result_of
from obelics_pipeline.training.experiments.ablate.show import shown
from obelics_pipeline.training.experiments.ablate.trial import Failed, Trial
from obelics_pipeline.training.plan.plan_file import Plan, open_plan

ARMS, CLEAN, COUNTS, PARTS = "arms", "clean", "token-counts", "parts"
Say = Callable[[str], None]


def ablate(path: str, output: Path, overrides: Sequence[str], workers: int, say: Say) -> int:
    """Run an experiment, or go on with it; returns the exit code: 1 where a training failed.

    The report is written again after each training. Raises UserError, in one line; KeyboardInterrupt once the training
    at work has written down where it is.
    """
    try:
        import torch  # noqa: F401

        mend_torchvision()
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise UserError(
            f"ablate needs the package {error.name}: pip install 'obelics-pipeline[train]' (docs/ablate.md)"
        ) from None
    disable_progress_bar()
    experiment = load_experiment(path, overrides)
    _check(experiment)
    with _locked(output) as lock:
        write_bytes(output / "experiment.yaml", dump_config(experiment).encode())
        trials, clean = prepared(experiment, output, workers, say)
        return _run(experiment, output, trials, clean, lock, say)


def prepared(experiment: Experiment, output: Path, workers: int, say: Say) -> tuple[list[Trial], Plan]:
    """Parts and plans of all arms and seeds, checked to be on equal terms; and the clean plan. Raises UserError."""
    counts = output / COUNTS
    parts = {name: _parts(experiment, parts_of(experiment, arm), output) for name, arm in experiment.arms.items()}
    words = {name: found[0] if found else None for name, found in parts.items()}
    if experiment.clean.plan is not None:
        clean = open_plan(Path(experiment.clean.plan))
    else:
        recipe = clean_recipe(experiment, words[experiment.first])
        clean = plan_of(recipe, output / CLEAN, counts, workers, _silent)
    planned: dict[tuple[str, int], Planned] = {}
    for seed in experiment.seeds:
        for name, arm in experiment.arms.items():
            recipe = recipe_of(experiment, name, seed, words[name])
            if arm.half is not None:
                recipe = recipe_of(experiment, name, seed, words[name], threshold_of(arm.half, recipe))
            folder = output / ARMS / name / f"seed-{seed}"
            plan = plan_of(recipe, folder / "plan", counts, workers, _silent)
            planned[name, seed] = in_order(plan, arm.order, folder / "orders")
    refuse_unequal(planned, experiment.tokens)
    refuse_other_words([("clean", clean), *((f"arm {name}", one.plan) for (name, _), one in planned.items())])
    for (name, _), one in planned.items():
        refuse_seen(name, one.plan, clean)
    held = clean.held_out.n_rows if clean.held_out else 0
    tokens = [one.tokens for one in planned.values()]
    say(f"{len(planned)} trainings of {min(tokens):,} to {max(tokens):,} tokens, measured on {held:,} held-out rows")
    trials = []
    for (name, seed), one in planned.items():
        config = training_of(experiment, name, seed, str(one.plan.path), one.plan.steps, parts[name])
        trials.append(Trial(name, seed, output / ARMS / name / f"seed-{seed}", config, one))
    return trials, clean


def _run(experiment: Experiment, output: Path, trials: list[Trial], clean: Plan, lock: int, say: Say) -> int:
    outcomes: list[Outcome] = []
    failed: dict[str, str] = {}
    for trial in trials:
        trial.state()  # a folder of another experiment is refused before anything is trained
    for number, trial in enumerate(trials, start=1):
        where = f"{number} of {len(trials)}, {trial.name}"
        if "held_out" not in trial.state():
            say(f"{where}: {trial.planned.plan.steps:,} steps in {_goes(trial)}")
        try:
            trial.train(lock)
            held_out = _measured(experiment, trial, clean)
        except Failed as error:
            failed[trial.name] = str(error)
            say(f"{where}: failed: {error}")
        else:
            plan, run = trial.planned.plan.about, TrainingRun(trial.run)
            outcomes.append(outcome_of(trial.arm, trial.seed, run, held_out, plan, experiment.spikes))
            say(f"{where}: held-out loss {held_out['loss']:.4f}, image gain {held_out['image_gain']:+.4f}")
        result = result_of(experiment, outcomes, failed, [other.name for other in trials[number:]])
        _write(result, output)
    for line in _format_result(result, output):
        say(line)
    return 1 if failed else 0


def _measured(experiment: Experiment, trial: Trial, clean: Plan) -> dict[str, Any]:
    state = trial.state()
    if "held_out" not in state:
        from obelics_pipeline.training.experiments.ablate.held_out import measure

        found = measure(trial.run / "model", clean, experiment.clean.rows, trial.config)
        state |= {"held_out": {"clean": clean.id, **found}}
        chronicle(trial.run, trial.run / "chronicle")
        trial.write(state)
    measured: dict[str, Any] = state["held_out"]
    if measured["clean"] != clean.id:
        raise UserError(f"{trial.folder}: was measured on other documents; give another --output")
    return measured


def _write(result: AblationResult, output: Path) -> None:
    text = json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    write_bytes(output / "ablation.json", f"{text}\n".encode())
    write_bytes(output / "ablation.md", markdown(result).encode())
    write_bytes(output / "ablation.html", page(result).encode())


def _format_result(result: AblationResult, output: Path) -> Iterator[str]:
    """For the terminal: what could be seen, then what was."""
    yield ""
    yield from (result.title, result.warning)
    yield from (result.least_text(one) for one in result.least)
    yield from result.restarts
    yield from shown(result)
    yield from (f"failed: {name}: {why}" for name, why in result.failed.items())
    yield f"wrote {output / 'ablation.md'}, ablation.html, ablation.json"


def _goes(trial: Trial) -> str:
    n = len(trial.planned.goes)
    return "one go" if n == 1 else f"{n} goes, stopped and started between them"


def _check(experiment: Experiment) -> None:
    """Refuse what is wrong in any arm before the first is planned. Raises UserError."""
    nowhere = Path("language-model")
    stand_in = (nowhere, nowhere) if experiment.parts is not None else None
    for name in experiment.arms:
        recipe_of(experiment, name, experiment.seeds[0], stand_in and nowhere)
        training_of(experiment, name, experiment.seeds[0], "plan", None, stand_in)
    if experiment.clean.plan is None:
        clean_recipe(experiment, stand_in and nowhere)


def _parts(experiment: Experiment, parts: Parts | None, output: Path) -> tuple[Path, Path] | None:
    if parts is None:
        return None
    from obelics_pipeline.training.experiments.ablate.parts import make_parts

    name = f"{parts.layers}-layers-of-{parts.width}"
    recipe = clean_recipe(experiment, Path("language-model"))
    return make_parts(parts, recipe, (output / PARTS / name).resolve())


@contextmanager
def _locked(output: Path) -> Iterator[int]:
    """Nobody else works in this folder. A training inherits the lock, so that it holds while one is left behind."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        handle = os.open(output / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written to ({error.strerror}); give another") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise UserError(
            f"--output {output}: an ablation, or a training that one has left behind, is at work there; wait for it"
        ) from None
    try:
        yield handle
    finally:
        os.close(handle)


def _silent(_: str) -> None:
    """Ignore the lines of planning, because the report has them."""
