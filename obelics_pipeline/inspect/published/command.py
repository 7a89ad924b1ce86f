"""`obelics publish`: a folder of Parquet files with texts and pictures, with its card, that opens by one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from obelics_pipeline import __version__
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import RunManifest
from obelics_pipeline.core.shards.run_index import PartBounds
from obelics_pipeline.core.storage import TEMPORARY, Location, file_sha256, location, read_bytes
from obelics_pipeline.core.unit import digest
from obelics_pipeline.engines.engine import Engine
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.inspect.card.command import CARD, CROISSANT
from obelics_pipeline.inspect.card.contents import contents_of
from obelics_pipeline.inspect.card.opens import Layout, Opens
from obelics_pipeline.inspect.card.page import card, in_a_sentence
from obelics_pipeline.inspect.card.responsible import responsible
from obelics_pipeline.inspect.card.statement import Statement
from obelics_pipeline.inspect.consent_again.answers import last_round
from obelics_pipeline.inspect.published.citation import bibtex, citation_cff
from obelics_pipeline.inspect.published.croissant import croissant
from obelics_pipeline.inspect.published.folder import Folder
from obelics_pipeline.inspect.published.hub import HUB, Repository
from obelics_pipeline.inspect.published.lineage import Made, lineage
from obelics_pipeline.inspect.published.parquet_part import PartMaker, WrittenPart
from obelics_pipeline.inspect.published.parts import TARGET_BYTES, parts_of
from obelics_pipeline.inspect.published.table import table_schema
from obelics_pipeline.inspect.published.target import CITATION, CONFIG, DATA, FORMAT, LINEAGE, LIST, as_json, list_of
from obelics_pipeline.inspect.report.funnel import funnel_of
from obelics_pipeline.inspect.report.opened import Run, read_run
from obelics_pipeline.policy.tombstones.obeyed import note_export, refuse_forgotten

PART_SECONDS = 3600.0  # a file that takes longer is tried again

OpenEngine = Callable[[Location, RunConfig], AbstractContextManager[Engine]]


@dataclass(frozen=True)
class Published:
    """What was written: the folder or the repository, and its Parquet files in the order of the documents."""

    output: str
    parts: Sequence[WrittenPart]
    advice: Sequence[str] = ()  # of the hub's viewer and pages, a line each

    def line(self) -> str:
        """For a person."""
        rows, size = sum(part.rows for part in self.parts), sum(part.bytes for part in self.parts)
        files = f"{len(self.parts)} file{'s' if len(self.parts) > 1 else ''}"
        return f"wrote {rows:,} documents in {files} of Parquet ({size:,} bytes) and their card to {self.output}"

    def advised(self) -> str:
        """The first line of advice, for a person, and how many more there are; empty without any."""
        more = f" ({len(self.advice) - 1:,} more like it)" if len(self.advice) > 1 else ""
        return f"note: {self.advice[0]}{more}" if self.advice else ""


def publish(
    folder: str,
    output: str,
    said: Statement,
    workers: int | None = None,
    open_engine: OpenEngine | None = None,
    target_bytes: int = TARGET_BYTES,
) -> Published:
    """Publish a finished run: `data/*.parquet`, `README.md`, `croissant.json`, `CITATION.cff`, and so on.

    `workers` processes of this machine write files, one per CPU core by default; `open_engine` makes another engine.
    The list of files is written last: a folder that has it is whole. A command that was stopped goes on with the files
    that are there. Equal runs and statements give equal bytes, except that `lineage.jsonl` has the times of the run.
    Raises UserError where no finished run is, where it is damaged or holds a removed document, where the output holds
    other files, and where the hub's viewer would not show what was written: it is checked before the list is written.
    """
    run = read_run(folder)
    manifest, base, revision, target = run.manifest, location(folder), run.folder.path, _target(output)
    if manifest is None:
        raise UserError(f"{folder}: the run there has not finished; run its command again to finish it")
    refuse_forgotten(revision)
    target.refuse_strangers(base)
    note_export(revision, target.path if isinstance(target, Folder) else str(target))
    answers = last_round(base)
    made_of = digest(FORMAT, manifest.index_id(), None if answers is None else file_sha256(answers))
    maker = PartMaker(revision, PartBounds.of(manifest), manifest.promises.score_names, made_of, answers)
    place = target.path if isinstance(target, Folder) else base
    with _local(workers) if open_engine is None else open_engine(place, run.config) as engine:
        parts = target.write_parts(engine, maker, parts_of(manifest.shards, target_bytes))
    advice = target.finish(parts, _beside(run, manifest, parts, said))
    return Published(str(target), parts, advice)


def _target(output: str) -> Folder | Repository:
    return Repository.of(output) if output.startswith(HUB) else Folder(location(output))


@contextmanager
def _local(workers: int | None) -> Iterator[Engine]:
    count = workers or os.cpu_count() or 1
    with TemporaryDirectory(prefix=TEMPORARY) as scratch, LocalEngine(count, Path(scratch), PART_SECONDS) as engine:
        yield engine


def _beside(run: Run, manifest: RunManifest, parts: Sequence[WrittenPart], said: Statement) -> dict[str, bytes]:
    """What lies beside the Parquet files, by name; the list of them last."""
    import duckdb

    schema = table_schema(manifest.promises.score_names)
    try:
        contents = contents_of(run.folder, manifest.promises.score_names, run.config.consent.licence.active)
    except (OSError, pa.ArrowException, duckdb.Error) as error:
        why = str(error).splitlines()[0][:200]
        raise UserError(f"{run.path}: cannot be read ({why}); see obelics validate") from None
    layout = Layout([Opens("default", f"{DATA}/train-*.parquet", schema)], "read_published.md", "parquet")
    funnel, sentence = funnel_of(run), in_a_sentence(manifest, contents)
    text = card(run, manifest, funnel, contents, layout, said, file_sha256(run.folder.config))
    languages = [row.name for row in contents.languages if row.name]
    further = {"citeAs": bibtex(said), **responsible(run, funnel, contents, said)}
    about = croissant(parts, schema, languages, said, sentence, further)
    return {
        CONFIG: read_bytes(run.folder.config),
        CARD: text.encode(),
        CROISSANT: as_json(about),
        CITATION: citation_cff(said, sentence).encode(),
        LINEAGE: lineage(_made(run, manifest, [row.name for row in contents.files], parts), run.events),
        LIST: list_of(parts),
    }


def _made(run: Run, manifest: RunManifest, inputs: Sequence[str], parts: Sequence[WrittenPart]) -> Made:
    return Made(
        config=run.config_name,
        config_sha256=file_sha256(run.folder.config),
        revision=revisions_of(run.folder.base).current_number(),
        code=run.folder.noted().get("code", {}),
        inputs=sorted(inputs),
        outputs={f"{DATA}/{part.name}": (part.sha256, part.bytes, part.rows) for part in parts},
        corpus=manifest.index_id(),
        counts=manifest.counts(),
        version=__version__,
    )
