"""Work for the tests of Beam, in a module that its processes can import."""

import time
from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit
from tests.engines.work import work


def slow_work(unit: Unit, *, folder: Path) -> Manifest:
    """A unit that takes a while, so that there is something to kill."""
    time.sleep(0.5)
    return work(unit, folder=folder)


def commit_id(unit: Unit, *, folder: Location) -> Manifest:
    """Commit a unit's id, wherever the folder is."""
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".bin").write_bytes(unit.id.encode())
        return attempt.commit([Ledger("things", 1, 1)])


class CountWords:
    """A model whose scores depend on what it is given together."""

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The words of each document, and how many documents there were."""
        return [{"words": float(len(d.text().split())), "together": float(len(documents))} for d in documents]


def load_count_words() -> CountWords:
    """As `ScoreDocuments` wants it."""
    return CountWords()
