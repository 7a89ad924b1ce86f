"""The journal of a unit: each result as it comes, so that a killed unit goes on where it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from obelics_pipeline.fetch.image_store import ImageStore
from obelics_pipeline.fetch.result import RESULT_SCHEMA, FetchResult

_FIELDS = frozenset(RESULT_SCHEMA.names)


class Journal:
    """A JSON line per result, in the order of arrival. A context manager around one unit. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: TextIO | None = None

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torn = self.path.exists() and not self.path.read_bytes().endswith(b"\n") and self.path.stat().st_size > 0
        self._file = self.path.open("a", encoding="utf-8", errors="surrogatepass", buffering=1)
        if torn:
            self._file.write("\n")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, result: FetchResult) -> None:
        """Append a result; a kill of the process right after it does not lose it."""
        assert self._file is not None, "a journal is written within its context"
        line = json.dumps(result.to_json(), separators=(",", ":"))
        with self._lock:
            self._file.write(line + "\n")

    def read(self, store: ImageStore) -> dict[str, FetchResult]:
        """The results noted so far, the last one of a URL; torn lines, and results without their image, are not."""
        if not self.path.exists():
            return {}
        results = {}
        for line in self.path.read_bytes().splitlines():
            result = _result(line)
            if result is not None and (result.sha256 is None or store.holds(result.sha256)):
                results[result.url] = result
        return results


def _result(line: bytes) -> FetchResult | None:
    try:
        value: Mapping[str, Any] = json.loads(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or set(value) != _FIELDS or not isinstance(value["url"], str):
        return None
    return FetchResult(**value)
