"""Commands that show what a run kept and dropped: report, explain, tune, map, status."""

from __future__ import annotations

import argparse
from pathlib import Path

from obelics_pipeline.cli.parser import Commands, add_overrides, positive, say, workers_of


def add_tune(commands: Commands) -> None:
    tune = commands.add_parser("tune", help="move thresholds in the browser and see what changes")
    tune.add_argument("folder", metavar="DIR", help="folder of a run, preferably one with --sample")
    tune.add_argument("--port", type=int, default=0, metavar="N", help="port of this machine (default: a free one)")
    tune.add_argument(
        "--workers", type=positive, metavar="N", help="processes that preview a change (default: one per CPU core)"
    )
    tune.add_argument("--no-browser", action="store_true", help="print the page's address and open no browser")
    tune.set_defaults(command=_tune)


def _tune(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.tune.command import tune

    return tune(arguments.folder, arguments.port, workers_of(arguments), browser=not arguments.no_browser)


def add_explain(commands: Commands) -> None:
    explain = commands.add_parser("explain", help="trace one page: its WARC record, every score, every decision")
    explain.add_argument("location", metavar="DIR|FILE", help="folder of a run, a WARC file or an HTML file")
    explain.add_argument(
        "which", nargs="?", metavar="DOC|URL", help="document id or URL; in a WARC file, URL or offset; for an HTML "
        "file, the URL it came from",
    )  # fmt: skip
    explain.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page that shows raw, simplified and final side by side"
    )
    explain.add_argument(
        "--input", nargs="+", default=[], metavar="INPUT", help="WARC files of the run, if they were moved"
    )
    explain.add_argument(
        "--config",
        metavar="CONFIG",
        help="config to explain with (default: the run's own; for a file, the bundled default)",
    )
    add_overrides(explain, "the config")
    explain.set_defaults(command=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.explain.command import explain, write_html
    from obelics_pipeline.inspect.explain.lines import lines_of

    explanation = explain(arguments.location, arguments.which, arguments.config, arguments.set, arguments.input)
    for line in lines_of(explanation):
        print(line)
    if arguments.html is not None:
        write_html(explanation, arguments.html)
        say(f"wrote {arguments.html}")
    return 0


def add_report(commands: Commands) -> None:
    report = commands.add_parser(
        "report",
        help="write one HTML file: what was kept, what was dropped, and why",
        description="Write one HTML file that loads nothing else: counts by stage and reason, yields, scores with "
        "thresholds, images, duplicates, examples of what was dropped, times and cost. It also works while a run is "
        "not finished.",
    )
    report.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    report.add_argument("--against", metavar="OTHER", help="compare with the run in this folder")
    report.add_argument(
        "--output",
        metavar="FILE",
        help="output file (default: DIR/report.html, with --against DIR/report-against.html)",
    )
    report.set_defaults(command=_report)


def _report(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.report.command import report

    say(f"wrote {report(arguments.folder, arguments.against, arguments.output)}")
    return 0


def add_status(commands: Commands) -> None:
    status = commands.add_parser(
        "status",
        help="where a run is, from any machine: what is done, what is left",
        description="Say where a run is: at work, stopped, failing or finished; units done and to do, when the stage "
        "at hand will be done, reasons so far, slowest hosts, cost so far, failed units. The run may be at work "
        "elsewhere; nothing is written into its folder. Exit codes: 0 fine, 1 something failed, 2 not a run's folder.",
    )
    status.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    status.add_argument("--follow", action="store_true", help="show it again and again until the run ends, or Ctrl-C")
    status.add_argument("--every", type=positive, default=10, metavar="N", help="seconds between two (default: 10)")
    status.add_argument("--json", action="store_true", help="print JSON, with --follow a line for each look")
    status.add_argument("--html", metavar="FILE", help="write the same as one page that loads nothing else")
    status.add_argument(
        "--price",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="as for check, such as vcpu_hour=0.05",
    )
    status.set_defaults(command=_status)


def _status(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.status.command import status

    every = arguments.every if arguments.follow else None
    return status(arguments.folder, arguments.json, arguments.html, every, arguments.price)


def add_map(commands: Commands) -> None:
    map_ = commands.add_parser(
        "map",
        help="draw documents as points, like ones close together",
        description="Write map/points.parquet and map/labels.parquet into the folder of a run; obelics tune shows "
        "them. A map is made again only if the documents changed. Exit codes: 0 done, 2 wrong folder, or the extra "
        "tune is missing.",
    )
    map_.add_argument("folder", metavar="DIR", help="folder of a run: a path, s3://… or gs://…")
    map_.add_argument(
        "--documents",
        type=positive,
        default=100_000,
        metavar="N",
        help="documents to draw, a random sample if there are more (default: 100000)",
    )
    map_.add_argument("--workers", type=positive, metavar="N", help="threads (default: one per CPU core)")
    map_.set_defaults(command=_map)


def _map(arguments: argparse.Namespace) -> int:
    from obelics_pipeline.inspect.map.command import map_run

    return map_run(arguments.folder, arguments.documents, workers_of(arguments), say)
