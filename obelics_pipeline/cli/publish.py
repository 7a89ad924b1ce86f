"""Commands that prepare a finished run for others: consent, publish, export, card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from obelics_pipeline.cli.parser import Commands, positive, ray_of, say
from obelics_pipeline.core.errors import UserError

if TYPE_CHECKING:
    from obelics_pipeline.core.storage import Location
    from obelics_pipeline.inspect.card.statement import Statement

# Formats of `export`. These have texts and pictures; a test holds them to obelics_pipeline.inspect.exported.formats.
LOADERS = ("webdataset", "mds", "energon", "curator", "mint1t", "lance")
URLS = "img2dataset"  # has the addresses of images alone


def add_publish(commands: Commands) -> None:
    publish = commands.add_parser(
        "publish",
        help="write Parquet with texts and pictures that opens by one line",
        description="Write data/*.parquet, a row per document with its texts and pictures, and a dataset card beside "
        "them: load_dataset(FOLDER), DuckDB, pandas and the hub's viewer open it. The options give what only you know; "
        "the card names what is missing. A command that was stopped goes on when it is given again.",
    )
    publish.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    publish.add_argument(
        "--output", required=True, metavar="DIR",
        help="output folder: a path, s3://…, gs://…, or hf://datasets/OWNER/NAME[@BRANCH] of the hub",
    )  # fmt: skip
    _add_statement(publish)
    publish.add_argument("--engine", choices=("local", "ray"), default="local", help="where the work runs")
    publish.add_argument(
        "--workers", type=positive, metavar="N",
        help="processes (default: one per CPU core; on a Ray cluster, as many as fit)",
    )  # fmt: skip
    publish.add_argument("--ray-address", metavar="ADDRESS", help="as for run")
    publish.set_defaults(command=_publish)


def _publish(arguments: argparse.Namespace) -> int:
    open_engine = ray_of(arguments)
    from obelics_pipeline.inspect.published.command import publish

    done = publish(arguments.folder, arguments.output, _statement(arguments), arguments.workers, open_engine)
    say(done.line())
    if advice := done.advised():
        say(advice)
    return 0


def add_consent(commands: Commands) -> None:
    consent = commands.add_parser(
        "consent",
        help="ask pages and images again whether they may be used",
        description="Before publication: ask the hosts of all pages and images of the shards (robots.txt, ai.txt, "
        "tdmrep.json), then each address for its headers, and pages for their metas, with the manners of the config's "
        "section fetch. Writes consent-again/answers.parquet and changed.parquet into the folder. A command that was "
        "stopped goes on when it is given again. Without --again, count the answers of the last time.",
    )
    consent.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    consent.add_argument("--again", action="store_true", help="ask")
    consent.add_argument("--yes", action="store_true", help="forget at once what may not be used any more")
    consent.set_defaults(command=_consent)


def _consent(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.core.storage import location
    from obelics_pipeline.inspect.consent_again.answers import counted, last_round

    if not arguments.again:
        if arguments.yes:
            raise UserError("--yes: valid only with --again; add it")
        answers = last_round(location(arguments.folder))
        if answers is None:
            raise UserError(f"{arguments.folder}: nobody was asked again yet; add --again")
        for said, count in counted(answers).items():
            say(f"{said}: {count:,}")
        return 0
    from obelics_pipeline.inspect.consent_again.command import ask_again

    asked = ask_again(arguments.folder, say)
    for line in asked.lines(arguments.folder):
        say(line)
    if not arguments.yes or not asked.refused:
        return 0
    from obelics_pipeline.forget.command import lines
    from obelics_pipeline.forget.forget import forget

    done = forget(arguments.folder, {"urls": [asked.urls]}, say=say)
    for line in lines(done, dry_run=False):
        say(line)
    return 1 if done.problems else 0


def add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="write the documents in another format, such as Parquet")
    export.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    export.add_argument(
        "--format",
        choices=("parquet", "open_flamingo", "laion", URLS, *LOADERS),
        required=True,
        help="parquet: the columns of the published OBELICS; open_flamingo: tars for the interleaved and image-text "
        "options of its train.py; laion: only the image-text tars; img2dataset: the image URLs that documents ask "
        "for, as its --url_list; the others: texts and pictures for that loader",
    )
    export.add_argument(
        "--shards",
        type=positive,
        metavar="N",
        help="write at least N files (not: parquet, lance); loaders of tars need one per worker of each process",
    )
    export.add_argument(
        "--columns",
        nargs="+",
        default=[],
        metavar="NAME,…",
        help="parquet: columns of index.parquet to add, such as page_type,language",
    )
    export.add_argument("--output", metavar="DIR", help="output folder (default: DIR/export-FORMAT)")
    export.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help=f"{', '.join((URLS, *LOADERS))}: processes (default: one per CPU core)",
    )
    export.set_defaults(command=_export)


def _export(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.core.revisions import revisions_of
    from obelics_pipeline.core.shards.manifest import read_manifest
    from obelics_pipeline.core.storage import location
    from obelics_pipeline.policy.tombstones.obeyed import note_export, refuse_forgotten
    from obelics_pipeline.stages.shard.export import export_parquet

    base = location(arguments.folder)
    folder = revisions_of(base).current()
    output = location(arguments.output) if arguments.output else base / f"export-{arguments.format}"
    read_manifest(folder)  # raises UserError where no finished run is: nothing is noted there
    refuse_forgotten(folder)
    note_export(folder, output)
    if arguments.format != "parquet" and arguments.columns:
        raise UserError("--columns: valid only with --format parquet; leave it out")
    if arguments.format == URLS:
        return _export_urls(arguments, output)
    if arguments.format in LOADERS:
        return _export_for_loader(arguments, folder, output)
    if arguments.workers is not None:
        raise UserError(f"--workers: valid only with --format {', '.join((URLS, *LOADERS))}; leave it out")
    if arguments.format != "parquet":
        from obelics_pipeline.stages.shard.export_flamingo import export_flamingo

        only = arguments.format == "laion"
        for line in export_flamingo(folder, output, arguments.shards or 1, pairs_only=only).lines():
            say(line)
        return 0
    if arguments.shards is not None:
        raise UserError("--shards: not valid with --format parquet; leave it out")
    columns = [name.strip() for names in arguments.columns for name in names.split(",")]
    files = export_parquet(folder, output, columns=columns)
    say(f"wrote {len(files)} files to {output}")
    return 0


def _export_urls(arguments: argparse.Namespace, output: Location) -> int:
    from obelics_pipeline.inspect.exported.image_urls import export_urls

    if arguments.shards is not None:
        raise UserError(f"--shards: not valid with --format {URLS}: fetch.buckets says how many files; leave it out")
    for line in export_urls(arguments.folder, output, arguments.workers).lines():
        say(line)
    return 0


def _export_for_loader(arguments: argparse.Namespace, folder: Location, output: Location) -> int:
    from obelics_pipeline.inspect.exported.command import export_files
    from obelics_pipeline.inspect.exported.formats import FORMATS
    from obelics_pipeline.inspect.exported.lance_table import export_lance

    if arguments.format == "lance":
        if arguments.shards is not None or arguments.workers is not None:
            raise UserError("--format lance: one process writes one table; leave out --shards and --workers")
        for line in export_lance(folder, output).lines():
            say(line)
        return 0
    exported = export_files(folder, output, FORMATS[arguments.format], arguments.shards or 1, arguments.workers)
    for line in exported.lines():
        say(line)
    return 0


def add_card(commands: Commands) -> None:
    card = commands.add_parser(
        "card",
        help="write the dataset card: contents, sources, removals, limits",
        description="Write README.md, a dataset card in the format of the Hugging Face hub, and croissant.json, its "
        "description for programs. The options give what only you know; the card names what is missing.",
    )
    card.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    _add_statement(card)
    card.add_argument("--output", metavar="DIR", help="output folder (default: DIR of the run)")
    card.set_defaults(command=_card)


def _card(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.card.command import write_card

    for path in write_card(arguments.folder, _statement(arguments), arguments.output):
        say(f"wrote {path}")
    return 0


def _add_statement(command: argparse.ArgumentParser) -> None:
    command.add_argument("--name", help="name of the corpus (default: the folder's name)")
    command.add_argument("--licence", "--license", metavar="ID", help="licence of the corpus, such as cc-by-4.0")
    command.add_argument("--homepage", metavar="URL", help="where the corpus is published")
    command.add_argument("--contact", metavar="TEXT", help="contact for questions and removal requests")
    command.add_argument("--published", metavar="DAY", help="day of publication, YYYY-MM-DD")


def _statement(arguments: argparse.Namespace) -> Statement:
    from obelics_pipeline.inspect.card.statement import Statement

    name = arguments.name or Path(arguments.folder).resolve().name
    return Statement(name, arguments.licence, arguments.homepage, arguments.contact, arguments.published)
