"""Documents that are written together: as many as fit into memory well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.inspect.published.grouped import grouped

DOCUMENTS, BYTES = 100, 64 * 2**20  # of a group, at most; a document that is larger stands alone


def document_groups(documents: Iterable[StoredDocument]) -> Iterator[list[StoredDocument]]:
    """The documents in groups, in their order."""
    return grouped(documents, lambda document: document.record.size, DOCUMENTS, BYTES)
