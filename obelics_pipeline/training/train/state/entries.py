"""What can stand in a run's ledger: one class for each kind of entry. An unknown kind or key is refused.

Steps are numbered from 1; step 0 is the model as it was built. A range of rows is [start, stop), of positions in the
order of training: first the rows of the plan, then what was put to its end (`cursor`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, TypeAdapter, model_validator

from obelics_pipeline.core.config.section import Section


class Entry(Section):
    """One line of the ledger: what happened, after which step, why, and the evidence."""

    model_config = ConfigDict(ser_json_inf_nan="strings")  # evidence of a loss that is no number must stay what it is

    number: PositiveInt = Field(description="Location in the ledger, from 1, without a gap.")
    attempt: NonNegativeInt = Field(description="The attempt during which it was written; 0: before the first.")
    step: NonNegativeInt = Field(description="The last step that was done when it was written.")
    kind: str
    why: str = Field("", description="In words, for a person.")
    evidence: dict[str, Any] = Field({}, description="The figures that led to it.")


class Beginning(Entry):
    """The first entry of an attempt: which attempt it goes on from, and after which of its steps."""

    parent: PositiveInt | None = Field(None, description="The attempt that it goes on from; null: from none.")
    from_step: NonNegativeInt = Field(0, description="The last step that it takes over from there.")

    @model_validator(mode="after")
    def a_parent_is_older(self) -> Beginning:
        """An attempt goes on from an earlier one, or begins at step 0."""
        if self.parent is not None and self.parent >= self.attempt:
            raise ValueError(f"attempt {self.attempt} cannot go on from attempt {self.parent}")
        if self.parent is None and self.from_step:
            raise ValueError(f"from_step is {self.from_step}, and no parent has it")
        return self


class Start(Beginning):
    """The run begins, with nothing before it."""

    kind: Literal["start"] = "start"


class Resume(Beginning):
    """A new attempt goes on from a checkpoint."""

    kind: Literal["resume"] = "resume"


class Rollback(Beginning):
    """A new attempt goes on from an earlier checkpoint, and leaves out rows that are suspected."""

    kind: Literal["rollback"] = "rollback"
    to_step: NonNegativeInt
    cursor: NonNegativeInt = Field(description="The position that the step after `to_step` begins at.")
    rows: tuple[()] | tuple[NonNegativeInt, NonNegativeInt] = Field((), description="[start, stop) to leave out.")

    @model_validator(mode="after")
    def to_where_it_starts(self) -> Rollback:
        """The attempt that it begins starts at the step that it goes back to."""
        if self.to_step != self.from_step:
            raise ValueError(f"to_step is {self.to_step} and from_step is {self.from_step}: they are one")
        return self


class Checkpoint(Entry):
    """A checkpoint was written."""

    kind: Literal["checkpoint"] = "checkpoint"
    name: str = Field(description="Of its folder.")
    id: str = Field("", description="Of its manifest.")


class Evaluation(Entry):
    """Held-out documents were evaluated; the figures are in evaluations.jsonl."""

    kind: Literal["evaluation"] = "evaluation"


class Change(Entry):
    """Something that a person or the guard changes, from step `at` on; it can be undone."""

    at: PositiveInt = Field(description="The first step that it holds for.")


class LearningRate(Change):
    """The learning rate is multiplied."""

    kind: Literal["lr"] = "lr"
    factor: float = Field(gt=0, allow_inf_nan=False)
    branch: bool = Field(False, description="A trial: it is undone, and the run rolled back, at the guard's first act.")


class WeightDecay(Change):
    """The weight decay has another peak value."""

    kind: Literal["weight_decay"] = "weight_decay"
    value: NonNegativeFloat = Field(allow_inf_nan=False)


class Clip(Change):
    """Gradients are clipped at another norm; null: not at all."""

    kind: Literal["clip"] = "clip"
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None


class ResetMoments(Change):
    """The optimiser's moments are set to 0 right before step `at`; its count of steps stays."""

    kind: Literal["reset_moments"] = "reset_moments"
    pattern: str = Field("*", description="fnmatch pattern of parameter names.")


class Unfreeze(Change):
    """Parameters that were frozen are trained."""

    kind: Literal["unfreeze"] = "unfreeze"
    pattern: str = Field(description="fnmatch pattern of parameter names.")


class ConfigChange(Change):
    """A value of the config is another on purpose: a resumed run may then differ in it."""

    kind: Literal["config"] = "config"
    key: str = Field(description="With dots, such as optimiser.beta2.")
    value: Any


class _Rows(Change):
    at: PositiveInt = Field(1, description="Of no effect: rows are told by their positions.")
    start: NonNegativeInt
    stop: PositiveInt

    @model_validator(mode="after")
    def not_empty(self) -> _Rows:
        """At least one row."""
        if self.stop <= self.start:
            raise ValueError(f"rows {self.start}:{self.stop} are none; the second must be larger")
        return self


class SkipRows(_Rows):
    """These rows are left out."""

    kind: Literal["skip_rows"] = "skip_rows"


class RequeueRows(_Rows):
    """These rows are trained on once more, after all others."""

    kind: Literal["requeue_rows"] = "requeue_rows"


class Undo(Entry):
    """An earlier change, or the rows of a rollback, no longer hold: from the step after this one on."""

    kind: Literal["undo"] = "undo"
    of: PositiveInt = Field(description="Number of the entry.")


class SkipUpdate(Entry):
    """The optimiser did not step: these rows were read, and nothing was learned of them."""

    kind: Literal["skip_update"] = "skip_update"
    cursor: NonNegativeInt
    rows: tuple[NonNegativeInt, NonNegativeInt]


class Wait(Entry):
    """The guard saw something, and lets it pass for now."""

    kind: Literal["wait"] = "wait"


class Hardware(Entry):
    """A sign that a machine is at fault."""

    model_config = ConfigDict(extra="allow")  # what drivers say is theirs to name

    kind: Literal["hardware"] = "hardware"


class Alarm(Entry):
    """A signal left its range."""

    kind: Literal["alarm"] = "alarm"
    signal: str
    value: float | None = Field(description="As it was measured; null: no number.")
    z: float | None = Field(None, description="Robust deviations from the median.")
    since: NonNegativeInt = Field(description="The first step that was out of range.")


class Plateau(Entry):
    """A loss no longer falls."""

    kind: Literal["plateau"] = "plateau"


class NoProgress(Entry):
    """Nothing that is measured gets better; a person decides."""

    kind: Literal["no_progress"] = "no_progress"


class Stop(Entry):
    """The guard gave up, or the run is done."""

    kind: Literal["stop"] = "stop"
    reason: str


class Exit(Entry):
    """Why an attempt ended."""

    kind: Literal["exit"] = "exit"
    reason: str


AnyEntry = Annotated[
    Start | Resume | Rollback | Checkpoint | Evaluation | LearningRate | WeightDecay | Clip | ResetMoments | Unfreeze
    | ConfigChange | SkipRows | RequeueRows | Undo | SkipUpdate | Wait | Hardware | Alarm | Plateau | NoProgress | Stop
    | Exit,
    Field(discriminator="kind"),
]  # fmt: skip
ENTRY: TypeAdapter[Entry] = TypeAdapter(AnyEntry)
