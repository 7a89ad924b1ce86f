"""What flows between our transforms: documents, and ranges to read, as JSON. No pickle, so equal values, equal bytes.

Importing this module registers the coders, so that a `beam.Map` of one's own fits between two of our transforms.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from apache_beam.coders import Coder
from apache_beam.coders.typecoders import registry

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, to_json
from obelics_pipeline.stages.read.ranges import ReadTask


class DocumentCoder(Coder):
    """A document as one line of JSON."""

    def encode(self, value: Document) -> bytes:
        """The document's bytes."""
        return to_json(asdict(value)).encode("utf-8", "surrogatepass")

    def decode(self, encoded: bytes) -> Document:
        """The inverse of `encode`."""
        values = json.loads(encoded.decode("utf-8", "surrogatepass"))
        return Document(**(values | {"nodes": [_node(node) for node in values["nodes"]]}))

    def is_deterministic(self) -> bool:
        """Equal documents have equal bytes."""
        return True

    def to_type_hint(self) -> type[Document]:
        """What it is for."""
        return Document


class ReadTaskCoder(Coder):
    """A range to read as one line of JSON."""

    def encode(self, value: ReadTask) -> bytes:
        """The range's bytes."""
        return to_json(value.to_json()).encode("utf-8", "surrogatepass")

    def decode(self, encoded: bytes) -> ReadTask:
        """The inverse of `encode`."""
        return ReadTask.from_json(json.loads(encoded.decode("utf-8", "surrogatepass")))

    def is_deterministic(self) -> bool:
        """Equal ranges have equal bytes."""
        return True

    def to_type_hint(self) -> type[ReadTask]:
        """What it is for."""
        return ReadTask


def _node(values: dict[str, Any]) -> Node:
    return TextNode(**values) if "text" in values else ImageNode(**values)


registry.register_coder(Document, DocumentCoder)
registry.register_coder(ReadTask, ReadTaskCoder)

to_bytes, from_bytes = DocumentCoder().encode, DocumentCoder().decode


def by_id(document: Document) -> tuple[str, bytes]:
    """A document ready to meet what is known of it: both sides of a join are bytes, or Beam would pickle them."""
    return document.doc_id, to_bytes(document)


def is_kept(document: Document) -> bool:
    """Whether no rule has dropped it so far."""
    return document.reason is None


def input_position(document: Document) -> tuple[str, int, int, str]:
    """What documents are sorted by: WARC file, offset in bytes, part of a split page."""
    return document.warc_filename, document.warc_record_offset, document.general.get("part", 0), document.doc_id
