"""Scores of texts by their ids, in the form that other programs read: lines {"id": …, "score": …}.

A line with "unseen": true is by a model that has seen neither the generator nor the domain of the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError

Score = float | None
Measure = Callable[[Sequence[Mapping[str, Any]]], Sequence[Score]]


@dataclass(frozen=True, slots=True)
class KeptScores:
    """Those of one column. Without a `path` nothing is kept."""

    path: Path | None

    @classmethod
    def of(cls, folder: str | None, column: str) -> KeptScores:
        """FOLDER/COLUMN.jsonl; the folder is made."""
        if folder is None:
            return cls(None)
        Path(folder).mkdir(parents=True, exist_ok=True)
        return cls(Path(folder) / f"{column}.jsonl")

    def complete(self, rows: Sequence[Mapping[str, Any]], measure: Measure) -> tuple[list[Score], set[str]]:
        """A score for each row, and the ids whose scores are of models that have not seen them.

        What the file lacks is measured, and added to it.
        Raises UserError for a file that holds something else, and for rows without ids of their own.
        """
        if self.path is None:
            return list(measure(rows)), set()
        if len({row.get("id") for row in rows} - {None}) < len(rows):
            raise UserError(f"--scores {self.path.parent}: rows without an id, or two with the same one")
        there, unseen = self._read()
        missing = [row for row in rows if row["id"] not in there]
        measured = {row["id"]: score for row, score in zip(missing, measure(missing) if missing else [], strict=True)}
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": id_, "score": score}) + "\n" for id_, score in measured.items())
        return [(there | measured)[row["id"]] for row in rows], unseen

    def _read(self) -> tuple[dict[str, Score], set[str]]:
        if self.path is None or not self.path.exists():
            return {}, set()
        try:
            rows = [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]
            scores = {row["id"]: None if row["score"] is None else float(row["score"]) for row in rows}
            return scores, {row["id"] for row in rows if row.get("unseen")}
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f'{self.path}: not lines of {{"id", "score"}} ({error})') from None
