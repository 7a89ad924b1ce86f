"""`obelics check`: look at everything that a run needs, measure a sample, and say what the whole would cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.console import Console

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import Location, is_local
from obelics_pipeline.inspect.check.driver_costs import MEASURED, read_driver_costs
from obelics_pipeline.inspect.check.estimate import Estimate, Plan, estimate
from obelics_pipeline.inspect.check.fetched import measure_images
from obelics_pipeline.inspect.check.finding import Finding, exit_code
from obelics_pipeline.inspect.check.image_safety import image_safety_findings
from obelics_pipeline.inspect.check.limits import limit_findings
from obelics_pipeline.inspect.check.locations import find_inputs, output_findings
from obelics_pipeline.inspect.check.machine import cpus, disk_finding, machine_findings
from obelics_pipeline.inspect.check.model_price import ModelPrice, model_prices
from obelics_pipeline.inspect.check.models import model_findings
from obelics_pipeline.inspect.check.names import name_finding
from obelics_pipeline.inspect.check.sample import Sample, take_sample
from obelics_pipeline.inspect.check.settings import engine_finding, setting_findings, stage_findings
from obelics_pipeline.inspect.check.show import as_json, notes, show_estimate, show_finding, show_models
from obelics_pipeline.jobs.stages import stages_of
from obelics_pipeline.stages.assumptions import Assumptions, assumptions_of
from obelics_pipeline.stages.read.inputs import Inputs
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.remote import is_remote

EngineName = Literal["local", "ray", "beam"]


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on the cost of a check itself."""

    units: int = 5  # sampled
    seconds: float = 120.0  # after which no further unit is begun
    images: int = 0  # fetched


@dataclass
class Check:
    """The findings so far. Each is shown once, as soon as it is made."""

    console: Console
    findings: list[Finding] = field(default_factory=list)

    def add(self, *findings: Finding) -> None:
        """Note and show."""
        for finding in findings:
            if (finding.state, finding.text) not in [(other.state, other.text) for other in self.findings]:
                self.findings.append(finding)
                show_finding(self.console, finding)


def check(
    config: str,
    inputs: Sequence[str],
    output: str,
    engine: EngineName,
    workers: int | None,
    overrides: Sequence[str] = (),
    prices: Sequence[str] = (),
    bounds: Bounds | None = None,
    json_file: Path | None = None,
    driver_costs: Path | None = None,
    console: Console | None = None,
) -> int:
    """Check and estimate one run; returns 0 where it can start, 2 where something is missing.

    `driver_costs` is a file of what a driver costs; None: the one that ships. Raises UserError for a file of something
    else, and for a wrong price.
    """
    console, bounds = console or Console(), bounds or Bounds()
    assumed, found = assumptions_of(prices), Check(console)
    of_driver = read_driver_costs(driver_costs or MEASURED)
    n = workers or cpus()
    checked = _config(config, overrides, found)
    found.add(engine_finding(engine))
    found.add(*(model_findings(checked, engine) if checked is not None else ()))
    found.add(*machine_findings(checked or RunConfig(), n if engine == "local" else 1))
    name = Path(config).name.removesuffix(".yaml")
    where, about = output_findings(output, name, checked or RunConfig())
    found.add(*about)
    found.add(*(image_safety_findings(checked, where) if checked is not None else ()))
    found.add(*(stage_findings(checked) if checked is not None else ()))
    if engine != "local" and where is not None and is_local(where):
        found.add(Finding("output", "warning", f"{where} must be the same folder on every machine of the cluster"))
    sources, about = find_inputs(inputs, (checked or RunConfig()).reading)
    found.add(*about)
    sample, whole, priced = None, None, list[ModelPrice]()
    if checked is not None and sources is not None and not _blocks(found.findings, checked):
        sample = _sample(sources, checked, bounds, found)
    if sample is not None and sample.parts and checked is not None and sources is not None:
        assumed = _names_and_images(sample, checked, bounds, assumed, found)
        plan = _plan(sources, checked, n, engine, where)
        whole = estimate(sample, plan, checked, assumed, stages_of(checked), of_driver)
        found.add(*([whole.driver.finding()] if whole.driver is not None else []))
        found.add(*([disk_finding(where, whole.bytes_kept)] if where is not None else []))
        found.add(*limit_findings(sample, whole, checked, assumed))
        priced = model_prices(checked.models, whole.counts, assumed)
        _show(console, sample, whole, plan, checked, assumed, priced)
    code = exit_code(found.findings)
    _verdict(console, code, found.findings, whole)
    if json_file is not None:
        value = as_json(found.findings, whole, assumed, sample, priced)
        json_file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return code


