"""All that one folder of a run has measured, read when it is asked for."""

from __future__ import annotations

from functools import cached_property

from obelics_pipeline.config import RunConfig, load_config
from obelics_pipeline.document import Document
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.rehearsal.known import known_images
from obelics_pipeline.storage import local_copy
from obelics_pipeline.survey.documents import survey_documents
from obelics_pipeline.survey.images import survey_images
from obelics_pipeline.survey.paragraphs import survey_paragraphs
from obelics_pipeline.tables import read_documents
from obelics_pipeline.tune.documents import Documents
from obelics_pipeline.tune.estimate import Contents
from obelics_pipeline.tune.images import Images
from obelics_pipeline.tune.paragraphs import Paragraphs


class Measured:
    """A run's folder, or that of a rehearsal, and the config that decided there.

    Raises UserError where nothing is extracted there, or where its config is not one that can be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        with local_copy(folder.config) as path:
            self.config: RunConfig = load_config(str(path))
        self.documents = Documents(survey_documents(folder))

    @cached_property
    def paragraphs(self) -> Paragraphs:
        """Its paragraphs."""
        return Paragraphs(self.documents, survey_paragraphs(self.folder, self.documents.survey))

    @cached_property
    def images(self) -> Images:
        """Its images."""
        return Images(self.documents, survey_images(self.folder, self.documents.survey))

    @cached_property
    def stored(self) -> dict[str, str]:
        """The sha256 of the stored image of each URL that has one."""
        known = known_images(self.folder, self.config.fetch)
        rows = zip(known["url"].to_pylist(), known["sha256"].to_pylist(), strict=True)
        return {url: sha256 for url, sha256 in rows if sha256 is not None}

    def document(self, row: int) -> Document:
        """One document, as the last stage that had it left it."""
        file, at = (self.documents.survey[name][row].as_py() for name in ("file", "row"))
        return next(read_documents(self.folder.path / file, at, at + 1))

    def contents(self, config: RunConfig) -> Contents | None:
        """What another config leaves of each document by its rules of paragraphs and images; None if none differs."""
        mine, documents = self.config, self.documents
        paragraphs = config.filters.paragraph != mine.filters.paragraph
        images = config.images != mine.images
        if not paragraphs and not images:
            return None
        return Contents(
            self.paragraphs.bytes_left(mine.filters.paragraph, config.filters.paragraph)
            if paragraphs
            else documents.bytes,
            self.images.left(config.images) if images else documents.images,
        )
