"""A collector of OpenTelemetry's metrics on loopback: it decodes what comes by OTLP over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Point = tuple[str, frozenset[tuple[str, str]]]  # the name of a metric, its attributes


class Collector:
    """The last value of each point, of a histogram how many it counts; the resource; answers with `status`."""

    def __init__(self) -> None:
        self.points: dict[Point, float] = {}
        self.resource: dict[str, str] = {}
        self.paths: set[str] = set()
        self.status, self.address = 200, ""

    def value(self, name: str, **attributes: str) -> float:
        """The sum of the points of a metric that have these attributes, whatever others they have."""
        return sum(n for (of, has), n in self.points.items() if of == name and attributes.items() <= dict(has).items())

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        request = ExportMetricsServiceRequest.FromString(body)
        for resource in request.resource_metrics:
            self.resource = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                for point in getattr(metric, metric.WhichOneof("data")).data_points:
                    has = frozenset((pair.key, pair.value.string_value) for pair in point.attributes)
                    self.points[metric.name, has] = _value(point)


def _value(point: Any) -> float:
    return point.count if hasattr(point, "bucket_counts") else getattr(point, point.WhichOneof("value"))


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.paths.add(self.path)
            if collector.status == 200:
                collector.take(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
