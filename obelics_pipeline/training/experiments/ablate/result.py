"""The result of an experiment: its scale, the smallest difference its seeds can show, and the differences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from obelics_pipeline.training.experiments.ablate.experiment import Experiment
from obelics_pipeline.training.experiments.ablate.outcome import LOSS, SETTING, Outcome, same_curve, unit_of
from obelics_pipeline.training.experiments.ablate.student import Difference, Mean, interval, paired

FORMAT = "obelics-ablation-1"
NOTHING = "no difference that these seeds could show"
OF_FAILED = "What failed is in no mean: an arm whose trainings diverge looks better than it is."
OF_TRAINING = ("arm", "seed", "steps", "restarts", "figures", "actions")
TIMES = 100  # in size, of which a small experiment says nothing


@dataclass(frozen=True)
class Compared:
    """One figure of an arm against that of the first, seed by seed."""

    arm: str
    figure: str
    unit: str
    difference: Difference
    says: str


@dataclass(frozen=True)
class ArmSummary:
    """An arm over its seeds."""

    name: str
    differs: str
    figures: Mapping[str, Mean]
    seeds: Sequence[int]
    actions: Mapping[str, int]
    steps: int
    restarts: int
    passes: Mapping[str, float]
    documents: Mapping[str, int]


@dataclass(frozen=True)
class AblationResult:
    """`outcomes` are in the order of the arms; `failed`: why, by training; `waiting`: trainings still to come."""

    experiment: Experiment
    arms: Sequence[ArmSummary]
    compared: Sequence[Compared]
    restarts: Sequence[str]
    outcomes: Sequence[Outcome]
    failed: Mapping[str, str]
    waiting: Sequence[str]

    @property
    def title(self) -> str:
        """With the scale: what is true of a small model need not be of a large one."""
        sizes = "not measured yet"
        for one in self.outcomes[:1]:  # an arm may have another shape, which its figures tell
            parameters, tokens = (_short(one.figures[name]) for name in ("parameters", "tokens trained"))
            sizes = f"{parameters} parameters, {tokens} tokens an arm"
        return f"Ablation {self.experiment.name}: {sizes}"

    @property
    def warning(self) -> str:
        """The warning that goes with every figure."""
        return (
            f"This is true of models of this size on so many tokens. It says nothing of {TIMES} times the size: gains "
            "at small scale were gone at 22 to 70 billion parameters (OPT), and data quality that made no difference "
            "to a small model was worth its price to one of 80 billion (IDEFICS)."
        )

    @property
    def method(self) -> str:
        """How the figures came about."""
        e, n = self.experiment, len(self.experiment.seeds)
        return (
            f"{n} {'seed' if n == 1 else 'seeds'} an arm; intervals are Student's t of {e.confidence:.0%} over them. "
            f"Differences from {e.first} are paired by seed (paired t), which draws the order and the first weights: "
            "these are the same in all arms whose model has the same shape. The held-out documents are the same for "
            f"all, so that the intervals say nothing of other documents. Judge by the {LOSS}; the other figures are "
            f"many, and of {round(1 / (1 - e.confidence))} such intervals one misses by chance. A spike is a value "
            f"more than {e.spikes.deviations:g} robust deviations above the running median of {e.spikes.window:,} "
            "steps (after OLMo 2's spike score)."
        )

    @property
    def least(self) -> Sequence[Compared]:
        """The comparisons by the held-out loss, whose smallest difference to be seen stands before any claim."""
        return [one for one in self.compared if one.figure == LOSS]

    def least_text(self, one: Compared) -> str:
        """The smallest difference that the seeds would have shown."""
        d = one.difference
        if d.least is None or d.deviation is None:
            return f"{one.arm}: one seed, so no variance between seeds is known and nothing can be claimed"
        if not d.deviation:
            return f"{one.arm} against {self.experiment.first}: their difference does not deviate between {d.n} seeds"
        return (
            f"{one.arm} against {self.experiment.first}: their difference deviates between seeds by {d.deviation:.4f} "
            f"{one.unit}, so that {d.n} seeds show a true difference of {d.least:.4f} or more with a power of "
            f"{self.experiment.power:.0%}"
        )

    def as_json(self) -> dict[str, Any]:
        """For a machine, without the curves: these are in the folders of the trainings."""
        found: dict[str, Any] = _finite(
            {
                "format": FORMAT,
                "title": self.title,
                "warning": self.warning,
                "method": self.method,
                "experiment": self.experiment.model_dump(mode="json"),
                "arms": [asdict(arm) for arm in self.arms],
                "compared": [asdict(one) for one in self.compared],
                "restarts": list(self.restarts),
                "trainings": [{name: getattr(one, name) for name in OF_TRAINING} for one in self.outcomes],
                "failed": dict(self.failed),
                "waiting": list(self.waiting),
            }
        )
        return found


def result_of(
    experiment: Experiment, outcomes: Sequence[Outcome], failed: Mapping[str, str], waiting: Sequence[str]
) -> AblationResult:
    """Everything that is reported."""
    by_arm = {name: {one.seed: one for one in outcomes if one.arm == name} for name in experiment.arms}
    arms = [_summarise_arm(experiment, name, list(of.values())) for name, of in by_arm.items() if of]
    base = by_arm[experiment.first]
    compared = [
        one
        for name, of in by_arm.items()
        if name != experiment.first
        for one in _compared(experiment, name, [(base[seed], of[seed]) for seed in of if seed in base])
    ]
    return AblationResult(
        experiment=experiment,
        arms=arms,
        compared=compared,
        restarts=list(_restarts(experiment, by_arm)),
        outcomes=[one for of in by_arm.values() for one in of.values()],
        failed=failed,
        waiting=waiting,
    )


def _summarise_arm(experiment: Experiment, name: str, outcomes: Sequence[Outcome]) -> ArmSummary:
    figures = {}
    for figure in outcomes[0].figures:
        values = [v for one in outcomes if math.isfinite(v := one.figures.get(figure, math.nan))]
        if values:
            figures[figure] = interval(values, experiment.confidence)
    actions: Counter[str] = sum((Counter(one.actions) for one in outcomes), Counter())
    return ArmSummary(
        name=name,
        differs=differs(experiment, name),
        figures=figures,
        seeds=[one.seed for one in outcomes],
        actions=actions,
        steps=outcomes[0].steps,
        restarts=outcomes[0].restarts,
        passes=outcomes[0].passes,
        documents=outcomes[0].documents,
    )


def differs(experiment: Experiment, name: str) -> str:
    """How an arm differs from the base, in one line."""
    arm = experiment.arms[name].model_dump(mode="json", exclude_defaults=True)
    return ", ".join(f"{key} {_plain(value)}" for key, value in arm.items()) or "the base as it is"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_plain(inner)}" for key, inner in value.items()) + "}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _compared(experiment: Experiment, name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> list[Compared]:
    found = []
    for figure in pairs[0][0].figures if pairs else ():
        if figure in SETTING:
            continue
        both = [(a.figures[figure], b.figures.get(figure, math.nan)) for a, b in pairs]
        differences = [b - a for a, b in both if math.isfinite(a) and math.isfinite(b)]
        if differences:
            difference = paired(differences, experiment.confidence, experiment.power)
            says = _says(name, experiment.first, difference)
            found.append(Compared(name, figure, unit_of(figure), difference, says))
    return found


def _says(name: str, first: str, difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return "one seed: nothing can be claimed"
    if difference.mean == 0 and difference.deviation == 0:
        return "the same in every seed"
    if not difference.shown:
        return NOTHING
    way = "lower" if difference.mean < 0 else "higher"
    low, high = sorted((abs(difference.low), abs(difference.high)))
    return f"{name} is {way} than {first} by {low:.3g} to {high:.3g}"


def _restarts(experiment: Experiment, by_arm: Mapping[str, Mapping[int, Outcome]]) -> list[str]:
    """What stopping and starting between the parts has changed, for each seed: nothing, where the loader is right."""
    orders = {arm.order: name for name, arm in experiment.arms.items() if arm.order is not None}
    whole, parted = (by_arm.get(orders.get(order, ""), {}) for order in ("1234", "1_2_3_4"))
    said = []
    for seed, one in whole.items():
        if (other := parted.get(seed)) is None:
            continue
        at = same_curve(one, other)
        told = f"seed {seed}: 1234 with {one.restarts} restarts and 1_2_3_4 with {other.restarts} "
        same = f"have the same loss, log z, gradient norm and rows in all {one.steps:,} steps, to the last bit"
        said.append(told + (same if at is None else f"differ from step {at:,} on: a restart changes this training"))
    return said


def _short(number: float) -> str:
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:g}"


def _finite(value: Any) -> Any:
    """Numbers that JSON does not have become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
