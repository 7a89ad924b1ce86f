"""The config of a run: typed sections, strict keys, errors in one line."""

from obelics_pipeline.config.consent import ConsentConfig
from obelics_pipeline.config.dedup import DedupConfig
from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.config.fetching import FetchingConfig
from obelics_pipeline.config.filtering import Bounds, FiltersConfig, LanguageConfig, Threshold
from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.config.run import RunConfig, load_config
from obelics_pipeline.config.scoring import FlamingoConfig, ScoringConfig, SimilarityConfig
from obelics_pipeline.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig
from obelics_pipeline.config.site import SiteConfig

__all__ = [
    "Bounds",
    "ConsentConfig",
    "DedupConfig",
    "ExtractionConfig",
    "FetchingConfig",
    "FiltersConfig",
    "FinishConfig",
    "FlamingoConfig",
    "ImageRulesConfig",
    "LanguageConfig",
    "ReadingConfig",
    "RunConfig",
    "ScoringConfig",
    "ShardConfig",
    "SimilarityConfig",
    "SiteConfig",
    "Threshold",
    "load_config",
]
