"""Commands that make a corpus: demo, check, run, validate, revisions, score."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from obelics_pipeline.cli.parser import Commands, add_overrides, positive, ray_of, say, workers_of
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.forget import command as forgetting

if TYPE_CHECKING:
    from obelics_pipeline.jobs.main_job import OpenEngine

ENGINES = ("local", "ray", "beam")


def add_run(commands: Commands) -> None:
    run = commands.add_parser(
        "run",
        help="turn WARC files into shards; run it again to continue",
        description="Read WARC files and write shards. Run the same command again to continue after a stop; it does "
        "nothing when everything is done. Exit codes: 0 done, 1 some units failed, 2 wrong command or config, 3 "
        "stopped.",
    )
    run.add_argument(
        "config",
        metavar="CONFIG",
        help="a YAML file, or a bundled config: default, obelics; for rows of "
        "published corpora: published, obelics-rows, mint1t, mmc4, omnicorpus, "
        "curator",
    )
    run.add_argument(
        "--input", nargs="+", required=True, metavar="INPUT",
        help="WARC files (path, glob, s3://, gs://, https://), a list of them (.txt, warc.paths, warc.paths.gz), or a "
        "pointer table (.parquet); with reading.layout, files of rows (.parquet, .jsonl, .jsonl.gz, .jsonl.zst, .tar)",
    )  # fmt: skip
    run.add_argument("--output", required=True, metavar="DIR", help="the run's folder: a path, s3://… or gs://…")
    run.add_argument("--engine", choices=ENGINES, default="local", help="where the work runs (default: local)")
    run.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; on a Ray cluster, as many as fit)",
    )  # fmt: skip
    run.add_argument(
        "--ray-address", metavar="ADDRESS",
        help="address of the Ray cluster, with --engine ray (default: RAY_ADDRESS, or a new Ray on this machine)",
    )  # fmt: skip
    add_overrides(run, "the config")
    run.add_argument("--stage", nargs="+", default=[], metavar="NAME", help="run only these stages (default: all)")
    run.add_argument(
        "--retry-failed", nargs="+", default=[], metavar="REASON",
        help="download images again that failed for these reasons; retryable: every reason that may pass by "
        "itself",
    )  # fmt: skip
    run.add_argument(
        "--sample", type=float, metavar="SHARE",
        help="read only this share of the units (0 to 1), but compute every score and fetch every image, dropped ones "
        "too, so that you can choose thresholds with obelics tune",
    )  # fmt: skip
    run.add_argument(
        "--force", action="store_true", help="continue in a folder that was started with another config or input"
    )
    run.add_argument(
        "--yes", action="store_true",
        help="in a finished run, redo what a changed config affects without asking; this replaces its shards",
    )  # fmt: skip
    run.add_argument(
        "--against", nargs="+", default=[], metavar="DIR",
        help="finished runs that this one extends: a document that duplicates one of theirs is dropped",
    )  # fmt: skip
    run.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> int:
    open_engine = ray_of(arguments)
    what, workers = (arguments.config, arguments.input, arguments.output), workers_of(arguments)
    how = {name: getattr(arguments, name) for name in ("force", "against", "sample", "yes")}
    how |= {"overrides": arguments.set, "stages": arguments.stage, "retry": arguments.retry_failed}
    if arguments.engine == "beam":  # on this machine; other runners: python -m obelics_pipeline.beam_jobs.curate
        from obelics_pipeline.beam_jobs.curate import curate
        from obelics_pipeline.beam_jobs.options import local_options

        return curate(*what, local_options(workers), **how)
    from obelics_pipeline.jobs.main_job import run

    return run(*what, workers=workers, open_engine=open_engine, **how)


def add_forget(commands: Commands) -> None:
    forget = forgetting.add_forget(commands, _engine_of)
    forget.add_argument("--engine", choices=ENGINES, default="local", help="where the work runs (default: local)")
    forget.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; on a Ray cluster, as many as fit)",
    )  # fmt: skip
    forget.add_argument("--ray-address", metavar="ADDRESS", help="as for run")


def _engine_of(arguments: argparse.Namespace) -> OpenEngine | None:
    """What opens the engine that was asked for; None for the local one. Raises UserError as `ray_of`."""
    open_engine = ray_of(arguments)
    if arguments.engine == "beam":  # on this machine; other runners: python -m obelics_pipeline.beam_jobs.forget
        from obelics_pipeline.beam_jobs.curate import open_beam
        from obelics_pipeline.beam_jobs.options import local_options

        return open_beam(local_options(workers_of(arguments)))
    return open_engine


def add_check(commands: Commands) -> None:
    check = commands.add_parser(
        "check",
        help="before a run: find what is missing, estimate time and cost",
        description="Check everything that `obelics run` needs with the same arguments. Run a few units of the input "
        "in a temporary folder and estimate the time, disk space and cost of the whole. Exit codes: 0 a run can "
        "start, 2 something is missing.",
    )
    check.add_argument("config", metavar="CONFIG", help="as for run")
    check.add_argument("--input", nargs="+", required=True, metavar="INPUT", help="as for run")
    check.add_argument(
        "--output", required=True, metavar="DIR", help="as for run; checked for write access and left unchanged"
    )
    check.add_argument("--engine", choices=ENGINES, default="local", help="where the work would run (default: local)")
    check.add_argument("--workers", type=positive, metavar="N", help="processes of the run (default: one per CPU core)")
    add_overrides(check, "the config")
    check.add_argument(
        "--price",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="replace an assumption of the estimate, such as vcpu_hour=0.05",
    )
    check.add_argument("--sample", type=positive, default=5, metavar="N", help="units to measure (default: 5)")
    check.add_argument(
        "--seconds",
        type=positive,
        default=120,
        metavar="N",
        help="stop measuring new units after N seconds (default: 120)",
    )
    check.add_argument(
        "--fetch-sample",
        type=positive,
        default=0,
        metavar="N",
        help="images to download for the estimate (default: none)",
    )
    check.add_argument(
        "--driver-costs",
        type=Path,
        metavar="FILE",
        help="costs of the driver, as python -m benchmarks.scale --json writes them (default: those that ship)",
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="write the findings as JSON")
    check.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.check.command import Bounds, check

    return check(
        arguments.config,
        arguments.input,
        arguments.output,
        arguments.engine,
        arguments.workers,
        overrides=arguments.set,
        prices=arguments.price,
        bounds=Bounds(arguments.sample, arguments.seconds, arguments.fetch_sample),
        json_file=arguments.json,
        driver_costs=arguments.driver_costs,
    )


def add_demo(commands: Commands) -> None:
    demo = commands.add_parser("demo", help="run every stage on a small bundled web site, offline")
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        metavar="DIR",
        help="the run's folder (default: demo-output)",
    )
    demo.add_argument(
        "--train", action="store_true",
        help="then train a small model on the shards and find the page that makes its loss jump; needs the extra train",
    )  # fmt: skip
    demo.set_defaults(command=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    if arguments.train:
        from obelics_pipeline.demo.training import train_demo

        return train_demo(arguments.output)
    from obelics_pipeline.demo.run import run_demo

    return run_demo(arguments.output)


def add_validate(commands: Commands) -> None:
    validate = commands.add_parser("validate", help="read every shard back and verify files, counts and hashes")
    validate.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    how = validate.add_mutually_exclusive_group()
    how.add_argument(
        "--deep",
        action="store_true",
        help="read every other file of the run as well and compare it with its hash; DIR may be an unfinished run",
    )
    how.add_argument(
        "--repair",
        action="store_true",
        help="as --deep, and set damaged files aside, so that the command of the run writes them again",
    )
    validate.set_defaults(command=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.core.revisions import revisions_of
    from obelics_pipeline.core.storage import location
    from obelics_pipeline.jobs.deep_validation import deep, repair
    from obelics_pipeline.stages.shard.validate import validate

    folder = revisions_of(location(arguments.folder)).current()
    check = repair if arguments.repair else deep if arguments.deep else validate
    report = check(folder)
    for line in report.lines():
        print(line)
    return report.exit_code


def add_revisions(commands: Commands) -> None:
    revisions = commands.add_parser(
        "revisions",
        help="list the revisions of a run, go back to one, remove others",
        description="A run with other values makes a new revision beside the finished one. Without an option: list "
        "them; * marks the current one, which all commands read.",
    )
    revisions.add_argument("folder", metavar="DIR", help="the --output of a run: a path, s3://… or gs://…")
    how = revisions.add_mutually_exclusive_group()
    how.add_argument("--use", type=positive, metavar="N", help="make revision N the current one")
    how.add_argument("--keep", type=positive, metavar="N", help="keep the current one and the newest others, N in all")
    how.add_argument("--drop", type=positive, metavar="N", help="remove revision N")
    revisions.set_defaults(command=_revisions)


def _revisions(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.core.storage import location
    from obelics_pipeline.jobs.revisions import change

    for line in change(location(arguments.folder), arguments.use, arguments.keep, arguments.drop):
        print(line)
    return 0


def add_score(commands: Commands) -> None:
    score = commands.add_parser(
        "score",
        help="add columns of scores to documents you already have",
        description="Copy a table and add columns of scores: the published OBELICS, an export of ours, or JSON Lines. "
        "Rows keep their order. A row that cannot be scored gets nulls and is counted. Exit codes: 0 done, 1 some rows "
        "failed, 2 wrong command or input, 3 stopped.",
    )
    score.add_argument("config", metavar="CONFIG", help="as for run; it sets the options of the scores")
    score.add_argument(
        "--input", nargs="+", required=True, metavar="FILE",
        help="*.parquet with the OBELICS columns or a column text, or *.jsonl(.gz); paths, globs or URLs, all of one "
        "format",
    )  # fmt: skip
    score.add_argument(
        "--output", required=True, metavar="FILE", help="output file in the same format: a path, s3://… or gs://…"
    )
    score.add_argument(
        "--columns", nargs="+", default=[], metavar="NAME,…",
        help="columns to add: filters, language, language_score, or columns of the config's models; flamingo and "
        "similarity mean all columns of that model (default: every document filter of the config)",
    )  # fmt: skip
    score.add_argument("--replace", action="store_true", help="replace columns of the same name in the input")
    score.add_argument(
        "--images", default="none", metavar="fetch|DIR|none",
        help="images for the scores that need them. fetch: download them into FILE.images; DIR: read them from a "
        "folder; none: leave these scores null (default: none)",
    )  # fmt: skip
    score.add_argument(
        "--engine", choices=("local", "ray"), default="local", help="where the work runs (default: local)"
    )
    score.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; with a model of images, one per GPU, or one)",
    )  # fmt: skip
    score.add_argument("--ray-address", metavar="ADDRESS", help="as for run")
    add_overrides(score, "the config")
    score.set_defaults(command=_score)


def _score(arguments: argparse.Namespace) -> int:
    open_engine = ray_of(arguments)
    from obelics_pipeline.jobs.score_rows.command import score

    return score(
        arguments.config,
        arguments.input,
        [name.strip() for names in arguments.columns for name in names.split(",")],
        arguments.output,
        workers=arguments.workers,
        overrides=arguments.set,
        images=arguments.images,
        replace=arguments.replace,
        open_engine=open_engine,
        say=say,
        # sys.stderr is looked up at that time: a progress line may be in its way
        warn=lambda line: print(redacted(line), file=sys.stderr, flush=True),
    )
