"""The stages of a run as its folder notes them: a command that shows a run executes none of its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obelics_pipeline.core.commit import note, recall
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import remove
from obelics_pipeline.jobs.stages import STAGES
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.stage import Stage

_TOLD = ("name", "title", "documents", "label", "with_images", "judges")


def note_stages(folder: RunFolder, stages: Sequence[Stage], config: RunConfig) -> None:
    """Write which stages a run has, where these are not the usual ones."""
    if tuple(stages) == STAGES:
        remove([folder.stages])
    else:
        note(folder.stages, [_stage_note(stage, config) for stage in stages])


def stages_in(folder: RunFolder) -> tuple[Stage, ...]:
    """The stages of the last run in a folder, in their order; those of a user's own can be looked at, and not run."""
    try:
        noted = recall(folder.stages)
        usual = {stage.name: stage for stage in STAGES}
        return tuple(usual.get(value["name"]) or _read(value) for value in noted)
    except (OSError, ValueError, KeyError, TypeError):
        return STAGES


def _stage_note(stage: Stage, config: RunConfig) -> dict[str, Any]:
    values = {name: getattr(stage, name) for name in _TOLD}
    return values | {
        "columns": list(stage.columns(config)),
        "steps": list(stage.steps),
        "ledgers": {step: list(nouns) for step, nouns in stage.ledgers.items()},
        "reasons": dict(stage.reasons),
    }


def _read(value: dict[str, Any]) -> Stage:
    columns = tuple(value.get("columns", ()))
    return Stage(
        **{name: value[name] for name in _TOLD if name in value},
        work=_not_here,
        columns=lambda _config: columns,
        steps=tuple(value["steps"]),
        ledgers={step: tuple(nouns) for step, nouns in value["ledgers"].items()},
        reasons=value["reasons"],
    )


def _not_here(job: Job) -> None:
    raise RuntimeError(f"{job.folder.path}: a stage that is known by its note alone cannot be run")
