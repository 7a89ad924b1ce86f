"""The stages of a run, in their order. To add one: its folder below `stages/`, and a line here."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.own_stages import with_own
from obelics_pipeline.stages.assemble.value import ASSEMBLE
from obelics_pipeline.stages.consent.value import CONSENT
from obelics_pipeline.stages.dedup.value import DEDUP
from obelics_pipeline.stages.dedup_images.value import DEDUP_IMAGES
from obelics_pipeline.stages.extract.value import EXTRACT
from obelics_pipeline.stages.fetch.value import FETCH
from obelics_pipeline.stages.score.value import SCORE
from obelics_pipeline.stages.shard.value import SHARD
from obelics_pipeline.stages.site.value import SITE
from obelics_pipeline.stages.stage import Stage

STAGES: tuple[Stage, ...] = (
    EXTRACT,
    DEDUP,
    SITE,
    CONSENT,
    FETCH,
    DEDUP_IMAGES,
    ASSEMBLE,
    SCORE,
    SHARD,
)
PRELOAD = (__name__,)  # what every unit needs, imported once before workers are forked


MEETS_IMAGES = next(stage.name for stage in STAGES if stage.with_images)  # there documents get their images


def stages_of(config: RunConfig) -> tuple[Stage, ...]:
    """The stages of a run, those of a user's own among them. Raises UserError for one that is not there."""
    return with_own(STAGES, config.stages)


def names_of(stages: Sequence[Stage]) -> tuple[str, ...]:
    """Their names, in their order."""
    return tuple(stage.name for stage in stages)


def named_of(stages: Sequence[Stage], names: Sequence[str]) -> list[Stage]:
    """The stages of these names, in the order of a run; all without names. Raises UserError for an unknown name."""
    unknown = [name for name in names if name not in names_of(stages)]
    if unknown:
        raise UserError(f"--stage {unknown[0]}: no such stage; valid are {', '.join(names_of(stages))}")
    return [stage for stage in stages if not names or stage.name in names]


def columns_of(stages: Sequence[Stage], config: RunConfig) -> list[str]:
    """The scores of a document, in the order of the stages that measure them."""
    return [name for stage in stages for name in stage.columns(config)]


def code_of_stages(stages: Sequence[Stage], config: RunConfig) -> dict[str, str]:
    """The identity of the code of each stage that a config asks for, by its name."""
    return {stage.name: code_of(getattr(stage.work, "__module__", "")) for stage in stages if stage.active(config)}


def stage_of(stages: Sequence[Stage], step: str) -> str:
    """The stage that a step of the event log, or of a failure, belongs to; the step itself where none owns it."""
    if step in names_of(stages):
        return step
    return next((stage.name for stage in stages if stage.owns(step)), step)


def refuse_equal_columns(stages: Sequence[Stage], config: RunConfig) -> None:
    """Raises UserError where two stages measure a column of one name."""
    found: dict[str, str] = {}
    for stage in stages:
        for name in stage.columns(config):
            if name in found:
                both = f"{found[name]} and {stage.name}"
                raise UserError(f"config: {both} measure a column of one name, {name}; leave one of the two out")
            found[name] = stage.name
