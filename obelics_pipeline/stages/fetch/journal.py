"""The journal of a unit: what origins said, and each result, as they come. A killed unit goes on where it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from obelics_pipeline.core.storage import Location, scratch_of
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.result import QUALITY, RESULT_SCHEMA, SOURCE, FetchResult
from obelics_pipeline.stages.fetch.robots_observations import OBSERVATIONS, Observation

_RESULT, _OBSERVATIONS = frozenset(RESULT_SCHEMA.names), frozenset(OBSERVATIONS.names)
_REFUSED = frozenset(("refused", "from", "reason"))


def journal_of(folder: Location, unit_name: str) -> Path:
    """Where the journal of a unit is, on this machine; `folder` is that of its stage."""
    return scratch_of(folder) / "journal" / f"{unit_name}.jsonl"


class Journal:
    """A JSON line per result or origin, in the order of arrival. A context manager around one unit. Thread-safe.

    `grown` says whether this process has added a result.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.grown = path, False
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
        self._append(result.to_json())
        self.grown = True

    def observe(self, observation: Observation) -> None:
        """Append what an origin said, before any result that follows from it."""
        self._append(observation)

    def refuse(self, url: str, source: str, reason: str) -> None:
        """Append that the image of a URL was not taken from a source that has it; a later line has its result."""
        self._append({"refused": url, "from": source, "reason": reason})

    def _append(self, value: Mapping[str, Any]) -> None:
        assert self._file is not None, "a journal is written within its context"
        line = json.dumps(value, separators=(",", ":"))
        with self._lock:
            self._file.write(line + "\n")

    def read(self, store: ImageStore) -> dict[str, FetchResult]:
        """The results noted so far, the last one of a URL; torn lines, and results without their image, are not."""
        results = {}
        for value in self._values("url", _RESULT):
            result = FetchResult(**value)
            if result.sha256 is None or store.holds(result.sha256):
                results[result.url] = result
        return results

    def observations(self) -> list[Observation]:
        """The observations of origins so far. An origin that was asked again after a kill is there more than once."""
        return list(self._values("origin", _OBSERVATIONS))

    def refused(self) -> list[dict[str, str]]:
        """The images that were not taken. One that was looked at again after a kill is there more than once."""
        return list(self._values("refused", _REFUSED))

    def _values(self, key: str, fields: frozenset[str]) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        for line in self.path.read_bytes().splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict) and set(value) - {QUALITY, SOURCE} == fields and isinstance(value[key], str):
                yield value
