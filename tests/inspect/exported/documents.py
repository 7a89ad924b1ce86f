"""What a reader must find: the documents of the shards, in their order."""

from pathlib import Path
from typing import NamedTuple

from obelics_pipeline.core.shards.source import all_documents


class Found(NamedTuple):
    """A document: its id, its texts and the bytes of its pictures by position, None where there is none."""

    doc_id: str
    texts: list[str | None]
    pictures: list[bytes | None]


def of_shards(run: Path) -> list[Found]:
    """The documents of a run."""
    return [
        Found(
            item.record.doc_id,
            item.value["texts"],
            [None if name is None else item.images[name] for name in item.value["files"]],
        )
        for item in all_documents(run)
    ]
