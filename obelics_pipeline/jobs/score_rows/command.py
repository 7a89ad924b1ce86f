"""`obelics score`: the rows of the input in their order, with scores; whole, or not there."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import DISK_FULL, Stopped, UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, draft, location, scratch_of
from obelics_pipeline.engines.attempts import disk_full
from obelics_pipeline.jobs.score_rows import json_lines, table_rows
from obelics_pipeline.jobs.score_rows.columns import NO_IMAGES, Asked, ask
from obelics_pipeline.jobs.score_rows.engines import Engines, OpenEngine, open_engines
from obelics_pipeline.jobs.score_rows.fetched_images import fetch_images
from obelics_pipeline.jobs.score_rows.image_folder import images_of
from obelics_pipeline.jobs.score_rows.in_workers import Batch, Maps, in_windows
from obelics_pipeline.jobs.score_rows.scorer import scorer_of
from obelics_pipeline.models.pictures.sources import FolderImages, ImageSource, no_images
from obelics_pipeline.policy.tombstones.tombstones import configured
from obelics_pipeline.stages.read.listing import expand
from obelics_pipeline.stages.rows.row_error import RowError

FAILURES_SHOWN = 10
FETCH = "fetch"  # of --images

Say = Callable[[str], None]


class Scored(Protocol):
    """Output of some rows: their number, and the rows that failed, with position and reason."""

    @property
    def rows(self) -> int: ...  # noqa: D102

    @property
    def failures(self) -> list[tuple[str, RowError]]: ...  # noqa: D102


def score(
    config: str,
    inputs: Sequence[str],
    columns: Sequence[str],
    output: str,
    workers: int | None,
    overrides: Sequence[str] = (),
    images: str = NO_IMAGES,
    replace: bool = False,
    open_engine: OpenEngine | None = None,
    say: Say = print,
    warn: Say = print,
) -> int:
    """Write the rows of the inputs with the scores of `columns`; returns 0, or 1 where rows could not be scored.

    `open_engine` makes the engine; without it, the local one. `workers` None: as many as a cluster has room for;
    on this machine one per CPU core, or per GPU where they hold a model. `images` is `none`, `fetch`, or a folder.
    `say` is given the lines of the result, `warn` those about rows that failed. Raises UserError for what a person can
    mend, Stopped where the disk is full.

    >>> import obelics_pipeline as op
    >>> rows = folder / "rows.jsonl"
    >>> _ = rows.write_text('{"text": "A hive has one queen."}')
    >>> op.score("default", str(rows), ["word_count"], str(folder / "scored.jsonl"), workers=1)
    1 rows = 1 scored + 0 failed; wrote .../scored.jsonl
    0
    >>> (folder / "scored.jsonl").read_text().splitlines()
    ['{"text": "A hive has one queen.","word_count":5.0}']
    """
    checked = load_config(config, overrides)
    asked = ask(columns, checked, images)
    files = input_files([inputs] if isinstance(inputs, str) else inputs, checked)
    target = location(output, checked.reading.storage_options)
    _check_output(target, files)
    with _ending_on_terminate(), _one_line_errors(target), ExitStack() as stack:
        fetched = _folder_to_fetch_into(target, checked) if images == FETCH else None
        asked = dataclasses.replace(asked, images=stack.enter_context(_images(images, fetched, target)))
        for line in scorer_of(asked).notices():
            warn(line)
        format_ = _format_of(files, asked, replace)
        path = stack.enter_context(draft(target))
        engines = stack.enter_context(open_engines(open_engine, workers, target, checked, asked))
        if fetched is not None:
            say(f"{image_summary(_fetch(format_, engines, asked, fetched, checked))}; kept in {fetched}")
        with format_.writer(path) as writer:
            ledger = _write(format_.scored(engines.scoring, engines.at_once), writer, warn)
        if not ledger.balanced() or format_.count(path) != ledger.entered:
            raise RuntimeError(f"{format_.count(path)} rows were written, counted are {ledger}; this is a bug")
    say(f"{summary(ledger)}; wrote {target}")
    return 1 if ledger.failed else 0


def load_models(asked: Asked) -> None:
    """Load the models in this process. Raises UserError for what is wrong with them, or not there."""
    scorer_of(asked).load()


def image_summary(ledger: Ledger) -> str:
    """One line on the images: how many were fetched, and why others were not."""
    parts = [f"images: {ledger.entered} asked for = {ledger.kept} fetched"]
    for what, counts in (("dropped", ledger.dropped), ("failed", ledger.failed)):
        reasons = ", ".join(
            f"{reason} {n}" for reason, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        )
        parts.append(f"{counts.total()} {what}" + (f" ({reasons})" if reasons else ""))
    return " + ".join(parts)


def summary(ledger: Ledger) -> str:
    """One line on the rows: how many were scored, and why others were not."""
    failed = ", ".join(f"{reason} {n}" for reason, n in sorted(ledger.failed.items()))
    return f"{ledger.entered} rows = {ledger.kept} scored + {ledger.failed.total()} failed" + (
        f" ({failed})" if failed else ""
    )


def input_files(patterns: Sequence[str], config: RunConfig) -> list[Location]:
    """Every file that the patterns name, in the order given, each once, all of one format. Raises UserError."""
    found: dict[str, str] = {}
    for pattern in patterns:
        if Path(pattern).is_dir():
            raise UserError(f"input {pattern}: is a folder; give its files, e.g. '{pattern.rstrip('/')}/*.parquet'")
        for item in expand(pattern, config.reading):
            found.setdefault(item.identity, item.path)
    if not found:
        raise UserError("no input given: use --input")
    first = next(iter(found.values()))
    for path in found.values():
        if _suffixes(path) != _suffixes(first):
            raise UserError(f"{path}: another format than {first}; score them one by one")
    return [location(path, config.reading.storage_options) for path in found.values()]


def _suffixes(name: str) -> tuple[str, ...]:
    """The endings of the format that a name says. Raises UserError for another one."""
    for suffixes in (json_lines.SUFFIXES, table_rows.SUFFIXES):
        if name.lower().endswith(suffixes):
            return suffixes
    raise UserError(f"{name}: unknown format; valid are *.parquet, *.jsonl and *.jsonl.gz")


def _check_output(target: Location, files: Sequence[Location]) -> None:
    if _suffixes(target.name) != _suffixes(files[0].name):
        valid = " or ".join(_suffixes(files[0].name))
        raise UserError(f"--output {target}: another format than the input; its name must end in {valid}")
    if isinstance(target, Path):
        if target.is_dir():
            raise UserError(f"--output {target}: is a folder; give a file")
        same = target.exists() and any(isinstance(f, Path) and target.samefile(f) for f in files)
    else:
        same = str(target) in map(str, files)
    if same:
        raise UserError(f"--output {target}: is an input; give another file")


@dataclass(frozen=True)
class Format:
    """How rows of one format are scored, read and looked through for images, written, and counted then."""

    scored: Callable[[Maps, int], Iterable[Scored]]
    batches: Callable[[], Iterable[Batch]]
    images_of: Callable[[Any], list[str]]
    writer: Callable[[Path], Any]
    count: Callable[[Path], int]


def _format_of(files: Sequence[Location], asked: Asked, replace: bool) -> Format:
    """The format of the inputs. Raises UserError where they do not fit each other, or the columns."""
    most = asked.images_of_document()
    if _suffixes(files[0].name) == json_lines.SUFFIXES:
        return Format(
            lambda engine, at_once: json_lines.scored_lines(files, asked, replace, engine, at_once),
            partial(json_lines.read_batches, files),
            partial(json_lines.images_of_lines, at_most=most),
            json_lines.LineWriter,
            json_lines.count_lines,
        )
    schema = table_rows.output_schema(files, asked.columns(), replace)
    return Format(
        lambda engine, at_once: table_rows.scored_tables(files, asked, schema, engine, at_once),
        partial(table_rows.read_batches, files),
        partial(table_rows.images_of_rows, at_most=most),
        lambda path: table_rows.TableWriter(path, schema),
        table_rows.count_rows,
    )


def _folder_to_fetch_into(target: Location, config: RunConfig) -> Path:
    if not isinstance(target, Path):
        raise UserError(
            f"--images fetch: keeps images beside the output, but {target} is not on a local disk; give a local path"
        )
    if not config.fetch.enabled:
        raise UserError("--images fetch: fetch.enabled is false in the config; leave one of them out")
    return target.absolute().with_name(f"{target.name}.images")


@contextmanager
def _images(images: str, fetched: Path | None, target: Location) -> Iterator[ImageSource]:
    """Where the bytes of images will come from."""
    if fetched is not None:
        yield FolderImages(fetched)
    elif images == NO_IMAGES:
        yield no_images
    else:
        with images_of(Path(images), target.parent if isinstance(target, Path) else scratch_of(target.parent)) as found:
            yield found


def _fetch(format_: Format, engines: Engines, asked: Asked, folder: Path, config: RunConfig) -> Ledger:
    """Fetch what the documents show, once it is known that there is a model to look at it."""
    list(engines.scoring.map(load_models, [asked]))
    with engines.plain() as engine, _progress("{task.description}") as progress:
        progress.add_task(f"fetching images into {folder}", total=None)
        read = in_windows(format_.batches(), engines.at_once, engine, format_.images_of, lambda _batch, _error: [])
        wanted = (urls for _, results in read for urls in results)
        return fetch_images(wanted, folder, config, engine, configured(config))


def _write(rows: Iterable[Scored], writer: Any, warn: Say) -> Ledger:
    ledger = Ledger("rows")
    with _progress("{task.completed:,.0f} {task.description}") as progress:
        task = progress.add_task("rows", total=None)
        for scored in rows:
            writer.write(scored)
            progress.advance(task, scored.rows)
            ledger.keep(scored.rows - len(scored.failures))
            for where, error in scored.failures:
                ledger.fail(error.reason)
                if ledger.failed.total() <= FAILURES_SHOWN:
                    warn(f"{where}: {error}")
    if (more := ledger.failed.total() - FAILURES_SHOWN) > 0:
        warn(f"and {more} more rows that failed")
    return ledger


def _progress(shown: str) -> Progress:
    """What is being done, and since when, on a terminal."""
    console = Console(stderr=True)
    columns = TextColumn(shown, markup=False), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def _ending_on_terminate() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does: what was written so far is removed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _one_line_errors(target: Location) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(disk_full(error)) from None
        raise UserError(f"--output {target}: cannot be written: {error.strerror or error}") from None
