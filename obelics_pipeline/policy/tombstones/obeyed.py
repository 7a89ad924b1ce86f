"""Readers of a finished run: is anything in its index that was removed, and where was the run exported to?"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.storage import Location, create, names_in, read_bytes
from obelics_pipeline.core.unit import digest
from obelics_pipeline.policy.tombstones.tombstones import FOLDER, Tombstones, refuse_unfinished, tombstones_in

EXPORTS = "exports"  # below the folder of tombstones: a note for each place that the run was exported to
NO_DUPLICATES = DedupConfig(enabled=False)  # an index says nothing of texts


def tombstones_of(run: Location) -> Tombstones | None:
    """The tombstones of a run. Raises UserError if a removal is not finished."""
    refuse_unfinished(run)
    return tombstones_in([run / FOLDER], NO_DUPLICATES)


def refuse_forgotten(run: Location) -> None:
    """Raises UserError if shards of a run hold a removed document, which happens when old shards were copied back."""
    known = tombstones_of(run)
    index = index_of(run) if known is not None else None
    if known is None or index is None:
        return
    n = sum(known.document(row["doc_id"]) or known.url(row["url"]) for row in index.rows(["doc_id", "url"]))
    if n:
        raise UserError(f"{run}: its shards hold {n:,} documents that were removed: obelics forget {run} removes them")


def note_export(run: Location, output: Location | str) -> None:
    """Note where an export lies, so that a later removal can name it. Does nothing in a read-only folder."""
    where = str(output.resolve()) if isinstance(output, Path) else redacted(str(output))
    folder = run / FOLDER / EXPORTS
    with suppress(OSError):
        if isinstance(folder, Path):
            folder.mkdir(parents=True, exist_ok=True)
        create(folder / f"{digest(where)}.txt", f"{where}\n".encode())


def noted_exports(run: Location) -> list[str]:
    """Where a run was exported to."""
    folder = run / FOLDER / EXPORTS
    return [read_bytes(folder / name).decode("utf-8", "replace").strip() for name in names_in(folder)]
