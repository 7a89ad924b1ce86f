"""Bounds on what a training run measured on documents: a run's config has no place for them, a plan's recipe has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import yaml

from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.run_tables.training import SCORES
from obelics_pipeline.inspect.tune.rules import TunedRule
from obelics_pipeline.jobs.stages import STAGES

SECTION = "keep"  # of a recipe's data set
SIDES = ("min", "max")  # that a recipe knows
_STAGE = STAGES[-1].name  # a plan is made of what came as far as the shards


def of_config(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are the config's."""
    return {place: value for place, value in settings.items() if not place.startswith(f"{SECTION}.")}


def training_rules(measured: Collection[str], settings: Mapping[str, Any]) -> list[TunedRule]:
    """A rule for each column of training that a run has, without bounds unless settings give it some.

    Raises UserError for a bound that a recipe does not know.
    """
    bounds: dict[str, dict[str, float | None]] = {name: {} for name in SCORES if name in measured}
    for place, value in settings.items():
        section, *keys = place.split(".")
        if section != SECTION:
            continue
        if len(keys) != 2 or keys[0] not in bounds or keys[1] not in SIDES:
            raise UserError(
                f"{place}: a recipe keeps by {' and '.join(SIDES)} of {', '.join(bounds) or 'no column here'}"
            )
        bounds[keys[0]][keys[1]] = value
    return [TunedRule(n, _STAGE, f"{SECTION}.{n}", LanguageBounds.model_validate(of_it)) for n, of_it in bounds.items()]


def recipe_text(rules: Sequence[TunedRule]) -> str:
    """The bounds as a recipe has them, on one line; empty without any."""
    kept = {rule.name: {s: v for s in SIDES if (v := getattr(rule.bounds, s)) is not None} for rule in rules}
    kept = {name: of_it for name, of_it in kept.items() if of_it}
    text: str = yaml.safe_dump({SECTION: kept}, default_flow_style=True, width=10_000).strip()[1:-1]
    return text if kept else ""
