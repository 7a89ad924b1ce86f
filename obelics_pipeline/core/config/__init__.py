"""The config of a run: typed sections, strict keys, errors in one line."""

from obelics_pipeline.core.config.consent import ConsentConfig
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.filtering import Bounds, FiltersConfig, LanguageConfig, Threshold
from obelics_pipeline.core.config.image_safety import ClassifierConfig, ImageSafetyConfig
from obelics_pipeline.core.config.models import ModelsConfig
from obelics_pipeline.core.config.picture_models import AestheticConfig, PictureClassifierConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.config.run import RunConfig, load_config
from obelics_pipeline.core.config.scoring import (
    FlamingoConfig,
    JudgeConfig,
    LanguageModelConfig,
    ScoringConfig,
    SimilarityConfig,
)
from obelics_pipeline.core.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig
from obelics_pipeline.core.config.site import SiteConfig

__all__ = [
    "AestheticConfig",
    "Bounds",
    "ClassifierConfig",
    "ConsentConfig",
    "DedupConfig",
    "ExtractionConfig",
    "FetchingConfig",
    "FiltersConfig",
    "FinishConfig",
    "FlamingoConfig",
    "ImageRulesConfig",
    "ImageSafetyConfig",
    "JudgeConfig",
    "LanguageConfig",
    "LanguageModelConfig",
    "ModelsConfig",
    "PictureClassifierConfig",
    "ReadingConfig",
    "RunConfig",
    "ScoringConfig",
    "ShardConfig",
    "SimilarityConfig",
    "SiteConfig",
    "Threshold",
    "load_config",
]
