"""`obelics chronicle`: the story of a training run, told from its metrics and its ledger, with curves beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.html.visible import on_a_line, quoted
from obelics_pipeline.inspect.explain.written import write_all
from obelics_pipeline.training.diagnosis.incidents import Incident, format_entry, incidents_of, near_hardware, step_of
from obelics_pipeline.training.diagnosis.plot import Curve, Mark, Panel, Point, curves_svg, grid_svg
from obelics_pipeline.training.diagnosis.robust import deviations
from obelics_pipeline.training.diagnosis.training_run import TrainingRun, loss_of

FILE = "chronicle.md"
AROUND = 60  # steps that are drawn before and after an incident
SHOWN = ("loss", "grad_norm", "log_z", "image_to_text")
ROLLING = 200  # steps of a rolling mean, as IDEFICS looked at its curves
BEFORE_HEAT = 0.5  # share of the sampled steps that tell what is usual for a module


def chronicle(folder: Path, output: Path) -> Path:
    """Write it into a folder; returns the file. Raises UserError for a folder that is no run, or cannot be written."""
    run = TrainingRun(folder)
    files = {FILE: "", **_curves(run)}
    incidents = incidents_of(run.ledger)
    for number, incident in enumerate(incidents, 1):
        files[_name(number)] = _incident_svg(run, incident)
    files[FILE] = "\n".join(_text(run, incidents, files)) + "\n"
    write_all(output, files)
    return output / FILE


def points_of(lines: Sequence[Mapping[str, Any]], name: str) -> list[Point]:
    """A number of the metrics by step; steps that lack it are left out."""
    return [(line["step"], float(line[name])) for line in lines if isinstance(line.get(name), int | float)]


def heat_rows(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Point]]]:
    """How far each module's activations are from what they were in the first half of these steps, by sampled step."""
    values: dict[str, list[Point]] = {}
    for line in lines:
        for name, of_it in (line.get("activations") or {}).items():
            if isinstance(of_it.get("rms"), int | float):
                values.setdefault(name, []).append((line["step"], float(of_it["rms"])))
    rows = []
    for name in sorted(values, key=_layer):
        numbers = np.array([value for _, value in values[name]])
        z = deviations(numbers, numbers[: max(1, int(BEFORE_HEAT * len(numbers)))], 0.02)
        rows.append((name, [(step, float(v)) for (step, _), v in zip(values[name], z, strict=True)]))
    return rows


def branch_curves(run: TrainingRun, name: str) -> list[Curve]:
    """The stitched curve, and every branch that was given up."""
    stitched = run.stitched()
    final = {(line["attempt"], line["step"]) for line in stitched}
    curves = []
    for attempt in sorted({a for a, _ in run.metrics}):
        lost = [line for (a, s), line in run.metrics.items() if a == attempt and (a, s) not in final]
        if lost:
            curves.append(Curve(f"attempt {attempt}, given up", points_of(lost, name), 1, faint=True))
    return [*curves, Curve("the run", points_of(stitched, name))]


def _curves(run: TrainingRun) -> dict[str, str]:
    stitched = run.stitched()
    marks = [Mark(step_of(e), e["kind"]) for e in run.ledger if e.get("kind") in ("rollback", "hardware", "lr")]
    panels = [Panel(name, branch_curves(run, name)) for name in SHOWN if any(name in line for line in stitched)]
    rolled = Curve(f"mean of the last {ROLLING}", rolling(points_of(stitched, "loss")), 2)
    panels = [Panel(p.title, [*p.curves, rolled]) if p.title == "loss" else p for p in panels]
    panels[2:2] = _last_activations(stitched)
    found = {"curves.svg": curves_svg(panels, marks)}
    for axis in ("tokens", "images"):
        at = np.cumsum([int(line.get(axis) or 0) for line in stitched]).tolist()
        points = [(x, loss_of(line)) for x, line in zip(at, stitched, strict=True)]
        found[f"loss-by-{axis}.svg"] = curves_svg([Panel(f"loss by {axis} seen", [Curve("", points)])])
    rows = heat_rows(stitched)
    if rows:
        found["activations.svg"] = grid_svg("activations: spreads from what is usual for a module", rows, marks)
    return found


