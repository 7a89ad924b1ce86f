"""Runs that are made in this process, stopped after extraction: small, and of pages that a test wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.folder import FORMAT
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges


def extracted(output: Path, warcs: Sequence[Path], sets: Sequence[str] = (), everything: bool = False) -> Path:
    """The folder of a run that was stopped when all was extracted."""
    output.mkdir(parents=True)
    config = load_config("default", sets)
    sources = resolve_inputs([str(path) for path in warcs], config.reading)
    for unit in extract_units(plan_ranges(sources, config.reading), config, everything):
        extract_unit(unit, folder=output / "extract", config=config)
    (output / "config.yaml").write_text(dump_config(config), encoding="utf-8")
    noted = {"config": "default", "format": FORMAT} | ({"sample": 0.25} if everything else {})
    (output / "run.json").write_text(json.dumps(noted))
    (output / "inputs.json").write_text(json.dumps({source.name: source.version for source in sources.warcs}))
    return output
