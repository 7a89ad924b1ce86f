"""A run as metrics of OpenTelemetry, sent to a collector by OTLP over HTTP.

Where it is, and all else, says the environment: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS,
OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, as OpenTelemetry specifies them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource

from obelics_pipeline.jobs.hooks.measures import INSTRUMENTS, Measure


class _Exporter(OTLPMetricExporter):
    """Knows whether the last export failed: its reader only writes that to a log."""

    failed = False

    def export(self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **more: Any) -> Any:
        result = super().export(metrics_data, timeout_millis, **more)
        self.failed = result is not MetricExportResult.SUCCESS
        return result


class MetricsRun:
    """See `tracking.TrackedRun`."""

    def __init__(self, about: dict[str, Any]) -> None:
        """Begin to send, now and then, what is counted."""
        ours = Resource(
            {
                "service.name": "obelics-pipeline",
                "service.version": about["params"]["version"],
                "service.instance.id": about["run"],
                "obelics.config": about["params"]["config"],
            }
        )
        self._exporter = _Exporter()
        reader = PeriodicExportingMetricReader(self._exporter)
        self._provider = MeterProvider([reader], ours.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
        meter = self._provider.get_meter("obelics_pipeline")
        make: dict[str, Callable[..., Callable[..., None]]] = {
            "counter": lambda *told: meter.create_counter(*told).add,
            "gauge": lambda *told: meter.create_gauge(*told).set,
            "histogram": lambda *told: meter.create_histogram(*told).record,
        }
        self._take = {name: make[kind](name, unit, said) for name, (kind, unit, said) in INSTRUMENTS.items()}

    def count(self, measures: Sequence[Measure]) -> None:
        """Take measurements. Raises RuntimeError where the last ones could not be sent."""
        for name, value, attributes in measures:
            self._take[name](value, attributes)
        self._refuse_lost()

    def end(self, how: str) -> None:
        """Send what is left."""
        self._provider.shutdown()
        self._refuse_lost()

    def _refuse_lost(self) -> None:
        if self._exporter.failed:
            self._exporter.failed = False
            raise RuntimeError("the collector did not take the metrics; see OTEL_EXPORTER_OTLP_ENDPOINT")
