"""Commands that make shards, and read them back: run, check, demo, validate, export, score."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from obelics_pipeline.commands.parser import Commands, add_overrides, positive, say, workers_of
from obelics_pipeline.errors import UserError

ENGINES = ("local", "ray", "beam")
STAGES = ("extract", "dedup", "site", "consent", "fetch", "dedup-images", "assemble", "score", "shard")


def add_run(commands: Commands) -> None:
    run = commands.add_parser(
        "run",
        help="the main job: WARC files in, shards out; run it again to go on",
        description="Read WARC files and write shards. The same command goes on where it was stopped, and does nothing "
        "when all is done. Exit codes: 0 done, 1 some units failed, 2 wrong command or config, 3 stopped.",
    )
    run.add_argument("config", metavar="CONFIG", help="a YAML file, or the name of a bundled one: default, obelics")
    run.add_argument(
        "--input", nargs="+", required=True, metavar="INPUT",
        help="WARC files (path, glob, s3://, https://, gs://), a list of them (.txt, warc.paths, warc.paths.gz), or a "
        "pointer table (.parquet)",
    )  # fmt: skip
    run.add_argument("--output", required=True, metavar="DIR", help="folder of the run: a path, s3://… or gs://…")
    run.add_argument("--engine", choices=ENGINES, default="local", help="who runs the units (default: local)")
    run.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; on a Ray cluster as many as it has room for)",
    )  # fmt: skip
    run.add_argument(
        "--ray-address", metavar="ADDRESS",
        help="a Ray cluster's, with --engine ray (default: RAY_ADDRESS, or a Ray of this machine for this run)",
    )  # fmt: skip
    add_overrides(run, "the config")
    run.add_argument("--stage", nargs="+", choices=STAGES, default=list(STAGES), help="only these stages")
    run.add_argument(
        "--retry-failed", nargs="+", default=[], metavar="REASON",
        help="ask once more for images that failed for these reasons; retryable: all that may pass by themselves",
    )  # fmt: skip
    run.add_argument(
        "--sample", type=float, metavar="SHARE",
        help="read only this share of the units, and of these measure every score and fetch every image, also of what "
        "is dropped: to choose thresholds by (obelics tune)",
    )  # fmt: skip
    run.add_argument(
        "--force", action="store_true", help="go on in a folder that another config file or other input began"
    )
    run.add_argument(
        "--against", nargs="+", default=[], metavar="DIR",
        help="finished runs that this one is added to: their documents come first where duplicates are looked for",
    )  # fmt: skip
    run.set_defaults(command=_run)


def _run(arguments: argparse.Namespace) -> int:
    _refuse_ray_address(arguments)
    what, workers = (arguments.config, arguments.input, arguments.output), workers_of(arguments)
    how = {name: getattr(arguments, name) for name in ("force", "against", "sample")}
    how |= {"overrides": arguments.set, "stages": arguments.stage, "retry": arguments.retry_failed}
    if arguments.engine == "beam":  # as `python -m beam_jobs.curate`, on this machine; for other runners ask that
        from beam_jobs.curate import curate
        from beam_jobs.options import local_options

        return curate(*what, local_options(workers), **how)
    from obelics_pipeline.run import open_ray, run

    on_ray = partial(open_ray, arguments.ray_address, arguments.workers)
    return run(*what, workers=workers, open_engine=on_ray if arguments.engine == "ray" else None, **how)


def add_check(commands: Commands) -> None:
    check = commands.add_parser(
        "check",
        help="before a run: what is missing, and what it would cost, from a measured sample",
        description="Look at everything that `obelics run` with the same arguments would need, take a few units of the "
        "input through its stages in a temporary folder, and estimate the whole. Exit codes: 0 a run can start, 2 "
        "something is missing.",
    )
    check.add_argument("config", metavar="CONFIG", help="as for run")
    check.add_argument("--input", nargs="+", required=True, metavar="INPUT", help="as for run")
    check.add_argument("--output", required=True, metavar="DIR", help="as for run; it is tried, and left as it was")
    check.add_argument("--engine", choices=ENGINES, default="local", help="default: local")
    check.add_argument("--workers", type=positive, metavar="N", help="CPUs of the run (default: of this machine)")
    add_overrides(check, "the config")
    check.add_argument("--price", nargs="+", default=[], metavar="NAME=VALUE", help="in place of an assumption")
    check.add_argument("--sample", type=positive, default=5, metavar="N", help="units that are measured (default: 5)")
    check.add_argument("--seconds", type=positive, default=120, metavar="N", help="to begin units in (default: 120)")
    check.add_argument(
        "--fetch-sample", type=positive, default=0, metavar="N", help="images that are fetched (default: none)"
    )
    check.add_argument("--json", type=Path, metavar="FILE", help="everything that was found, for a machine")
    check.set_defaults(command=_check)


def _check(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.check.command import Bounds, check

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
    )


def add_demo(commands: Commands) -> None:
    demo = commands.add_parser("demo", help="the whole of it on a small web site, offline, in a minute")
    demo.add_argument("--output", type=Path, default=Path("demo-output"), metavar="DIR", help="default: demo-output")
    demo.add_argument(
        "--train", action="store_true",
        help="then train a small model on its shards, and find the page that made its loss jump; needs the extra train",
    )  # fmt: skip
    demo.set_defaults(command=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    if arguments.train:
        from obelics_pipeline.demo.training import train_demo

        return train_demo(arguments.output)
    from obelics_pipeline.demo.run import run_demo

    return run_demo(arguments.output)


def add_validate(commands: Commands) -> None:
    validate = commands.add_parser("validate", help="read every shard back and check all that can be checked")
    validate.add_argument("folder", metavar="DIR", help="folder of a finished run")
    validate.set_defaults(command=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.shard.validate import validate
    from obelics_pipeline.storage import place

    report = validate(place(arguments.folder))
    for line in report.lines():
        print(line)
    return report.exit_code


def add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="write the documents in another format")
    export.add_argument("folder", metavar="DIR", help="folder of a finished run")
    export.add_argument(
        "--format",
        choices=("parquet", "open_flamingo", "laion"),
        required=True,
        help="parquet: the published OBELICS columns; open_flamingo: tars for both options of its train.py; laion: "
        "only the tars of image-text pairs",
    )
    export.add_argument(
        "--shards",
        type=positive,
        metavar="N",
        help="open_flamingo, laion: at least so many tars; its loader wants one for each worker of each process",
    )
    export.add_argument("--output", metavar="DIR", help="default: DIR/export-FORMAT")
    export.set_defaults(command=_export)


def _export(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.shard.export import export_parquet
    from obelics_pipeline.shard.manifest import read_manifest
    from obelics_pipeline.storage import place
    from obelics_pipeline.tombstones.obeyed import note_export, refuse_forgotten

    folder = place(arguments.folder)
    output = place(arguments.output) if arguments.output else folder / f"export-{arguments.format}"
    read_manifest(folder)  # raises UserError where no finished run is: nothing is noted there
    refuse_forgotten(folder)
    note_export(folder, output)
    if arguments.format != "parquet":
        from obelics_pipeline.shard.export_flamingo import export_flamingo

        only = arguments.format == "laion"
        for line in export_flamingo(folder, output, arguments.shards or 1, pairs_only=only).lines():
            print(line)
        return 0
    if arguments.shards is not None:
        raise UserError("--shards is of --format open_flamingo and laion; leave it out")
    files = export_parquet(folder, output)
    print(f"wrote {len(files)} files to {output}")
    return 0


def add_score(commands: Commands) -> None:
    score = commands.add_parser(
        "score",
        help="scores for documents that exist already: the published OBELICS, an export, JSON Lines",
        description="Write the rows of the input, in their order, with scores as further columns. A row that cannot be "
        "scored stays, with nulls, and is counted. Exit codes: 0 done, 1 some rows failed, 2 wrong command or input, 3 "
        "stopped.",
    )
    score.add_argument("config", metavar="CONFIG", help="as for run; it says the options of the scores")
    score.add_argument(
        "--input", nargs="+", required=True, metavar="FILE",
        help="*.parquet as published or with a column text, or *.jsonl(.gz); paths, globs and URLs, of one format",
    )  # fmt: skip
    score.add_argument("--output", required=True, metavar="FILE", help="of the same format: a path, s3://… or gs://…")
    score.add_argument(
        "--columns", nargs="+", default=[], metavar="NAME,…",
        help="names of filters, language, language_score, columns of the models that the config names; flamingo "
        "and similarity stand for all of a model's (default: every document filter of the config)",
    )  # fmt: skip
    score.add_argument("--replace", action="store_true", help="columns of these names that the input has already")
    score.add_argument(
        "--images", default="none", metavar="fetch|DIR|none",
        help="where images are, for scores that look at them: from the web, kept in FILE.images; in a folder; nowhere "
        "(default: none)",
    )  # fmt: skip
    score.add_argument("--engine", choices=("local", "ray"), default="local", help="default: local")
    score.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; where they hold a model that looks at images, one per GPU, or one)",
    )  # fmt: skip
    score.add_argument("--ray-address", metavar="ADDRESS", help="as for run")
    add_overrides(score, "the config")
    score.set_defaults(command=_score)


def _score(arguments: argparse.Namespace) -> int:
    _refuse_ray_address(arguments)
    from obelics_pipeline.score.command import score

    on_ray = None
    if arguments.engine == "ray":
        from obelics_pipeline.run import open_ray

        on_ray = partial(open_ray, arguments.ray_address, arguments.workers)
    return score(
        arguments.config,
        arguments.input,
        [name.strip() for names in arguments.columns for name in names.split(",")],
        arguments.output,
        workers=arguments.workers,
        overrides=arguments.set,
        images=arguments.images,
        replace=arguments.replace,
        open_engine=on_ray,
        say=say,
        warn=lambda line: print(line, file=sys.stderr, flush=True),  # at that time: a progress line may be in its way
    )


def _refuse_ray_address(arguments: argparse.Namespace) -> None:
    if arguments.ray_address and arguments.engine != "ray":
        raise UserError(
            f"--ray-address is of --engine ray, and the engine is {arguments.engine}: leave one of them out"
        )
