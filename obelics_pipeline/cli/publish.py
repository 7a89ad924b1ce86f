"""Commands that prepare a finished run for others: export, card."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.cli.parser import Commands, positive, say
from obelics_pipeline.core.errors import UserError


def add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="write the documents in another format, such as Parquet")
    export.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    export.add_argument(
        "--format",
        choices=("parquet", "open_flamingo", "laion"),
        required=True,
        help="parquet: the columns of the published OBELICS; open_flamingo: tars for the interleaved and image-text "
        "options of its train.py; laion: only the image-text tars",
    )
    export.add_argument(
        "--shards",
        type=positive,
        metavar="N",
        help="open_flamingo, laion: write at least N tars; the loader needs one per worker of each process",
    )
    export.add_argument("--output", metavar="DIR", help="output folder (default: DIR/export-FORMAT)")
    export.set_defaults(command=_export)


def _export(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.core.shards.manifest import read_manifest
    from obelics_pipeline.core.storage import location
    from obelics_pipeline.policy.tombstones.obeyed import note_export, refuse_forgotten
    from obelics_pipeline.stages.shard.export import export_parquet

    folder = location(arguments.folder)
    output = location(arguments.output) if arguments.output else folder / f"export-{arguments.format}"
    read_manifest(folder)  # raises UserError where no finished run is: nothing is noted there
    refuse_forgotten(folder)
    note_export(folder, output)
    if arguments.format != "parquet":
        from obelics_pipeline.stages.shard.export_flamingo import export_flamingo

        only = arguments.format == "laion"
        for line in export_flamingo(folder, output, arguments.shards or 1, pairs_only=only).lines():
            say(line)
        return 0
    if arguments.shards is not None:
        raise UserError("--shards: valid only with --format open_flamingo or laion; leave it out")
    files = export_parquet(folder, output)
    say(f"wrote {len(files)} files to {output}")
    return 0


def add_card(commands: Commands) -> None:
    card = commands.add_parser(
        "card",
        help="write the dataset card: contents, sources, removals, limits",
        description="Write README.md, a dataset card in the format of the Hugging Face hub, and croissant.json, its "
        "description for programs. The options give what only you know; the card names what is missing.",
    )
    card.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    card.add_argument("--name", help="name of the corpus (default: the folder's name)")
    card.add_argument("--licence", "--license", metavar="ID", help="licence of the corpus, such as cc-by-4.0")
    card.add_argument("--homepage", metavar="URL", help="where the corpus is published")
    card.add_argument("--contact", metavar="TEXT", help="contact for questions and removal requests")
    card.add_argument("--published", metavar="DAY", help="day of publication, YYYY-MM-DD")
    card.add_argument("--output", metavar="DIR", help="output folder (default: DIR of the run)")
    card.set_defaults(command=_card)


def _card(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.card.command import write_card
    from obelics_pipeline.inspect.card.statement import Statement

    name = arguments.name or Path(arguments.folder).resolve().name
    stated = {key: getattr(arguments, key) for key in ("licence", "homepage", "contact", "published")}
    for path in write_card(arguments.folder, Statement(name, **stated), arguments.output):
        say(f"wrote {path}")
    return 0
