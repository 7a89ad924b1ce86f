"""Two training runs drawn over each other: curves, and where they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from obelics_pipeline.core.html.visible import quoted
from obelics_pipeline.inspect.explain.written import write_all
from obelics_pipeline.training.diagnosis.chronicle import heat_rows, points_of
from obelics_pipeline.training.diagnosis.plot import Curve, Panel, curves_svg, grid_svg
from obelics_pipeline.training.diagnosis.training_run import Line, TrainingRun, loss_of

FILE = "compare.md"
SHOWN = ("loss", "grad_norm", "log_z", "lr")
MODULES = 4  # whose activations are drawn: those in which the runs differ most


def compare(folder: Path, other: Path, output: Path) -> Path:
    """Write the comparison into a folder; returns the file. Raises UserError for a folder that is no run."""
    runs = {"the first": TrainingRun(folder), "the other": TrainingRun(other)}
    lines = {name: run.stitched() for name, run in runs.items()}
    panels = [
        Panel(name, [Curve(of, points_of(of_it, name), i) for i, (of, of_it) in enumerate(lines.items())])
        for name in SHOWN
    ]
    files = {"compare.svg": curves_svg([*panels, *_modules(lines)])}
    for i, of_it in enumerate(lines.values()):
        rows = heat_rows(of_it)
        if rows:
            files[f"activations-{i + 1}.svg"] = grid_svg(f"activations of {list(lines)[i]}", rows)
    files[FILE] = _text(runs, lines, files)
    write_all(output, files)
    return output / FILE


def _modules(lines: Mapping[str, Sequence[Line]]) -> list[Panel]:
    """The activations of those modules whose last values differ most."""
    values = [
        {
            name: [
                (x["step"], float(x["activations"][name]["rms"])) for x in of_it if name in (x.get("activations") or {})
            ]
            for name in dict.fromkeys(name for x in of_it for name in (x.get("activations") or {}))
        }
        for of_it in lines.values()
    ]
    both = [name for name in values[0] if name in values[1]]
    apart = {n: abs(float(np.log((values[0][n][-1][1] + 1e-9) / (values[1][n][-1][1] + 1e-9)))) for n in both}
    chosen = sorted(both, key=lambda n: (-apart[n], n))[:MODULES]
    return [
        Panel(f"activations {n}", [Curve(of, v[n], i) for i, (of, v) in enumerate(zip(lines, values, strict=True))])
        for n in chosen
    ]


def _text(runs: dict[str, TrainingRun], lines: Mapping[str, Sequence[Line]], files: dict[str, str]) -> str:
    told = ["# Two runs", ""]
    for name, run in runs.items():
        last = lines[name][-1]
        told.append(
            f"* {name}: {quoted(str(run.path))}, {len(lines[name]):,} steps, "
            f"loss {loss_of(last):.6g} at step {last['step']:,}"
        )
    first, second = ({x["step"]: x["loss"] for x in of_it} for of_it in lines.values())
    same = sorted(step for step in first if step in second)
    parted = next((step for step in same if first[step] != second[step]), None)
    if same:
        said = f"at step {parted:,}" if parted is not None else "nowhere: their losses are equal to the last bit"
        told.append(f"* of {len(same):,} steps that both have, their losses part {said}")
    told += ["", *(f"![{name.removesuffix('.svg')}]({name})\n" for name in sorted(files) if name.endswith(".svg"))]
    return "\n".join(told) + "\n"
