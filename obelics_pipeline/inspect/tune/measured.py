"""All that one folder of a run has measured, read when it is asked for."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.look_up import rows_by_id
from obelics_pipeline.core.shards.source import document_at
from obelics_pipeline.core.storage import local_copy
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.inspect.dry_run.known import known_images
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.inspect.run_tables.images import image_tables
from obelics_pipeline.inspect.run_tables.nodes import nodes_of_kind
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_tables
from obelics_pipeline.inspect.tune.documents import Documents
from obelics_pipeline.inspect.tune.estimate import Contents
from obelics_pipeline.inspect.tune.images import Images
from obelics_pipeline.inspect.tune.paragraphs import Paragraphs
from obelics_pipeline.stages.fetch.removed_packs import RemovedPacks, removed_packs
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.fetch.run_images import RunImages


class Measured:
    """A run's folder, or that of a dry run, and the config that decided there.

    Raises UserError where nothing is extracted there, or where its config is not one that can be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        with local_copy(folder.config) as path:
            self.config: RunConfig = load_config(str(path))
        self.documents = Documents(document_table(folder))

    @cached_property
    def paragraphs(self) -> Paragraphs:
        """Its paragraphs."""
        return Paragraphs(self.documents, paragraph_tables(self.folder, self.documents.table))

    @cached_property
    def images(self) -> Images:
        """Its images."""
        return Images(self.documents, image_tables(self.folder, self.documents.table))

    @cached_property
    def stored(self) -> dict[str, str]:
        """The sha256 of the stored image of each URL that has one."""
        return {result.url: result.sha256 for result in self._fetched if result.sha256 is not None}

    def image(self, sha256: str) -> bytes:
        """The bytes of a stored image, from a tar where packs were removed.

        Raises Damaged if it is not stored, or damaged; ValueError for no sha256, or an image that was removed.
        """
        stored = self._with_image.get(sha256, FetchResult("", "ok", sha256=sha256))
        try:
            return RunImages(self.folder.images).read(stored)
        except Damaged:
            removed = removed_packs(self.folder)
            if removed is None:
                raise
            return self._in_tar(sha256, removed)

    def _in_tar(self, sha256: str, removed: RemovedPacks) -> bytes:
        ids = self.documents.table["doc_id"].take(pa.array(self._shown_by.get(sha256, []), pa.int64())).to_pylist()
        for row in rows_by_id(self.folder.path, ids).values():
            document = document_at(self.folder.path, row)
            for file in document.record.files:
                if file.sha256 == sha256:
                    return document.read(file)
        raise ValueError(f"it is in no tar, and {removed.line()}")

    @cached_property
    def _shown_by(self) -> dict[str, list[int]]:
        """The rows of the documents that show each image."""
        found: dict[str, list[int]] = {}
        for nodes in nodes_of_kind(self.folder, self.documents.table, "image", ["sha256"]):
            for row, sha256 in zip(nodes["document"].to_pylist(), nodes["sha256"].to_pylist(), strict=True):
                if sha256 is not None:
                    found.setdefault(sha256, []).append(row)
        return found

    @cached_property
    def _with_image(self) -> dict[str, FetchResult]:
        return {result.sha256: result for result in self._fetched if result.sha256 is not None}

    @cached_property
    def _fetched(self) -> list[FetchResult]:
        return results_from_table(known_images(self.folder, self.config.fetch))

    def document(self, row: int) -> Document:
        """One document, as the last stage that had it left it."""
        file, at = (self.documents.table[name][row].as_py() for name in ("file", "row"))
        return next(read_documents(self.folder.path / file, at, at + 1))

    def contents(self, config: RunConfig) -> Contents | None:
        """The text and images that another config would leave in each document; None if no rule of paragraphs or images
        differs.
        """
        mine, documents = self.config, self.documents
        paragraphs = config.filters.paragraph != mine.filters.paragraph
        images = (config.images, config.score.image) != (mine.images, mine.score.image)
        if not paragraphs and not images:
            return None
        return Contents(
            self.paragraphs.bytes_left(mine.filters.paragraph, config.filters.paragraph)
            if paragraphs
            else documents.bytes,
            self.images.left(config.images, config.score.image) if images else documents.images,
        )
