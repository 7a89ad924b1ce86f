"""The whole config of a run, from a YAML file and `--set` overrides."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

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

    @model_validator(mode="after")
    def _trainer_needs_images(self) -> RunConfig:
        if self.shard.format == "open_flamingo" and not (self.fetch.enabled and self.images.min_per_document):
            raise ValueError(
                "shard.format: open_flamingo holds the images, and its loader refuses documents without: set "
                "fetch.enabled: true and images.min_per_document: 1 or more, or shard.format: webdataset"
            )
        return self


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
        _lay_over(values, override)
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise UserError(_one_line(error, path)) from None


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
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise UserError(f"config {where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"config {path}: cannot be read: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UserError(f"config {path}: must be a mapping of sections ({', '.join(RunConfig.model_fields)})")
    return values


def _lay_over(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise UserError(f"--set {override}: must be KEY=VALUE, e.g. --set fetch.threads=8")
    *parents, last = key.strip().split(".")
    for name in parents:
        child = values.setdefault(name, {})
        if child is None:
            child = values[name] = {}
        if not isinstance(child, dict):
            raise UserError(f"--set {override}: {name} is not a section")
        values = child
    try:
        values[last] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise UserError(f"--set {override}: the value is not valid YAML") from None


def _one_line(error: ValidationError, path: str) -> str:
    """The first problem, with its place, the valid values and the nearest key; and how many more there are."""
    problems = error.errors()
    first = problems[0]
    place = ".".join(str(p) for p in first["loc"])
    if first["type"] == "extra_forbidden":
        valid = _keys_at(first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), valid, n=1)
        message = f"unknown key {place}; valid keys here: {', '.join(valid)}"
        message += f"; did you mean {near[0]}?" if near else ""
    elif not place:  # a rule over sections says which keys it is about
        message = str(first["msg"]).removeprefix("Value error, ")
    else:
        message = f"{place}: {first['msg'].removeprefix('Value error, ')}, got {first['input']!r}"[:400]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"config {path}: {message}{more}"


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    """The valid keys of the section at a place of the config."""
    model: Any = RunConfig
    for step in place:
        field = model.model_fields.get(str(step)) if isinstance(model, type) and issubclass(model, BaseModel) else None
        if field is None:  # inside a mapping of filters: the next model is the mapping's value type
            continue
        model = _model_of(field.annotation)
    return list(model.model_fields)


def _model_of(annotation: Any) -> Any:
    """The model that an annotation such as `dict[str, Threshold]` holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in reversed(getattr(annotation, "__args__", ())):
        found = _model_of(argument)
        if found is not None:
            return found
    return None
