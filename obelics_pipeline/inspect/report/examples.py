"""Examples of what each rule dropped. Those nearest to the threshold come first, because they show where it cuts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.filters.genre import bounds_of
from obelics_pipeline.inspect.report.human import counted, figure
from obelics_pipeline.inspect.report.opened import Opened
from obelics_pipeline.inspect.report.tally import Floats
from obelics_pipeline.inspect.report.thresholds import distance, must
from obelics_pipeline.inspect.run_tables.documents import stages_of
from obelics_pipeline.inspect.run_tables.nodes import texts_of_nodes
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_scores
from obelics_pipeline.inspect.run_tables.texts import texts_of
from obelics_pipeline.jobs.stages import MEETS_IMAGES
from obelics_pipeline.stages.extract.measure import LANGUAGE

SHOWN = 5  # of a reason
CHARACTERS = 600  # of a text
_CANDIDATES = 40  # paragraphs of a reason that are remembered: one of a document is shown


@dataclass(frozen=True)
class Example:
    """A document or a paragraph that was dropped. `about` is the score and what it should have been."""

    doc_id: str
    url: str
    language: str | None
    about: str
    text: str
    command: str


@dataclass(frozen=True)
class Dropped:
    """Examples of what one reason dropped. `stage`: of documents; empty for paragraphs."""

    stage: str
    reason: str
    count: int
    examples: Sequence[Example]


def command_of(run: Opened, doc_id: str) -> str:
    """The command that tells a document's whole life."""
    return f"obelics explain {shlex.quote(run.path)} {doc_id}"


def dropped_documents(run: Opened, thresholds: dict[str, LanguageBounds], order: Sequence[str]) -> list[Dropped]:
    """By stage, and in each in the order of the rules."""
    documents = run.documents
    grouped = documents.group_by(["stage", "reason"]).aggregate([([], "count_all")])
    groups = [group for group in grouped.to_pylist() if group["stage"] is not None]
    rank = {name: i for i, name in enumerate(order)}
    order_of = stages_of(documents)
    groups.sort(key=lambda g: (order_of.index(g["stage"]), rank.get(g["reason"], len(rank)), g["reason"]))
    chosen = [_nearest_documents(documents, g["stage"], g["reason"], thresholds.get(g["reason"])) for g in groups]
    texts = _texts(run, [row for rows in chosen for row in rows])
    return [
        Dropped(
            group["stage"],
            group["reason"],
            group["count_all"],
            [_example(run, row, _about(run, row, thresholds), texts.get(row, "")) for row in rows],
        )
        for group, rows in zip(groups, chosen, strict=True)
    ]


class ParagraphExamples:
    """Remembers a few dropped paragraphs of each reason, a run table at a time."""

    def __init__(self, run: Opened, thresholds: dict[str, LanguageBounds]) -> None:
        self._run, self._thresholds = run, thresholds
        self._nearest: dict[str, pa.Table] = {}
        self._counts: dict[str, int] = {}

    def add(self, paragraphs: pa.Table) -> None:
        """Take those that are nearer to their threshold than what is remembered."""
        dropped = paragraphs.filter(paragraphs["reason"].is_valid())
        for reason in sorted(pc.unique(dropped["reason"]).to_pylist()):
            rows = dropped.filter(pc.equal(dropped["reason"], reason))
            self._counts[reason] = self._counts.get(reason, 0) + rows.num_rows
            known = reason in self._thresholds and reason in paragraph_scores(rows)
            values = rows[reason].to_numpy() if known else np.full(rows.num_rows, np.nan)
            of = self._run.documents.select(["doc_id", "language"]).take(rows["document"])
            candidates = pa.table(
                {
                    "distance": _distances(values, of["language"], self._thresholds.get(reason)),
                    "doc_id": of["doc_id"],
                    "node": rows["node"],
                    "document": rows["document"],
                    "role": rows["role"],
                    "duplicate_of": rows["duplicate_of"],
                    "score": values,
                }
            )
            before = [self._nearest[reason]] if reason in self._nearest else []
            joined = pa.concat_tables([*before, candidates])
            keys = [(name, "ascending") for name in ("distance", "doc_id", "node")]
            self._nearest[reason] = joined.take(pc.select_k_unstable(joined, _CANDIDATES, keys))

    def examples(self) -> list[Dropped]:
        """By reason in the order of the thresholds, then by name."""
        rank = {name: i for i, name in enumerate(self._thresholds)}
        reasons = sorted(self._nearest, key=lambda name: (rank.get(name, len(rank)), name))
        chosen = {reason: _one_of_a_document(self._nearest[reason].to_pylist()) for reason in reasons}
        nodes = [(row["document"], row["node"]) for rows in chosen.values() for row in rows]
        texts = texts_of_nodes(self._run.folder, self._run.documents, nodes)
        return [
            Dropped("", reason, self._counts[reason], [self._example(row, reason, texts) for row in rows])
            for reason, rows in chosen.items()
        ]

    def _example(self, row: dict[str, Any], reason: str, texts: dict[tuple[int, int], str]) -> Example:
        about = row["role"] or ""
        bounds = self._thresholds.get(reason)
        if bounds is not None and row["score"] == row["score"]:
            language = self._run.documents["language"][row["document"]].as_py()
            about += f", {figure(row['score'])}, {must(bounds.bounds_for(language))}"
        if row["duplicate_of"] is not None:
            about += f", first in document {row['duplicate_of']}"
        return _example(self._run, row["document"], about, texts[row["document"], row["node"]])


