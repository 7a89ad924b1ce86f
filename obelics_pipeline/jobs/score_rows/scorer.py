"""Measures documents that are made already: by the filters, and by models that look at their images."""

from __future__ import annotations

import math
import socket
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from obelics_pipeline.core.config import FiltersConfig, RunConfig, Threshold
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.jobs.score_rows.columns import Asked, Scores, is_text
from obelics_pipeline.jobs.score_rows.image_folder import ImagesOfRun
from obelics_pipeline.models.pictures.sources import FolderImages
from obelics_pipeline.policy.forgotten import FORGOTTEN, forget_images
from obelics_pipeline.policy.tombstones.tombstones import configured
from obelics_pipeline.stages.extract.measure import LANGUAGE, LANGUAGE_SCORE, Measurer
from obelics_pipeline.stages.rows.row_error import NO_TEXT, SCORE_FAILED, RowError
from obelics_pipeline.stages.score.document_models import DocumentModels, LoadDocumentModels


@lru_cache(maxsize=1)
def scorer_of(asked: Asked) -> Scorer:
    """The scorer for these columns; made once per process. Raises UserError for a missing model or package."""
    return Scorer(asked)


class Scorer:
    """Measures documents as a run with this config does, without its paragraph filters: the documents are made.

    Models are loaded when they are first needed, because the process that hands rows out needs none.
    """

    def __init__(self, asked: Asked) -> None:
        config = RunConfig.model_validate_json(asked.config)
        of_models = asked.of_models()
        measured = [name for name in asked.columns() if name not in (LANGUAGE, LANGUAGE_SCORE, *of_models)]
        known = {name: {"options": t.options, "use": t.use} for name, t in config.filters.document.items()}
        self._measurer = Measurer(
            FiltersConfig(
                words=config.filters.words,
                standardize_whitespace=config.filters.standardize_whitespace,
                paragraph={},
                document={name: Threshold(**known.get(name, {})) for name in measured},
            ),
            config.language,
        )
        self._asked, self._columns, self._looks = asked, asked.columns(), bool(of_models)
        self._forgotten = configured(config)

    def notices(self) -> list[str]:
        """One line per score that is null everywhere, because what it needs is not given."""
        return self._measurer.notices() + self._asked.notices()

    def load(self) -> None:
        """Load the models now. Raises UserError for what is wrong with them, or not there."""
        if self._looks:
            _ = self._models

    def score(self, documents: Sequence[Document | RowError]) -> list[Scores | RowError]:
        """The scores of each document of a batch, or why it has none: what came as an error stays one.

        A model is given all documents of the batch that have a text at once.
        """
        documents = [self._refused(d) if isinstance(d, Document) else d for d in documents]
        found = [d if isinstance(d, RowError) else self._measured(d) for d in documents]
        if self._looks:
            self._check_folder()
            good = [(i, d) for i, d in enumerate(documents) if isinstance(d, Document) and isinstance(found[i], dict)]
            looked_at = self._looked_at([document for _, document in good])
            for (i, _), more in zip(good, looked_at, strict=True):
                found[i] = _both(found[i], more)
        return [x if isinstance(x, RowError) else self._checked(x) for x in found]

    @cached_property
    def _models(self) -> DocumentModels:
        return LoadDocumentModels(self._asked.models().model_dump_json(), self._asked.images)()

    def _check_folder(self) -> None:
        """Raise UserError if this machine does not see the image folder: otherwise documents would silently have no
        images.
        """
        images = self._asked.images
        if isinstance(images, FolderImages | ImagesOfRun) and not images.folder.is_dir():
            raise UserError(
                f"images {images.folder}: no such folder on {socket.gethostname()}; all workers must see it"
            )

    def _refused(self, document: Document) -> Document | RowError:
        """A document, unless it was removed elsewhere; without the images that were."""
        known = self._forgotten
        if known is None:
            return document
        if known.url(document.url) or known.document(document.doc_id) or known.text(document.text()):
            return RowError(FORGOTTEN, "removed by a run that the config names")
        forget_images(document, known)
        return document

    def _measured(self, document: Document) -> Scores | RowError:
        try:
            self._measurer.measure(document, everything=True)
        except (UserError, Stopped):
            raise
        except Exception as error:  # a filter, maybe of another package, at untrusted text
            return _failed(error)
        if document.language is None:
            return RowError(NO_TEXT, "no visible character")
        return {LANGUAGE: document.language, **document.scores}

    def _looked_at(self, documents: Sequence[Document]) -> list[Mapping[str, float | None] | RowError]:
        """Scores of each document by the models. If a batch fails, its halves are tried, down to the document that
        fails.
        """
        if not documents:
            return []
        models = self._models
        try:
            return list(models.score(documents))
        except (UserError, Stopped):
            raise
        except Exception as error:  # a model at untrusted text and images
            if len(documents) == 1:
                return [_failed(error)]
        half = len(documents) // 2
        return self._looked_at(documents[:half]) + self._looked_at(documents[half:])

    def _checked(self, scores: Scores) -> Scores | RowError:
        checked: Scores = {}
        for name in self._columns:
            value = scores.get(name)
            if value is not None and not is_text(name):
                try:
                    value = float(value)
                except (TypeError, ValueError):
                    return RowError(SCORE_FAILED, f"{name} gave {value!r}"[:200])
                if not math.isfinite(value):
                    return RowError(SCORE_FAILED, f"{name} gave {value}")
            checked[name] = value
        return checked


def _both(scores: Scores | RowError, more: Mapping[str, float | None] | RowError) -> Scores | RowError:
    if isinstance(scores, RowError) or isinstance(more, RowError):
        return more if isinstance(more, RowError) else scores
    return {**scores, **more}


def _failed(error: Exception) -> RowError:
    return RowError(SCORE_FAILED, f"{type(error).__name__}: {' '.join(str(error).split())}"[:200])
