"""The models that a config names, as one: what measures documents together with their images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from models.device.threads import use_threads
from models.flamingo.statistics import COLUMNS as FLAMINGO_COLUMNS
from models.pictures.sources import ImageSource
from models.similarity.columns import COLUMNS as SIMILARITY_COLUMNS
from obelics_pipeline.config import FlamingoConfig, ScoringConfig, SimilarityConfig
from obelics_pipeline.document import Document

Columns = Mapping[str, float | None]


class DocumentScorer(Protocol):
    """A model that measures documents. It may form batches among those of one call as it likes."""

    def score(self, documents: Sequence[Document]) -> Sequence[Columns]:
        """Scores by name for each document, in their order."""
        ...


def model_columns(config: ScoringConfig) -> list[str]:
    """The columns that the named models measure, in their order."""
    return [*(FLAMINGO_COLUMNS if config.flamingo else ()), *(SIMILARITY_COLUMNS if config.similarity else ())]


def located(config: ScoringConfig) -> ScoringConfig:
    """The same with the full paths of its files: a worker may be in another folder, or another's home."""
    flamingo = config.flamingo
    if flamingo is not None:
        paths = {"model": _full(flamingo.model), "token_counts": flamingo.token_counts and _full(flamingo.token_counts)}
        flamingo = flamingo.model_copy(update=paths)
    similarity = config.similarity
    if similarity is not None:
        paths = {"model": _full(similarity.model), "weights": _full(similarity.weights)}
        similarity = similarity.model_copy(update=paths)
    return config.model_copy(update={"flamingo": flamingo, "similarity": similarity})


def _full(name_or_path: str) -> str:
    path = Path(name_or_path).expanduser()
    return str(path.absolute()) if path.exists() else name_or_path


@dataclass(frozen=True, slots=True)
class LoadDocumentModels:
    """Makes the models of a config in a worker. Two that are equal make the same; `images` must be equal likewise."""

    config: str  # a ScoringConfig as JSON, which can be hashed
    images: ImageSource

    def __call__(self) -> DocumentModels:
        """Load them. Raises `UserError` for a model, a package or a device that is missing."""
        config = ScoringConfig.model_validate_json(self.config)
        scorers = []
        if config.flamingo is not None:
            scorers.append(_flamingo(config.flamingo, self.images))
        if config.similarity is not None:
            scorers.append(_similarity(config.similarity, self.images))
        if scorers:
            use_threads(config.threads)
        return DocumentModels(scorers)


class DocumentModels:
    """Several scorers, one after the other: each is given all documents of a call."""

    def __init__(self, scorers: Sequence[DocumentScorer]) -> None:
        self._scorers = scorers

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of all of them for each document."""
        found: list[dict[str, float | None]] = [{} for _ in documents]
        for scorer in self._scorers:
            for columns, more in zip(found, scorer.score(documents), strict=True):
                columns.update(more)
        return found


def _flamingo(config: FlamingoConfig, images: ImageSource) -> DocumentScorer:
    from models.flamingo.loading import LoadFlamingo
    from models.flamingo.scorer import Scoring

    scoring = Scoring(
        window_tokens=config.window_tokens,
        overlap=config.overlap,
        batch_tokens=config.batch_tokens,
        batch_images=config.batch_images,
        max_images=config.max_images,
        image_gain=config.image_gain,
    )
    return LoadFlamingo(
        config.model,
        images=images,
        scoring=scoring,
        unigram=config.token_counts,
        device=config.device,
        dtype=config.dtype,
        trust_remote_code=config.trust_remote_code,
    )()


def _similarity(config: SimilarityConfig, images: ImageSource) -> DocumentScorer:
    from models.similarity.loading import LoadSimilarity

    return LoadSimilarity(
        config.model,
        config.weights,
        sha256=config.sha256,
        images=images,
        device=config.device,
        dtype=config.dtype,
        batch=config.batch,
        max_images=config.max_images,
    )()
