"""`obelics forget`: its arguments, and what it says."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from obelics_pipeline.forget.forget import Done, OpenEngine

EngineOf: TypeAlias = "Callable[[argparse.Namespace], OpenEngine | None]"

ABOUT = (
    "Remove what the lists name from every file of a run's folder. Only shards that contain some of it are rewritten. "
    "A keyed hash of each item stays, so that later runs drop it again (docs/forget.md). Exit codes: 0 done, 1 a shard "
    "does not read back, 2 wrong command or list, 3 stopped."
)
LISTS = {
    "urls": "URLs, one a line: of pages, whose documents are all removed, or of images, which are removed everywhere",
    "domains": "domains or hosts, one a line: pages and images there and on subdomains",
    "hashes": "one a line: the sha256 of an image, of a text or of a document, or a doc_id",
}


def add_forget(commands: Any, open_engine: EngineOf) -> argparse.ArgumentParser:
    """The command, for the command line, which adds what `open_engine` makes an engine of."""
    forget: argparse.ArgumentParser = commands.add_parser(
        "forget", help="remove documents and images from a run for good", description=ABOUT
    )
    add_arguments(forget)
    forget.set_defaults(command=partial(_forget, open_engine=open_engine))
    return forget


def add_arguments(forget: argparse.ArgumentParser) -> None:
    """What is to be forgotten, and where; nothing of the engine."""
    forget.add_argument("folder", metavar="DIR", help="folder of a run")
    for kind, what in LISTS.items():
        forget.add_argument(f"--{kind}", metavar="FILE", type=Path, action="append", default=[], help=what)
    forget.add_argument(
        "--key", metavar="FILE", type=Path, help="key of the hashes; give the same one to share them between corpora"
    )
    forget.add_argument(
        "--plan",
        metavar="PLAN",
        type=Path,
        nargs="+",
        default=[],
        help="training plans that may use the removed documents",
    )
    forget.add_argument("--dry-run", action="store_true", help="show what would be removed; change nothing")
    forget.add_argument("--skip-bad", action="store_true", help="skip lines that are not a URL, domain or hash")


def _forget(arguments: argparse.Namespace, open_engine: EngineOf) -> int:
    return forget_by(open_engine(arguments), arguments, arguments.workers)


def forget_by(open_engine: OpenEngine | None, arguments: argparse.Namespace, workers: int | None = None) -> int:
    """Do what the arguments ask for by an engine, and say what was done; the exit code."""
    from obelics_pipeline.forget.forget import forget

    lists = {kind: files for kind in LISTS if (files := getattr(arguments, kind))}
    how = {"dry_run": arguments.dry_run, "skip_bad": arguments.skip_bad, "workers": workers}
    done = forget(arguments.folder, lists, arguments.key, arguments.plan, say=_say, open_engine=open_engine, **how)
    for line in lines(done, arguments.dry_run):
        _say(line)
    return 1 if done.problems else 0


def _say(line: str) -> None:
    from rich.console import Console

    Console(soft_wrap=True).print(line, markup=False, highlight=False)


def lines(done: Done, dry_run: bool) -> Iterator[str]:
    """Lines on what was done, for a person: counts, and never the removed content."""
    entries = ", ".join(f"{n:,} {kind}" for kind, n in done.lists.entries.items()) or "nothing new"
    yield f"asked for: {entries}" + (f"; {done.lists.bad:,} bad lines left out" if done.lists.bad else "")
    counts, shards = done.found, done.shards
    if dry_run:
        yield (
            f"would remove: {counts.get('documents', 0):,} documents of the shards; {counts.get('edited', 0):,} "
            f"documents would lose images, {counts.get('duplicates', 0):,} duplicates would not replace them, "
            f"{done.images:,} stored images"
        )
    else:
        yield (
            f"removed: {shards.documents:,} documents and {shards.images:,} images of the shards; {shards.edited:,} "
            f"documents lost images; {counts.get('duplicates', 0):,} duplicates do not replace them"
        )
        removed = f", {len(shards.removed):,} removed because they became empty" if shards.removed else ""
        yield f"shards: {len(shards.shards):,} rewritten{removed}; {done.files:,} other files"
        if done.records:
            yield f"input: {done.records:,} records of WARC files in the folder blanked"
        yield f"{done.images:,} stored images removed; {done.freed:,} bytes freed in all"
    for line in done.remake:
        yield f"made from this run, make it again: {line}"
    for plan in done.plans:
        yield from plan.lines()
    for problem in done.problems:
        yield f"problem: {problem}"
