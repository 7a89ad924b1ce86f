"""Images that came with the rows of a published corpus: their bytes are read where they are, and no host is asked.

Until they have passed the checks of fetched ones, they are stored nowhere.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.commit import Manifest, read_manifest
from obelics_pipeline.core.document import CARRIED
from obelics_pipeline.core.storage import Location, open_parquet, read_table
from obelics_pipeline.core.unit import label_of_unit
from obelics_pipeline.stages.rows.read import read_rows
from obelics_pipeline.stages.rows.row_error import RowError
from obelics_pipeline.stages.rows.task import RowsTask

Asked = tuple[str, str]  # the unit of documents that asks, and what it asks for
_NODES = ("kind", "reason", "src", "sha256")


def is_carried(key: str) -> bool:
    """Whether what is asked for is an image that came with a row."""
    return key.startswith(CARRIED)


def bucket_of(unit: str, buckets: int) -> int:
    """The bucket in which the images that a unit of documents has with it are read: those of a file stand together."""
    digest = hashlib.sha256(label_of_unit(unit).encode()).digest()
    return int.from_bytes(digest[:8], "big") % buckets


def asked_and_urls(path: Location, everything: bool) -> Iterator[tuple[str, str]]:
    """What the images of kept documents, or of all, are asked for by, each with its URL."""
    columns = ["reason", *(f"nodes.list.element.{name}" for name in _NODES)]
    with open_parquet(path) as source:
        for group in range(source.num_row_groups):
            for row in source.read_row_group(group, columns=columns).to_pylist():
                if row["reason"] is None or everything:
                    for node in row["nodes"]:
                        if node["kind"] == "image" and node["reason"] is None:
                            url = node["src"]
                            yield url if node["sha256"] is None else CARRIED + node["sha256"], url


@dataclass(frozen=True)
class RowImages:
    """Where images are that came with rows: `files` by their names, rows in `layout`.

    `folders` are those of units of documents; the last one is that of the extracted ones, which know the places.
    """

    layout: str
    files: Mapping[str, str]
    options: Mapping[str, Mapping[str, Any]]
    folders: Sequence[Location]

    def read(self, asked: Sequence[Asked], keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Those of `keys` that are found, each once, with their bytes. Raises OSError where a file cannot be read."""
        left = set(keys)
        by_unit: dict[str, set[str]] = defaultdict(set)
        for unit, key in asked:
            if key in left:
                by_unit[unit].add(key)
        for unit, wanted in sorted(by_unit.items()):
            extracted = self._extracted(unit)
            if extracted is not None and "carried" in extracted.files:
                for key, content in self._of_unit(extracted, wanted & left):
                    left.discard(key)
                    yield key, content

    def _extracted(self, unit: str) -> Manifest | None:
        for folder in self.folders:
            found = read_manifest(folder, unit)
            if found is not None:
                return read_manifest(self.folders[-1], found.notes.get("partition", unit))
        return None

    def _of_unit(self, extracted: Manifest, keys: set[str]) -> Iterator[tuple[str, bytes]]:
        places: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for row in read_table(extracted.path(self.folders[-1], "carried")).to_pylist():
            if CARRIED + row["sha256"] in keys:
                places[row["row"]].append((row["place"], row["sha256"]))
        about = extracted.notes["rows"]
        if not places or about["file"] not in self.files:
            return
        start, end = max(min(places), about["start"]), min(max(places) + 1, about["end"])
        found: set[str] = set()
        for row in read_rows(RowsTask(self.files[about["file"]], self.layout, start, end), self.options):
            if row.number in places and not isinstance(row.document, RowError):
                for place, sha256 in places[row.number]:
                    content = row.document.pictures[place] if place < len(row.document.pictures) else None
                    if sha256 not in found and content is not None and hashlib.sha256(content).hexdigest() == sha256:
                        found.add(sha256)
                        yield CARRIED + sha256, content
