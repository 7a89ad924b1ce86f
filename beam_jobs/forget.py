"""`obelics forget` on Apache Beam: `python -m obelics_pipeline.beam_jobs.forget`, with Beam's own options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from obelics_pipeline.beam_jobs.curate import open_beam
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.redacted import hide_in_tracebacks, redacted
from obelics_pipeline.forget.command import ABOUT, add_arguments, forget_by


def main(argv: Sequence[str] | None = None) -> int:
    """Forget; returns the exit code: 0 done, 1 a shard does not read back, 2 wrong command or list, 3 stopped."""
    hide_in_tracebacks()
    parser = argparse.ArgumentParser(
        prog="python -m obelics_pipeline.beam_jobs.forget",
        description=f"{ABOUT} All options not named here are Beam's own, such as --runner; see docs/beam.md.",
        allow_abbrev=False,  # --temp may be Beam's
    )
    add_arguments(parser)
    known, beam_options = parser.parse_known_args(argv)
    try:
        return forget_by(open_beam(beam_options), known)
    except (UserError, Stopped) as error:
        print(redacted(f"forget: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("forget: stopped; run the same command again to continue", file=sys.stderr)
        return Stopped.exit_code


if __name__ == "__main__":
    sys.exit(main())
