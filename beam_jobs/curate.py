"""The main job on Apache Beam: `python -m obelics_pipeline.beam_jobs.curate`, with Beam's own options."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.redacted import hide_in_tracebacks, redacted
from obelics_pipeline.core.storage import Location
from obelics_pipeline.jobs.main_job import UNIT_SECONDS, OpenEngine, run
from obelics_pipeline.jobs.stages import PRELOAD


def main(argv: Sequence[str] | None = None) -> int:
    """Run or draw the job; returns the exit code: 0 done, 1 failed units, 2 wrong command or config, 3 stopped."""
    hide_in_tracebacks()
    known, beam_options = _parser().parse_known_args(argv)
    try:
        if known.graph:
            from obelics_pipeline.beam_jobs.drawing import draw

            draw(known.config, known.input, known.output, known.set, beam_options, known.graph)
            return 0
        return curate(
            known.config, known.input, known.output, beam_options,
            known.set, known.stage, known.retry_failed, known.force, known.against, known.sample, known.yes,
        )  # fmt: skip
    except (UserError, Stopped) as error:
        print(redacted(f"curate: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("curate: stopped; run the same command again to continue", file=sys.stderr)
        return Stopped.exit_code


def curate(
    config: str,
    inputs: Sequence[str],
    output: str,
    beam_options: Sequence[str],
    overrides: Sequence[str] = (),
    stages: Sequence[str] = (),
    retry: Sequence[str] = (),
    force: bool = False,
    against: Sequence[str] = (),
    sample: float | None = None,
    yes: bool = False,
) -> int:
    """The main job with Beam as its engine and Beam's own options; `local_options(workers)` are those of one machine.

    See `obelics_pipeline.jobs.main_job.run`. Raises UserError, Stopped.
    """
    open_engine = open_beam(beam_options)
    workers = os.cpu_count() or 1  # noted in the events; how many there are is Beam's to say
    return run(config, inputs, output, workers, overrides, stages, retry, force, against, open_engine, sample, yes)


def open_beam(beam_options: Sequence[str]) -> OpenEngine:
    """What opens the engine of Beam with Beam's own options. Raises UserError where Beam is not installed."""
    try:
        from obelics_pipeline.beam_jobs.engine import BeamEngine
    except ImportError as error:
        raise UserError(f"the engine beam needs the extra: pip install 'obelics-pipeline[beam]' ({error})") from None

    def open_engine(folder: Location, _config: RunConfig) -> BeamEngine:
        return BeamEngine(beam_options, folder, UNIT_SECONDS, PRELOAD)

    return open_engine


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m obelics_pipeline.beam_jobs.curate",
        description="WARC files in, shards out, on Apache Beam. All options not named here are Beam's own, such as "
        "--runner, --direct_num_workers, --project; see docs/beam.md.",
        allow_abbrev=False,  # --temp or --stag may be Beam's
    )
    parser.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a bundled one")
    parser.add_argument(
        "--input", nargs="+", action="extend", required=True, metavar="INPUT", help="as of `obelics run`"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder of the run")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the config"
    )
    parser.add_argument("--stage", nargs="+", action="extend", default=[], metavar="NAME", help="as of `obelics run`")
    parser.add_argument(
        "--retry-failed", nargs="+", action="extend", default=[], metavar="REASON", help="as of `obelics run`"
    )
    parser.add_argument("--against", nargs="+", action="extend", default=[], metavar="DIR", help="as of `obelics run`")
    parser.add_argument("--sample", type=float, metavar="SHARE", help="as of `obelics run`")
    parser.add_argument("--force", action="store_true", help="as of `obelics run`")
    parser.add_argument("--yes", action="store_true", help="as of `obelics run`")
    parser.add_argument(
        "--graph", type=Path, metavar="FILE", help="write the job graphs for these options; run nothing"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
