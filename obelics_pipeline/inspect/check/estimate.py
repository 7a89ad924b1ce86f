"""From a measured sample to the whole input, stage by stage. Pure arithmetic: nothing is read or asked here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from obelics_pipeline.core.commit import FEW
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval, total
from obelics_pipeline.inspect.check.driver_costs import Driver, DriverCosts
from obelics_pipeline.inspect.check.sample import AFTER, START, VALIDATE, Part, Sample
from obelics_pipeline.inspect.check.sampled_engine import DRIVER, REDUCE, SHUFFLE, UNIT, Step
from obelics_pipeline.jobs.stages import STAGES
from obelics_pipeline.stages.assumptions import Assumptions
from obelics_pipeline.stages.cost import Ahead, Amounts, Cost
from obelics_pipeline.stages.stage import Stage

BUCKET = "bucket"  # the column of a shuffle with a group for each of dedup.buckets
PUBLISH = "publish"  # what the driver does after the last stage, by its name in the fitted costs
NOTHING = Interval.exactly(0.0)

Whole = Mapping[str, int]  # kind of input -> its weight: bytes of WARCs, rows of pointers


@dataclass(frozen=True)
class Plan:
    """What is to be run, and where."""

    units: int  # of extract
    weight: Whole
    workers: int
    engine: Literal["local", "ray", "beam"]
    store: bool  # the output is in an object store
    remote_input: bool


@dataclass(frozen=True)
class StageEstimate:
    """One row of the table. Hours; bytes; requests to the store and to sites; dollars."""

    stage: str
    tasks: Interval
    cpu_hours: Interval
    wall_hours: Interval
    serial_hours: Interval  # of the wall hours: what no further worker makes shorter
    read: Interval
    written: Interval
    puts: Interval
    gets: Interval
    site_requests: Interval
    dollars: Interval

    def to_json(self) -> dict[str, Any]:
        """Every number with its spread."""
        return {k: v.to_json() if isinstance(v, Interval) else v for k, v in vars(self).items()}


@dataclass(frozen=True)
class Estimate:
    """The whole input."""

    counts: Mapping[str, Interval]
    stages: Sequence[StageEstimate]
    memory: int  # bytes of the largest process of the sample
    longest_unit_seconds: float
    everything: bool  # the sample was the whole input
    driver: Driver | None = None  # by fitted costs, where there are some

    @property
    def bytes_kept(self) -> Interval:
        """The bytes that the run's folder holds until packs are removed, if they are: its disk must have them."""
        return total(stage.written for stage in self.stages)


class _Amounts(defaultdict[str, float]):
    """Numbers by name, 0 for a name without one yet."""

    def __init__(self) -> None:
        super().__init__(float)

    def add(self, more: Mapping[str, float]) -> None:
        for name, amount in more.items():
            self[name] += amount


@dataclass
class _Sums:
    """A stage's measured numbers: by the sampled unit that they belong to, and those that belong to all together."""

    by_part: dict[str, _Amounts] = field(default_factory=lambda: defaultdict(_Amounts))
    shared: _Amounts = field(default_factory=_Amounts)
    fixed: _Amounts = field(default_factory=_Amounts)  # grows with nothing


class Scale:
    """How numbers of a sample become those of the whole input: by the weight of what was read.

    A number of one unit is divided by the unit's weight; the lowest and the highest of these are the spread. What
    belongs to all units together is dealt out to them by their kept documents.
    """

    def __init__(self, parts: Sequence[Part], whole: Whole) -> None:
        self._parts, self._whole, self.units = parts, whole, len(parts)
        documents = sum(part.counts["documents"] for part in parts)
        self._share = {p.label: p.counts["documents"] / documents if documents else 1 / len(parts) for p in parts}

    @property
    def everything(self) -> bool:
        """Whether the sample is the whole input."""
        read = Counter[str]()
        for part in self._parts:
            read[part.kind] += part.weight
        return all(read[kind] == weight for kind, weight in self._whole.items())

    def up(self, by_part: Mapping[str, float], shared: float = 0.0) -> Interval:
        """The number for the whole input."""
        values = {p.label: by_part.get(p.label, 0.0) + shared * self._share[p.label] for p in self._parts}
        if self.everything:
            return Interval.exactly(sum(by_part.values()) + shared)
        found = NOTHING
        for kind, weight in self._whole.items():
            of_kind = [part for part in self._parts if part.kind == kind]
            if of_kind:
                rates = [values[part.label] / part.weight for part in of_kind]
                mean = sum(values[part.label] for part in of_kind) / sum(part.weight for part in of_kind)
                found += Interval(min(rates), mean, max(rates)) * weight
        return found


