"""`obelics publish`: a folder of Parquet files with texts and pictures, with its card, that opens by one line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.manifest import RunManifest
from obelics_pipeline.core.storage import (
    TEMPORARY,
    Location,
    file_sha256,
    location,
    names_in,
    read_bytes,
    remove,
    remove_tree,
    size_of,
    write_bytes,
)
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.card.command import CARD, CROISSANT
from obelics_pipeline.inspect.card.contents import contents_of
from obelics_pipeline.inspect.card.opens import Layout, Opens
from obelics_pipeline.inspect.card.page import card, in_a_sentence
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.published.croissant import croissant
from obelics_pipeline.inspect.published.parquet_part import PartWriter, WrittenPart
from obelics_pipeline.inspect.published.parts import TARGET_BYTES, parts_of
from obelics_pipeline.inspect.published.table import table_schema
from obelics_pipeline.inspect.report.funnel import funnel_of
from obelics_pipeline.inspect.report.opened import Run, read_run
from obelics_pipeline.policy.tombstones.obeyed import note_export, refuse_forgotten

DATA, CONFIG, LIST = "data", "config.yaml", "published.json"
NOTES = ".publishing"  # what is written of a publication that is not finished
FORMAT = "obelics-published-1"  # of LIST and of the columns; part of what a file says it was made of
PART_SECONDS = 3600.0  # a file that takes longer is tried again
_OURS = re.compile(r"train-\d{5}-of-\d{5}\.parquet")

OpenEngine = Callable[[Location, RunConfig], AbstractContextManager[Engine]]


@dataclass(frozen=True)
class Published:
    """What was written: the folder, and its Parquet files in the order of the documents."""

    output: Location
    parts: Sequence[WrittenPart]

    def line(self) -> str:
        """For a person."""
        rows, size = sum(part.rows for part in self.parts), sum(part.bytes for part in self.parts)
        files = f"{len(self.parts)} file{'s' if len(self.parts) > 1 else ''}"
        return f"wrote {rows:,} documents in {files} of Parquet ({size:,} bytes) and their card to {self.output}"


def publish(
    folder: str,
    output: str,
    said: Statement,
    workers: int | None = None,
    open_engine: OpenEngine | None = None,
    target_bytes: int = TARGET_BYTES,
) -> Published:
    """Publish a finished run: `data/*.parquet`, `README.md`, `croissant.json`, `config.yaml`, `published.json`.

    `workers` processes of this machine write files, one per CPU core by default; `open_engine` makes another engine.
    The list of files is written last: a folder that has it is whole. A command that was stopped goes on with the files
    that are there. Equal runs and statements give equal bytes. Raises UserError where no finished run is, where it is
    damaged or holds a removed document, and where the output holds other files.
    """
    run = read_run(folder)
    manifest, base, revision, target = run.manifest, location(folder), run.folder.path, location(output)
    if manifest is None:
        raise UserError(f"{folder}: the run there has not finished; run its command again to finish it")
    refuse_forgotten(revision)
    _refuse_strangers(base, target)
    note_export(revision, target)
    made_of = digest(FORMAT, manifest.index_sha256)
    scores, known = manifest.promises.score_names, _listed(target)
    writer = PartWriter(revision, target / DATA, target / NOTES, scores, made_of, known)
    remove([target / LIST])
    with _local(workers) if open_engine is None else open_engine(target, run.config) as engine:
        parts = list(engine.map(writer, parts_of(manifest.shards, target_bytes)))
    _sweep(target, parts)
    _describe(run, manifest, target, parts, said)
    remove_tree(target / NOTES)
    return Published(target, parts)


@contextmanager
def _local(workers: int | None) -> Iterator[Engine]:
    count = workers or os.cpu_count() or 1
    with TemporaryDirectory(prefix=TEMPORARY) as scratch, LocalEngine(count, Path(scratch), PART_SECONDS) as engine:
        yield engine


def _describe(run: Run, manifest: RunManifest, target: Location, parts: Sequence[WrittenPart], said: Statement) -> None:
    import duckdb

    schema = table_schema(manifest.promises.score_names)
    try:
        contents = contents_of(run.folder, manifest.promises.score_names, run.config.consent.licence.active)
    except (OSError, pa.ArrowException, duckdb.Error) as error:
        why = str(error).splitlines()[0][:200]
        raise UserError(f"{run.path}: cannot be read ({why}); see obelics validate") from None
    layout = Layout([Opens("default", f"{DATA}/*.parquet", schema)], "read_published.md", "parquet")
    text = card(run, manifest, funnel_of(run), contents, layout, said, file_sha256(run.folder.config))
    languages = [row.name for row in contents.languages if row.name]
    about = croissant(parts, schema, languages, said, in_a_sentence(manifest, contents))
    write_bytes(target / CONFIG, read_bytes(run.folder.config))
    write_bytes(target / CARD, text.encode())
    write_bytes(target / CROISSANT, _json(about))
    write_bytes(target / LIST, _json({"format": FORMAT, "files": [asdict(part) for part in parts]}))


def _listed(target: Location) -> list[WrittenPart]:
    """The files that the publication there lists; empty where its list is missing or cannot be read."""
    try:
        return [WrittenPart(**entry) for entry in json.loads(read_bytes(target / LIST))["files"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def _refuse_strangers(base: Location, target: Location) -> None:
    """Raise UserError where the output lies in the run, or holds Parquet files or a card that publish did not write."""
    advice = "give an empty or new folder"
    inner, outer = (where.resolve() if isinstance(where, Path) else where for where in (target, base))
    if outer in (inner, *inner.parents):
        raise UserError(f"--output {target}: lies in the run's own folder; give a folder outside")
    strangers = [f"{DATA}/{name}" for name in names_in(target / DATA) if not _OURS.fullmatch(name)]
    if not any(_OURS.fullmatch(name) for name in names_in(target / DATA)):
        strangers += [name for name in (CARD, CROISSANT, CONFIG) if size_of(target / name) is not None]
    if strangers := [name for name in strangers if TEMPORARY not in name]:
        raise UserError(f"--output {target}: holds {strangers[0]}, which publish did not write; {advice}")


def _sweep(target: Location, parts: Sequence[WrittenPart]) -> None:
    """Remove the files of an earlier publication that are no part of this one."""
    mine = {part.name for part in parts}
    remove(target / DATA / name for name in names_in(target / DATA) if _OURS.fullmatch(name) and name not in mine)