def rolling(points: Sequence[Point], steps: int = ROLLING) -> list[Point]:
    """The mean of a number over the last steps; at the beginning of as many as there are."""
    sums = np.cumsum([0.0, *(value for _, value in points)])
    means = [float(sums[i + 1] - sums[max(0, i + 1 - steps)]) / min(i + 1, steps) for i in range(len(points))]
    return [(at, mean) for (at, _), mean in zip(points, means, strict=True)]


def _last_activations(lines: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """What the last layer puts out: it rises before loss and gradients do (OPT-175B)."""
    named = {name for line in lines for name in (line.get("activations") or {}) if name.endswith("fc2")}
    if not named:
        return []
    last = max(named, key=_layer)
    sampled = [line for line in lines if last in (line.get("activations") or {})]
    points = [(line["step"], float(line["activations"][last]["rms"])) for line in sampled]
    return [Panel(f"activations {last}", [Curve("", points)])]


def _incident_svg(run: TrainingRun, incident: Incident) -> str:
    first, last = incident.first - AROUND, incident.last + AROUND
    lines = run.steps(incident.attempt, first, last)
    after = [x for a in run.lineage.attempts if a > incident.attempt for x in run.steps(a, first, last)]
    panels = []
    for name in ("loss", "grad_norm", "log_z"):
        again = Curve("afterwards", points_of([x for x in after if x not in lines], name), 2, faint=True)
        mine = Curve(f"attempt {incident.attempt}", points_of(lines, name))
        panels.append(Panel(name, [*([again] if again.points else []), mine]))
    worst = _worst_module(lines)
    if worst is not None:
        panels.append(Panel(f"activations {worst[0]}", [Curve("", worst[1])]))
    return curves_svg(panels, [Mark(step_of(e), e["kind"], 1 if e["kind"] == "alarm" else 4) for e in incident.entries])


def _worst_module(lines: Sequence[Mapping[str, Any]]) -> tuple[str, list[Point]] | None:
    rows = heat_rows(lines)
    if not rows:
        return None
    name = max(rows, key=lambda row: max(abs(z) for _, z in row[1]))[0]
    sampled = [line for line in lines if name in (line.get("activations") or {})]
    return name, [(line["step"], float(line["activations"][name]["rms"])) for line in sampled]


def _text(run: TrainingRun, incidents: Sequence[Incident], files: Mapping[str, str]) -> Iterator[str]:
    yield f"# Chronicle of {quoted(str(run.path))}"
    yield ""
    yield from _header(run, incidents)
    yield "\n![loss, gradient norm, log z and the ratio of images to text](curves.svg)\n"
    yield "The line is the run as it is now; dashed is what was given up.\n"
    if "activations.svg" in files:
        yield "![activations by module and step](activations.svg)\n"
    yield "![loss by tokens](loss-by-tokens.svg)\n\n![loss by images](loss-by-images.svg)\n"
    yield "## Attempts\n"
    yield "| attempt | began by | after step | of attempt | last step | steps given up | rows seen before |"
    yield "|---|---|---|---|---|---|---|"
    yield from _attempts(run)
    yield ""
    for number, incident in enumerate(incidents, 1):
        yield from _incident(run, number, incident)
    if not incidents:
        yield "No incident: no alarm, no intervention, no event of the hardware."


def _header(run: TrainingRun, incidents: Sequence[Incident]) -> Iterator[str]:
    stitched = run.stitched()
    done, kept = len(run.metrics), len(stitched)
    last = stitched[-1]
    tokens, images = (sum(int(line.get(name) or 0) for line in stitched) for name in ("tokens", "images"))
    yield f"* steps: {kept:,}, the last with loss {loss_of(last):.4g}; {tokens:,} tokens, {images:,} images"
    lost = f"{100 * (done - kept) / done:.1f} % of the compute"
    late = [loss for line in stitched[-ROLLING:] if np.isfinite(loss := loss_of(line))]
    if late:
        yield f"* loss of the last {len(late):,} steps: mean {np.mean(late):.4g}, deviation {np.std(late):.3g}"
    yield f"* given up: {done - kept:,} of {done:,} steps trained, {lost}{_budget(run)}"
    rollbacks = sum(1 for i in incidents if i.rolled_back)
    yield f"* incidents: {len(incidents)}, {rollbacks} of them with a rollback"
    skipped = sum(1 for x in stitched if x.get("applied") is False)
    yield f"* updates that were skipped: {skipped:,}; clipped: {sum(1 for x in stitched if x.get('clipped')):,}"
    for name, of_it in (last.get("datasets") or {}).items():
        epoch = f", {of_it['epoch']:.3g} times over its documents" if of_it.get("epoch") is not None else ""
        yield f"* {quoted(name)}: loss {loss_of(of_it):.4g}{epoch}"
    found = near_hardware(incidents, run.ledger, run.last_step)
    if found is not None:
        near = f"{found[0]} of {found[1]} incidents are within 50 steps of an event of the hardware"
        yield f"* {near}; by chance as many: p = {found[2]:.2g}"
    plan = run.path / "plan.txt"
    if plan.is_file():
        yield f"* plan: {quoted(' '.join(plan.read_text(encoding='utf-8').split()))}"
    config = run.path / "config.yaml"
    if config.is_file():
        yield "\n<details><summary>config</summary>\n"
        yield from (f"    {line}" for line in on_lines(config.read_text(encoding="utf-8")))
        yield "\n</details>"


def on_lines(text: str) -> Iterator[str]:
    """Lines of a file, each safe to look at; four spaces before them make them code in Markdown."""
    for line in text.splitlines():
        yield line[: len(line) - len(line.lstrip(" "))] + on_a_line(line, 200)


def _budget(run: TrainingRun) -> str:
    """What the guard may give up, as the config has it."""
    try:
        text = (run.path / "config.yaml").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"^\s*(most_lost):\s*([0-9.]+)\s*$", text, re.MULTILINE)
    return f" (budget: {100 * float(found[2]):.3g} %)" if found else ""


