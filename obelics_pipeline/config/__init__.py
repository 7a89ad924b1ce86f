"""The config of a run: typed sections, strict keys, errors in one line."""

from obelics_pipeline.config.dedup import DedupConfig
from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.config.fetching import FetchingConfig
from obelics_pipeline.config.filtering import Bounds, FiltersConfig, LanguageConfig, Threshold
from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.config.run import RunConfig, load_config
from obelics_pipeline.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig

__all__ = [
    "Bounds",
    "DedupConfig",
    "ExtractionConfig",
    "FetchingConfig",
    "FiltersConfig",
    "FinishConfig",
    "ImageRulesConfig",
    "LanguageConfig",
    "ReadingConfig",
    "RunConfig",
    "ShardConfig",
    "Threshold",
    "load_config",
]
