"""The models that a config names, as one: what measures documents together with their images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from obelics_pipeline.core.config import (
    FlamingoConfig,
    JudgeConfig,
    LanguageModelConfig,
    ModelsConfig,
    ScoringConfig,
    SimilarityConfig,
)
from obelics_pipeline.core.config.models import classifier_of
from obelics_pipeline.core.config.picture_models import EmbeddingConfig, PictureModelConfig
from obelics_pipeline.core.config.scoring import AESTHETIC
from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.document import PICTURE, Document
from obelics_pipeline.models.device.threads import use_threads
from obelics_pipeline.models.flamingo.statistics import COLUMNS as FLAMINGO_COLUMNS
from obelics_pipeline.models.language_model.columns import COLUMNS as LANGUAGE_MODEL_COLUMNS
from obelics_pipeline.models.language_model.files import pinned
from obelics_pipeline.models.language_model.rubric import COLUMNS as JUDGE_COLUMNS
from obelics_pipeline.models.language_model.rubric import Rubric
from obelics_pipeline.models.picture_scores.columns import names_of
from obelics_pipeline.models.picture_scores.loading import aesthetic, picture_classifier
from obelics_pipeline.models.pictures.sources import ImageSource
from obelics_pipeline.models.similarity.columns import COLUMNS as SIMILARITY_COLUMNS
from obelics_pipeline.models.unsafe_images.columns import COLUMNS as UNSAFE_COLUMNS
from obelics_pipeline.models.unsafe_images.loading import LoadUnsafeImages, is_onnx
from obelics_pipeline.stages.score.some import DocumentScorer, ScoreSome

# A model of documents with their images: its section of `score:` or `image_safety:` -> the columns that it measures.
MODELS: Mapping[str, Sequence[str]] = {
    "flamingo": FLAMINGO_COLUMNS,
    "language_model": LANGUAGE_MODEL_COLUMNS,
    "similarity": SIMILARITY_COLUMNS,
    "classifier": UNSAFE_COLUMNS,
    "picture_classifiers": (),  # as the config names them: `columns_by_model`
    AESTHETIC: names_of(PICTURE + AESTHETIC),
    "judge": JUDGE_COLUMNS,  # last: it may look at what the others measured
}
EXAMPLES = {  # of these sections
    "flamingo": "score.flamingo={model: FOLDER}",
    "language_model": "score.language_model={model: FOLDER}",
    "similarity": "score.similarity={model: ViT-B-32, weights: FILE}",
    "classifier": "image_safety.classifier={model: FILE.onnx}",
    "picture_classifiers": "score.picture_classifiers.watermark={model: FOLDER, label: watermark}",
    AESTHETIC: "score.aesthetic={head: FILE, embedding: {model: ViT-L-14, weights: openai}}",
    "judge": "score.judge={model: FOLDER, prompt: 'From 1 to 5, how useful is this page? {document}'}",
}


def columns_by_model(config: ScoringConfig) -> dict[str, Sequence[str]]:
    """The columns of each model, named or not, in the order in which they measure."""
    pictures = [column for name in sorted(config.picture_classifiers) for column in names_of(PICTURE + name)]
    return {**MODELS, "picture_classifiers": pictures}


def model_columns(config: ScoringConfig) -> list[str]:
    """The columns that the named models measure, in their order."""
    by_model = columns_by_model(config).items()
    return [column for name, columns in by_model if getattr(config, name, None) is not None for column in columns]


Config = TypeVar("Config", bound=ScoringConfig)
Pictures = TypeVar("Pictures", bound=PictureModelConfig)
Made = TypeVar("Made")


def located(config: Config) -> Config:
    """The same with the full paths of its files and the commits of the hub's names: a worker may be in another folder,
    or another's home, and the hub may change.
    """
    flamingo = config.flamingo
    if flamingo is not None:
        paths = {"model": _full(flamingo.model), "token_counts": flamingo.token_counts and _full(flamingo.token_counts)}
        flamingo = flamingo.model_copy(update=paths)
    language_model = config.language_model
    if language_model is not None:
        second = language_model.second_model
        paths = {"model": pinned(_full(language_model.model)), "second_model": second and pinned(_full(second))}
        language_model = language_model.model_copy(update=paths)
    judge = config.judge and config.judge.model_copy(update={"model": pinned(_full(config.judge.model))})
    similarity = config.similarity
    if similarity is not None:
        paths = {"model": _full(similarity.model), "weights": _full(similarity.weights)}
        similarity = similarity.model_copy(update=paths)
    update = {"flamingo": flamingo, "language_model": language_model, "judge": judge, "similarity": similarity}
    found = config.model_copy(update={**update, **_located_pictures(config)})
    classifier = classifier_of(found)
    return found if classifier is None else found.model_copy(update={"classifier": _located(classifier)})


def _located_pictures(config: ScoringConfig) -> dict[str, Any]:
    liked = config.aesthetic
    if liked is not None:
        liked = liked.model_copy(update={"head": _full(liked.head), "embedding": _located_clip(liked.embedding)})
    classifiers = {name: _located(classifier) for name, classifier in config.picture_classifiers.items()}
    return {"picture_classifiers": classifiers, AESTHETIC: liked}


def _located(classifier: Pictures) -> Pictures:
    embedding = classifier.embedding and _located_clip(classifier.embedding)
    return classifier.model_copy(update={"model": _full(classifier.model), "embedding": embedding})


def _located_clip(clip: EmbeddingConfig) -> EmbeddingConfig:
    return clip.model_copy(update={"model": _full(clip.model), "weights": _full(clip.weights)})


def _full(name_or_path: str) -> str:
    path = Path(name_or_path).expanduser()
    return str(path.absolute()) if path.exists() else name_or_path


@dataclass(frozen=True, slots=True)
class LoadDocumentModels:
    """Makes the models of a config in a worker. Two that are equal make the same; `images` must be equal likewise."""

    config: str  # a ScoringConfig or ModelsConfig as JSON, which can be hashed
    images: ImageSource

    def __call__(self) -> DocumentModels:
        """Load them. Raises `UserError` for a model, a package or a device that is missing."""
        config = ModelsConfig.model_validate_json(self.config)
        scorers: list[DocumentScorer] = []
        if config.flamingo is not None:
            scorers.append(_flamingo(config.flamingo, self.images))
        if config.language_model is not None:
            scorers.append(_language_model(config.language_model, self.images))
        if config.similarity is not None:
            scorers.append(_similarity(config.similarity, self.images))
        if config.classifier is not None:
            scorers.append(LoadUnsafeImages(config.classifier.model_dump_json(), self.images, config.threads)())
        for name, classifier in sorted(config.picture_classifiers.items()):
            scorers.append(picture_classifier(name, classifier, self.images, config.threads))
        if config.aesthetic is not None:
            scorers.append(aesthetic(config.aesthetic, self.images))
        if config.judge is not None:
            scorers.append(_judge(config.judge, self.images))
        if _of_torch(config):
            use_threads(config.threads)
        return DocumentModels(scorers)


def _of_torch(config: ModelsConfig) -> bool:
    classifiers = [*config.picture_classifiers.values(), *([] if config.classifier is None else [config.classifier])]
    by_torch = any(one.embedding is not None or not is_onnx(Path(one.model)) for one in classifiers)
    others = (config.flamingo, config.language_model, config.similarity, config.aesthetic, config.judge)
    return by_torch or any(model is not None for model in others)


class DocumentModels:
    """Several scorers, one after the other: each is given all documents of a call."""

    def __init__(self, scorers: Sequence[DocumentScorer]) -> None:
        self._scorers = scorers

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of all of them for each document, which gets them too: a later one may look at them."""
        found: list[dict[str, float | None]] = [{} for _ in documents]
        for scorer in self._scorers:
            for document, columns, more in zip(documents, found, scorer.score(documents), strict=True):
                columns.update(more)
                document.scores.update(more)
        return found


