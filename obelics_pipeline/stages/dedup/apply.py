"""The dedup stage's documents: what repeats over the corpus is dropped from each, and each is decided again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.document import Document, ImageNode, TextNode, has_failed
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, read_table
from obelics_pipeline.core.tables import DocumentWriter, read_kept, score_columns
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.dedup.uses import (
    IMAGE_URL,
    PARAGRAPH,
    PHASH,
    counts_as_paragraph,
    host_of,
    paragraph_key,
    phash_key,
    url_key,
    verdicts,
)

# Reasons of nodes.
REPEATED, OVERUSED_URL, OVERUSED_PHASH = "repeated_paragraph", "overused_image_url", "overused_image"
NO_TEXT, NO_IMAGE = "no_text", "no_image"  # reasons of documents

# Documents of an earlier run that would lose something, had they been in this one.
CHANGED = pa.schema([("doc_id", pa.string()), ("paragraphs", pa.int32()), ("images", pa.int32())])

Decide = Callable[[Document], None]  # sets the reason of a document that lost something

Verdicts = Mapping[bytes, bytes]  # key of what is used too often -> the first document that uses it


def dedup_unit(
    unit: Unit,
    *,
    folder: Location,
    extract_folder: Location,
    verdict_folder: Location,
    config: DedupConfig,
    decide: Decide,
) -> Manifest:
    """Apply what the counts say to the kept documents of one extracted unit."""
    rows = [read_table(verdict_folder / name) for name in unit.payload["verdicts"]]
    paragraphs, images = verdicts(rows, PARAGRAPH), verdicts(rows, IMAGE_URL)
    source = committed(extract_folder, unit.payload["extracted"]).path(extract_folder, "data")
    documents = Ledger("documents")
    with Attempt(folder, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), *score_columns(source)) as writer:
            for document in read_kept(source):
                if drop_paragraphs(document, paragraphs, config) + drop_images(document, images):
                    decide(document)
                documents.count(document.reason, has_failed(document))
                writer.write(document)
        return attempt.commit([documents], {"partition": unit.payload["partition"]})


def drop_paragraphs(document: Document, repeated: Verdicts, config: DedupConfig) -> int:
    """Drop the paragraphs that the host repeats, at any position (reference, stage 9). Returns the number dropped."""
    host, dropped = host_of(document.url), 0
    for node in document.nodes if repeated else ():
        if isinstance(node, TextNode) and counts_as_paragraph(node, config.paragraphs):
            first = repeated.get(paragraph_key(host, node.text))
            if first is not None:
                node.reason, node.duplicate_of = REPEATED, first.hex()
                dropped += 1
    return dropped


def drop_images(document: Document, overused: Verdicts) -> int:
    """Drop the images whose URL is used too often (reference, stage 6); how many."""
    dropped = 0
    for image in document.images() if overused else ():
        first = overused.get(url_key(image.src))
        if first is not None:
            image.reason, image.duplicate_of = OVERUSED_URL, first.hex()
            dropped += 1
    return dropped


def changed_unit(
    unit: Unit,
    *,
    folder: Location,
    corpus_folders: Mapping[str, Location],
    verdict_folders: Sequence[Location],
    config: DedupConfig,
) -> Manifest:
    """List what the verdicts of a later run would change in the documents of one assembled unit; nothing is changed.

    The documents are those that were kept in the end. `corpus_folders` are the folders, in their run, of the
    `documents` that tars were made of and of `settled`.
    """
    names = zip(verdict_folders, unit.payload["verdicts"], strict=True)
    rows = [read_table(place / name) for place, files in names for name in files]
    paragraphs, urls, phashes = (verdicts(rows, rule) for rule in (PARAGRAPH, IMAGE_URL, PHASH))
    settled = corpus_folders["settled"]
    gone = set(read_table(committed(settled, unit.payload["settled"]).path(settled, "data"))["doc_id"].to_pylist())
    folder_of = corpus_folders["documents"]
    source = committed(folder_of, unit.payload["documents"]).path(folder_of, "data")
    found = []
    for document in read_kept(source):
        if document.doc_id not in gone:
            texts = drop_paragraphs(document, paragraphs, config)
            images = drop_images(document, urls) + drop_phashes(document, phashes)
            if texts + images:
                found.append({"doc_id": document.doc_id, "paragraphs": texts, "images": images})
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(found, CHANGED), attempt.file("data", ".parquet"), compression="zstd")
        return attempt.commit([], {"rows": {"data": len(found)}})


def drop_phashes(document: Document, overused: Verdicts) -> int:
    """Drop the images that look like too many others; how many."""
    dropped = 0
    for image in document.images() if overused else ():
        first = overused.get(phash_key(image.phash)) if image.phash is not None else None
        if first is not None:
            image.reason, image.duplicate_of = OVERUSED_PHASH, first.hex()
            dropped += 1
    return dropped


def lack(document: Document) -> None:
    """Decide as the reference does (stages 8 and 10): a document without text, or without an image, goes."""
    if not any(isinstance(node, TextNode) and node.reason is None and node.text for node in document.nodes):
        document.reason = NO_TEXT
    elif not any(isinstance(node, ImageNode) and node.reason is None for node in document.nodes):
        document.reason = NO_IMAGE