def _config(path: str, overrides: Sequence[str], found: Check) -> RunConfig | None:
    try:
        config = load_config(path, overrides)
    except UserError as error:
        found.add(Finding("config", "missing", str(error)))
        return None
    found.add(Finding("config", "ok", path), *setting_findings(config))
    return config


def _blocks(findings: Sequence[Finding], config: RunConfig) -> bool:
    """Whether no sample can be taken: an output, or packages for images, are not needed for that."""
    missing = {finding.about for finding in findings if finding.state == "missing"}
    if missing & {"filters", "language model", "input", "stages"}:
        return True
    return any(stage.name in missing and stage.cost.sampled for stage in stages_of(config))


def _sample(sources: Inputs, config: RunConfig, bounds: Bounds, found: Check) -> Sample | None:
    tasks = plan_ranges(sources, config.reading)
    if not tasks:
        found.add(Finding("input", "missing", "no table of pointers has a row, so there is nothing to read"))
        return None
    try:
        sample = take_sample(tasks, config, bounds.units, bounds.seconds)
    except (UserError, Stopped, OSError) as error:
        found.add(Finding("sample", "missing", " ".join(str(error).split())))
        return None
    state: Literal["warning", "missing"] = "warning" if sample.parts else "missing"
    found.add(*(Finding("sample", state, problem) for problem in sample.problems))
    if sample.parts:
        pages, documents = sample.whole["pages"], sample.whole["documents"]
        told = f"{len(sample.parts)} of {len(tasks):,} units, {pages:,} pages, {documents:,} documents kept"
        found.add(Finding("sample", "ok", told))
    return sample


def _names_and_images(
    sample: Sample, config: RunConfig, bounds: Bounds, assumed: Assumptions, found: Check
) -> Assumptions:
    if not config.fetch.enabled:
        return assumed
    found.add(name_finding(sample.urls, config.fetch))
    if bounds.images:
        try:
            assumed, told = measure_images(sample.urls, bounds.images, config, assumed)
            found.add(Finding("images", "ok", told))
        except UserError as error:
            found.add(Finding("images", "missing", str(error)))
    return assumed


def _plan(sources: Inputs, config: RunConfig, workers: int, engine: EngineName, where: Location | None) -> Plan:
    tasks = plan_ranges(sources, config.reading)
    weight: dict[str, int] = {}
    for task in tasks:
        weight[task.kind] = weight.get(task.kind, 0) + task.end - task.start
    return Plan(
        units=len(tasks),
        weight=weight,
        workers=min(workers, cpus()) if engine == "local" else workers,
        engine=engine,
        store=where is not None and not is_local(where),
        remote_input=any(
            is_remote(path) for path in [file.path for file in sources.warcs] + [file.path for file in sources.rows]
        ),
    )


def _show(
    console: Console,
    sample: Sample,
    whole: Estimate,
    plan: Plan,
    config: RunConfig,
    assumed: Assumptions,
    priced: Sequence[ModelPrice],
) -> None:
    console.print()
    show_estimate(console, whole, plan.workers, plan.store)
    console.print()
    show_models(console, priced)
    used = ["vcpu_hour"]
    used += ["gb_month", "months", "put_1000", "get_1000", "request_seconds"] if plan.store else []
    used += ["image_success", "image_bytes", "image_seconds", "image_cpu_seconds"] if config.fetch.enabled else []
    used += ["gpu_flops", "gpu_share", "gpu_hour", "bytes_per_token"] if priced else []
    for line in notes(sample, whole, assumed, used, plan.store):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    out = whole.counts["shard_bytes"] * (assumed.egress_gb / 1e9)
    console.print(f"not in the table: downloading the shards from a cloud once costs {out} dollars", highlight=False)
    console.print()


def _verdict(console: Console, code: int, findings: Sequence[Finding], whole: Estimate | None) -> None:
    missing = sum(finding.state == "missing" for finding in findings)
    told = "a run can start" if code == 0 else f"a run cannot start: {missing} missing, see above"
    estimated = "" if whole is not None else "; nothing was estimated"
    console.print(told + estimated, highlight=False)
