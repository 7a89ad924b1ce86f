"""The whole config of a run, from a YAML file and `--set` overrides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from obelics_pipeline.core.config.blocklists import BlocklistConfig, ListName
from obelics_pipeline.core.config.consent import ConsentConfig
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.filtering import FiltersConfig, LanguageConfig
from obelics_pipeline.core.config.forgetting import ForgottenFolders
from obelics_pipeline.core.config.hooks import HookConfig
from obelics_pipeline.core.config.image_safety import ImageSafetyConfig
from obelics_pipeline.core.config.models import ModelsConfig
from obelics_pipeline.core.config.own_stages import OwnStage
from obelics_pipeline.core.config.personal_data import PersonalDataConfig
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.config.scoring import ScoringConfig
from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig
from obelics_pipeline.core.config.site import SiteConfig
from obelics_pipeline.core.config.yaml_file import read_config, read_values
from obelics_pipeline.core.document import PICTURE
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.redacted import redacted


class RunConfig(Section):
    """Everything a run's output depends on, beside its input."""

    reading: ReadingConfig = Field(
        default_factory=ReadingConfig, description="How WARC files are read and cut into units."
    )
    extract: ExtractionConfig = Field(
        default_factory=ExtractionConfig, description="How a page becomes texts and images in reading order."
    )
    blocklists: dict[ListName, BlocklistConfig] = Field(
        default_factory=dict,
        description="Lists of domains and URLs whose pages or images are dropped, by a name of yours.",
    )
    personal_data: PersonalDataConfig = Field(
        default_factory=PersonalDataConfig,
        description="Personal data that is looked for in texts and URLs, and what becomes of it.",
    )
    language: LanguageConfig = Field(
        default_factory=LanguageConfig, description="Which model identifies the language, and which languages are kept."
    )
    filters: FiltersConfig = Field(
        default_factory=FiltersConfig,
        description="Text filters: what is measured, and the bounds that keep a paragraph or a document.",
    )
    dedup: DedupConfig = Field(
        default_factory=DedupConfig,
        description="Which duplicates are looked for across the corpus, and which copy is kept.",
    )
    site: SiteConfig = Field(
        default_factory=SiteConfig,
        description="Columns about the other pages of a document's site, and bounds on them.",
    )
    fetch: FetchingConfig = Field(
        default_factory=FetchingConfig, description="How images are downloaded: limits, manners, robots.txt."
    )
    images: ImageRulesConfig = Field(
        default_factory=ImageRulesConfig, description="Which downloaded images, and how many per document, are kept."
    )
    image_safety: ImageSafetyConfig = Field(
        default_factory=ImageSafetyConfig,
        description="Unsafe images, known abuse material, and where photos were taken.",
    )
    score: ScoringConfig = Field(
        default_factory=ScoringConfig,
        description="Models that score documents with their images, and bounds on those scores.",
    )
    finish: FinishConfig = Field(
        default_factory=FinishConfig, description="The last rules, applied after all scores are known."
    )
    shard: ShardConfig = Field(default_factory=ShardConfig, description="Format, size and order of the shards.")
    ray: RayConfig = Field(default_factory=RayConfig, description="Settings of --engine ray. They change no result.")
    consent: ConsentConfig = Field(
        default_factory=ConsentConfig, description="Opt-out lists and services, licences, and signals of the crawl."
    )
    forgotten: ForgottenFolders = ()
    stages: tuple[OwnStage, ...] = Field((), description="Stages of your own: docs/stages.md.")
    hooks: tuple[HookConfig, ...] = Field(
        (),
        exclude=True,  # no part of what a run is: neither noted beside the output, nor compared, nor sent to workers
        description="Programs, servers and trackers that hear of a run while it works. They change no result: "
        "docs/howto/hooks.md.",
    )

    @property
    def models(self) -> ModelsConfig:
        """Every model that looks at images: those of `score`, and the classifier of `image_safety`."""
        return ModelsConfig(**dict(self.score), classifier=self.image_safety.classifier)

    def with_models(self, models: ModelsConfig) -> RunConfig:
        """The same with other models: the inverse of `models`."""
        score = ScoringConfig(**{name: getattr(models, name) for name in ScoringConfig.model_fields})
        safety = self.image_safety.model_copy(update={"classifier": models.classifier})
        return self.model_copy(update={"score": score, "image_safety": safety})

    @model_validator(mode="after")
    def _classifier_needs_images(self) -> RunConfig:
        if self.image_safety.classifier is not None and not self.fetch.enabled:
            raise ValueError("image_safety.classifier looks at images; leave it out, or set fetch.enabled: true")
        return self

    @model_validator(mode="after")
    def _measures_have_columns(self) -> RunConfig:
        if self.images.quality and not self.fetch.enabled:
            raise ValueError("images.quality measures fetched images; leave it out, or set fetch.enabled: true")
        for place, filters in (("filters", self.filters.paragraph), ("finish", self.finish.paragraph)):
            for name in filters.keys() & self.images.quality.keys():
                raise ValueError(f"{place}.paragraph.{name}: images.quality has a column of this name; choose another")
        return self

    @model_validator(mode="after")
    def _pictures_are_there(self) -> RunConfig:
        if self.score.picture_measures and not self.fetch.enabled:
            raise ValueError(
                "score.picture_classifiers and score.aesthetic look at images; leave them out, or set fetch.enabled: "
                "true"
            )
        for place, filters in (("filters", self.filters.paragraph), ("finish", self.finish.paragraph)):
            for name in filters:
                if name.startswith(PICTURE):
                    raise ValueError(
                        f"{place}.paragraph.{name}: columns that begin with {PICTURE} are of images; choose another"
                    )
        return self

    @model_validator(mode="after")
    def _trainer_needs_images(self) -> RunConfig:
        if self.shard.format == "open_flamingo" and not (self.fetch.enabled and self.images.min_per_document):
            raise ValueError(
                "shard.format: open_flamingo holds the images, and its loader refuses documents without: set "
                "fetch.enabled: true and images.min_per_document: 1 or more, or shard.format: webdataset"
            )
        return self


def load_config(path: str, overrides: Sequence[str] = ()) -> RunConfig:
    """The config of a run, from a YAML file or a bundled config by name, with `key.sub=value` overrides over it.

    Raises `UserError`, in one line, for a missing file, broken YAML, an unknown key or a value out of range.

    >>> import obelics_pipeline as op
    >>> config = op.load_config("default", ["filters.document.word_count.min=50"])
    >>> config.filters.document["word_count"].min
    50.0
    >>> op.load_config("default", ["filters.document.word_count.mim=50"])
    Traceback (most recent call last):
    obelics_pipeline.core.errors.UserError: config default: unknown key filters.document.word_count.mim; ...
    """
    return read_config(RunConfig, path, overrides)


def load_resolved(path: Path) -> dict[str, Any]:
    """The values of a config that an earlier run wrote, without secrets; empty where they cannot be read."""
    try:
        return redacted(read_values(path, list(RunConfig.model_fields)))
    except UserError:
        return {}