def estimate(
    sample: Sample,
    plan: Plan,
    config: RunConfig,
    assumed: Assumptions,
    known: Sequence[Stage] = STAGES,
    costs_of_driver: DriverCosts | None = None,
) -> Estimate:
    """The whole input, from a sample with at least one part. `known` are the stages of the run.

    What the driver does in a stage that `costs_of_driver` knows is reckoned by these, and not scaled up from a few
    units, unless the sample is the whole input.
    """
    scale = Scale(sample.parts, plan.weight)
    counts = _counts(sample, scale, config, assumed)
    wait = assumed.request_seconds if plan.store else 0.0
    ahead = Ahead(counts, config, assumed, plan.units, plan.weight.get("warc", 0), plan.remote_input, wait)
    costs = {stage.name: stage.cost for stage in known} | {VALIDATE: Cost(beyond=_read_back)}
    stages, of_driver = [], dict[str, Interval]()
    if costs_of_driver is not None and not scale.everything:
        of_driver = _of_driver(costs_of_driver, known, plan.units, counts["documents"])
    for name in dict.fromkeys(step.stage for step in sample.steps if step.stage != START):
        steps = [step for step in sample.steps if step.stage == name]
        stages.append(_stage(name, steps, costs.get(name, Cost()), sample, scale, plan, ahead, of_driver.get(name)))
    worked = [step.cost for step in sample.steps if step.kind == UNIT]
    return Estimate(
        counts,
        stages,
        memory=max((cost.memory for cost in worked), default=0),
        longest_unit_seconds=max((cost.wall for cost in worked), default=0.0),
        everything=scale.everything,
        driver=_driver(costs_of_driver, [row.stage for row in stages], of_driver),
    )


def _of_driver(costs: DriverCosts, known: Sequence[Stage], units: int, documents: Interval) -> dict[str, Interval]:
    """CPU seconds of the driver by stage. The last one publishes, too."""
    found = {}
    for name in [*(stage.name for stage in known), VALIDATE]:
        named = (name, PUBLISH) if name == known[-1].name else (name,)
        ends = [
            [costs.seconds_of(of, units, n) for of in named] for n in (documents.low, documents.point, documents.high)
        ]
        if all(seconds is not None for end in ends for seconds in end):
            low, point, high = (sum(seconds for seconds in end if seconds is not None) for end in ends)
            found[name] = Interval(low, point, high)
    return found


def _driver(costs: DriverCosts | None, stages: Sequence[str], seconds: Mapping[str, Interval]) -> Driver | None:
    if costs is None or not seconds:
        return None
    return Driver(total(of for name, of in seconds.items() if name in stages), costs.source)


def _counts(sample: Sample, scale: Scale, config: RunConfig, assumed: Assumptions) -> dict[str, Interval]:
    """The counts of the run, estimated from the sample. They are upper bounds: duplicates in distant units are not
    found.
    """
    counts = {
        name: scale.up({part.label: part.counts[name] for part in sample.parts})
        for name in ("records", "pages", "documents_read", "documents")
    }
    whole = sample.whole
    named = ("in_shards", "images_in_shards", "text_bytes", "candidates_rows", "uses_rows")
    for name in (*named, *(name for name in whole if name.startswith(AFTER))):
        counts[name] = scale.up({}, whole[name])
    counts["urls"] = scale.up({}, len(sample.urls))
    counts["hosts"] = scale.up({}, len(sample.hosts))
    obtained = assumed.image_success if config.fetch.enabled else 0.0
    counts["images"] = counts["urls"] * obtained
    counts["pack_bytes"] = counts["images"] * assumed.image_bytes
    images = counts["images_in_shards"] * (obtained * assumed.image_bytes)
    counts["shard_bytes"] = scale.up({}, whole["shard_bytes"]) + images
    return counts


