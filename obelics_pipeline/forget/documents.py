"""Files of documents, rewritten: forgotten ones blank, forgotten images blank in those that stay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.document import CARRIED, Document, ImageNode, has_failed
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, open_parquet
from obelics_pipeline.core.tables import DocumentWriter, read_documents, score_columns
from obelics_pipeline.forget.edits import mask_of
from obelics_pipeline.forget.gone import Gone
from obelics_pipeline.policy.forgotten import FORGOTTEN, blank, blank_image, is_blank, is_gone
from obelics_pipeline.policy.personal_data.counts import PersonalDataTally
from obelics_pipeline.stages.shard.finish import IMAGE_COUNT
from obelics_pipeline.stages.stage import Stage

PERSONAL_DATA = "personal_data"  # key of the notes: what the documents held
NODE_COLUMNS = tuple(f"nodes.list.element.{name}" for name in ("src", "sha256", "duplicate_of"))


def is_touched(place: Location, stage: Stage, gone: Gone) -> bool:
    """Whether a file of documents has something to forget, from the columns that tell."""
    of_documents = gone.out if stage.with_images else gone.document
    with open_parquet(place) as source:
        for group in range(source.num_row_groups):
            table = source.read_row_group(group, columns=["doc_id", *NODE_COLUMNS])
            nodes = pc.list_flatten(table["nodes"])
            told = (
                (table["doc_id"], of_documents),
                (pc.struct_field(nodes, "src"), gone.url),
                (pc.binary_join_element_wise(CARRIED, pc.struct_field(nodes, "sha256"), ""), gone.url),
                (pc.struct_field(nodes, "duplicate_of"), gone.document),
            )
            if any(pc.any(mask_of(column, is_of_gone)).as_py() for column, is_of_gone in told):
                return True
    return False


def rewrite(place: Location, path: Path, stage: Stage, gone: Gone) -> None:
    """Write a file of documents to a local path, without what is forgotten."""
    scores, paragraph_scores = score_columns(place)
    with DocumentWriter(path, scores, paragraph_scores) as writer:
        for document in read_documents(place):
            forget_in(document, stage, gone)
            writer.write(document)


def forget_in(document: Document, stage: Stage, gone: Gone) -> None:
    """Remove what is forgotten of one document."""
    if is_blank(document):
        return
    if gone.document(document.doc_id):
        blank(document, gone.name(document.doc_id))
        return
    for node in document.nodes:
        if isinstance(node, ImageNode) and is_gone(node, gone.url):
            blank_image(node)
        if node.duplicate_of is not None and gone.document(node.duplicate_of):
            node.duplicate_of = gone.name(node.duplicate_of)
    if stage.with_images and document.reason is None:
        if gone.too_few(document.doc_id):
            document.reason = IMAGE_COUNT
        elif gone.out(document.doc_id):
            document.reason = FORGOTTEN


def counted(
    path: Location, stage: Stage, before: Manifest, arrived: Collection[str] | None
) -> tuple[dict[str, Ledger], dict[str, Any]]:
    """The ledgers and the notes of a unit of documents, whose file is now another.

    A document that is forgotten is counted where it was extracted, and did not arrive at the later stages: `arrived`
    are the documents that came to the stage, None for all.
    """
    documents, images = Ledger("documents"), Ledger("images")
    tally = PersonalDataTally([f"personal_{kind}" for kind in before.notes.get(PERSONAL_DATA, ())])
    for document in tally.passing(read_documents(path)):
        if arrived is not None and document.doc_id not in arrived:
            continue
        documents.count(document.reason, has_failed(document))
        images.add(stage.image_ledger(document))
    found = {noun: ledger for noun, ledger in (("documents", documents), ("images", images)) if noun in before.ledgers}
    notes = {PERSONAL_DATA: tally.to_json()} if PERSONAL_DATA in before.notes else {}
    return before.ledgers | found, before.notes | notes


def arrived(place: Location, stage: Stage, gone: Gone) -> set[str]:
    """Kept documents of a unit of a stage that stay; the same before and after the unit is rewritten."""
    goes = gone.out if stage.with_images else gone.document
    return {doc_id for doc_id in _kept_ids(place) if not goes(doc_id)}


def kept_positions(place: Location, gone: Gone) -> tuple[int, list[int]]:
    """The number of kept documents of a file, and the positions among them of those that are forgotten."""
    kept, found = 0, []
    for doc_id in _kept_ids(place):
        if gone.document(doc_id):
            found.append(kept)
        kept += 1
    return kept, found


def _kept_ids(place: Location) -> Iterator[str]:
    with open_parquet(place) as source:
        for group in range(source.num_row_groups):
            table = source.read_row_group(group, columns=["doc_id", "reason"])
            yield from table.filter(table["reason"].is_null())["doc_id"].to_pylist()


def image_places(place: Location, doc_ids: Mapping[str, int], gone: Gone) -> dict[str, list[int]]:
    """For documents that lose images: the positions, among the kept images, of those that stay."""
    found: dict[str, list[int]] = {}
    for document in read_documents(place):
        if document.doc_id in doc_ids and document.reason is None:
            images = document.images()
            found[document.doc_id] = [i for i, image in enumerate(images) if not is_gone(image, gone.url)]
    return found
