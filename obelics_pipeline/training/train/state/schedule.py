"""Learning rate, weight decay and clipping as pure functions of the step and of what the ledger changed.

There is no scheduler object, so there is no scheduler state that a checkpoint could lose: a run that is resumed at a
step has the learning rate of this step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import Clip, LearningRate, WeightDecay
from obelics_pipeline.training.train.state.ledger import Holding


class ScheduleSection(Section):
    """How learning rate and weight decay go over a run."""

    peak: PositiveFloat = Field(
        1e-4, description="Learning rate at the end of the warm-up, per optimiser step (Flamingo, OpenFlamingo: 1e-4)."
    )
    warmup_steps: NonNegativeInt = Field(
        5000, description="Steps over which it rises in a line from 0 (Flamingo, OpenFlamingo: 5000)."
    )
    shape: Literal["cosine", "linear", "constant", "inverse_sqrt"] = Field(
        "cosine",
        description="How it falls afterwards. OPT-175B's, after many changes by hand, was nearly a cosine; Flamingo's "
        "and OpenFlamingo's is constant.",
    )
    steps: PositiveInt | None = Field(
        None, description="The step at which cosine and linear reach their lowest value; null: the plan's last."
    )
    min_ratio: float = Field(
        0.1, ge=0, le=1, description="Lowest learning rate after the warm-up, as a share of the peak (OPT, GPT-3: 0.1)."
    )
    weight_decay: NonNegativeFloat = Field(
        0.1, description="AdamW's, decoupled: each step takes lr × this of a weight away (Flamingo, OpenFlamingo: 0.1)."
    )
    weight_decay_follows: Literal["nothing", "lr", "lr_squared"] = Field(
        "nothing",
        description="lr: it is multiplied by the scheduled learning rate over its peak; lr_squared: by its square. As "
        "AdamW multiplies by the learning rate itself, lr is PaLM's decay of lr².",
    )

    @model_validator(mode="after")
    def warmed_up_before_the_end(self) -> ScheduleSection:
        """The warm-up must end before the decay does."""
        if self.steps is not None and self.shape in ("cosine", "linear") and self.warmup_steps >= self.steps:
            raise ValueError(f"warmup_steps is {self.warmup_steps}: must be fewer than steps, {self.steps}")
        return self

    def of(self, steps: int) -> ScheduleSection:
        """This schedule for a plan of so many steps. Raises `UserError` where its warm-up takes longer than they do."""
        if self.steps is not None:
            return self
        if self.shape in ("cosine", "linear") and self.warmup_steps >= steps:
            raise UserError(
                f"schedule.warmup_steps is {self.warmup_steps}, and the plan has {steps} steps: set fewer, or set "
                "schedule.steps"
            )
        return self.model_copy(update={"steps": steps})


def ratio(step: int, schedule: ScheduleSection) -> float:
    """Scheduled learning rate of a step over the peak, 0 to 1. Step 0, which nobody makes, has that of step 1."""
    step = max(step, 1)
    if step < schedule.warmup_steps:
        return step / schedule.warmup_steps
    if schedule.shape == "constant":
        return 1.0
    if schedule.shape == "inverse_sqrt":
        return max(math.sqrt(max(schedule.warmup_steps, 1) / step), schedule.min_ratio)
    if schedule.steps is None:
        raise ValueError(f"a schedule of shape {schedule.shape} needs its steps: ScheduleSection.of")
    done = min((step - schedule.warmup_steps) / (schedule.steps - schedule.warmup_steps), 1.0)
    left = 1.0 - done if schedule.shape == "linear" else (1.0 + math.cos(math.pi * done)) / 2
    return schedule.min_ratio + (1.0 - schedule.min_ratio) * left


def lr(step: int, schedule: ScheduleSection, changes: Sequence[Holding] = ()) -> float:
    """Learning rate of a step: the schedule's, times the factor of every change that holds (`ledger.holdings`)."""
    factors = (
        holding.entry.factor for holding in changes if isinstance(holding.entry, LearningRate) and holding.holds(step)
    )
    return math.prod(factors, start=schedule.peak * ratio(step, schedule))


def weight_decay(step: int, schedule: ScheduleSection, changes: Sequence[Holding] = ()) -> float:
    """Weight decay of a step: of the last change that holds, else the schedule's; less where it follows the rate."""
    value = schedule.weight_decay
    for holding in changes:
        if isinstance(holding.entry, WeightDecay) and holding.holds(step):
            value = holding.entry.value
    power = {"nothing": 0, "lr": 1, "lr_squared": 2}[schedule.weight_decay_follows]
    return value * ratio(step, schedule) ** power if power else value


def clip(step: int, value: float | None, changes: Sequence[Holding] = ()) -> float | None:
    """The norm that gradients are clipped at in a step: of the last change that holds, else `value`; None: not."""
    for holding in changes:
        if isinstance(holding.entry, Clip) and holding.holds(step):
            value = holding.entry.value
    return value
