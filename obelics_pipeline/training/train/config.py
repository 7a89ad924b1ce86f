"""The config of a training."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.training.train.guard.config import GuardConfig
from obelics_pipeline.training.train.health.config import HealthConfig
from obelics_pipeline.training.train.state.schedule import ScheduleSection


class OptimizerConfig(Section):
    """AdamW (Loshchilov and Hutter 2019), in float32. The rate is the schedule's."""

    beta1: float = Field(0.9, ge=0, lt=1, description="Of the first moment.")
    beta2: float = Field(0.95, ge=0, lt=1, description="Of the second moment (OPT-175B, IDEFICS: 0.95 to 0.999).")
    eps: PositiveFloat = Field(1e-8, description="Added to the root of the second moment.")
    clip: PositiveFloat | None = Field(1.0, description="Norm to which the whole gradient is cut; null: it is not.")


class LossConfig(Section):
    """What is minimised: the mean loss of the target tokens, and what is added."""

    z_weight: NonNegativeFloat = Field(
        1e-4, description="Of the square of log z, which keeps logits near 0 (PaLM, section 5)."
    )
    dataset_weights: dict[str, NonNegativeFloat] = Field(
        default_factory=dict, description="Factor of a data set's losses (Flamingo's lambda); 1 where none is given."
    )


class LoaderConfig(Section):
    """Reading ahead. Changes no batch."""

    workers: NonNegativeInt = Field(2, description="Processes that read rows, per rank; 0: none.")
    ahead: PositiveInt = Field(4, description="Micro-batches that each of them reads before they are asked for.")


class CheckpointConfig(Section):
    """When the state is written, and what of it stays."""

    every_steps: PositiveInt = Field(250, description="IDEFICS wrote one every 250 steps, three hours.")
    keep_last: PositiveInt = Field(3, description="The newest that stay.")
    keep_every: PositiveInt = Field(5000, description="Those at multiples of so many steps stay as well.")


class EvaluationConfig(Section):
    """Held-out rows of the plan, at every checkpoint."""

    rows: NonNegativeInt = Field(64, description="At most so many; 0: none.")
    no_progress: PositiveInt = Field(
        20, description="Evaluations without a new best of any data set: an event, for a person to decide."
    )


class RecordConfig(Section):
    """What is written down as it happens."""

    account_steps: PositiveInt = Field(20, description="Steps of losses per document in one file.")
    say_steps: PositiveInt = Field(20, description="Steps from one line on the screen to the next.")
    monitor_steps: PositiveInt = Field(10, description="Activations are measured at every so many steps.")
    el2n: bool = Field(True, description="Measure the error norm of each token (Paul et al. 2021), for explain-spike.")


class TrainConfig(Section):
    """Everything a training's numbers depend on, beside its plan."""

    plan: str = Field(description="Folder that obelics plan wrote.")
    model: FlamingoSettings = Field(description="The parts of the model, and the sizes of its new layers.")
    steps: PositiveInt | None = Field(
        None, description="Where to stop; null: at the end of the plan. It moves no learning rate: schedule.steps does."
    )
    micro_rows: PositiveInt = Field(8, description="Rows that a process takes at once.")
    precision: Literal["float32", "bfloat16"] = Field(
        "bfloat16", description="Of matrix products. Parameters, their moments, losses and sums are float32."
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: the GPU where there is one.")
    threads: PositiveInt | None = Field(
        None, description="Threads of a CPU, on which the last bits depend; null: one per core."
    )
    compile: bool = Field(
        False, description="Compile the blocks (GPU: faster after minutes); the last bits are others."
    )
    deterministic: bool = Field(False, description="Refuse operations whose last bits differ from run to run (GPU).")
    start_from: str | None = Field(
        None,
        description="Folder of a trained model (RUN/model), or a checkpoint of open_flamingo, to begin with.",
    )
    seed: int = Field(0, description="Of the new parameters' first values. Nothing else in a training is drawn.")
    schedule: ScheduleSection = Field(default_factory=ScheduleSection)
    optimizer: OptimizerConfig = Field(default_factory=OptimizerConfig)
    loss: LossConfig = Field(default_factory=LossConfig)
    loader: LoaderConfig = Field(default_factory=LoaderConfig)
    checkpoint: CheckpointConfig = Field(default_factory=CheckpointConfig)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)
    record: RecordConfig = Field(default_factory=RecordConfig)
    guard: GuardConfig = Field(default_factory=GuardConfig)
    health: HealthConfig = Field(default_factory=HealthConfig)
