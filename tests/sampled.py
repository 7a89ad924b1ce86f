"""Runs of a share of the demo's web site, in which every score is measured."""

from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.cli.main import main

SHARE = "0.6"
UNITS = "reading.unit_bytes=60000"  # some units of the demo, so that a share of them is not all
ONCE = "fetch.retries=0"  # one server never answers


def run_sample(warcs: Sequence[Path], output: Path, config: str = "default", settings: Sequence[str] = ()) -> Path:
    """Run, with the environment's proxy as the web; the folder."""
    overrides = [part for setting in (UNITS, ONCE, *settings) for part in ("--set", setting)]
    inputs = [str(path) for path in warcs]
    assert main(["run", config, "--input", *inputs, "--output", str(output), "--sample", SHARE, *overrides]) == 0
    return output