def _stage(
    name: str,
    steps: Sequence[Step],
    cost: Cost,
    sample: Sample,
    scale: Scale,
    plan: Plan,
    ahead: Ahead,
    driver: Interval | None,
) -> StageEstimate:
    assumed, wait = ahead.assumed, ahead.wait
    sums = _sums(steps, cost, sample, plan, ahead.config)
    scaled = {key: _scaled(key, sums, scale, plan.units) for key in KEYS}
    scaled["driver"] = driver or scaled["driver"]
    _add(scaled, {"wall": (scaled["puts"] + scaled["gets"]) * wait})
    _add(scaled, cost.beyond(ahead))
    serial = scaled["serial"] + scaled["driver"] + (scaled["driver_puts"] + scaled["driver_gets"]) * wait
    longest = max((step.cost.wall for step in steps if step.kind == UNIT), default=0.0)
    parallel = (scaled["wall"] * (1 / plan.workers)).at_least(longest)
    wall = (parallel + serial) * (1 / 3600)
    puts, gets = scaled["puts"] + scaled["driver_puts"], scaled["gets"] + scaled["driver_gets"]
    dollars = wall * (plan.workers * assumed.vcpu_hour)
    if plan.store:
        dollars += puts * (assumed.put_1000 / 1000) + gets * (assumed.get_1000 / 1000)
        dollars += (scaled["written"] - scaled["removed"]) * (assumed.gb_month * assumed.months / 1e9)
    return StageEstimate(
        stage=name,
        tasks=_whole(scaled["tasks"]),
        cpu_hours=(scaled["cpu"] + scaled["driver"]) * (1 / 3600),
        wall_hours=wall,
        serial_hours=serial * (1 / 3600),
        read=scaled["read"],
        written=scaled["written"],
        puts=_whole(puts),
        gets=_whole(gets),
        site_requests=_whole(scaled["sites"]),
        dollars=dollars,
    )


KEYS = (
    *("tasks", "cpu", "wall", "serial", "read", "written", "puts", "gets"),
    *("driver", "driver_puts", "driver_gets", "sites", "removed"),
)
OF_UNITS = {"tasks", "puts", "gets", "driver", "driver_puts", "driver_gets"}


def _sums(steps: Sequence[Step], of_stage: Cost, sample: Sample, plan: Plan, config: RunConfig) -> _Sums:
    """Add up the steps of a stage by what they grow with.

    Work on one extracted unit grows with the input. So does what a bucket computes, but the number of buckets, and of
    the requests for each, is the config's. A shuffle reads a file per unit; there is a group per bucket, or per unit.
    """
    sums, labels = _Sums(), {part.label for part in sample.parts}
    for step in steps:
        cost, traffic = step.cost, step.cost.traffic
        spent = {"cpu": cost.cpu, "read": traffic.read, "written": traffic.written}
        if step.kind == DRIVER:
            # of many units the driver learns by a listing which are done, of a few by asking for each
            gets = traffic.gets - (traffic.missed if plan.units > FEW else 0)
            asked = {"driver_puts": traffic.puts, "driver_gets": gets}
            sums.shared.add({"driver": cost.cpu, "read": traffic.read, "written": traffic.written} | asked)
        elif step.kind == SHUFFLE:
            alone = plan.engine == "local"  # in the driver, one after the other; else the engine spreads it
            asked = {"puts": traffic.puts, "gets": traffic.gets}
            sums.shared.add(spent | asked | {"serial" if alone else "wall": cost.wall})
        elif step.kind == REDUCE:
            sums.shared.add(spent | {"wall": cost.wall})
            times = config.dedup.buckets if step.name == BUCKET else 1
            asked = {"tasks": times, "puts": traffic.puts * times, "gets": traffic.gets * times}
            (sums.fixed if step.name == BUCKET else sums.shared).add(asked)
        elif step.label in labels:
            asked = {"tasks": 1, "puts": traffic.puts, "gets": traffic.gets}
            sums.by_part[step.label].add(spent | asked | {"wall": cost.wall})
        else:
            asked = {"puts": 0 if step.name in of_stage.puts_beyond else traffic.puts, "gets": traffic.gets}
            sums.shared.add(spent | asked | {"wall": cost.wall})
    return sums


def _scaled(key: str, sums: _Sums, scale: Scale, units: int) -> Interval:
    if key in OF_UNITS:  # how many units there are is known, and each asks for the same, however large it is
        of_units = sum(part[key] for part in sums.by_part.values()) + sums.shared[key]
        return Interval.exactly(of_units * units / scale.units + sums.fixed[key])
    found = scale.up({label: part[key] for label, part in sums.by_part.items()}, sums.shared[key])
    return found + Interval.exactly(sums.fixed[key])


def _read_back(ahead: Ahead) -> Amounts:
    """The images in the shards are read with them."""
    images = ahead.counts["images_in_shards"] * (ahead.assumed.image_success if ahead.config.fetch.enabled else 0.0)
    return {"read": images * ahead.assumed.image_bytes}


def _add(scaled: dict[str, Interval], more: Mapping[str, Interval]) -> None:
    for key, value in more.items():
        scaled[key] += value


def _whole(value: Interval) -> Interval:
    return Interval(float(round(value.low)), float(round(value.point)), float(round(value.high)))


def totals(stages: Iterable[StageEstimate]) -> StageEstimate:
    """The last row of the table."""
    rows = list(stages)
    names = [name for name in vars(rows[0]) if name != "stage"]
    return StageEstimate("all", *(total(getattr(row, name) for row in rows) for name in names))
