"""The hooks that a config names."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from obelics_pipeline import __version__
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.hooks import HookConfig
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.jobs.events import Event
from obelics_pipeline.jobs.hooks.chosen import Chosen
from obelics_pipeline.jobs.hooks.hook import Hook
from obelics_pipeline.jobs.hooks.lineage import Lineage
from obelics_pipeline.jobs.hooks.measures import Measures
from obelics_pipeline.jobs.hooks.post import Post
from obelics_pipeline.jobs.hooks.program import Program
from obelics_pipeline.jobs.hooks.stage_counts import StageCounts
from obelics_pipeline.jobs.hooks.tracker import Tracker
from obelics_pipeline.jobs.open_lineage import run_id
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import Target, parse_target
from obelics_pipeline.stages.stage import Stage

HTTP = "http/protobuf"  # as OpenTelemetry calls the protocol
LINEAGE_PATH = "/api/v1/lineage"  # of a server of OpenLineage, by its specification
EXTRAS = {  # kinds of hooks that need the extra of their name -> a module of it
    "mlflow": "mlflow",
    "wandb": "wandb",
    "metrics": "opentelemetry.exporter.otlp.proto.http",
}


@dataclass(frozen=True)
class About:
    """What hooks say of a run beside its events. `code` is the identity of each stage's code."""

    config: RunConfig
    name: str  # of the config
    output: str  # the run's folder
    stages: Sequence[Stage]
    code: Mapping[str, str]

    @property
    def config_sha256(self) -> str:
        """Of the config as it is written beside the output."""
        return hashlib.sha256(dump_config(self.config).encode()).hexdigest()


def refuse_unready(hooks: Sequence[HookConfig]) -> None:
    """Raises UserError for the first hook that could tell nobody."""
    for error in unready(hooks):
        raise error


def unready(hooks: Sequence[HookConfig]) -> Iterator[UserError]:
    """What is missing of each hook that could tell nobody: a program, a package, an address or a key."""
    for number, hook in enumerate(hooks):
        try:
            _demand(hook, f"hooks.{number}.{hook.kind}")
        except UserError as error:
            yield error


def _demand(hook: HookConfig, place: str) -> None:
    if hook.command is not None and shutil.which(hook.command[0]) is None:
        raise UserError(f"{place}: no program {hook.command[0]}; give the path of one that can be executed")
    if hook.kind in EXTRAS and not _is_installed(EXTRAS[hook.kind]):
        raise UserError(f"{place}: needs the extra: pip install 'obelics-pipeline[{hook.kind}]'")
    if hook.url is not None or hook.openlineage is not None:
        _target(hook, place)
    if hook.metrics is not None:
        _demand_http(place)
    _key(hook, place)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package that it would be in
        return False


def _demand_http(place: str) -> None:
    """Raises UserError where the environment asks for another protocol than the one that is spoken here."""
    for name in ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (asked := os.environ.get(name, "")) not in ("", HTTP):
            raise UserError(f"{place}: {name}={asked}: only {HTTP} is spoken; unset it, and give the port of HTTP")


def hooks_of(about: About, earlier: Sequence[Event]) -> list[Hook]:
    """The hooks of a run, in their order. `earlier` are the events of its log so far."""
    return [_hook(number, hook, about, earlier) for number, hook in enumerate(about.config.hooks)]


def _hook(number: int, hook: HookConfig, about: About, earlier: Sequence[Event]) -> Hook:
    place = f"hooks.{number}.{hook.kind}"
    if hook.command is not None:
        name = f"{place} ({Path(hook.command[0]).name})"
        return Program(name, hook.command, Chosen(hook.events), hook.seconds)
    if hook.kind in EXTRAS:
        make = Measures if hook.kind == "metrics" else StageCounts
        return Tracker(place, _tracked(hook, about), make(about.stages), hook.seconds)
    target = _target(hook, place)
    told: Chosen | Lineage = Chosen(hook.events)
    if hook.openlineage is not None:
        told = Lineage(about.output, about.name, about.stages, about.code)
        for event in earlier:
            told(event)
    name = f"{place} ({target.authority})"  # the rest of a URL may be secret
    return Post(name, target, told, hook.seconds, hook.allow_private, _key(hook, place))


def _target(hook: HookConfig, place: str) -> Target:
    url = hook.url if hook.openlineage is None else hook.openlineage.rstrip("/") + LINEAGE_PATH
    try:
        return parse_target(url or "")
    except FetchError:
        raise UserError(f"{place}: is no http(s) address without a user and password; see key_variable") from None


def _key(hook: HookConfig, place: str) -> str:
    if hook.key_variable is None:
        return ""
    key = os.environ.get(hook.key_variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise UserError(f"{place}: key_variable {hook.key_variable} is not set to a key in the environment; export it")
    return key


def _tracked(hook: HookConfig, about: About) -> dict[str, Any]:
    """The first line that a tracker gets: see `tracking`. A run with the same folder and config is the same."""
    settings = hook.mlflow or hook.wandb
    sha256 = about.config_sha256
    params = {"config": about.name, "config_sha256": sha256, "version": __version__}
    return {
        "kind": hook.kind,
        "settings": {} if settings is None else settings.model_dump(),
        "run": run_id(about.output, sha256),
        "name": f"{about.name} {Path(about.output).name}",
        "params": params | _flat(yaml.safe_load(dump_config(about.config)), ""),
        "output": about.output,
    }


def _flat(value: Any, prefix: str) -> dict[str, str]:
    """The values of a config by their keys, as `section.key`, each as a text."""
    if isinstance(value, dict) and value:
        parts = (_flat(child, f"{prefix}.{name}".lstrip(".")) for name, child in value.items())
        return {key: text for part in parts for key, text in part.items()}
    return {prefix: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
