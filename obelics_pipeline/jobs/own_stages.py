"""A user's own stages, which the config names, put into their positions among the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from obelics_pipeline.core.config.own_stages import OwnStage
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import is_folder_of_run
from obelics_pipeline.stages.document_stage import JudgeDocuments
from obelics_pipeline.stages.origin import origin_of
from obelics_pipeline.stages.stage import Stage

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def with_own(stages: Sequence[Stage], own: Sequence[OwnStage]) -> tuple[Stage, ...]:
    """The stages with a user's own ones. Raises UserError for one that does not exist or cannot have this position."""
    found = list(stages)
    for entry in own:
        stage = _loaded(entry.use)
        _refuse_name(stage, found, entry.use)
        places = _places(found)
        if entry.after not in places:
            raise UserError(
                f"config: stages.after {entry.after}: no own stage can follow it; valid are {', '.join(places)}"
            )
        found.insert([s.name for s in found].index(entry.after) + 1, stage)
    return tuple(found)


def _places(stages: Sequence[Stage]) -> list[str]:
    """The names of the stages that an own stage may follow: those after deduplication of texts and before that of
    images.
    """
    return [stage.name for stage in stages[1:] if stage.documents and not stage.with_images]


def _loaded(use: str) -> Stage:
    origin = origin_of(use)
    module = origin.imported(f"config: stages.use {use}")
    if not hasattr(module, origin.name):
        valid = ", ".join(name for name, value in vars(module).items() if isinstance(value, Stage)) or "no Stage"
        raise UserError(f"config: stages.use {use}: {origin.module} has no {origin.name}; it has {valid}")
    stage = getattr(module, origin.name)
    if not isinstance(stage, Stage):
        raise UserError(f"config: stages.use {use}: is no Stage; make one by obelics_pipeline's document_stage(…)")
    if isinstance(stage.work, JudgeDocuments):
        return replace(stage, work=replace(stage.work, origin=origin))
    return stage


def _refuse_name(stage: Stage, others: Sequence[Stage], use: str) -> None:
    if not _NAME.fullmatch(stage.name):
        raise UserError(f"config: stages.use {use}: the name {stage.name!r} must be small letters, digits, - and _")
    taken = {name for other in others for name in (other.name, other.documents)}
    if stage.name in taken or is_folder_of_run(stage.name):
        raise UserError(f"config: stages.use {use}: the name {stage.name} is taken; give the stage another")
