"""The command line: `obelics COMMAND`. Each command imports what it needs when it is called: help is instant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial

from obelics_pipeline import __version__
from obelics_pipeline.cli import curate, look, models, publish, train, watch
from obelics_pipeline.cli.completion import SHELLS, PrintCompletion
from obelics_pipeline.cli.parser import GroupedHelp, Parser
from obelics_pipeline.core.errors import Stopped, UserError, answer_to
from obelics_pipeline.core.redacted import hide_in_tracebacks, redacted

GROUPS = {  # in the order of the help
    "curate: make a corpus from WARC files": (
        curate.add_demo,
        curate.add_check,
        curate.add_run,
        look.add_status,
        curate.add_validate,
        curate.add_revisions,
        curate.add_score,
        curate.add_forget,
    ),
    "look: see what a run kept and dropped, and choose thresholds": (
        look.add_report,
        look.add_explain,
        look.add_tune,
        look.add_map,
    ),
    "publish: give a finished corpus to others": (
        publish.add_consent,
        publish.add_publish,
        publish.add_export,
        publish.add_card,
    ),
    "models: get the models that filters use": (models.add_fit, models.add_download),
    "train: train on a corpus, and watch the training": (
        train.add_plan,
        train.add_probe,
        train.add_train,
        train.add_evaluate,
        train.add_ablate,
        watch.add_inspect,
        watch.add_intervene,
        watch.add_expect,
        watch.add_explain_spike,
        watch.add_losses,
        watch.add_chronicle,
        watch.add_tensorboard,
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed units, 2 wrong command or config, 3 stopped."""
    hide_in_tracebacks()
    try:
        arguments = make_parser().parse_args(argv)
        code: int = arguments.command(arguments)
        return code
    except (UserError, Stopped) as error:
        return _print_error(error)
    except KeyboardInterrupt:
        print("obelics: stopped; run the same command again to continue", file=sys.stderr)
        return Stopped.exit_code
    except BrokenPipeError:  # the reader of our output is gone: nothing to say to anybody
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        answer = answer_to(error)
        if answer is None:
            raise
        return _print_error(answer)


def _print_error(error: UserError | Stopped) -> int:
    """Print an error as one line, in which what others wrote does nothing to a terminal; its exit code."""
    from obelics_pipeline.core.html.visible import visible

    print(f"obelics: {visible(redacted(str(error)))}".replace("\n", " "), file=sys.stderr)
    return error.exit_code


def make_parser() -> Parser:
    """The parser of the whole command line; its help shows the commands in groups."""
    headings: dict[str, str] = {}
    parser = Parser(
        prog="obelics",
        description="Turn Common Crawl WARC files into shards of interleaved image-text documents, and train on them.",
        epilog="Each command explains itself: obelics COMMAND --help",
        formatter_class=partial(GroupedHelp, headings=headings),
    )
    parser.add_argument("--version", action="version", version=f"obelics-pipeline {__version__}")
    parser.add_argument(
        "--print-completion",
        action=PrintCompletion,
        choices=SHELLS,
        default=argparse.SUPPRESS,  # what a command is given holds its own arguments alone
        metavar="SHELL",
        help="print the completion script of bash, zsh or fish",
    )
    commands = parser.add_subparsers(required=True, title="commands", metavar="COMMAND", parser_class=Parser)
    for heading, adders in GROUPS.items():
        first = len(commands.choices)
        for add in adders:
            add(commands)
        headings[list(commands.choices)[first]] = heading
    return parser


if __name__ == "__main__":
    sys.exit(main())
