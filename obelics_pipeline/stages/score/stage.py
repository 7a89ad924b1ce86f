"""The score stage: models look at documents together with their images, then bounds of what they measured decide.

Two units for each unit of documents. One measures, and is done by workers that hold the models; its output is what
it measured, by document. The other lays it over the documents and decides: where bounds change, nothing is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.core.document import (
    DOCUMENT_DROPPED,
    NOT_FINITE,
    Document,
    ImageNode,
    has_failed,
    refuse_not_finite,
)
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.core.tables import DocumentWriter, read_kept, score_columns
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.filters.genre import bounds_of
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.stages.score.picture_bounds import PictureBounds
from obelics_pipeline.stages.score.some import DocumentScorer
from obelics_pipeline.stages.score.unsafe_images import Screen, arrived_images
from obelics_pipeline.stages.shard.assemble import NOT_FETCHED
from obelics_pipeline.stages.shard.stage import SIZES

CHUNK = (
    1024  # documents that a model is given at a time: bounds memory, and is the same everywhere, as batches form inside
)
SIMILARITY, UNSAFE = "similarity", "unsafe"  # of each kept image of a document, in order
UNDECODABLE = "undecodable"  # why a model measured nothing of an image that was fetched: damaged, or too many pixels


def measure_units(documents: Sequence[Manifest], models: str) -> list[Unit]:
    """One unit per unit of documents; `models` says which models, see `identity`."""
    units = []
    for m in documents:
        id_ = digest(code_of(__name__), m.files["data"]["sha256"], models)
        units.append(Unit("score", id_, m.unit.rpartition("-")[0], {"documents": m.unit}))
    return units


def measure_unit(
    unit: Unit,
    models: DocumentScorer,
    *,
    folder: Location,
    document_folder: Location,
    columns: Sequence[str],
    measures: Sequence[str] = (),
) -> Manifest:
    """Measure the kept documents of one unit by the models, one row each. Batches form inside the unit.

    `measures` are what the models measure of each image (`ScoringConfig.picture_measures`); each has a ledger of images
    by its name.
    """
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    schema, ledgers = measured_schema(columns, measures), [Ledger(name) for name in measures]
    with Attempt(folder, unit) as attempt:
        with pq.ParquetWriter(attempt.file("data", ".parquet"), schema, compression="zstd") as writer:
            kept = read_kept(source)
            while chunk := list(islice(kept, CHUNK)):
                writer.write_table(pa.Table.from_pylist(list(_measured(chunk, models, ledgers)), schema))
        return attempt.commit(ledgers, {"documents": unit.payload["documents"]})


def measured_schema(columns: Sequence[str], measures: Sequence[str] = ()) -> pa.Schema:
    """The rows of what was measured, in the order of the kept documents."""
    scores = [pa.field(name, pa.float64()) for name in columns]
    of_images = [pa.field(name, pa.list_(pa.float64())) for name in (SIMILARITY, UNSAFE, *measures)]
    return pa.schema([pa.field("doc_id", pa.string()), *scores, *of_images])


def _measured(
    documents: Sequence[Document], models: DocumentScorer, ledgers: Sequence[Ledger]
) -> Iterator[dict[str, Any]]:
    for document, found in zip(documents, models.score(documents), strict=True):
        of_images = {name: [getattr(image, name) for image in document.images()] for name in (SIMILARITY, UNSAFE)}
        of_pictures = {of.noun: [_of_picture(image, of) for image in document.images()] for of in ledgers}
        yield {"doc_id": document.doc_id, **of_images, **of_pictures, **found}


def _of_picture(image: ImageNode, ledger: Ledger) -> float | None:
    """What the ledger's measure is of an image, counted; None, with its reason counted, where there is no number."""
    value = image.scores.get(ledger.noun)
    if value is not None and isfinite(value):
        ledger.keep()
        return value
    ledger.fail(NOT_FETCHED if image.sha256 is None else UNDECODABLE if value is None else NOT_FINITE)
    return None


