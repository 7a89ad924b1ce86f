"""What is in the shards of a run, counted from its index and from when its pages were captured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.storage import local_copy, open_parquet
from obelics_pipeline.inspect.run_tables.folders import committed_units
from obelics_pipeline.net.registered_domain import site_of_host

QUANTILES = (0.05, 0.5, 0.95)
WORDS = "word_count"  # the score whose sum is the words of a corpus
_DATE = r'"warc_date": ?"(?P<day>\d{4}-\d\d-\d\d)'  # in the JSON of general_metadata
_LICENCE = r'"licence": ?"(?P<licence>[^"]*)"'


@dataclass(frozen=True)
class Counted:
    """Documents and images of one value: a language, a kind of page, a site. `name` is empty where it is not known."""

    name: str
    documents: int
    images: int


@dataclass(frozen=True)
class Contents:
    """Of the documents that are in shards. The lists have the most documents first. `words` may be unmeasured (None).

    `quantiles` has, by score, as many values as `QUANTILES`; scores that no document has are left out. `captured` is
    the first and the last day of the pages that were read, None where records have no date. `licences` are those that
    pages name, none where nobody looked for them; `page_types` is empty where no page's kind is known.
    """

    languages: Sequence[Counted]
    sites: Sequence[Counted]
    files: Sequence[Counted]
    words: int | None
    quantiles: Mapping[str, Sequence[float]]
    captured: tuple[str, str] | None
    licences: Sequence[Counted] = ()
    page_types: Sequence[Counted] = ()


def contents_of(folder: RunFolder, score_names: Sequence[str], licences: bool = False) -> Contents:
    """Count a finished run, with `licences` those of its pages too.

    Memory grows with hosts, and with documents only where licences are counted.
    """
    import duckdb

    paths = demand_index(folder.path).paths
    with ExitStack() as local, duckdb.connect() as database:
        database.read_parquet([str(local.enter_context(local_copy(path))) for path in paths]).create_view("documents")
        hosts = _counted(database, "lower(regexp_extract(url, '^[a-zA-Z]+://(?:[^/?#@]*@)?([^/?#:]*)', 1))")
        quantiles = {name: _quantiles(database, name) for name in score_names}
        kinds = _ordered(_page_types(database))
        words = WORDS in score_names and database.execute(f"SELECT sum({WORDS}) FROM documents").fetchall()[0][0]
        return Contents(
            languages=_ordered(_counted(database, "coalesce(language, '')")),
            sites=_ordered(_summed((site_of_host(one.name), one) for one in hosts)),
            files=_ordered(_counted(database, "warc_filename")),
            words=int(words) if words else None,
            quantiles={name: found for name, found in quantiles.items() if found},
            captured=captured(folder),
            licences=_ordered(_licences(database, folder)) if licences else (),
            page_types=kinds if any(kind.name for kind in kinds) else (),
        )


def _page_types(database: Any) -> list[Counted]:
    """By kind of page; none of the index of an earlier version, which does not have it."""
    columns = {name for name, *_ in database.execute("DESCRIBE documents").fetchall()}
    return _counted(database, "coalesce(page_type, '')") if "page_type" in columns else []


def _licences(database: Any, folder: RunFolder) -> list[Counted]:
    schema = pa.schema([("doc_id", pa.string()), ("licence", pa.string())])
    said = pa.RecordBatchReader.from_batches(schema, _licence_batches(folder, schema))  # once: what a stream can
    database.register("said", said)
    return _counted(database, "coalesce(nullif(licence, ''), 'none is named')", "documents JOIN said USING (doc_id)")


def _licence_batches(folder: RunFolder, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for manifest in committed_units(folder, folder.extract):
        with open_parquet(manifest.path(folder.extract, "data")) as source:
            for batch in source.iter_batches(columns=["doc_id", "general_metadata"]):
                found = pc.struct_field(pc.extract_regex(batch["general_metadata"], _LICENCE), "licence")
                yield pa.RecordBatch.from_arrays([batch["doc_id"], found], schema=schema)


def captured(folder: RunFolder) -> tuple[str, str] | None:
    """The first and the last day, as YYYY-MM-DD, on which the pages that gave documents were captured."""
    days: set[str] = set()
    for manifest in committed_units(folder, folder.extract):
        with open_parquet(manifest.path(folder.extract, "data")) as source:
            for group in range(source.num_row_groups):
                general = source.read_row_group(group, columns=["general_metadata"])["general_metadata"]
                found = pc.struct_field(pc.extract_regex(general, _DATE), "day")
                days |= {str(day) for day in pc.unique(found).to_pylist() if day is not None}
    return (min(days), max(days)) if days else None


def _counted(database: Any, value: str, rows_of: str = "documents") -> list[Counted]:
    rows = database.execute(f"SELECT {value}, count(*), sum(n_images) FROM {rows_of} GROUP BY 1").fetchall()
    return [Counted(str(name), int(documents), int(images)) for name, documents, images in rows]


def _summed(named: Iterable[tuple[str, Counted]]) -> list[Counted]:
    documents: Counter[str] = Counter()
    images: Counter[str] = Counter()
    for name, one in named:
        documents[name] += one.documents
        images[name] += one.images
    return [Counted(name, count, images[name]) for name, count in documents.items()]


def _ordered(rows: Iterable[Counted]) -> list[Counted]:
    return sorted(rows, key=lambda row: (-row.documents, row.name))


def _quantiles(database: Any, name: str) -> list[float]:
    column = '"' + name.replace('"', '""') + '"'
    found = database.execute(f"SELECT quantile_disc({column}, {list(QUANTILES)}) FROM documents").fetchall()[0][0]
    return [float(value) for value in found or ()]
