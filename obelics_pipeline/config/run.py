"""The whole config of a run, from a YAML file and `--set` overrides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from obelics_pipeline.config.blocklists import BlocklistConfig, ListName
from obelics_pipeline.config.consent import ConsentConfig
from obelics_pipeline.config.dedup import DedupConfig
from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.config.fetching import FetchingConfig
from obelics_pipeline.config.filtering import FiltersConfig, LanguageConfig
from obelics_pipeline.config.forgetting import ForgottenFolders
from obelics_pipeline.config.image_safety import ImageSafetyConfig
from obelics_pipeline.config.models import ModelsConfig
from obelics_pipeline.config.personal_data import PersonalDataConfig
from obelics_pipeline.config.ray import RayConfig
from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.config.scoring import ScoringConfig
from obelics_pipeline.config.section import Section
from obelics_pipeline.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig
from obelics_pipeline.config.site import SiteConfig
from obelics_pipeline.config.yaml_file import read_config, read_values
from obelics_pipeline.errors import UserError


class RunConfig(Section):
    """Everything a run's output depends on, beside its input."""

    reading: ReadingConfig = Field(default_factory=ReadingConfig)
    extract: ExtractionConfig = Field(default_factory=ExtractionConfig)
    blocklists: dict[ListName, BlocklistConfig] = Field(default_factory=dict)
    personal_data: PersonalDataConfig = Field(default_factory=PersonalDataConfig)
    language: LanguageConfig = Field(default_factory=LanguageConfig)
    filters: FiltersConfig = Field(default_factory=FiltersConfig)
    dedup: DedupConfig = Field(default_factory=DedupConfig)
    site: SiteConfig = Field(default_factory=SiteConfig)
    fetch: FetchingConfig = Field(default_factory=FetchingConfig)
    images: ImageRulesConfig = Field(default_factory=ImageRulesConfig)
    image_safety: ImageSafetyConfig = Field(default_factory=ImageSafetyConfig)
    score: ScoringConfig = Field(default_factory=ScoringConfig)
    finish: FinishConfig = Field(default_factory=FinishConfig)
    shard: ShardConfig = Field(default_factory=ShardConfig)
    ray: RayConfig = Field(default_factory=RayConfig)
    consent: ConsentConfig = Field(default_factory=ConsentConfig)
    forgotten: ForgottenFolders = ()

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
    """
    return read_config(RunConfig, path, overrides)


def load_resolved(path: Path) -> dict[str, Any]:
    """The values of a config that an earlier run wrote; empty where they cannot be read."""
    try:
        return read_values(path, list(RunConfig.model_fields))
    except UserError:
        return {}