def _flamingo(config: FlamingoConfig, images: ImageSource) -> DocumentScorer:
    from obelics_pipeline.models.flamingo.loading import LoadFlamingo
    from obelics_pipeline.models.flamingo.scorer import Scoring

    scoring = _of_config(Scoring, config)
    return _of_config(LoadFlamingo, config, images=images, scoring=scoring, unigram=config.token_counts)()


def _language_model(config: LanguageModelConfig, images: ImageSource) -> DocumentScorer:
    from obelics_pipeline.models.language_model.loading import LoadLanguageModel
    from obelics_pipeline.models.language_model.scoring import Scoring

    return _of_config(LoadLanguageModel, config, images=images, scoring=_of_config(Scoring, config))()


def _judge(config: JudgeConfig, images: ImageSource) -> DocumentScorer:
    from obelics_pipeline.models.language_model.judge import LoadJudge
    from obelics_pipeline.models.language_model.scoring import Scoring

    scoring = _of_config(Scoring, config, overlap=1)  # a judge reads one window
    rubric = Rubric(config.prompt, tuple(config.answers.items()))
    judge = _of_config(LoadJudge, config, rubric=rubric, images=images, scoring=scoring)()
    return ScoreSome(judge, config.only, JUDGE_COLUMNS)


def _similarity(config: SimilarityConfig, images: ImageSource) -> DocumentScorer:
    from obelics_pipeline.models.similarity.loading import LoadSimilarity

    return _of_config(LoadSimilarity, config, images=images)()


def _of_config(kind: Callable[..., Made], config: Section, **others: Any) -> Made:
    """A dataclass whose fields are those of a config that have the same names, and the others that are given."""
    same = signature(kind).parameters.keys() & type(config).model_fields.keys()
    return kind(**{name: getattr(config, name) for name in same}, **others)
