"""The outcome of each element, as a small file that a worker writes and the driver reads.

Beam gives a driver nothing but counters, and those count attempts: on every runner the storage is what both can see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Damaged, Stopped, UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location, create, remove_tree
from obelics_pipeline.engines.engine import Failure

SUFFIX = ".json"


@dataclass(frozen=True)
class Answer:
    """What a mapped function gave for one item."""

    value: Any


Outcome = Manifest | Failure | Answer | Exception


class Outcomes:
    """A folder of outcomes by the name of their element. Names are file names, unique within a verb."""

    def __init__(self, folder: Location) -> None:
        self.folder = folder

    def write(self, name: str, outcome: Outcome) -> None:
        """Leave an outcome for the driver. Where another attempt was first, its outcome stands."""
        create(self.folder / f"{name}{SUFFIX}", json.dumps(to_json(outcome)).encode())

    def take(self) -> Iterator[tuple[str, Outcome]]:
        """The outcomes that are there, by name; each is removed as it is read."""
        try:
            found = sorted(path.name for path in self.folder.iterdir() if path.name.endswith(SUFFIX))
        except (FileNotFoundError, NotADirectoryError):  # nothing yet; the second is what a bucket says
            return
        for name in found:
            if name.startswith("."):
                continue  # not whole yet
            path = self.folder / name
            outcome = from_json(json.loads(path.read_bytes()))
            path.unlink()
            yield name.removesuffix(SUFFIX), outcome

    def clear(self) -> None:
        """Remove what is there."""
        remove_tree(self.folder)


def to_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON values. Raises TypeError for a value that JSON would change."""
    if isinstance(outcome, Manifest):
        return {"manifest": outcome.to_json(), "told": dict(outcome.told)}
    if isinstance(outcome, Failure):
        return {"failure": outcome.reason, "damaged": list(outcome.damaged)}
    if isinstance(outcome, Answer):
        if json.loads(json.dumps(outcome.value)) != outcome.value:
            raise TypeError(f"what travels through Beam must be JSON values, found {outcome.value!r}"[:300])
        return {"value": outcome.value}
    if isinstance(outcome, Damaged):
        return {"error": "Damaged", "locations": list(outcome.locations)}
    if isinstance(outcome, UserError | Stopped):
        return {"error": type(outcome).__name__, "message": str(outcome)}
    if isinstance(outcome, OSError):
        return {"error": "OSError", "arguments": [outcome.errno, outcome.strerror, _text(outcome.filename)]}
    return {"error": "RuntimeError", "message": f"{type(outcome).__name__}: {outcome}"}


def from_json(value: dict[str, Any]) -> Outcome:
    """The inverse of `to_json`; errors other than ours and OSError come back as RuntimeError."""
    if "manifest" in value:
        stated = value["manifest"]
        ledgers = {noun: Ledger.from_json(noun, counts) for noun, counts in stated["ledgers"].items()}
        return Manifest(stated["unit"], stated["stage"], stated["files"], ledgers, stated["notes"], value["told"])
    if "failure" in value:
        return Failure(value["failure"], tuple(value.get("damaged", ())))
    if "value" in value:
        return Answer(value["value"])
    if value["error"] == "Damaged":
        return Damaged(*value["locations"])
    if value["error"] == "OSError":
        return OSError(*value["arguments"])
    kinds: dict[str, type[Exception]] = {"UserError": UserError, "Stopped": Stopped}
    return kinds.get(value["error"], RuntimeError)(value["message"])


def _text(filename: Any) -> str | None:
    return None if filename is None else str(filename)
