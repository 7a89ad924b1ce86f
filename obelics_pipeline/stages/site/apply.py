"""The site stage's documents: what is known of the site joined to each, and each decided by it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.stages.dedup.shuffled_rows import whole
from obelics_pipeline.stages.site.columns import measured_score, site_columns
from obelics_pipeline.stages.site.evidence import TOTALS

_DEALT = pa.schema([field for field in TOTALS if field.name != "partition"])  # to one partition


def site_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    evidence_folder: Location,
    total_folder: Location,
    config: RunConfig,
) -> Manifest:
    """Join the columns to the kept documents of one unit, and drop those that are out of their bounds."""
    totals = whole((read_table(total_folder / name) for name in unit.payload["totals"]), _DEALT)
    own = read_table(committed(evidence_folder, unit.payload["evidence"]).path(evidence_folder, "own"))
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    ledger, start, score = Ledger("documents"), 0, measured_score(config)
    with Attempt(folder, unit) as attempt, open_parquet(source) as file:
        schema = _with_columns(file.schema_arrow, config)
        with pq.ParquetWriter(attempt.file("data", ".parquet"), schema, compression="zstd") as writer:
            for number in range(file.num_row_groups):
                table = file.read_row_group(number)
                table = table.filter(table["reason"].is_null())
                part = own.slice(start, table.num_rows)
                start += table.num_rows
                scores = table[score] if score is not None else None
                found = site_columns(totals, part, scores, unit.payload["sites"], config)
                reasons = _reasons(table, found, config)
                _count(reasons, ledger)
                if table.num_rows:
                    writer.write_table(_joined(table, found, reasons, schema))
        return attempt.commit([ledger], {name: unit.payload[name] for name in ("partition", "shared")})


def _with_columns(schema: pa.Schema, config: RunConfig) -> pa.Schema:
    """The documents' columns, ours after the other scores, as in `tables.document_schema`."""
    at = schema.get_field_index("nodes")
    for name in reversed(config.site.columns):
        schema = schema.insert(at, pa.field(name, pa.float64()))
    return schema.remove_metadata()


def _joined(table: pa.Table, found: pa.Table, reasons: list[str | None], schema: pa.Schema) -> pa.Table:
    columns = {name: table[name] for name in table.column_names} | {name: found[name] for name in found.column_names}
    columns["reason"] = pa.array(reasons, pa.string())
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _reasons(table: pa.Table, found: pa.Table, config: RunConfig) -> list[str | None]:
    """The first column, in the config's order, whose bounds a document does not meet."""
    rows = found.select(list(config.site.document)).to_pylist() or [{} for _ in range(table.num_rows)]
    documents = zip(table["doc_id"].to_pylist(), table["language"].to_pylist(), rows, strict=True)
    return [_reason(doc_id, language, values, config) for doc_id, language, values in documents]


def _reason(doc_id: str, language: str | None, values: dict[str, Any], config: RunConfig) -> str | None:
    for name, thresholds in config.site.document.items():
        value, bounds = values[name], thresholds.bounds_for(language)
        if value is not None and bounds is not None and not keeps(bounds, value, name, doc_id):
            return name
    return None


def _count(reasons: list[str | None], ledger: Ledger) -> None:
    for reason in reasons:
        if reason is None:
            ledger.keep()
        else:
            ledger.drop(reason)