def _example(run: Opened, row: int, about: str, text: str) -> Example:
    doc_id, url, language = (run.documents[name][row].as_py() for name in ("doc_id", "url", "language"))
    cut = text[:CHARACTERS] + ("…" if len(text) > CHARACTERS else "")
    return Example(doc_id, url, language, about, cut, command_of(run, doc_id))


def _one_of_a_document(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[int, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["document"], row)
    return list(first.values())[:SHOWN]


def _nearest_documents(documents: pa.Table, stage: str, reason: str, bounds: LanguageBounds | None) -> list[int]:
    """The rows of those that are shown."""
    mask = pc.and_kleene(pc.equal(documents["stage"], stage), pc.equal(documents["reason"], reason))
    at = pc.indices_nonzero(pc.fill_null(mask, False))
    rows = documents.take(at)
    scored = bounds is not None and reason in documents.column_names and stage != MEETS_IMAGES
    values = rows[reason].to_numpy() if scored else np.full(rows.num_rows, np.nan)
    table = pa.table({"distance": _distances(values, rows["language"], bounds), "doc_id": rows["doc_id"], "at": at})
    keys = [("distance", "ascending"), ("doc_id", "ascending")]
    chosen: list[int] = table.take(pc.select_k_unstable(table, SHOWN, keys))["at"].to_pylist()
    return chosen


def _distances(values: Floats, languages: pa.ChunkedArray, bounds: LanguageBounds | None) -> Floats:
    """From the bounds of each one's language; what has no value, or none to be compared with, is farthest."""
    found = np.full(len(values), np.inf)
    for language in pc.unique(languages).to_pylist() if bounds is not None else ():
        mask = languages.is_null() if language is None else pc.fill_null(pc.equal(languages, language), False)
        at = mask.to_numpy() & np.isfinite(values)
        assert bounds is not None
        found[at] = distance(bounds.bounds_for(language), values[at])
    return found


def _about(run: Opened, row: int, thresholds: dict[str, LanguageBounds]) -> str:
    """The score that dropped a document and what it should have been; of a duplicate, whose."""
    values = run.documents.slice(row, 1).to_pylist()[0]
    reason, bounds = values["reason"], thresholds.get(values["reason"])
    if values["duplicate_of"] is not None:
        return f"kept instead: document {values['duplicate_of']}"
    if values["stage"] == MEETS_IMAGES and reason == "image_count":
        images = run.config.images
        return (
            f"{counted(values['images'], 'image')} left, must be {images.min_per_document} to {images.max_per_document}"
        )
    if reason == LANGUAGE:
        keep = run.config.language.keep
        return f"{values['language'] or 'none'}, kept are {keep if isinstance(keep, str) else ', '.join(keep)}"
    value = values.get(reason)
    if bounds is None or value is None:
        return ""
    if bounds.genres:
        document = next(read_documents(_place(run, values["file"]), values["row"], values["row"] + 1))
        return f"{figure(value)}, {must(bounds_of(bounds, document))}"
    return f"{figure(value)}, {must(bounds.bounds_for(values['language']))}"


def _place(run: Opened, file: str) -> Location:
    return run.folder.path / file


def _texts(run: Opened, rows: Sequence[int]) -> dict[int, str]:
    """The kept text of documents, by their row."""
    some = run.documents.select(["file", "row"]).take(pa.array(rows, pa.int64()))
    return {rows[place]: text for place, text in texts_of(run.folder, some)}