def decide_units(
    documents: Sequence[Manifest],
    measured: Sequence[Manifest],
    bounds: Mapping[str, LanguageBounds],
    screen: Screen | None = None,
    pictures: PictureBounds | None = None,
) -> list[Unit]:
    """One unit per unit of documents that was measured."""
    scores_of = {m.notes["documents"]: (m.unit, m.files["data"]["sha256"]) for m in measured}
    rules = [[name, of.model_dump(mode="json")] for name, of in bounds.items()]
    of_images = [rule.identity for rule in (screen, pictures) if rule is not None]
    units = []
    for m in documents:
        if m.unit in scores_of:
            scores, sha256 = scores_of[m.unit]
            hashes = [m.files["data"]["sha256"], sha256]
            payload = {"documents": m.unit, "scores": scores, "partition": m.notes["partition"]}
            id_ = digest(code_of(__name__), payload["partition"], hashes, rules, *of_images)
            units.append(Unit("decide", id_, m.unit.rpartition("-")[0], payload))
    return units


def decide_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    score_folder: Location,
    columns: Sequence[str],
    bounds: Mapping[str, LanguageBounds],
    measures: Sequence[str] = (),
    screen: Screen | None = None,
    pictures: PictureBounds | None = None,
) -> Manifest:
    """The kept documents of one unit with what was measured of them, decided: as the unit that they come from."""
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    measured = read_table(committed(score_folder, unit.payload["scores"]).path(score_folder, "data"))
    before, of_nodes = score_columns(source)
    names = [*before, *columns]
    documents, images, sizes = Ledger("documents"), Ledger("images"), list[dict[str, int]]()
    with Attempt(folder, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), names, [*of_nodes, *measures]) as writer:
            for row, (document, found) in enumerate(zip(read_kept(source), measured.to_pylist(), strict=True)):
                lay_over(document, found, columns, measures)
                if screen is not None:
                    screen(document)
                if pictures is not None:
                    pictures(document)
                refuse_not_finite(document, columns)
                if document.reason is None:
                    decide(document, bounds)
                for picture in arrived_images(document):
                    count(picture, document, images)
                documents.count(document.reason, has_failed(document))
                if document.reason is None:
                    sizes.append({"row": row, "bytes": make_record(document, names).size})
                writer.write(document)
        pq.write_table(pa.Table.from_pylist(sizes, SIZES), attempt.file("sizes", ".parquet"))
        return attempt.commit([documents, images], {"partition": unit.payload["partition"]})


def count(image: ImageNode, document: Document, ledger: Ledger) -> None:
    """Count an image that came here with a document that is decided."""
    if image.reason is not None:
        (ledger.fail if image.failed else ledger.drop)(image.reason)
    elif document.reason is not None:
        ledger.drop(DOCUMENT_DROPPED)
    else:
        ledger.keep()


def lay_over(
    document: Document, found: Mapping[str, Any], columns: Sequence[str], measures: Sequence[str] = ()
) -> None:
    """Give a document, and its kept images, what was measured. Raises ValueError for what is of another document."""
    if found["doc_id"] != document.doc_id:
        raise ValueError(f"scores of document {found['doc_id']} at document {document.doc_id}; report this as a bug")
    document.scores.update({name: found[name] for name in columns})
    for image, similarity in zip(document.images(), found[SIMILARITY], strict=True):
        image.similarity = similarity
    for image, unsafe in zip(document.images(), found.get(UNSAFE) or (), strict=False):
        image.unsafe = unsafe
    for name in measures:
        for image, value in zip(document.images(), found[name], strict=True):
            if value is not None:
                image.scores[name] = value


def decide(document: Document, bounds: Mapping[str, LanguageBounds]) -> None:
    """Set the reason of a document to the first column that is out of its bounds; a null is in all bounds."""
    for name, of_all in bounds.items():
        score, of_it = document.scores[name], bounds_of(of_all, document)
        if score is None or of_it is None or keeps(of_it, score, name, document.doc_id):
            continue
        document.reason = name
        return
