"""The command line: `obelics COMMAND`. Each command imports what it needs when it is called: help is instant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from obelics_pipeline import __version__
from obelics_pipeline.commands import curation, fitting, looking, steering, training
from obelics_pipeline.commands.parser import Parser
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.forget.command import add_forget

COMMANDS = (  # in the order of the help
    curation.add_run,
    curation.add_check,
    looking.add_tune,
    curation.add_demo,
    curation.add_validate,
    curation.add_export,
    add_forget,
    looking.add_card,
    looking.add_explain,
    steering.add_explain_spike,
    steering.add_losses,
    steering.add_chronicle,
    looking.add_report,
    curation.add_score,
    looking.add_map,
    training.add_train,
    training.add_ablate,
    training.add_probe,
    training.add_evaluate,
    steering.add_expect,
    steering.add_tensorboard,
    training.add_plan,
    fitting.add_fit,
    fitting.add_download,
    steering.add_intervene,
    steering.add_inspect,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed units, 2 wrong command or config, 3 stopped."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.command(arguments)
        return code
    except (UserError, Stopped) as error:
        print(f"obelics: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("obelics: stopped; run the same command again to go on", file=sys.stderr)
        return Stopped.exit_code
    except BrokenPipeError:  # the reader of our output is gone: nothing to say to anybody
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="obelics", description="From WARC records to shards of interleaved image-text documents.")
    parser.add_argument("--version", action="version", version=f"obelics-pipeline {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for add in COMMANDS:
        add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
