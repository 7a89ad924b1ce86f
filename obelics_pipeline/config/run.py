"""The whole config of a run, from a YAML file and `--set` overrides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from obelics_pipeline.config.dedup import DedupConfig
from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.config.fetching import FetchingConfig
from obelics_pipeline.config.filtering import FiltersConfig, LanguageConfig
from obelics_pipeline.config.ray import RayConfig
from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.config.scoring import ScoringConfig
from obelics_pipeline.config.section import Section
from obelics_pipeline.config.sharding import FinishConfig, ImageRulesConfig, ShardConfig
from obelics_pipeline.config.site import SiteConfig
from obelics_pipeline.config.yaml_file import lay_over, read_yaml, validated
from obelics_pipeline.errors import UserError


class RunConfig(Section):
    """Everything a run's output depends on, beside its input."""

    reading: ReadingConfig = Field(default_factory=ReadingConfig)
    extract: ExtractionConfig = Field(default_factory=ExtractionConfig)
    language: LanguageConfig = Field(default_factory=LanguageConfig)
    filters: FiltersConfig = Field(default_factory=FiltersConfig)
    dedup: DedupConfig = Field(default_factory=DedupConfig)
    site: SiteConfig = Field(default_factory=SiteConfig)
    fetch: FetchingConfig = Field(default_factory=FetchingConfig)
    images: ImageRulesConfig = Field(default_factory=ImageRulesConfig)
    score: ScoringConfig = Field(default_factory=ScoringConfig)
    finish: FinishConfig = Field(default_factory=FinishConfig)
    shard: ShardConfig = Field(default_factory=ShardConfig)
    ray: RayConfig = Field(default_factory=RayConfig)


def bundled_configs() -> Path:
    """The folder of the configs that come with the package: inside it where installed, else at the checkout's root."""
    installed = Path(__file__).parents[1] / "configs"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "configs"


def load_config(path: str, overrides: Sequence[str] = ()) -> RunConfig:
    """Read a YAML file, or a bundled config by name, lay `key.sub=value` overrides over it, and check all of it.

    Raises `UserError`, in one line, for a missing file, broken YAML, an unknown key or a value out of range.
    """
    values = _read_yaml(find_config(path))
    for override in overrides:
        lay_over(values, override, "fetch.threads=8")
    return validated(RunConfig, values, path, "config")


def dump_config(config: RunConfig) -> str:
    """The resolved config as YAML: what a run writes beside its output."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)


def load_resolved(path: Path) -> dict[str, Any]:
    """The values of a config that an earlier run wrote; empty where they cannot be read."""
    try:
        return _read_yaml(path)
    except UserError:
        return {}


def differences(old: dict[str, Any], config: RunConfig) -> list[str]:
    """Which values of a config differ from older ones, each as `key: old -> new`."""
    before, now = _flat(old), _flat(config.model_dump(mode="json"))
    keys = [key for key in now if before.get(key) != now[key]] + [key for key in before if key not in now]
    return [f"{key}: {before.get(key)} -> {now.get(key)}" for key in keys]


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        return {prefix: value}
    return {k: v for name, child in value.items() for k, v in _flat(child, f"{prefix}.{name}".lstrip(".")).items()}


def find_config(path: str) -> Path:
    """The file that a path, or the name of a bundled config, means. Raises UserError where there is none."""
    given = Path(path)
    if given.is_file():
        return given
    bundled = bundled_configs() / f"{given.name.removesuffix('.yaml')}.yaml"
    if bundled.is_file() and (given.parent == Path() or given.parent.name == "configs"):
        return bundled
    names = ", ".join(sorted(p.stem for p in bundled_configs().glob("*.yaml")))
    raise UserError(f"config {path}: no such file; give a YAML file or the name of a bundled config ({names})")


def _read_yaml(path: Path) -> dict[str, Any]:
    return read_yaml(path, "config", tuple(RunConfig.model_fields))
