"""Images that a run fetched and scores that its models measured, for the documents of a dry run. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed, read_manifest, read_manifests, unit_names
from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.core.document import CARRIED, IMAGE_MEASURES
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import Location, file_sha256, read_table, read_tables, write_table
from obelics_pipeline.core.tables import kept_rows
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA, PLACE_SCHEMA
from obelics_pipeline.stages.fetch.stage import earlier_results
from obelics_pipeline.stages.score.stage import SIMILARITY, UNSAFE, measured_schema


def known_images(run: RunFolder, config: FetchingConfig) -> pa.Table:
    """The last answer for each URL that the run fetched: ANSWER_SCHEMA, its place, and what was measured of pixels."""
    files = [path for bucket in range(config.buckets) for _, path in earlier_results(run.fetch, bucket, config)]
    known = (*ANSWER_SCHEMA.names, *PLACE_SCHEMA.names, *IMAGE_MEASURES)
    tables = [table.select([name for name in known if name in table.column_names]) for table in read_tables(files)]
    if not tables:
        return ANSWER_SCHEMA.empty_table()
    table = pa.concat_tables(tables, promote_options="default")
    codes = table["url"].combine_chunks().dictionary_encode().indices
    last = (
        pa.table({"code": codes, "row": pa.array(range(table.num_rows))}).group_by("code").aggregate([("row", "max")])
    )
    return table.take(last["row_max"])


def known_scores(run: RunFolder, columns: Sequence[str]) -> pa.Table:
    """The scores that models measured: a row per document, with doc_id and the columns; null if not measured."""
    found = read_manifests(run.scores, unit_names(run.scores)).values()
    schema = pa.schema([field for field in measured_schema(columns) if field.name not in (SIMILARITY, UNSAFE)])
    tables = [_with_columns(read_table(m.path(run.scores, "data")), schema) for m in found]
    return pa.concat_tables([schema.empty_table(), *tables])


def known_of_images(run: RunFolder, measures: Sequence[str]) -> pa.Table:
    """What models said of single images: a row each of sha256, unsafe and the measures of pictures; null if nothing."""
    found: dict[str, dict[str, float]] = {}
    for m in read_manifests(run.scores, unit_names(run.scores)).values():
        measured = read_table(m.path(run.scores, "data"))
        documents = read_manifest(run.assembled, m.notes["documents"])
        names = [name for name in (UNSAFE, *measures) if name in measured.column_names]
        if not names or documents is None:
            continue
        of = {row["doc_id"]: row for row in measured.select(["doc_id", *names]).to_pylist()}
        for doc_id, hashes in _hashes(documents.path(run.assembled, "data")):
            for name in names:
                for sha256, score in zip(hashes, of.get(doc_id, {}).get(name) or (), strict=False):
                    if sha256 is not None and score is not None:
                        found.setdefault(sha256, {})[name] = score
    schema = pa.schema([("sha256", pa.string()), *((name, pa.float64()) for name in (UNSAFE, *measures))])
    return pa.Table.from_pylist([{"sha256": sha256, **of_it} for sha256, of_it in found.items()], schema)


def _hashes(path: Location) -> Iterator[tuple[str, list[str | None]]]:
    """The sha256 of each kept image of the kept documents of a file, by the id of the document, in order."""
    for _, table in kept_rows(path, ["doc_id", "nodes"]):
        for row in table.to_pylist():
            kept = (node for node in row["nodes"] if node["kind"] == "image" and node["reason"] is None)
            yield row["doc_id"], [node["sha256"] for node in kept]


def _with_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    missing = pa.nulls(table.num_rows, pa.float64())
    return pa.table([table[n] if n in table.column_names else missing for n in schema.names], schema=schema)


def answers(documents: Sequence[Manifest], place: Location, images: pa.Table, folder: Location) -> Partitions:
    """The known images that each unit of documents asks for, in `folder`; `place` is that of the documents."""
    row_of = {url: row for row, url in enumerate(images["url"].to_pylist())}
    files, digests = {}, {}
    for m in documents:
        urls = _urls(m.path(place, "data"))
        rows = [row_of[url] for url in urls if url in row_of]
        name = f"{m.unit}.parquet"
        write_table(images.take(pa.array(rows, pa.int64())), folder / name)
        files[m.unit], digests[m.unit] = [name], file_sha256(folder / name)
    return Partitions(folder, files, digests)


def _urls(path: Location) -> list[str]:
    """What the images are asked for by: as `asked_as` says of each."""
    found: set[str] = set()
    for _, table in kept_rows(path, ["images", "nodes"]):
        found.update(pc.list_flatten(table["images"]).drop_null().to_pylist())
        hashes = pc.struct_field(pc.list_flatten(table["nodes"]), "sha256").drop_null().to_pylist()
        found.update(CARRIED + sha256 for sha256 in hashes)
    return sorted(found)


def score_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    scores: Location,
    of_images: Location,
    columns: Sequence[str],
    measures: Sequence[str] = (),
) -> Manifest:
    """The known scores of the kept documents of one unit, as the stage `score` writes what it measures.

    `scores` is a file of them, `of_images` one of images; an image that no model saw stays. The unit notes how many
    documents are `unseen` there.
    """
    known = read_table(scores)
    seen = {row["sha256"]: row for row in read_table(of_images).to_pylist()}
    hashes = _hashes(committed(document_folder, unit.payload["documents"]).path(document_folder, "data"))
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    rows: list[dict[str, object]] = []
    unseen = 0
    for _, table in kept_rows(source, ["doc_id", "images"]):
        at = pc.index_in(table["doc_id"], known["doc_id"])
        unseen += at.null_count
        found = known.select(list(columns)).take(at).to_pylist()
        pictures = [[None] * sum(url is not None for url in urls) for urls in table["images"].to_pylist()]
        ids = table["doc_id"].to_pylist()
        for i, p, f in zip(ids, pictures, found, strict=True):
            of_it = [seen.get(sha256 or "", {}) for sha256 in next(hashes)[1]]
            likely = [image.get(UNSAFE) or 0.0 for image in of_it]
            pictured = {name: [image.get(name) for image in of_it] for name in measures}
            rows.append({"doc_id": i, SIMILARITY: p, UNSAFE: likely, **pictured, **f})
    with Attempt(folder, unit) as attempt:
        table = pa.Table.from_pylist(rows, measured_schema(columns, measures))
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"documents": unit.payload["documents"], "unseen": unseen})
