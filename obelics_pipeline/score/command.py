"""`obelics score`: the rows of the input in their order, with scores; whole, or not there."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from obelics_pipeline.config import RunConfig, load_config
from obelics_pipeline.engines.attempts import DISK_FULL, disk_full
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.ledger import Ledger
from obelics_pipeline.read.listing import expand
from obelics_pipeline.score import json_lines, table_rows
from obelics_pipeline.score.columns import Asked, ask
from obelics_pipeline.score.row_error import RowError
from obelics_pipeline.storage import TEMPORARY, Place, draft, place, scratch_of

BATCHES_PER_WORKER = 16  # held at a time: workers wait at the end of such a window, for half a batch on average
BATCHES_ON_CLUSTER = 256  # the same, where the engine decides how many workers there are
BATCH_SECONDS = 600.0  # a batch that takes longer is tried again; with text filters the largest row takes half a minute
FAILURES_SHOWN = 10
PRELOAD = ("obelics_pipeline.score.json_lines", "obelics_pipeline.score.table_rows")

OpenEngine = Callable[[Place, RunConfig], AbstractContextManager[Engine]]  # from a folder and the config
Say = Callable[[str], None]


class Scored(Protocol):
    """Some rows of the output, how many they are, and which of them failed: their place and why."""

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
    images: str = "none",
    replace: bool = False,
    open_engine: OpenEngine | None = None,
    say: Say = print,
    warn: Say = print,
) -> int:
    """Write the rows of the inputs with the scores of `columns`; returns 0, or 1 where rows could not be scored.

    `open_engine` makes the engine; the local one where it is None. `say` is given the lines of the result, `warn` those
    about rows that failed. Raises UserError for what a person can mend, Stopped where the disk is full.
    """
    checked = load_config(config, overrides)
    asked = ask(columns, checked, images)
    files = input_files(inputs, checked)
    target = place(output, checked.reading.storage_options)
    _check_output(target, files)
    for line in asked.scorer().notices():
        warn(line)
    at_once = BATCHES_PER_WORKER * workers if workers else BATCHES_ON_CLUSTER
    with _ending_on_terminate(), _said_in_one_line(target), ExitStack() as stack:
        rows, writer_for, count = _of_format(files, asked, replace, at_once)
        path = stack.enter_context(draft(target))
        engine = stack.enter_context(_engine(open_engine, target, checked, workers or os.cpu_count() or 1))
        with writer_for(path) as writer:
            ledger = _write(rows(engine), writer, warn)
        if not ledger.balanced() or count(path) != ledger.entered:
            raise RuntimeError(f"{count(path)} rows were written, counted are {ledger}; this is a bug")
    say(f"{summary(ledger)}; wrote {target}")
    return 1 if ledger.failed else 0


def summary(ledger: Ledger) -> str:
    """The line that tells what became of the rows."""
    failed = ", ".join(f"{reason} {n}" for reason, n in sorted(ledger.failed.items()))
    return f"{ledger.entered} rows = {ledger.kept} scored + {ledger.failed.total()} failed" + (
        f" ({failed})" if failed else ""
    )


def input_files(patterns: Sequence[str], config: RunConfig) -> list[Place]:
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
    return [place(path, config.reading.storage_options) for path in found.values()]


def _suffixes(name: str) -> tuple[str, ...]:
    """The endings of the format that a name says. Raises UserError for another one."""
    for suffixes in (json_lines.SUFFIXES, table_rows.SUFFIXES):
        if name.lower().endswith(suffixes):
            return suffixes
    raise UserError(f"{name}: unknown format; valid are *.parquet, *.jsonl and *.jsonl.gz")


def _check_output(target: Place, files: Sequence[Place]) -> None:
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


def _of_format(
    files: Sequence[Place], asked: Asked, replace: bool, at_once: int
) -> tuple[Callable[[Engine], Iterable[Scored]], Callable[[Path], Any], Callable[[Path], int]]:
    """How rows of the input's format are scored, what writes them, and what counts them once they are written."""
    if _suffixes(files[0].name) == json_lines.SUFFIXES:
        return (
            lambda engine: json_lines.scored_lines(files, asked, replace, engine, at_once),
            json_lines.LineWriter,
            json_lines.count_lines,
        )
    schema = table_rows.output_schema(files, asked.columns(), replace)
    return (
        lambda engine: table_rows.scored_tables(files, asked, schema, engine, at_once),
        lambda path: table_rows.TableWriter(path, schema),
        table_rows.count_rows,
    )


def _write(rows: Iterable[Scored], writer: Any, warn: Say) -> Ledger:
    ledger = Ledger("rows")
    with _progress() as progress:
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


def _progress() -> Progress:
    """Rows so far, on a terminal."""
    console = Console(stderr=True)
    shown = TextColumn("{task.completed:,.0f} {task.description}")
    return Progress(shown, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def _engine(open_engine: OpenEngine | None, target: Place, config: RunConfig, workers: int) -> Iterator[Engine]:
    """The engine, with a folder for its locks that all its workers see, and that is gone afterwards."""
    if open_engine is not None and not isinstance(target, Path):
        with open_engine(target.parent, config) as engine:
            yield engine
        return
    beside = target.parent if open_engine is not None and isinstance(target, Path) else None
    make = open_engine or partial(_local_engine, workers)
    with tempfile.TemporaryDirectory(dir=beside, prefix=TEMPORARY) as name, make(Path(name), config) as engine:
        yield engine


def _local_engine(workers: int, folder: Place, _config: RunConfig) -> LocalEngine:
    return LocalEngine(workers, scratch_of(folder), BATCH_SECONDS, PRELOAD)


@contextmanager
def _ending_on_terminate() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does: what was written so far is removed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _said_in_one_line(target: Place) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Stopped(disk_full(error)) from None
        raise UserError(f"--output {target}: cannot be written: {error.strerror or error}") from None