def _attempts(run: TrainingRun) -> Iterator[str]:
    final = {(x["attempt"], x["step"]) for x in run.stitched()}
    before: set[int] = set()
    for number, attempt in run.lineage.attempts.items():
        mine = [line for (a, _), line in run.metrics.items() if a == number]
        rows = {r for x in mine for r in range(x.get("cursor") or 0, (x.get("cursor") or 0) + (x.get("rows") or 0))}
        lost = sum((number, x["step"]) not in final for x in mine)
        of = "" if attempt.parent is None else str(attempt.parent)
        last = f"{mine[-1]['step']:,}" if mine else "none"
        again = f"{len(rows & before):,} of {len(rows):,}"
        yield f"| {number} | {attempt.kind} | {attempt.from_step:,} | {of} | {last} | {lost:,} | {again} |"
        before |= rows


def _incident(run: TrainingRun, number: int, incident: Incident) -> Iterator[str]:
    kinds = ", ".join(dict.fromkeys(str(e["kind"]).replace("_", " ") for e in incident.entries))
    yield f"## {number}. Step {incident.first:,}: {kinds}\n"
    yield f"![what happened around it]({_name(number)})\n"
    for entry in incident.entries:
        said = "; ".join(f"{name} {value}" if name != "why" else value for name, value in format_entry(entry))
        yield f"* step {step_of(entry):,}, **{quoted(str(entry['kind']))}**" + (f": {quoted(said)}" if said else "")
    yield f"\n`obelics explain-spike {shlex.quote(str(run.path))} {incident.peak} --attempt {incident.attempt}`\n"


def _name(number: int) -> str:
    return f"incident-{number:03d}.svg"


def _layer(name: str) -> tuple[int, str]:
    layer, _, kind = name.partition(".")
    return (int(layer), kind) if layer.lstrip("-").isdigit() else (10**6, name)
