"""Programs, servers and trackers that hear of a run while it works. Nothing here changes a byte of the output."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, field_validator, model_validator

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.section import Section

EventName = Literal[
    "run_started",
    "told",
    "stage_started",
    "unit_done",
    "unit_failed",
    "stage_done",
    "shuffle_started",
    "shuffle_done",
    "run_done",
    "run_stopped",
]
KINDS = ("command", "url", "openlineage", "mlflow", "wandb", "metrics")


class MlflowConfig(Section):
    """An experiment of MLflow. Its credentials come from the environment (MLFLOW_TRACKING_TOKEN, …)."""

    tracking_uri: str = Field(description="Where MLflow keeps runs: http(s)://… or sqlite:///FILE.")
    experiment: str = Field("obelics", min_length=1, description="Its name; made where it is not there.")


class WandbConfig(Section):
    """A project of Weights & Biases. The key comes from the environment (WANDB_API_KEY), the folder from WANDB_DIR."""

    project: str = Field("obelics", min_length=1, description="Its name.")
    mode: Literal["online", "offline"] = Field(
        "online", description="offline: the run is written to a folder, for `wandb sync`."
    )


class HookConfig(Section):
    """One that hears of a run, in one of six ways: docs/howto/hooks.md."""

    command: tuple[str, ...] | None = Field(
        None, min_length=1, description="A program and its arguments, run for each event: one JSON line on its stdin."
    )
    url: str | None = Field(None, pattern="^https?://", description="Where each event is sent to as JSON, by POST.")
    openlineage: str | None = Field(
        None,
        pattern="^https?://",
        description="A server of OpenLineage: RunEvents of the run and its stages are sent to its /api/v1/lineage.",
    )
    mlflow: MlflowConfig | None = Field(None, description="A run of MLflow: extra mlflow.")
    wandb: WandbConfig | None = Field(None, description="A run of Weights & Biases: extra wandb.")
    metrics: Literal["otlp"] | None = Field(
        None,
        description="Metrics of OpenTelemetry, by OTLP over HTTP, to the collector that the environment names "
        "(OTEL_EXPORTER_OTLP_ENDPOINT, …): extra metrics.",
    )
    events: tuple[EventName, ...] = Field(
        (), description="Which events command and url hear of; empty: all. unit_done comes once for each unit."
    )
    seconds: PositiveFloat = Field(
        30.0, description="How long one event may take; so long, at most, the end of the run waits for what is unsent."
    )
    key_variable: str | None = Field(
        None,
        pattern="^[A-Z][A-Z0-9_]*$",
        description="The environment variable that holds the key, which url and openlineage send as "
        "`Authorization: Bearer <key>`.",
    )
    allow_private: tuple[str, ...] = Field((), description="As fetch.allow_private, for a server of one's own.")

    @property
    def kind(self) -> str:
        """Which of the six ways it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @field_validator("allow_private")
    @classmethod
    def _networks_or_places(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        return FetchingConfig.networks_or_places(entries)

    @model_validator(mode="after")
    def _one_way(self) -> HookConfig:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"names {', '.join(given) or 'nothing to tell'}; it must be one of {', '.join(KINDS)}")
        if self.key_variable is not None and self.url is None and self.openlineage is None:
            raise ValueError(f"key_variable is for url and openlineage, not for {given[0]}")
        if self.events and self.command is None and self.url is None:
            raise ValueError(f"events is for command and url; {given[0]} chooses its own")
        return self
