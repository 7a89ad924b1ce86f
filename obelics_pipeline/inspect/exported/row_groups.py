"""Rows that are written together: as many as fit into memory well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obelics_pipeline.core.shards.source import StoredDocument

DOCUMENTS, BYTES = 100, 64 * 2**20  # of a group, at most; a document that is larger stands alone


def document_groups(documents: Iterable[StoredDocument]) -> Iterator[list[StoredDocument]]:
    """The documents in groups, in their order."""
    group: list[StoredDocument] = []
    held = 0
    for document in documents:
        size = document.record.size
        if group and (len(group) == DOCUMENTS or held + size > BYTES):
            yield group
            group, held = [], 0
        group.append(document)
        held += size
    if group:
        yield group
