"""Commands that show a run of the pipeline to a person: tune, explain, report, card, map."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.commands.parser import Commands, add_overrides, positive, say, workers_of


def add_tune(commands: Commands) -> None:
    tune = commands.add_parser(
        "tune", help="a page in the browser: move thresholds, see what leaves and what stays; writes the YAML"
    )
    tune.add_argument("folder", metavar="DIR", help="folder of a run, best of one with --sample")
    tune.add_argument("--port", type=int, default=0, metavar="N", help="of this machine (default: a free one)")
    tune.add_argument(
        "--workers", type=positive, metavar="N", help="processes that rehearse (default: one per CPU core)"
    )
    tune.add_argument("--no-browser", action="store_true", help="print the page's address and open nothing")
    tune.set_defaults(command=_tune)


def _tune(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.tune.command import tune

    return tune(arguments.folder, arguments.port, workers_of(arguments), browser=not arguments.no_browser)


def add_explain(commands: Commands) -> None:
    explain = commands.add_parser(
        "explain", help="one record, from its bytes to what was kept of it and why; --html shows it in a browser"
    )
    explain.add_argument("place", metavar="DIR|FILE", help="folder of a run; or a WARC file, or an HTML file")
    explain.add_argument(
        "which", nargs="?", metavar="DOC|URL", help="document id or URL; of a WARC file, its URL or offset; of an HTML "
        "file, its address",
    )  # fmt: skip
    explain.add_argument("--html", type=Path, metavar="FILE", help="raw, simplified and final side by side")
    explain.add_argument("--input", nargs="+", default=[], metavar="INPUT", help="where the run's WARC files are now")
    explain.add_argument("--config", metavar="CONFIG", help="default: the run's own; for a FILE, default")
    add_overrides(explain, "it")
    explain.set_defaults(command=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.explain.command import explain, write_html
    from obelics_pipeline.explain.lines import lines_of

    account = explain(arguments.place, arguments.which, arguments.config, arguments.set, arguments.input)
    for line in lines_of(account):
        print(line)
    if arguments.html is not None:
        write_html(account, arguments.html)
        print(f"wrote {arguments.html}")
    return 0


def add_report(commands: Commands) -> None:
    report = commands.add_parser(
        "report",
        help="what a run kept and dropped, and why, as one HTML file; --against sets two runs side by side",
        description="Write one HTML file that needs nothing else: counts by stage and reason, yields, scores with "
        "their thresholds, images, duplicates, examples of what was dropped, times and cost. Of a run that has not "
        "finished, what is there.",
    )
    report.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    report.add_argument("--against", metavar="OTHER", help="folder of another run, to compare with")
    report.add_argument(
        "--output", metavar="FILE", help="default: DIR/report.html; with --against DIR/report-against.html"
    )
    report.set_defaults(command=_report)


def _report(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.report.command import report

    print(f"wrote {report(arguments.folder, arguments.against, arguments.output)}")
    return 0


def add_card(commands: Commands) -> None:
    card = commands.add_parser(
        "card",
        help="the card of a finished run: what is in it, where it came from, what was removed and why, known limits",
        description="Write README.md, a dataset card as the Hugging Face hub reads it, and croissant.json, for "
        "machines. What only you know is asked for by options, and said to be missing where none is given.",
    )
    card.add_argument("folder", metavar="DIR", help="folder of a finished run: a path, s3://… or gs://…")
    card.add_argument("--name", help="of the corpus; default: the folder's")
    card.add_argument("--licence", "--license", metavar="ID", help="of the selection, such as cc-by-4.0")
    card.add_argument("--homepage", metavar="URL", help="where the corpus is published")
    card.add_argument("--contact", metavar="TEXT", help="whom to write to, also for removal")
    card.add_argument("--published", metavar="DAY", help="YYYY-MM-DD")
    card.add_argument("--output", metavar="DIR", help="default: beside the shards")
    card.set_defaults(command=_card)


def _card(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.card.command import write_card
    from obelics_pipeline.card.statement import Statement

    name = arguments.name or Path(arguments.folder).resolve().name
    stated = {key: getattr(arguments, key) for key in ("licence", "homepage", "contact", "published")}
    for path in write_card(arguments.folder, Statement(name, **stated), arguments.output):
        print(f"wrote {path}")
    return 0


def add_map(commands: Commands) -> None:
    map_ = commands.add_parser(
        "map",
        help="a run's documents as points in a plane, near each other where their words are alike",
        description="Write map/points.parquet and map/labels.parquet into the folder of a run, unless they are there "
        "and its documents have not changed. Exit codes: 0 done, 2 wrong folder, or the extra tune is missing.",
    )
    map_.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    map_.add_argument(
        "--documents", type=positive, default=100_000, metavar="N", help="at most, a fair sample (default: 100000)"
    )
    map_.add_argument("--workers", type=positive, metavar="N", help="threads (default: one per CPU core)")
    map_.set_defaults(command=_map)


def _map(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.corpus_map.command import map_run

    return map_run(arguments.folder, arguments.documents, workers_of(arguments), say)
